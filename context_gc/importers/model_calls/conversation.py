"""Conversation: prompts that repeat what was said -> the events of one trace, each thing said once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...trace import Trace
from ..dialects.messages import Message, text_at
from ..dialects.payloads import tokens_of
from ..recording.history import one_line
from ..recording.recorder import Recorder
from .events import Writer, sums_up
from .spans import Span


class Conversation:
    """What a model and its tools said to each other, built from model calls in order of time."""

    def __init__(self, format_name: str, source: str, first: Span, caller: Span | None = None) -> None:
        self.recorder = Recorder(format_name, source)
        self.first, self.last, self.caller = first, first, caller
        self.beginning = Prompt.of(first).beginning
        self.writer = Writer(self.recorder)
        self._said: list[_Said] = []  # the newest prompt and its answer, without the head and without mere thoughts
        self._head: list[str] = []  # keys of the system messages at the head of the newest prompt
        self._ever: dict[str, list[int]] = {}  # the places where each thing was said first, by key
        self._tokens = 0  # of the newest prompt and its answer

    # where a span belongs

    def fit(self, span: Span, prompt: Prompt) -> tuple[int, int]:
        """How well a span's prompt goes on with this conversation: (0, 0) not at all, else better the larger."""
        same_group, same_head = self.last.group == span.group, prompt.keys == self._head
        count, at = self._shared(prompt.body)
        shared = {each.role for each in prompt.body[:at]}
        known = same_head or "assistant" in shared
        if count and count == len(self._said) and known and (same_group or "assistant" in shared):
            return 3, count
        if same_group and known and "user" in shared:
            return 2, count
        if same_group:
            again = {each.role for each in prompt.body if each.key in self._ever}
            if "assistant" in again or (same_head and "tool" in again):
                return 1, count
        return 0, 0

    # what spans add

    def take(self, span: Span) -> None:
        """Go on with a model call: what its prompt adds, then its answer."""
        recorder = self.recorder
        recorder.at(span.start)
        self.last = span
        if span.prompt is None:
            self._show_runs(self.writer.runs)
        else:
            self._hear(span, Prompt.of(span))
            runs = self.writer.runs  # one that is over and that the prompt does not show never reached the model
            self.writer.runs = [run for run in runs if not _ended(run, span)]
        recorder.at(span.start if span.end is None else span.end)
        for index, each in enumerate(span.answer):
            self._say(each, (span.answer_origin or span.origin) | {"answer": index})
        recorder.used(len(recorder.events) - 1, *span.tokens)
        self._tokens = sum(span.tokens) or self._tokens
        recorder.trace.model = recorder.trace.model or span.model
        if span.prompt or span.answer or any(span.tokens):
            self.writer.note(span)

    def close(self, span: Span) -> bool:
        """Add what stands behind the newest thing said in a list of all messages; False when it is not in there."""
        body = span.prompt or []
        last = self._said[-1] if self._said else None
        found = [place for place, each in enumerate(body) if last is not None and last.is_repeated_by(each)]
        if found:
            self.recorder.at(span.start)
            for number, each in enumerate(body[found[-1] + 1 :], found[-1] + 1):
                self._say(each, span.origin | {"message": number})
            self.writer.note(span)
        return bool(found)

    def done(self) -> Trace:
        """The trace. `extra`: `trace_id`, `session_id`; `agent_id`: the call a subagent works for."""
        self._show_runs(self.writer.runs)
        trace = self.recorder.done()
        said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
        trace.title = one_line(said) or self.first.name or self.first.group
        trace.records_read = self.writer.read
        for key, value in (("trace_id", self.first.trace), ("session_id", self.first.session)):
            if value:
                trace.extra[key] = value
        if self.caller is not None:
            trace.extra["agent_id"] = self.caller.call or self.caller.id
            trace.title = f"subagent {self.caller.name or self.caller.id}: {trace.title}"
        return trace

    def _hear(self, span: Span, prompt: Prompt) -> None:
        """Record what of a prompt is new, and what it takes back."""
        origin = span.prompt_origin or span.origin
        count, at = self._shared(prompt.body)
        lost, new = self._said[count:], prompt.body[at:]
        later = {each.message.key for each in lost}
        rewritten = lost and (not count or any(each.key in later or each.is_summary for each in new))
        if rewritten or (self._said and span.compacted):
            self._rewrite(span, prompt)
            return
        if lost:
            self._show_runs(self.writer.runs_of(place for each in lost for place in each.places))
            places = [place for each in self._said[count:] for place in each.places]
            self.recorder.at(span.start)
            self.recorder.abandon(places, "left out of the next prompt", span.origin)
            self.writer.forget(places)
            del self._said[count:]
        self._instruct(origin, prompt)
        for number, each in enumerate(new, len(prompt.head) + at):
            self._say(each, origin | {"message": number})
            self._report(each)

    def _report(self, each: Message) -> None:
        """What a model's message tells of the call that it came from, where the log holds the message alone."""
        if each.role != "assistant" or not self._said:
            return
        tokens = tokens_of(each.facts.get("usage_metadata"))
        self.recorder.used(max(self._said[-1].places, default=-1), *tokens)
        self._tokens = sum(tokens) or self._tokens
        about = each.facts.get("response_metadata")
        self.recorder.trace.model = self.recorder.trace.model or text_at(about, "model_name", "model")

    def _rewrite(self, span: Span, prompt: Prompt) -> None:
        """A new context window, which holds the whole prompt anew; what was written for it is a summary."""
        self.recorder.open_window(span.compacted or "unknown", span.tokens_before or self._tokens or None)
        before, origin = dict(self._ever), span.prompt_origin or span.origin
        self._said, self._head = [], []
        self.writer.begin_anew()
        self._instruct(origin, prompt)
        kept = max((place for place, each in enumerate(prompt.body) if each.key in before), default=-1)
        summed = False
        for place, each in enumerate(prompt.body):
            new = not summed and each.key not in before and each.role in ("user", "system")
            summary = new and (span.summed_up or (place < kept and sums_up(each)))
            summed = summed or summary
            self._say(each, origin | {"message": len(prompt.head) + place}, summary)
            if each.key not in before:
                self._report(each)
            elif self._said:
                self._repeat(before[each.key], self._said[-1].places)

    def _instruct(self, origin: dict[str, Any], prompt: Prompt) -> None:
        """System messages at the head of a prompt; one that changed on the way is tagged as environment."""
        for number, each in enumerate(prompt.head):
            if each.key not in self._head:
                tags = ("environment",) if self._head else ()
                places = self.writer.write(each, origin | {"message": number}, tags)
                if not self._head:
                    self._repeat(self._ever.get(each.key, []), places)
                self._ever.setdefault(each.key, places)
        self._head = prompt.keys or self._head

    def _repeat(self, old: Sequence[int], new: Sequence[int]) -> None:
        """Each event of a repeated message names the one that it repeats."""
        for first, again in zip(old, new, strict=False):
            self.recorder.events[again]["repeats"] = self.recorder.events[first]["id"]

    def _shared(self, body: Sequence[Message]) -> tuple[int, int]:
        """How many messages of the newest prompt and answer a prompt begins with, and where it goes beyond them."""
        count = at = 0
        for place, each in enumerate(body):
            if count < len(self._said) and self._said[count].is_repeated_by(each):
                count, at = count + 1, place + 1
            elif each.key:
                break
        return count, at

    def _say(self, each: Message, origin: dict[str, Any], summary: bool = False, from_run: bool = False) -> None:
        places = self.writer.write(each, origin, ("summary",) if summary or each.is_summary else ())
        if each.key:
            self._said.append(_Said(each, places, from_run))
            self._ever.setdefault(each.key, places)

    def _show_runs(self, runs: Sequence[Span]) -> None:
        """Record tool runs that no prompt shows."""
        for run in list(runs):
            for each in self.writer.take_run(run):
                self._say(each, run.origin, from_run=True)


class Prompt(NamedTuple):
    """A prompt: the system messages at its head, their keys, and the rest."""

    head: Sequence[Message]
    keys: list[str]
    body: Sequence[Message]

    @classmethod
    def of(cls, span: Span) -> Prompt:
        """The prompt of a model call; an empty one where there is none."""
        listed = span.prompt or []
        end = next((place for place, each in enumerate(listed) if each.role != "system"), len(listed))
        return cls(listed[:end], [each.key for each in listed[:end]], listed[end:])

    @property
    def beginning(self) -> str:
        """The key of what the rest begins with."""
        return next((each.key for each in self.body if each.key), "")


class _Said(NamedTuple):
    """A message, the places of its events, and whether a tool run alone tells of it."""

    message: Message
    places: list[int]
    from_run: bool

    def is_repeated_by(self, other: Message) -> bool:
        """Whether a prompt's message is this one; what a tool run alone tells may be worded otherwise there."""
        mine = self.message
        if mine.key == other.key:
            return True
        if not mine.calls or mine.calls != other.calls:
            return False
        return self.from_run or mine.role == other.role == "assistant"


def _ended(run: Span, before: Span) -> bool:
    return run.end is None or before.start is None or run.end <= before.start
