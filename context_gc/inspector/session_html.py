"""Session HTML: the diff of a context and the events of a bus as HTML in which all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .diff_rows import GONE, NEW, Part
from .say import count
from .session_diff import CAME, CHANGED, MEMORY, OBSERVATIONS, SUMMARY, ContextDiff, ContextRow
from .session_log import LogEvent

FOLDED, FOLDED_LINES = 240, 3  #: characters and lines of a text that stand before it is opened

_GROUPS = {OBSERVATIONS: "observations", SUMMARY: "compacted_summary", MEMORY: "memory_keys", "": "other keys"}
_TAGS = {GONE: "del", NEW: "ins"}
_MARKS = {GONE: "✂ left", CAME: "+ came", CHANGED: "± changed"}


def context_html(diff: ContextDiff) -> str:
    """The rows side by side, under a line for each group."""
    lines = [_tag("div", _tag("div", "key"), _tag("div", "before"), _tag("div", "after"), cls="row head")]
    group = None
    for row in diff.rows:
        if row.group != group:
            group = row.group
            lines.append(_tag("div", _GROUPS[group], " ", _tag("span", _note(group, diff)), cls="group"))
        lines.append(_row(row))
    return _tag("div", *lines, cls="cg-ctx", label="The context before and after")


def events_html(events: Iterable[LogEvent]) -> str:
    """Each event on a line that opens; a line of the log that cannot be read says why."""
    return _tag("div", *map(_event, events), cls="cg-bus", label="Events of the bus, the oldest first")


def sentence(*told: str | tuple[str]) -> str:
    """A paragraph of texts; a text in a tuple is bold."""
    return _tag("p", *(_tag("b", each[0]) if isinstance(each, tuple) else each for each in told), cls="cg-told")


class _Html(str):
    """Markup that was made here; any other text is escaped."""


def _tag(name: str, *inside: str, cls: str = "", label: str = "") -> _Html:
    given = f' class="{cls}"' if cls else ""
    given += f' role="group" aria-label="{label}"' if label else ""
    body = "".join(each if isinstance(each, _Html) else escape(each) for each in inside)
    return _Html(f"<{name}{given}>{body}</{name}>")


def _note(group: str, diff: ContextDiff) -> str:
    if group == OBSERVATIONS:
        return f"{diff.left:,} left, {count(diff.kept, 'stays', 'stay')}"
    if group == SUMMARY:
        return f"{'+' if diff.added > 0 else ''}{diff.added:,} characters".replace("-", "−")
    if group == MEMORY:
        return f"{diff.memory:,} kept as they were" if not diff.lost else f"{len(diff.lost):,} gone or changed"
    return ""


def _row(row: ContextRow) -> _Html:
    lost, folds = row.group == MEMORY and row.fate in (GONE, CHANGED), row.group != SUMMARY
    name = [_tag("b", row.name), " "] if folds else []  # the group's line names it
    told = _tag("div", *name, _MARKS.get(row.fate, ""), cls="name")
    gone = "the summary stands for it" if row.group == OBSERVATIONS else "–"
    cls = "row" + (" gone" if row.fate == GONE and not lost else "") + (" lost" if lost else "")
    return _tag("div", told, _cell(row.before, "–", folds), _cell(row.after, gone, folds), cls=cls)


def _cell(parts: Sequence[Part], nothing: str, folds: bool) -> _Html:
    if not parts:
        return _tag("div", nothing, cls="cell none")
    if len(parts) == 1 and folds and (at := _fold(parts[0].text)):
        what, text = parts[0]
        more = _tag("span", f" … {len(text) - at:,} more", cls="more")
        inside = [_tag("summary", _part(what, text[:at]), more), _part(what, text[at:].removeprefix("\n"))]
        return _tag("div", _tag("details", *inside), cls="cell")
    return _tag("div", *(_part(*each) for each in parts), cls="cell")


def _part(what: str, text: str) -> str:
    return _tag(_TAGS[what], text) if what in _TAGS else text


def _fold(text: str) -> int:
    """Where a text is folded; 0 where it is short enough to be shown whole."""
    at, lines = 0, 0
    while lines < FOLDED_LINES and 0 <= (end := text.find("\n", at)) < FOLDED:
        at, lines = end + 1, lines + 1
    at = at - 1 if lines == FOLDED_LINES else FOLDED
    return at if len(text) - at > FOLDED // 3 else 0


def _event(event: LogEvent) -> _Html:
    at, kind = event.at, event.kind
    if event.problem:
        at, kind = "✕ damaged", f"line {event.number:,}"
    brief = _tag("span", event.problem or event.brief, cls="brief")
    line = (_tag("span", at, cls="at"), _tag("span", kind, cls="kind"), brief)
    if event.problem:
        return _tag("div", *line, cls="bad")
    more = f"\n… {event.more:,} more characters: context-gc session DIR --run ID --log" if event.more else ""
    return _tag("details", _tag("summary", *line), _tag("pre", event.payload + more))
