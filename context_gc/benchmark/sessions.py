"""Sessions: recorded runs under the baselines and the policies of a grid, by the measures and costs of a replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from ..budget import Budget
from ..errors import ContextGCError, InvalidPolicy
from ..load import load_traces
from ..policy import KNOWN_STAGES, Policy
from ..replay.advice import CONDITIONS, Advice, misses, recommend
from ..replay.baselines import BASELINES, Masking
from ..replay.courses import ByPolicy
from ..replay.grid import DEFAULT, Cell, cells
from ..replay.measures import Measures
from ..replay.prices import prices_of
from ..replay.prompts import Method
from ..replay.sweep import Prepared, Row, prepare, sweep
from ..trace import Trace
from ..windows import window_of
from .methods import LOSSLESS

STAND_IN = "claude-sonnet-4-5"  #: whose prices and window count where a session names no model that is known
SMALLEST = 200_000  #: tokens; the window of a grid is never larger, so that old and new models are treated alike
ANTHROPIC = (Masking(3, trigger=100_000), Masking(3, batch=40_000, trigger=100_000))  #: like clear_tool_uses


@dataclass(frozen=True, slots=True)
class Session:
    """One recorded run, ready to be replayed."""

    name: str
    trace: Trace
    prepared: Prepared
    note: str  #: whose prices, where they are not its own model's


@dataclass(frozen=True, slots=True)
class Results:
    """Rows of all sessions added up, of each alone, and what is advised."""

    sessions: tuple[Session, ...]
    rows: tuple[Row, ...]  #: baselines, our plain policies, then the grid
    alone: Mapping[str, tuple[Row, ...]]  #: session -> the rows that are shown of it
    advice: Advice
    advice_floor: Advice
    held_out: Row | None  #: each session under what the others recommend; None for one session alone
    tried: int  #: policies of the grid


def opened(paths: Iterable[str]) -> tuple[list[Session], list[str]]:
    """The runs in these files, and what could not be replayed, each with its reason. Names are those of the files."""
    found: list[Session] = []
    left: list[str] = []
    used: Counter[str] = Counter()
    for path in paths:
        base = Path(path).name
        used[base] += 1
        base += f" ({used[base]})" if used[base] > 1 else ""
        try:
            traces = load_traces(path)
        except ContextGCError as error:
            left.append(_why(base, path, error))
            continue
        for number, trace in enumerate(traces, 1):
            name = f"{base} #{number}" if len(traces) > 1 else base
            try:
                found.append(_session(name, trace))
            except ContextGCError as error:
                left.append(_why(name, path, error))
    return found, left


def _why(name: str, path: str, error: ContextGCError) -> str:
    """Why it was left out, without the folder that it lies in."""
    told = str(error).replace(path, Path(path).name)
    return told if told.startswith(name) else f"{name}: {told}"


def _session(name: str, trace: Trace) -> Session:
    note = ""
    try:
        prices = prices_of(trace.model)
    except InvalidPolicy:
        prices = prices_of(STAND_IN)
        why = f"{trace.model} has no prices here" if trace.model else "no model is named"
        note = f"{STAND_IN} ({why})"
    return Session(name, trace, prepare(trace, prices), note)


def plain() -> list[ByPolicy]:
    """This project's policies as they come, without a grid."""
    budget = Budget(SMALLEST)
    return [
        ByPolicy(Policy(), "default policy, at once"),
        ByPolicy(Policy(budget=budget), f"default policy, window {SMALLEST:,}"),
        ByPolicy(Policy(stages=LOSSLESS, budget=budget), f"all lossless stages, window {SMALLEST:,}"),
        ByPolicy(Policy(stages=KNOWN_STAGES, budget=budget), f"all stages, window {SMALLEST:,}"),
    ]


def results(
    sessions: Sequence[Session], grid: Mapping[str, Any] = DEFAULT, told: Callable[[int, int], None] | None = None
) -> Results:
    """Replay every session under everything."""
    window = min([SMALLEST, *(_window(each.trace.model) for each in sessions)])
    tried = cells(grid, max_tokens=window)
    methods: list[Cell | Method] = [*BASELINES, *plain(), *tried]
    by_session: list[list[Row]] = []
    for each in sessions:
        by_session.append(sweep([each.prepared], methods))
        if told is not None:
            told(len(by_session), len(sessions))
    rows = _added(sessions, by_session)
    advice = recommend(rows)
    shown = [at for at, row in enumerate(rows) if not row.values or row is advice.best]
    alone = {each.name: tuple(own[at] for at in shown) for each, own in zip(sessions, by_session, strict=True)}
    held = _held_out(sessions, by_session) if len(sessions) > 1 else None
    return Results(tuple(sessions), tuple(rows), alone, advice, recommend(rows, floor=True), held, len(tried))


