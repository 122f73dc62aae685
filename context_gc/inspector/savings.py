"""Savings: what each stage alone adds to what a policy saves on one window, on or off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..compaction import Compaction
from ..compactor import compact_events
from ..events import Event
from ..policy import Policy
from ..render import images
from ..stages import STAGES
from ..tokens import COUNTERS, IMAGE_TOKENS


def savings(events: Sequence[Event], policy: Policy, result: Compaction, before: Sequence[int]) -> Mapping[str, int]:
    """Stage name -> tokens it takes away, given all other stages as the policy has them.

    `result` is the compaction under the policy, `before` the tokens of each event in the full history.
    For a stage that is on: how much more the prompt would have without it. For one that is off: how much
    less with it. The figures do not add up: two stages may find the same event.
    """
    base, saved = total(result, policy, before), {}
    for stage in STAGES:
        on = stage.name in policy.stages
        chosen = tuple(each.name for each in STAGES if (each.name in policy.stages) != (each is stage))
        other = replace(policy, stages=chosen)
        after = total(compact_events(events, other), other, before)
        saved[stage.name] = after - base if on else base - after
    return saved


def total(result: Compaction, policy: Policy, before: Sequence[int]) -> int:
    """Tokens of the prompt under a policy."""
    return sum(before) + sum(impacts(result, policy, before).values())


def impacts(result: Compaction, policy: Policy, before: Sequence[int]) -> dict[int, int]:
    """Place -> tokens that an event's fate adds, as `Compaction.impact` has it, for those with a decision.

    Only their stubs and marks are counted anew: under another policy the rest of the history costs the same.
    """
    prompt, count = result.layout, COUNTERS[policy.counter].count
    seqs = {event["id"]: seq for seq, event in enumerate(result.events)}
    found: dict[int, int] = {}
    for decision in result["decisions"]:
        seq = seqs[decision["event_id"]]
        text = prompt.slot(seq)
        stands = seq not in prompt.runs or seq in prompt.shown
        pictures = images(result.events[seq]) * IMAGE_TOKENS if stands else 0
        found[seq] = (count(text + "\n") if text else 0) + pictures - before[seq]
    return found
