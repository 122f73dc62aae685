"""Which line follows which in a Claude Code session, where it was rewound, and the order of its trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .lines import Line


class Tree:
    """The lines of one agent by their places, 0 … n-1.

    `parent` is the place of the line before, or -1. `order` is file order, but parents come before their
    children and a losing branch before the one that replaced it. `rival` maps the first line of a branch
    to that of the branch which it replaced: such a fork has two children that a person typed. The branch
    that holds the last line in the file wins; `lost` says which lines are on a branch that did not. A line
    without a known parent follows the line above it; but a prompt whose record says that nothing precedes it
    replaces an earlier first prompt of the session that was answered: a rewind to the very beginning.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self.parent, linked = _parents(lines)
        first, anew = _beginnings(lines, self.parent, linked)
        for place in anew:
            self.parent[place] = -1
        self.lines = lines
        self._children: list[list[int]] = [[] for _ in lines]
        for place, parent in enumerate(self.parent):
            if parent >= 0:
                self._children[parent].append(place)
        self.rival, self.lost = self._rivals(lines, linked, [first, *anew] if anew else [])
        self.order = self._ordered()

    def branch(self, place: int) -> list[int]:
        """The places of a line and all that follows from it, in file order."""
        found = [place]
        for member in found:
            found += self._children[member]
        return sorted(found)

    def above(self, place: int) -> list[int]:
        """The places from a line up to its root or the nearest boundary of its window, the root first."""
        found = []
        while place >= 0:
            found.append(place)
            place = -1 if self.lines[place].role == "boundary" else self.parent[place]
        return found[::-1]

    def beside(self, place: int) -> list[int]:
        """The places of the lines that hang below a line and answer its calls, in file order."""
        return [child for child in self._children[place] if _answers(self.lines[child])]

    def _rivals(
        self, lines: Sequence[Line], linked: Sequence[bool], beginnings: list[int]
    ) -> tuple[dict[int, int], list[bool]]:
        top_down = [member for place, parent in enumerate(self.parent) if parent < 0 for member in self._below(place)]
        # the nearest line above that the model or a person wrote; ~root where there is none
        above: dict[int, int] = {}
        forks: dict[int, list[int]] = {}
        for place in top_down:
            parent = self.parent[place]
            if parent < 0 or not linked[place]:
                continue
            stands = lines[parent].role or lines[parent].typed
            above[place] = parent if stands else above.get(parent, ~parent)
            if lines[place].typed:
                forks.setdefault(above[place], []).append(place)
        if beginnings:
            group = forks.setdefault(above.get(beginnings[0], len(lines)), [])
            group += [place for place in beginnings if place not in group]
        forks = {place: rivals for place, rivals in forks.items() if len(rivals) > 1}
        lost = [False] * len(lines)
        if not forks:
            return {}, lost
        latest = list(range(len(lines)))
        for place in reversed(top_down):
            parent = self.parent[place]
            if parent >= 0:
                latest[parent] = max(latest[parent], latest[place])
        found: dict[int, int] = {}
        for rivals in forks.values():
            rivals.sort(key=latest.__getitem__)
            found.update(zip(rivals[1:], rivals, strict=False))
        for place in found.values():
            lost[place] = True
        for place in top_down:
            lost[place] = lost[place] or (self.parent[place] >= 0 and lost[self.parent[place]])
        return found, lost

    def _below(self, place: int) -> Iterator[int]:
        todo = [place]
        while todo:
            member = todo.pop()
            yield member
            todo += self._children[member]

    def _ordered(self) -> list[int]:
        done = [False] * len(self.parent)
        order: list[int] = []
        for start in range(len(done)):
            todo = [start]
            while todo:
                place = todo[-1]
                if done[place]:
                    todo.pop()
                    continue
                needs = [self.parent[place]] if self.parent[place] >= 0 else []
                if place in self.rival:
                    needs += self.branch(self.rival[place])
                needs = [need for need in needs if not done[need]]
                if needs:
                    todo += reversed(needs)
                else:
                    done[place] = True
                    order.append(place)
                    todo.pop()
        return order


def _parents(lines: Sequence[Line]) -> tuple[list[int], list[bool]]:
    """Each line's parent, and whether its own record names it. Never a circle: one is cut where it closes."""
    at: dict[str, int] = {}
    for place, line in enumerate(lines):
        if line.uuid:
            at.setdefault(line.uuid, place)
    parents: list[int] = []
    linked: list[bool] = []
    for place, line in enumerate(lines):
        parent = at.get(line.parent, -1)
        if parent < 0 and line.role == "boundary":
            logical = line.record.get("logicalParentUuid")
            parent = at.get(logical, -1) if type(logical) is str else -1
        known = parent >= 0 and parent != place
        linked.append(known)
        parents.append(parent if known else place - 1)
    if any(parent > place for place, parent in enumerate(parents)):
        _cut_circles(parents)
    return parents, linked


def _beginnings(lines: Sequence[Line], parents: Sequence[int], linked: Sequence[bool]) -> tuple[int, list[int]]:
    """The first prompt that was answered, and the later ones that began the session anew."""
    anew = [place for place, line in enumerate(lines) if line.typed and line.uuid and line.first]
    if not anew:
        return -1, []
    answered: set[int] = set()  # the lines that an assistant's line comes from
    for place, line in enumerate(lines):
        at = place if line.role == "assistant" else -1
        while at >= 0 and linked[at] and parents[at] not in answered:
            at = parents[at]
            answered.add(at)
    first = next((place for place, line in enumerate(lines) if line.typed and place in answered), -1)
    if first < 0:
        return -1, []
    session = lines[first].session
    return first, [each for each in anew if each > first and lines[each].session == session]


def _answers(line: Line) -> bool:
    """Whether a line holds the result of a call."""
    return any(type(block) is dict and block.get("type") == "tool_result" for block in line.blocks)


def _cut_circles(parents: list[int]) -> None:
    seen = [0] * len(parents)  # the walk that came by first, from 1
    for start in range(len(parents)):
        place = start
        while place >= 0 and not seen[place]:
            seen[place] = start + 1
            if parents[place] >= 0 and seen[parents[place]] == start + 1:
                parents[place] = -1
            place = parents[place]
