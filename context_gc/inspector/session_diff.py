"""Session diff: a context dict before and after a compaction, key by key, as rows of bounded size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..canonical import digest, readable
from .diff_data import shown
from .diff_rows import GONE, NEW, SAME, Part, parts

CAME, CHANGED = "came", "changed"
OBSERVATIONS, SUMMARY, MEMORY = "observations", "compacted_summary", "memory_keys"
CHARS = 1_500  #: characters of one value that are shown
LISTED = 40  #: observations, memory keys or other keys of one fate that are shown
_COMPARED = 20_000  # characters of a text beyond which it is taken as wholly replaced, unless it was added to
_AROUND = 300  # characters at either end of a text that stayed that are shown


@dataclass(frozen=True, slots=True)
class ContextRow:
    """One key, observation or memory key. All text is untrusted; it can be sent as it is."""

    group: str  #: OBSERVATIONS, SUMMARY, MEMORY, or "" for any other key
    name: str
    fate: str  #: SAME, GONE, CAME or CHANGED; "" for a line that only tells how many more there are
    before: tuple[Part, ...]
    after: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class ContextDiff:
    """The rows, and what they amount to. `kept` and `left` are of observations."""

    rows: tuple[ContextRow, ...]
    left: int
    kept: int
    added: int  #: characters that the summary grew by; negative when it got shorter
    memory: int  #: memory keys afterwards
    lost: tuple[str, ...]  #: memory keys that are gone or changed: none, if all is well


def context_diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> ContextDiff:
    """Compare two contexts; their values may be of any type.

    The summary comes first, then the memory keys, the observations, and all other keys.
    """
    observed = tuple(_observations(_list(before.get(OBSERVATIONS)), _list(after.get(OBSERVATIONS))))
    memory = tuple(_keys(MEMORY, _dict(before.get(MEMORY)), _dict(after.get(MEMORY))))
    rest = tuple(_keys("", *({k: v for k, v in each.items() if not _is_shown(k, v)} for each in (before, after))))
    texts = [_text(each.get(SUMMARY)).lstrip("\n") for each in (before, after)]
    summary = (ContextRow(SUMMARY, SUMMARY, CHANGED if texts[0] != texts[1] else SAME, *_texts(*texts)),)
    fates = Counter(row.fate for row in observed)
    return ContextDiff(
        rows=(*(summary if any(texts) else ()), *_bounded(memory), *_bounded(observed), *_bounded(rest)),
        left=fates[GONE], kept=fates[SAME], added=len(texts[1]) - len(texts[0]),
        memory=sum(row.fate != GONE for row in memory),
        lost=tuple(row.name for row in memory if row.fate in (GONE, CHANGED)),
    )  # fmt: skip


def _observations(before: Sequence[Any], after: Sequence[Any]) -> Iterator[ContextRow]:
    """Those that left, those that stay, those that came; equal ones are told apart from the newest backwards."""
    old, new = [digest(value) for value in before], [digest(value) for value in after]
    free, stays = Counter(new), set[int]()
    for place in range(len(old) - 1, -1, -1):
        if free[old[place]]:
            free[old[place]] -= 1
            stays.add(place)
    for place, value in enumerate(before):
        text = _value(value)
        yield ContextRow(
            OBSERVATIONS, f"observation {place + 1}", SAME if place in stays else GONE,
            (Part(SAME if place in stays else GONE, text),), (Part(SAME, text),) if place in stays else (),
        )  # fmt: skip
    known = Counter(old)
    for place, value in enumerate(after):
        known[new[place]] -= 1
        if known[new[place]] < 0:
            yield ContextRow(OBSERVATIONS, f"observation {place + 1}", CAME, (), (Part(NEW, _value(value)),))


def _keys(group: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ContextRow]:
    for key in dict.fromkeys((*before, *after)):
        old, new = (_value(each[key]) if key in each else "" for each in (before, after))
        if key not in after:
            yield ContextRow(group, shown(key), GONE, (Part(GONE, old),), ())
        elif key not in before:
            yield ContextRow(group, shown(key), CAME, (), (Part(NEW, new),))
        elif digest(before[key]) == digest(after[key]):
            yield ContextRow(group, shown(key), SAME, (Part(SAME, old),), (Part(SAME, new),))
        else:
            yield ContextRow(group, shown(key), CHANGED, *_sides(parts(old, new)))


def _texts(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """The summary on both sides: what was added to it, else word by word."""
    if after.startswith(before):
        told = [Part(SAME, before), Part(NEW, after[len(before) :])]
    elif max(len(before), len(after)) > _COMPARED:
        told = [Part(GONE, before), Part(NEW, after)]
    else:
        told = [*parts(before, after)]
    return _sides([Part(what, _folded(text) if what == SAME else _cut(text)) for what, text in told if text])


def _sides(told: Sequence[Part]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    return tuple(each for each in told if each.what != NEW), tuple(each for each in told if each.what != GONE)


def _bounded(rows: Sequence[ContextRow]) -> Iterator[ContextRow]:
    """The rows, of each fate at most LISTED: the newest ones, after a line that tells how many more there are."""
    more = {fate: count - LISTED for fate, count in Counter(row.fate for row in rows).items()}
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row.fate] += 1
        if seen[row.fate] > more[row.fate]:
            yield row
        elif seen[row.fate] == more[row.fate]:
            told = (Part(row.fate if row.fate == GONE else SAME, f"… {more[row.fate]:,} more before these"),)
            yield ContextRow(row.group, "", "", told, () if row.fate == GONE else told)


def _is_shown(key: str, value: Any) -> bool:
    """Whether a key has rows of its own kind."""
    kind = {OBSERVATIONS: list, MEMORY: dict, SUMMARY: str}.get(key)
    return kind is not None and (value is None or type(value) is kind)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _dict(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _value(value: Any) -> str:
    return _cut(value if type(value) is str else readable(value))


def _cut(text: str) -> str:
    more = len(text) - CHARS
    return shown(text[:CHARS]) + (f" … {more:,} more characters" if more > 0 else "")


def _folded(text: str) -> str:
    """What stayed of a summary: its start and its end."""
    more = len(text) - 2 * _AROUND
    if more <= 0:
        return shown(text)
    return f"{shown(text[:_AROUND])}\n… {more:,} characters …\n{shown(text[-_AROUND:])}"
