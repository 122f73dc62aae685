"""Groups: the members of one stage's groups, and which of them have to be judged again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence

Judge = Callable[[Sequence[int], int], Iterator[tuple[int, int]]]


class Group:
    """Members in trace order. Those before `stale` stand as judged, `alive` among them without a finding."""

    __slots__ = ("alive", "changed", "members", "stale")

    def __init__(self) -> None:
        self.members: list[int] = []
        self.alive: list[int] = []
        self.stale = 0  #: index in `members` from which on the judgement is out of date
        self.changed = False


class Groups:
    """All groups of one stage, by key. What is gained at the end of a group costs what it adds; a lost or
    changed member costs the group from there on. A lone member is not a group yet: there is nothing to judge."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, Group | int] = {}
        self._of: dict[int, Group] = {}
        self._changed: list[Group] = []

    def gain(self, seq: int, key: Hashable) -> None:
        """A new member, behind all others in the trace."""
        group = self._by_key.setdefault(key, seq)
        if isinstance(group, int):
            if group == seq:
                return
            group = self._pair(key, group)
        group.members.append(seq)
        self._of[seq] = group
        if not group.changed:
            group.changed = True
            self._changed.append(group)

    def _pair(self, key: Hashable, lone: int) -> Group:
        group = self._by_key[key] = self._of[lone] = Group()
        group.members.append(lone)
        return group

    def touch(self, seq: int, lost: bool = False) -> None:
        """A member changed from here on; one that is lost to an earlier stage (or came back) touches all."""
        group = self._of.get(seq)
        if group is None or group.stale == 0:
            return
        at = bisect_left(group.members, seq)
        if at >= group.stale:  # it has not been judged yet
            return
        group.stale = 0 if lost else at
        if not group.changed:
            group.changed = True
            self._changed.append(group)

    def rejudge(
        self, judge: Judge, settled: Callable[[Sequence[int]], Sequence[int]]
    ) -> Iterator[tuple[Sequence[int], dict[int, int]]]:
        """Judge each group that changed: the members that were judged, and the witness of each finding.

        `settled` leaves out the members that an earlier stage has found.
        """
        changed, self._changed = self._changed, []
        for group in changed:
            group.changed = False
            alive = group.alive
            again = group.members[group.stale :] if group.stale else group.members
            if not again:
                continue
            fresh = settled(again)
            del alive[bisect_left(alive, again[0]) :]
            alive += fresh
            group.stale = len(group.members)
            found = dict(judge(alive, len(fresh))) if fresh else {}
            yield again, found
            if found:
                first = bisect_left(alive, min(found))
                alive[first:] = [seq for seq in alive[first:] if seq not in found]
