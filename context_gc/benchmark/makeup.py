"""Makeup: what sessions consist of, so that one can see how near made-up ones come to recorded ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..canonical import canonical
from ..compactor import compact_events
from ..events import Event
from ..outcomes import failed
from ..policy import Policy
from ..semantics import FileRead, semantics
from ..units import Units
from .methods import COUNTER, LOSSLESS

LARGE = 2_000  #: tokens of a result that count as large


@dataclass(frozen=True, slots=True)
class Makeup:
    """Shares in 0..1. What an agent saw twice is counted once; what was never sent is left out."""

    name: str
    events: int
    tokens: int
    results: float  #: of the tokens, in results
    calls: float  #: of the tokens, in calls
    large: float  #: of the tokens, in results above LARGE
    rereads: float  #: of the reads, those of a file that was read before
    again: float  #: of the calls, those with the tool and the arguments of an earlier one
    failures: float  #: of the calls
    abandoned: float  #: of the tokens, on branches that were given up
    by_default: float  #: of the tokens, what the default policy takes away
    lossless: float  #: of the tokens, what all lossless stages take away


HEADS = (
    "session", "events", "tokens", "in results", "in calls", f"in results > {LARGE:,}", "re-reads of reads",
    "same call again", "failed calls", "given up", "default saves", "lossless saves",
)  # fmt: skip


def makeup(name: str, events: Iterable[Event]) -> Makeup:
    """Look through one session."""
    own = [event for event in events if "repeats" not in event and not event.get("unsent")]
    units = Units.of(own)
    default, lossless = (compact_events(own, policy, COUNTER) for policy in (Policy(), Policy(stages=LOSSLESS)))
    tokens = [default.tokens(event["id"]) for event in own]
    whole = sum(tokens) or 1
    of_type: Counter[str] = Counter()
    large = gone = 0
    for event, count in zip(own, tokens, strict=True):
        of_type[event["type"]] += count
        large += count if event["type"] == "tool_result" and count > LARGE else 0
        decision = default.decision(event["id"])
        gone += count if decision is not None and decision.stage == "dead-branches" else 0
    calls = [seq for seq, event in enumerate(own) if event["type"] == "tool_call"]
    asked = [(own[seq]["tool_name"], canonical(own[seq]["arguments"])) for seq in calls]
    reads = [fact.path for event in own if isinstance(fact := semantics(event), FileRead)]
    wrong = sum(failed(own[seq], [own[place] for place in units.results(seq)]) for seq in calls)
    return Makeup(
        name, len(own), whole, of_type["tool_result"] / whole, of_type["tool_call"] / whole, large / whole,
        _share(len(reads) - len(set(reads)), len(reads)), _share(len(asked) - len(set(asked)), len(asked)),
        _share(wrong, len(calls)), gone / whole, 1 - default["tokens_after"] / whole,
        1 - lossless["tokens_after"] / whole,
    )  # fmt: skip


def table(found: Sequence[Makeup]) -> list[str]:
    """Markdown."""
    rows = [f"| {' | '.join(HEADS)} |", "|---|" + "---:|" * (len(HEADS) - 1)]
    for each in found:
        shares = (
            each.results, each.calls, each.large, each.rereads, each.again, each.failures, each.abandoned,
            each.by_default, each.lossless,
        )  # fmt: skip
        told = " | ".join(f"{100 * share:.1f} %" for share in shares)
        rows.append(f"| {each.name} | {each.events:,} | {each.tokens:,} | {told} |")
    return rows


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