def _added(sessions: Sequence[Session], by_session: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows of several sessions, method by method, as those of one."""
    fulls = [each.prepared.full for each in sessions]
    return [_sum(parts, fulls) for parts in zip(*by_session, strict=True)]


def _sum(parts: Sequence[Row], fulls: Sequence[tuple[float, float, float]], name: str = "") -> Row:
    measures = Measures()
    for part in parts:
        measures += part.measures
    ideal = sum(part.cost * full[0] for part, full in zip(parts, fulls, strict=True))
    floor = sum(part.floor * full[1] for part, full in zip(parts, fulls, strict=True))
    return changed(
        parts[0],
        method=name or parts[0].method,
        cost=ideal / sum(full[0] for full in fulls),
        floor=floor / sum(full[1] for full in fulls),
        dollars=sum(part.dollars for part in parts),
        tokens=sum(part.tokens for part in parts),
        peak=max(part.peak for part in parts),
        calls=sum(part.calls for part in parts),
        passes=sum(part.passes for part in parts),
        paid=sum(part.paid for part in parts),
        measures=measures,
    )


def _held_out(sessions: Sequence[Session], by_session: Sequence[Sequence[Row]]) -> Row:
    """Each session under what is recommended from all others: what advice is worth for a session not seen before."""
    picked = []
    for at, own in enumerate(by_session):
        others = [number for number in range(len(sessions)) if number != at]
        rows = _added([sessions[number] for number in others], [by_session[number] for number in others])
        best = recommend(rows).best
        picked.append(
            own[0] if best is None else next(row for row, whole in zip(own, rows, strict=True) if whole is best)
        )
    return _sum(picked, [each.prepared.full for each in sessions], "recommended from the other sessions")


def _window(model: str) -> int:
    try:
        return window_of(model)
    except InvalidPolicy:
        return SMALLEST


HEADS = (
    "policy", "prompt tokens", "cost ideal", "cost floor", "$", "M1", "M2", "M3 receipts", "M4", "M5", "M6", "M7",
    "M9", "passes", "paid", "peak",
)  # fmt: skip


def table(rows: Sequence[Row], best: Row | None = None) -> list[str]:
    """Markdown. Tokens and costs relative to the first row, which is the full history."""
    made = [f"| {' | '.join(HEADS)} |", "|---|" + "---:|" * (len(HEADS) - 1)]
    for each in rows:
        told = each.measures
        name = f"**{each.method}**" if best is not None and each.method == best.method else each.method
        ratios = (told.artifacts, told.instructions)
        made.append(
            f"| {name} | {100 * each.tokens / rows[0].tokens:.1f} % | {100 * each.cost:.1f} %"
            f" | {100 * each.floor:.1f} %"
            f" | {each.dollars:.2f} | {_percent(told.recall.ratio)} | {_percent(told.sole_source.ratio)}"
            f" | {told.recovered:,} | {' | '.join(_percent(share.ratio) for share in ratios)}"
            f" | {told.faults.total():,} | {_percent(told.extending.ratio)} | {_percent(told.quotes.ratio)}"
            f" | {each.passes:,} | {each.paid:,} | {each.peak:,} |"
        )
    return made


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.2f} %"


def findings(found: Results) -> list[str]:
    """What the sums say, as sentences with their figures."""
    by_name = {row.method: row for row in found.rows}
    sliding, batched = by_name[Masking(10).name], by_name[Masking(10, batch=20_000).name]
    told = [
        f"Sliding masking (keep 10) costs {100 * sliding.floor:.1f} % of the full history at floor, with"
        f" {100 * sliding.tokens / found.rows[0].tokens:.1f} % of its prompt tokens; in batches of 20,000 it costs"
        f" {100 * batched.floor:.1f} %. "
        + _reproduced(sliding.floor > 1 > batched.floor, "sliding above full history, batching below"),
    ]
    best = found.advice.best
    if best is None:
        missed = ", ".join(f"{name} by {count}" for name, count in found.advice.failing.items() if count)
        return [*told, f"`recommend` finds none of the {found.tried} policies that meets every condition ({missed})."]
    told.append(
        f"`recommend` picks, of {found.tried} policies of its grid, tuned on these same sessions: **{best.method}**, at"
        f" {100 * best.cost:.1f} % (ideal) and {100 * best.floor:.1f} % (floor) of the full history."
    )
    if found.held_out is not None:
        held = found.held_out
        told.append(
            f"Each session under what is recommended from the others alone: {100 * held.cost:.1f} % (ideal),"
            f" {100 * held.floor:.1f} % (floor), M1 {_percent(held.measures.recall.ratio)}, M2"
            f" {_percent(held.measures.sole_source.ratio)}; it misses"
            f" {', '.join(sorted(misses(held))) or 'no condition'}."
        )
    ranked = found.advice_floor.best
    if ranked is not None and ranked.method != best.method:
        told.append(f"Ranked at floor it picks {ranked.method}: {100 * ranked.floor:.1f} %.")
    for rule in ANTHROPIC:
        other = by_name[rule.name]
        told.append(_against(best, other))
    prices = [f"{name} {100 * price:.1f} points" for name, price in found.advice.price_of.items() if price]
    told.append(f"What single conditions cost: {', '.join(prices) or 'nothing'} (of {', '.join(CONDITIONS)}).")
    return told


def _against(best: Row, other: Row) -> str:
    pairs = [
        ("cost ideal", best.cost, other.cost, best.cost <= other.cost),
        ("cost floor", best.floor, other.floor, best.floor <= other.floor),
        ("M1", best.measures.recall.ratio, other.measures.recall.ratio,
         best.measures.recall.ratio >= other.measures.recall.ratio),
        ("M2", best.measures.sole_source.ratio, other.measures.sole_source.ratio,
         best.measures.sole_source.ratio >= other.measures.sole_source.ratio),
    ]  # fmt: skip
    figures = ", ".join(f"{name} {_percent(ours)} to {_percent(theirs)}" for name, ours, theirs, _ in pairs)
    lost = [name for name, _, _, won in pairs if not won]
    faults = ", ".join(sorted(misses(other))) or "no condition"
    end = "no worse in any of these" if not lost else f"worse in {' and '.join(lost)}"
    return f"Against {other.method}: {figures}; the recommended policy is {end}. The other misses {faults}."


def _reproduced(holds: bool, what: str) -> str:
    return f"So {what}: {'reproduced' if holds else '**not** reproduced on these sessions'}."
