"""Groups: the members of one stage's groups, and which of them have to be judged again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence

Judge = Callable[[Sequence[int], int], Iterator[tuple[int, int]]]


class Group:
    """Members in trace order. Those before `stale` stand as judged, `alive` among them without a finding."""

    __slots__ = ("alive", "members", "stale")

    def __init__(self) -> None:
        self.members: list[int] = []
        self.alive: list[int] = []
        self.stale = 0  #: index in `members` from which on the judgement is out of date


class Groups:
    """All groups of one stage, by key. What is gained at the end of a group costs what it adds; a lost or
    changed member costs the group from there on."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, Group] = {}
        self._of: dict[int, Hashable] = {}
        self._changed: dict[Hashable, None] = {}

    def gain(self, seq: int, key: Hashable) -> None:
        """A new member, behind all others in the trace."""
        group = self._by_key.get(key)
        if group is None:
            group = self._by_key[key] = Group()
        group.members.append(seq)
        self._of[seq] = key
        self._changed[key] = None

    def touch(self, seq: int, lost: bool = False) -> None:
        """A member changed from here on; one that is lost to an earlier stage (or came back) touches all."""
        key = self._of.get(seq)
        if key is None:
            return
        group = self._by_key[key]
        group.stale = 0 if lost else min(group.stale, bisect_left(group.members, seq))
        self._changed[key] = None

    def rejudge(self, judge: Judge, settled: Callable[[int], bool]) -> Iterator[tuple[int, int | None]]:
        """Judge what changed: (place, witness) of each finding, (place, None) where there is none any more.

        `settled` tells whether an earlier stage has found a member, which takes it out of the group.
        """
        changed, self._changed = self._changed, {}
        for key in changed:
            group = self._by_key[key]
            members, alive = group.members, group.alive
            if group.stale == len(members):
                continue
            again = members[group.stale :]
            fresh = [seq for seq in again if not settled(seq)]
            del alive[bisect_left(alive, again[0]) :]
            alive += fresh
            group.stale = len(members)
            found = dict(judge(alive, len(fresh))) if fresh else {}
            for seq in again:
                if seq not in found:
                    yield seq, None
            if found:
                yield from found.items()
                first = bisect_left(alive, min(found))
                alive[first:] = [seq for seq in alive[first:] if seq not in found]
