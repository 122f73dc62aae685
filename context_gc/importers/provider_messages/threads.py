"""Request logs -> threads: which requests go on from which, where history was taken back, and where it was rewritten.

Each request of a chat API repeats the whole conversation. One whose entries begin with all of an earlier
request's goes on from it; one that leaves the common path takes back what came after; one that shares
entries but not their beginning stands in a new window. Blind spot: two forks that are gone on with in turns
are told as taking back each other's entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .exchanges import Exchange

Key = tuple[Any, ...]  #: two entries with one key are the same; () is passed over: it may change or be left out

_RIVALS = 8  # threads with one opening that a request is compared to, the latest ones
_LONG = 200  # characters of a text that is hardly written twice
_OURS = frozenset((("assistant",), ("call",), ("result",)))  # what a model wrote or was told
_INSTRUCTING = (("system",), ("developer",))


@dataclass(slots=True)
class Step:
    """Requests that each repeat the one before and go on; the last of them holds all of it."""

    last: Exchange
    kept: int = 0  #: how many entries of the step before stay
    start: int = 0  #: how many of its own entries with a key stand for those
    window: bool = False  #: whether it stands in a new context window, where nothing stays
    passed: list[tuple[int, Exchange]] = field(default_factory=list)  #: each with how many keys it and its answer have


class _Thread:
    """The state of one conversation: the keys of its last request, and those of the answer to that."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.sent: list[Key] = []
        self.told: list[Key] = []

    def add(self, step: Step, sent: list[Key], told: list[Key]) -> None:
        """Take in a step of one request; it joins the one before when it keeps all of that."""
        step.passed.append((sum(map(bool, sent)) + sum(map(bool, told)), step.last))
        if self.steps and not step.window and step.kept == len(self.sent) + len(self.told):
            self.steps[-1].last = step.last
            self.steps[-1].passed += step.passed
        else:
            self.steps.append(step)
        self.sent, self.told = sent, told


def keys(entries: Sequence[Any], key: Callable[[Any], Key]) -> list[Key]:
    """The keys of a request's entries. Instructions at its head have none: agents put the time into them."""
    found = [key(entry) for entry in entries]
    for place, each in enumerate(found):
        if each[:1] not in _INSTRUCTING:
            break
        found[place] = ()
    return found


def threads(
    exchanges: Sequence[Exchange], key: Callable[[Any], Key], is_summary: Callable[[Any], bool]
) -> list[list[Step]]:
    """The conversations in a log, in the order of their first request.

    Rows that hold no response and of which none goes on from another are conversations of their own.
    """
    if not _is_log(exchanges, key):
        return [[Step(each, passed=[(0, each)])] for each in exchanges]
    found: list[_Thread] = []
    by_opening: dict[Key, list[_Thread]] = {}
    by_mark: dict[Key, _Thread] = {}
    for each in exchanges:
        sent, told = keys(each.entries, key), [key(entry) for entry in each.answers]
        size, opening = _opening(sent)
        thread, kept, start = _nearest(by_opening.get(opening, ()), sent, size)
        window = False
        if thread is not None:
            after = {entry for entry in (thread.sent + thread.told)[kept:] if _is_ours(entry)}
            window = kept < len(thread.sent) and not after.isdisjoint(sent[start:])
        else:
            thread = _rewritten(each, sent, by_mark, found, is_summary)
            window = thread is not None
        if thread is None:
            thread = _Thread()
            found.append(thread)
        step = Step(each, window=True) if window else Step(each, kept, sum(map(bool, sent[:start])))
        thread.add(step, sent, told)
        rivals = by_opening.setdefault(opening, [])
        if thread not in rivals[-_RIVALS:]:
            rivals.append(thread)
        by_mark.update((entry, thread) for entry in (*sent, *told) if _is_mark(entry))
    return [thread.steps for thread in found]


def _is_log(exchanges: Sequence[Exchange], key: Callable[[Any], Key]) -> bool:
    """Whether a row holds a response, or begins with all that an earlier one sent and goes on."""
    before: dict[Key, list[Any]] = {}
    for each in exchanges:
        entries = each.entries
        head = next((place for place, entry in enumerate(entries) if key(entry)[:1] == ("user",)), 0)
        opening = tuple(filter(None, keys(entries[: head + 1], key)))
        earlier = before.get(opening, entries)
        if each.answers or (
            len(earlier) < len(entries) and _common(keys(earlier, key), keys(entries, key))[0] == len(earlier)
        ):
            return True
        before[opening] = entries
    return False


def _opening(sent: Sequence[Key]) -> tuple[int, Key]:
    """The entries up to the first of the user: what makes two conversations start alike; how many they are."""
    size = next((place + 1 for place, entry in enumerate(sent) if entry[:1] == ("user",)), min(len(sent), 1))
    return size, tuple(filter(None, sent[:size]))


def _nearest(candidates: Sequence[_Thread], sent: list[Key], opening: int) -> tuple[_Thread | None, int, int]:
    """The thread that shares the longest beginning with a request and plainly belongs to it, and both lengths.

    An equal opening alone is no proof (one question may be asked many times): either a request is repeated
    whole and gone on with, or something that the model wrote is shared.
    """
    best: tuple[_Thread | None, int, int] = None, 0, 0
    for thread in reversed(candidates[-_RIVALS:]):
        before = thread.sent + thread.told
        kept, start = _common(before, sent)
        further = len(thread.sent) <= kept and start < len(sent)
        goes_on = further and (kept == len(before) or _is_ours(sent[start]))
        if (goes_on or any(map(_is_ours, sent[opening:start]))) and start > best[2]:
            best = thread, kept, start
    return best


def _common(before: Sequence[Key], sent: Sequence[Key]) -> tuple[int, int]:
    """How far two lists of keys are alike, as a length of each; () on either side is passed over."""
    kept = start = 0
    while True:
        while kept < len(before) and not before[kept]:
            kept += 1
        while start < len(sent) and not sent[start]:
            start += 1
        if kept == len(before) or start == len(sent) or before[kept] != sent[start]:
            return kept, start
        kept, start = kept + 1, start + 1


def _rewritten(
    each: Exchange,
    sent: list[Key],
    by_mark: dict[Key, _Thread],
    found: Sequence[_Thread],
    is_summary: Callable[[Any], bool],
) -> _Thread | None:
    """The thread that a request goes on from although it begins otherwise: it shares entries, or sums it up."""
    for entry in sent:
        if _is_mark(entry) and entry in by_mark:
            return by_mark[entry]
    if any(is_summary(entry) for entry in each.own[:3]):
        return next((thread for thread in reversed(found) if thread.steps[-1].last.model == each.model), None)
    return None


def _is_ours(entry: Key) -> bool:
    return entry[:1] in _OURS


def _is_mark(entry: Key) -> bool:
    """Whether an entry marks its thread: it has the id of a call, or a long text of the model."""
    if entry[:1] == ("result",) and len(entry) > 1 and type(entry[1]) is str:
        return len(entry[1]) > 7
    needed = {"text": _LONG, "call": 7, "result": 7}
    return _is_ours(entry) and any(len(part[1]) > needed.get(part[0], 1 << 62) for part in entry[1:])
