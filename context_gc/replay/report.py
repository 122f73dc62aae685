"""Report: a sweep as one HTML file that is read offline: what to ship, what it saves, what it loses, what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from ..policy import Policy
from .advice import CONDITIONS, Advice, misses
from .charts import Line, Point, lines, scatter
from .cost import paybacks
from .measures import Loss
from .prompts import Replay, replay
from .sweep import Prepared, Row

MOST_ROWS, MOST_LOST, MOST_CURVES = 200, 60, 6
MEASURES = {
    "M1": "identifiers used again that the prompt held",
    "M2": "of these, what only a tool's result had told",
    "M4": "files touched, with the right last operation",
    "M5": "instructions that stand byte for byte",
    "M6": "results without a call, calls without a result",
    "M7": "prompts that extend the one before",
    "M9": "text that an edit quotes",
}


def report(rows: Sequence[Row], advice: Advice, prepared: Sequence[tuple[str, Prepared]], of: int | None = None) -> str:
    """The whole page. `prepared`: the traces by name. What is shown of them is escaped.

    `of`: how many traces the rows are of, where `prepared` are but the first of them.
    """
    best = advice.best
    parts = [_summary(rows, advice, of or len(prepared)), _picture(rows, best)]
    if best is not None and best.policy is not None:
        lived = [(name, each, replay(each.readings, best.policy, each.counter, each.prices.ttl))
                 for name, each in prepared[:MOST_CURVES]]  # fmt: skip
        parts += [_curves(lived, best.policy), _passes(lived), _lost(best, lived, of), _code(best.policy)]
    parts += [_conditions(advice), _table(rows, best), _basis(prepared)]
    return _PAGE.replace("%BODY%", "\n".join(part for part in parts if part))


def _summary(rows: Sequence[Row], advice: Advice, traces: int) -> str:
    best, calls = advice.best, rows[0].calls if rows else 0
    told = f"{len(rows):,} policies on {traces:,} traces with {calls:,} model calls."
    if best is None:
        return (
            f"<h1>No policy meets the conditions</h1><p>{told} The table below tells which condition each misses;"
            " a grid with higher limits or fewer stages loses less.</p>"
        )
    figures = [
        ("prompt cost", f"{best.cost:.0%}", "of the full history"),
        ("at floor", f"{best.floor:.0%}", "where only the system prompt survives a change"),
        ("longest prompt", f"{best.peak:,}", "tokens"),
        ("used again", f"{best.measures.recall.ratio:.2%}", "still in the prompt"),
        ("passes", f"{best.passes:,}", f"{best.paid:,} paid"),
    ]
    cards = "".join(f"<div><dt>{a}</dt><dd>{b}<small>{c}</small></dd></div>" for a, b, c in figures)
    return f"<h1>{escape(best.method)}</h1><p>{told}</p><dl class='cards'>{cards}</dl>"


def _picture(rows: Sequence[Row], best: Row | None) -> str:
    points = [
        Point(
            round(each.cost, 4),
            round(each.measures.recall.ratio, 5),
            f"{each.method}: cost {each.cost:.1%}, M1 {each.measures.recall.ratio:.2%}",
            "best" if each is best else "baseline" if not each.values else "bad" if misses(each) else "good",
        )
        for each in rows
    ]
    legend = "".join(
        f'<span class="{kind}">{text}</span>'
        for kind, text in (
            ("best", "recommended"), ("good", "meets every condition"), ("bad", "misses one"), ("baseline", "baseline")
        )
    )  # fmt: skip
    chart = scatter(points, "cost of the prompts, 1 = full history", "M1", [(CONDITIONS["M1"][1], "M1 at least")])
    return f"<h2>Cost and recall</h2><figure>{chart}<figcaption class='legend'>{legend}</figcaption></figure>"


def _curves(lived: Iterable[tuple[str, Prepared, Replay]], policy: Policy) -> str:
    parts = ["<h2>The context over the calls</h2>"]
    for name, _, done in lived:
        full = Line([(each.call.number, each.full) for each in done.calls], "full history", "full")
        kept = Line([(each.call.number, each.tokens) for each in done.calls], "this policy", "kept")
        rules = []
        if policy.budget is not None:
            share = policy.budget.window
            rules = [(share * policy.budget.threshold_low, "low"), (share * policy.budget.threshold_high, "high")]
            rules = [(y, label) for y, label in rules if y <= 1.2 * max(each.full for each in done.calls)]
        marks = [
            (each.call.number, f"call {each.call.number}: a pass frees {each.passed.gain:,} tokens")
            for each in done.calls
            if each.passed is not None and each.passed.gain
        ]
        parts.append(f"<h3>{escape(name)}</h3>{lines([full, kept], 'model call', 'tokens', rules, marks)}")
    return "".join(parts)


def _passes(lived: Iterable[tuple[str, Prepared, Replay]]) -> str:
    rows = [
        (escape(name), each.call, f"{each.gain:,}", f"{each.kept_after:,}",
         "never" if each.break_even is None else f"{each.break_even:.1f}", each.calls, f"{each.net:+.4f} $")
        for name, prepared, done in lived
        for each in paybacks(done, prepared.prices)
    ]  # fmt: skip
    head = ("trace", "call", "freed (D)", "written anew (K)", "break-even (N*)", "calls that had it", "won")
    return f"<h2>Did each pass pay?</h2>{_grid(head, rows)}" if rows else ""


def _lost(best: Row, lived: Sequence[tuple[str, Prepared, Replay]], of: int | None) -> str:
    found: dict[tuple[str, str], list[Loss]] = {}
    losses = best.measures.lost if of is None else [loss for _, _, done in lived for loss in done.measures.lost]
    for each in losses:
        found.setdefault((each.measure, each.what), []).append(each)
    rows = [
        (measure, f"<code>{escape(what[:120])}</code>", len(times), times[0].call, escape(times[0].event_id[:40]),
         times[0].distance)
        for (measure, what), times in sorted(found.items(), key=lambda item: (item[0][0], -len(item[1])))
    ]  # fmt: skip
    more = len(rows) - MOST_LOST
    tail = f"<p>and {more:,} more</p>" if more > 0 else ""
    head = ("measure", "what", "calls that missed it", "the first", "stood last in", "calls before")
    told = _grid(head, rows[:MOST_LOST]) if rows else "<p>Nothing.</p>"
    where = "" if of is None else f" in the first {len(lived):,} of {of:,} traces"
    return f"<h2>What it loses{where}</h2>{told}{tail}"


def _code(policy: Policy) -> str:
    code = (
        "from context_gc import ContextGC, Policy\n\n"
        'client = ContextGC(Policy.load("policy.toml"))\n'
        "client.add_event(event)             # as things happen\n"
        'prompt = client.compact()["prompt"]  # before each model call\n'
    )
    return f"<h2>To use it</h2><pre>{escape(policy.to_toml())}</pre><pre>{escape(code)}</pre>"


def _conditions(advice: Advice) -> str:
    rows = [
        (name, f"&ge; {least}", advice.failing[name], _points(advice.price_of[name]))
        for name, (_, least) in CONDITIONS.items()
    ]
    return f"<h2>What each condition costs</h2>{_grid(('condition', '', 'policies that miss it', 'costs'), rows)}"


def _points(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%} of the full history"


def _table(rows: Sequence[Row], best: Row | None) -> str:
    ranked = sorted(rows, key=lambda each: each.cost)[:MOST_ROWS]
    cells = []
    for each in ranked:
        told, told_by = each.to_dict(), sorted(misses(each))
        name = f"<b>{escape(each.method)}</b>" if each is best else escape(each.method)
        shares = [f"{told[key]:.2%}" for key in ("M1", "M2", "M4", "M5")]
        cells.append(
            (name, f"{each.cost:.1%}", f"{each.floor:.1%}", *shares, told["M6"], f"{told['M7']:.1%}",
             f"{told['M9']:.2%}", each.passes, ", ".join(told_by))
        )  # fmt: skip
    head = ("policy", "cost", "floor", "M1", "M2", "M4", "M5", "M6", "M7", "M9", "passes", "misses")
    notes = "".join(f"<li><b>{key}</b> {text}</li>" for key, text in MEASURES.items())
    return f"<h2>All policies</h2>{_grid(head, cells)}<ul class='notes'>{notes}</ul>"


def _basis(prepared: Sequence[tuple[str, Prepared]]) -> str:
    rows = []
    for name, each in prepared:
        fit, prices = each.calibration, each.prices
        error = (
            "not reported" if fit.median_error is None else f"{fit.median_error:.1%} median, {fit.p95_error:.1%} p95"
        )
        rows.append(
            (escape(name), escape(prices.model), escape(prices.as_of or "own"), f"{prices.r:.3g}", f"{prices.w:.3g}",
             escape(each.counter.name), f"{fit.scale:.3f}", f"{fit.overhead:,.0f}", error)
        )  # fmt: skip
    head = ("trace", "model", "prices of", "r", "w", "counter", "scale", "overhead", "error of a prompt")
    caveat = (
        "<p>The recorded behaviour is held fixed: what an agent would have done with another prompt is not measured"
        " here. Costs are those of the prompts; output is the same under every policy.</p>"
    )
    return f"<h2>What the figures rest on</h2>{_grid(head, rows)}{caveat}"


def _grid(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    top = "".join(f"<th>{text}</th>" for text in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='scroll'><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


_COLOURS: Mapping[str, tuple[str, str]] = {  # light, dark
    "ground": ("#ffffff", "#14161a"), "ink": ("#1d2026", "#e6e8ec"), "faint": ("#6b7280", "#9aa1ad"),
    "line": ("#e3e5ea", "#2b2f37"), "good": ("#2f6fde", "#6ea0ff"), "best": ("#0f8a5f", "#3ecf9a"),
    "bad": ("#b9bec8", "#565d69"), "baseline": ("#c2761a", "#e5a24c"), "full": ("#9aa1ad", "#6b7280"),
}  # fmt: skip
_LIGHT, _DARK = (";".join(f"--{name}:{pair[at]}" for name, pair in _COLOURS.items()) for at in (0, 1))

_PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>context-gc: tuning report</title>
<style>
:root{{{_LIGHT};color-scheme:light dark}}
@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
body{{font:15px/1.5 system-ui,sans-serif;background:var(--ground);color:var(--ink);max-width:1040px;margin:2rem auto;
padding:0 1rem}}
h1{{font-size:1.35rem;overflow-wrap:anywhere}} h2{{font-size:1.1rem;margin-top:2.2rem}} h3{{font-size:.95rem}}
p,small,.notes{{color:var(--faint)}} svg{{width:100%;height:auto}} figure{{margin:0}}
.cards{{display:flex;flex-wrap:wrap;gap:1.6rem}} .cards dt{{color:var(--faint)}}
.cards dd{{margin:0;font-size:1.5rem;font-variant-numeric:tabular-nums}} .cards small{{display:block;font-size:.8rem}}
table{{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}} .scroll{{overflow-x:auto}}
th,td{{text-align:left;padding:.3rem .7rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}}
th{{color:var(--faint);font-weight:500}} pre{{background:var(--line);padding:1rem;overflow-x:auto;border-radius:6px}}
svg text{{font-size:11px;fill:var(--faint)}} .grid{{stroke:var(--line)}} line.rule{{stroke:var(--baseline);
stroke-dasharray:4 4}} .mark{{stroke:var(--best);opacity:.5}}
polyline{{fill:none;stroke-width:1.8;stroke:var(--good)}} polyline.full{{stroke:var(--full)}}
circle{{fill:var(--good);fill-opacity:.75}} circle.best{{fill:var(--best);fill-opacity:1}}
circle.bad{{fill:var(--bad)}} circle.baseline{{fill:var(--baseline)}}
.legend{{display:flex;gap:1.2rem;font-size:13px}} .legend span::before{{content:"●";margin-right:.35rem;
color:var(--good)}} .legend .best::before{{color:var(--best)}} .legend .bad::before{{color:var(--bad)}}
.legend .baseline::before{{color:var(--baseline)}} .legend .full::before{{color:var(--full)}}
</style></head><body>
%BODY%
</body></html>
"""
