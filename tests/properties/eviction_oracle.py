"""What may make room and what may not, once more: slow, simple, and straight from the design.

A `Life` is passed in (see budget_invariants): its events so far, what was cut before, and its budget.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from invariants import pairs

from context_gc import Compaction
from context_gc.outcomes import failed
from context_gc.render import line
from context_gc.semantics import FileEdit, FileRead, semantics

if TYPE_CHECKING:
    from budget_invariants import Life

LONGER = "its stub would be longer than it"
ACTS = frozenset(
    "file_read file_edit command_run test_run build_run git_diff git_commit artifact_created verification error".split()
)


def never_evicted(life: Life, result: Compaction, name: str) -> str | None:
    """Why an event must not make room; None when it may."""
    given = life.events[: life.size]
    calls = pairs(given)
    lead = calls.get(name, name)
    unit = [seq for seq, event in enumerate(given) if calls.get(event["id"], event["id"]) == lead]
    event = next(given[seq] for seq in unit if given[seq]["id"] == lead)
    if any(life.stays(seq) or given[seq]["id"] in life.restored for seq in unit):
        return "protected"
    if event["type"] == "abandon":
        return "abandon"
    if event["type"] == "tool_call" and len(unit) == 1:
        return "open call"
    if event.get("importance") == "task" and unit[0] >= life.ended.get("task_end", 0):
        return "task"
    if unit[0] >= first_recent(life, result, share=0.25):
        return "recent"
    if event["type"] == "error" and event.get("related_to") is None:
        newer = any(each.get("related_to") == name for each in given)
        return None if newer else "unresolved"
    return None


def left_over(life: Life, result: Compaction) -> list[str]:
    """What stands in the prompt although nothing could have spared it."""
    given, found = life.events[: life.size], []
    calls = pairs(given)
    recent = first_recent(life, result, share=math.inf)
    cut = set(result["pruned_ids"])
    for seq, event in enumerate(given):
        name = event["id"]
        if calls.get(name, name) != name or name in cut or seq >= recent or event["type"] == "abandon":
            continue
        decision = result.decision(name)
        results = [each for each in given if calls.get(each["id"]) == name]
        free = (
            result.protected(name) is None
            and not (decision is not None and decision.stage == "eviction")  # its stub would be longer than it
            and not (decision is not None and decision.kept is not None)
            and not (event["type"] == "tool_call" and not results)
            and not isinstance(semantics(event), FileRead | FileEdit)
            and event.get("importance") != "task"
            and event["type"] != "error"
            and not failed(event, results)
        )
        if free and any(map(line, [event, *results])):
            found.append(name)
    return found


def first_recent(life: Life, result: Compaction, share: float) -> int:
    """The place from which on everything is recent: observations that no stage found dead, from the last back."""
    given = life.events[: life.size]
    calls, gone = pairs(given), life.cut.intersection(result["pruned_ids"])
    first, held, number = life.size, 0, 0
    for seq in range(life.size - 1, -1, -1):
        event, name = given[seq], given[seq]["id"]
        decision = result.decision(name)
        dead = (
            decision is not None
            and decision.stage != "eviction"
            and decision.kept in (None, LONGER)
            and not decision.clipped
        )
        out = dead or name in gone
        if out or calls.get(name, name) != name or (event["type"] not in ACTS and name not in calls.values()):
            continue
        number += 1
        held += sum(result.tokens(each["id"]) for each in given if calls.get(each["id"], each["id"]) == name)
        if number > life.budget.recent_observations or (number > 1 and held > share * life.budget.window):
            break
        first = seq
    return first
