"""The tree of a pi session: which entry follows which, the branches that lost, and the order of its trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(slots=True)
class Entry:
    """One record behind the header. `name` is its id, or its line where the first version of the format has none."""

    line: int
    nth: int  #: among the records of its line, from 0
    name: str
    kind: str
    value: dict[str, Any]


class Step(NamedTuple):
    """Take in the entry at `place`; with a `winner`, give up the branch that begins there for that of the winner."""

    place: int
    winner: int = -1


def parents(entries: Sequence[Entry]) -> list[int]:
    """The place of the entry that each one follows, or -1. Without a known parent it follows the one above it."""
    at: dict[str, int] = {}
    found: list[int] = []
    for place, entry in enumerate(entries):
        parent = entry.value.get("parentId", "")
        found.append(-1 if parent is None else at.get(parent, place - 1) if type(parent) is str else place - 1)
        at[entry.name] = place
    return found


def path(place: int, parent: Sequence[int]) -> list[int]:
    """The entries from the first one down to that at a place."""
    found: list[int] = []
    while place >= 0:
        found.append(place)
        place = parent[place]
    return found[::-1]


def steps(parent: Sequence[int]) -> Iterator[Step]:
    """Every entry once, parents first. Where branches fork, that with the last entry in the file comes last: it won.

    Each losing branch is taken in whole and then given up.
    """
    latest = list(range(len(parent)))
    children: dict[int, list[int]] = {}
    for place in range(len(parent) - 1, -1, -1):
        above = parent[place]
        children.setdefault(above, []).append(place)
        if above >= 0:
            latest[above] = max(latest[above], latest[place])
    todo = [*_from_the_winner(children.get(-1, ()), latest)]
    while todo:
        step = todo.pop()
        yield step
        below = children.get(step.place, ()) if step.winner < 0 else ()
        if len(below) == 1:
            todo.append(Step(below[0]))
        elif below:
            todo += _from_the_winner(below, latest)


def _from_the_winner(rivals: Sequence[int], latest: Sequence[int]) -> Iterator[Step]:
    """What is to be done for the branches of a fork, the last step first."""
    ordered = sorted(rivals, key=latest.__getitem__)
    for index in range(len(ordered) - 1, -1, -1):
        if index < len(ordered) - 1:
            yield Step(ordered[index], ordered[index + 1])
        yield Step(ordered[index])
