"""Model calls as tracing tools record them, each with its whole prompt -> conversations that say each thing once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...trace import Trace
from .conversation import Conversation, Prompt
from .spans import Span, caller, in_order, unwrap

NEAREST = 100  #: conversations that a prompt is compared with at most, those that spoke last
#: what spans are counted as that no trace shows
UNREAD = {"model": "model call without messages", "tool": "tool run that no model saw", "state": "end state apart"}


def conversations(spans: Sequence[Span], format_name: str, source: str) -> list[Trace]:
    """One trace a conversation, in order of their first calls; a prompt that repeats what was said adds its rest only.

    A prompt goes on with the conversation that it extends; within a group also with one that it shares a
    user's message or an answer with: then what it leaves out at the end is abandoned, and a prompt that keeps
    later messages while it drops or changes earlier ones opens a new window. Other prompts begin a conversation.
    A tool run stands in for the call and the result that no prompt holds, and tells whether the tool failed.
    A model call around others counts only for what those lack, a state only for what stands behind all calls.

    `ignored` of the first trace counts the spans that none shows.
    """
    ordered = in_order(spans)
    unwrap(ordered)
    known = {span.id: span for span in ordered if span.id}
    begun = _Begun()
    early: dict[str, list[Span]] = {}  # tool runs before the first model call of their group
    for span in ordered:
        if span.kind == "state" and any(each.close(span) for each in reversed(begun.of_group(span.group))):
            continue
        if span.kind == "model" or (span.kind == "state" and not begun.of_group(span.group)):
            chosen = begun.that_goes_on_with(span) or Conversation(format_name, source, span, caller(span, known))
            chosen.writer.runs += early.pop(span.group, [])
            group = chosen.last.group
            chosen.take(span)
            begun.spoke(chosen, group)
        elif span.kind == "tool":
            owner = _owner(begun.of_group(span.group), span)
            (early.setdefault(span.group, []) if owner is None else owner.writer.runs).append(span)
    found = begun.all()
    for runs in early.values():
        found.append(Conversation(format_name, source, runs[0], None))
        found[-1].writer.runs = runs
    number = {id(span): place for place, span in enumerate(ordered)}
    traces = [each.done() for each in sorted(found, key=lambda each: number[id(each.first)])]
    traces = [trace for trace in traces if trace.events]
    if traces:
        elsewhere = sum(span.read for span in ordered) - sum(trace.records_read for trace in traces)
        traces[0].records_read += elsewhere  # outer calls that filled something in
        traces[0].ignored = unread(ordered)
    return traces


def unread(spans: Sequence[Span]) -> dict[str, int]:
    """How many spans of each kind no trace shows."""
    return dict(Counter(UNREAD.get(span.kind, span.kind) for span in spans if not span.read))


class _Begun:
    """The conversations so far, by group and by what they begin with; in a group the one that spoke last is last."""

    def __init__(self) -> None:
        self._by_group: dict[str, list[Conversation]] = {}
        self._by_beginning: dict[str, list[Conversation]] = {}

    def all(self) -> list[Conversation]:
        """All of them."""
        return [each for group in self._by_group.values() for each in group]

    def of_group(self, group: str) -> Sequence[Conversation]:
        """Those of a group."""
        return self._by_group.get(group, ())

    def that_goes_on_with(self, span: Span) -> Conversation | None:
        """The conversation that a model call goes on with."""
        same = self.of_group(span.group)
        if span.follows and same:
            return same[-1]
        if span.prompt is None:
            beside = [each for each in same if each.last.parent == span.parent] or same
            return beside[-1] if beside else None
        best, chosen = (0, 0), None
        prompt = Prompt.of(span)
        elsewhere = self._by_beginning.get(prompt.beginning, ())[-NEAREST:]
        others = (each for each in reversed(elsewhere) if each.last.group != span.group)
        for each in (*reversed(same[-NEAREST:]), *others):
            fit = each.fit(span, prompt)
            best, chosen = (fit, each) if fit > best else (best, chosen)
        if chosen is None and same and (span.compacted or any(each.is_summary for each in span.prompt)):
            return same[-1]
        return chosen

    def spoke(self, conversation: Conversation, group: str) -> None:
        """Put a conversation, new or of this group until now, last in the group of its newest call."""
        before = self._by_group.setdefault(group, [])
        if conversation in before:
            before.remove(conversation)
        else:
            self._by_beginning.setdefault(conversation.beginning, []).append(conversation)
        self._by_group.setdefault(conversation.last.group, []).append(conversation)


def _owner(same: Sequence[Conversation], run: Span) -> Conversation | None:
    """The conversation whose model asked for a tool run: by the call's id, else by its name, else the nearest."""
    for test in (
        lambda each: bool(run.call) and each.writer.waits_for(run.call, ""),
        lambda each: each.writer.waits_for("", run.name),
        lambda each: run.parent in (each.last.parent, each.last.id),
    ):
        chosen = next((each for each in reversed(same) if test(each)), None)
        if chosen is not None:
            return chosen
    return same[-1] if same else None
