"""Chapters: parts A and B of the report, from what was measured to Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..compactor import compact_events
from ..policy import Policy
from . import grading, makeup, peers, rules, sessions
from .grading import Grade
from .methods import COUNTER, OURS
from .probes import KINDS, SCORED
from .scenarios import WRITERS, Scenario, scenario

GOAL = 0.21  #: reduction of the long sessions that this design is known for (1,301 to 1,028 tokens, tracegc)

_PROBES = (
    "A probe is a question with a known answer. It passes when every needle of the answer stands in the final "
    "prompt byte for byte, and nothing outdated (a superseded value, a plan that was given up) stands behind the "
    "last of them. *That an answer stands there is an upper bound of its use: a model may still overlook it.* "
    "What stands behind a receipt, or behind the handle of another tool, passes no probe. The "
    "kind `aside` is a known price of cutting dead branches and not among the four that have to pass; what such a "
    "branch had found comes back through its receipt. “Outdated shown” counts probes of which something outdated "
    "stands anywhere in the prompt, be it in its right place. Each method is given the whole session at once. "
    "Kinds: "
)
_NEAR = (
    "In italics: made up. Results, calls, re-reads and repeats were set after recorded sessions of coding agents. "
    "Variables (`set_var`) and branches that are given up are an assumption: agents that record them are rare, "
    "and what they save here is not to be expected where nothing is given up."
)
_OF_TRACEGC = (
    "The nine sessions that ship with tracegc, with its own probes (all texts that it wants are in the prompt, "
    "none that it excludes, letters of either case). It states 1,301 to 1,028 tokens (21.0 %) for the mean long "
    "one."
)
_ITS_FAILURES = (
    "A probe that fails here (of 0.6.0) excludes a text that is part of a current one (`phase = Phase II` of "
    "`Phase III`) or is itself current (`test_cache`)."
)
_MEASURES = (
    "Every model call of a session is replayed under each policy: what the agent did stays as recorded, the "
    "prompt is what the policy would have sent. Costs are those of the prompts relative to the full history: "
    "`ideal` keeps all that stands before the first changed byte in the provider's cache, `floor` only the system "
    "prompt once anything changes. M1: identifiers used again that the prompt held. M2: those that only a result "
    "had supplied. M3: receipts that M1 = 100 % needs back. M4: touched paths with their last operation. M5: "
    "instructions byte for byte. M6: faults of structure. M7: prompts that extend the one before. M8: the costs. "
    "M9: quotes that an edit needs."
)


def made_up(graded: Sequence[Grade], found: Sequence[sessions.Session], lengths: Sequence[str]) -> Iterator[str]:
    """Part A."""
    yield "## A. Made-up sessions with known answers"
    yield ""
    yield _PROBES + "; ".join(f"**{kind}**: {what}" for kind, what in KINDS.items()) + "."
    yield ""
    yield "### How near they come to recorded sessions"
    yield ""
    near = [makeup.makeup(each.name, each.trace.events) for each in found]
    near += [makeup.makeup(f"*{each.name}*", each.events) for each in _scenarios(lengths)]
    yield from makeup.table(near)
    yield ""
    yield _NEAR
    yield ""
    yield from _goals(graded, lengths)
    for size in lengths:
        yield f"### {size.capitalize()}: the sum of {', '.join(WRITERS)}"
        yield ""
        yield from grading.table(grading.summed(graded, size))
        yield ""
    for each in dict.fromkeys(grade.scenario for grade in graded):
        yield f"<details><summary>{each}</summary>"
        yield ""
        yield from grading.table([grade for grade in graded if grade.scenario == each])
        yield ""
        yield "</details>"
        yield ""
    yield from _of_tracegc()


def _scenarios(lengths: Sequence[str]) -> Iterator[Scenario]:
    return (scenario(domain, size) for size in lengths for domain in WRITERS)


def _goals(graded: Sequence[Grade], lengths: Sequence[str]) -> Iterator[str]:
    yield "### Goals"
    yield ""
    for name in OURS:
        own = [each for each in graded if each.method == name]
        wrong = [each.scenario for each in own if any(each.scores[kind][0] < each.scores[kind][1] for kind in SCORED)]
        yield (
            f"- {name}: every probe of the four kinds passes in {len(own) - len(wrong)} of {len(own)} sessions"
            + (f" (not in {', '.join(wrong)})" if wrong else "")
            + "."
        )
        size = lengths[-1]
        total = next(each for each in grading.summed(graded, size) if each.method == name)
        parts = ", ".join(
            f"{each.scenario} {100 * each.reduction:.1f} %" for each in own if each.scenario.endswith(f" {size}")
        )
        reached = "reached" if total.reduction > GOAL else "**not reached**"
        yield (
            f"- {name}: {100 * total.reduction:.1f} % fewer tokens on the {size} sessions together ({parts});"
            f" the goal of more than {100 * GOAL:.0f} % is {reached}."
        )
    yield ""
    yield f"By stage, on the {lengths[-1]} sessions, as shares of the full history (stubs where they are worthwhile):"
    yield ""
    for each in _scenarios(lengths[-1:]):
        told = rules.saved(each.events, "o200k")
        shares = ", ".join(f"{stage} {100 * gain / told.before:.1f} %" for stage, gain in told.by_stage.items())
        yield f"- {each.name}: {shares}"
    yield ""


def _of_tracegc() -> Iterator[str]:
    yield "### The sessions that the 21 % come from"
    yield ""
    if next(each for each in peers.PEERS if each.package == "tracegc").version is None:
        yield "Not run: they ship with the package tracegc, which is not installed."
        yield ""
        return
    yield _OF_TRACEGC
    yield ""
    yield "| session | events | tokens before | default policy | reduction | its probes |"
    yield "|---|---:|---:|---:|---:|---|"
    sums = [0, 0]
    for name, graph, probes in peers.tracegc_sessions():
        before = COUNTER.count(compact_events(graph, Policy(stages=()))["prompt"])
        prompt: str = compact_events(graph)["prompt"]
        after = COUNTER.count(prompt)
        if name.endswith("_long"):
            sums = [sums[0] + before, sums[1] + after]
        failed = [kind for kind, probe in probes.items() if not peers.tracegc_passes(probe, prompt)]
        passed = f"{len(probes) - len(failed)}/{len(probes)}" + (f", not {', '.join(failed)}" if failed else "")
        yield f"| {name} | {len(graph)} | {before:,} | {after:,} | {100 - 100 * after / before:.1f} % | {passed} |"
    yield (f"| the long ones | | {sums[0]:,} | {sums[1]:,} | {100 - 100 * sums[1] / sums[0]:.1f} % | |")
    yield ""
    yield _ITS_FAILURES
    yield ""


def recorded(found: Sequence[sessions.Session], grid: Mapping[str, Any], told: Callable[[str], None]) -> Iterator[str]:
    """Part B."""
    yield "## B. Recorded sessions"
    yield ""
    if not found:
        yield "Not run: name recorded sessions on the command line."
        yield ""
        return
    yield _MEASURES
    yield ""
    yield "| session | format | events | calls | windows | prices of |"
    yield "|---|---|---:|---:|---:|---|"
    for each in found:
        calls = sum(len(reading.stretch.calls) for reading in each.prepared.readings)
        prices = each.note or each.prepared.prices.model
        yield (
            f"| {each.name} | {each.trace.format} | {len(each.trace.events):,} | {calls:,} | {len(each.trace.windows)}"
            f" | {prices} |"
        )
    yield ""
    done = sessions.results(found, grid, lambda at, of: told(f"{at} of {of} sessions"))
    yield "### All sessions added up"
    yield ""
    best = done.advice.best
    shown = [row for row in done.rows if not row.values]
    shown += [row for row in (best, *done.advice.runners_up, done.held_out) if row is not None]
    yield from sessions.table(shown, best)
    yield ""
    yield from (f"- {line}" for line in sessions.findings(done))
    yield ""
    for name, rows in done.alone.items():
        yield f"<details><summary>{name}</summary>"
        yield ""
        yield from sessions.table(rows, best)
        yield ""
        yield "</details>"
        yield ""
