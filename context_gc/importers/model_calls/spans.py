"""Spans: what a tracing tool recorded of model calls and tool runs, in order and each thing once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..dialects.messages import Message
from ..dialects.payloads import NO_TOKENS, Tokens

HIGHEST = 50  #: spans above one that are looked at


@dataclass(slots=True, eq=False)
class Span:
    """One record of a tracing tool: a model call, a tool run, or (any other kind) something that wraps them."""

    id: str
    kind: str  #: "model", "tool", "state" (all messages at an end), or what it is counted as when it is left out
    origin: dict[str, Any]
    parent: str = ""
    trace: str = ""  #: the tool's own trace that it belongs to
    session: str = ""  #: the session that its trace belongs to, if there are any
    start: float | None = None  #: milliseconds since 1970
    end: float | None = None
    prompt: list[Message] | None = None  #: None where the log does not hold it
    answer: list[Message] = field(default_factory=list)
    tokens: Tokens = NO_TOKENS
    model: str = ""
    name: str = ""  #: of the tool, else of what ran
    arguments: Any = None
    result: Any = None  #: None where the log does not hold it
    call: str = ""  #: the id that the provider gave to the tool call
    failed: bool = False
    follows: bool = False  #: whether it surely goes on with the conversation of its group that spoke last
    compacted: str = ""  #: what made a new context window just before this model call, if the log says so
    summed_up: bool = False  #: whether the first new message of that window is sure to be a summary
    tokens_before: int = 0  #: what the window before it held, if the log says so
    prompt_origin: dict[str, Any] | None = None  #: where prompt and answer stand, when elsewhere
    answer_origin: dict[str, Any] | None = None
    read: bool = False  #: whether something of it is in a trace

    @property
    def group(self) -> str:
        """The session or, where there is none, the trace."""
        return self.session or self.trace


def in_order(spans: Iterable[Span]) -> list[Span]:
    """By start; one without a time stays behind the one before it."""
    keyed, last = [], float("-inf")
    for span in spans:
        last = span.start if span.start is not None else last
        keyed.append((last, span))
    return [span for _, span in sorted(keyed, key=lambda pair: pair[0])]


def unwrap(spans: Sequence[Span]) -> None:
    """Of model calls around others keep the innermost; the outer prompt and answer fill in what those lack."""
    known = {span.id: span for span in spans if span.id}
    above = {
        id(span): [s for s in _ancestors(span, known) if s.kind == "model"] for span in spans if span.kind == "model"
    }
    outer = {
        id(wrapper)
        for span in spans
        for wrapper in above.get(id(span), ())
        if all(each is not span for each in above[id(wrapper)])  # not of two that name each other as parent
    }
    inner: dict[int, list[Span]] = {}
    for span in spans:
        if span.kind == "model" and id(span) not in outer:
            for wrapper in above[id(span)]:
                inner.setdefault(id(wrapper), []).append(span)
    wrapping = [span for span in spans if id(span) in outer]
    for wrapper in sorted(wrapping, key=lambda each: -len(above[id(each)])):
        wrapper.kind = "model call around others"
        within = inner.get(id(wrapper))
        if not within:
            continue
        first, last = within[0], within[-1]
        if first.prompt is None and wrapper.prompt:
            first.prompt, first.prompt_origin, wrapper.read = wrapper.prompt, wrapper.origin, True
        if not last.answer and wrapper.answer:
            last.answer, last.answer_origin, wrapper.read = wrapper.answer, wrapper.origin, True


def _ancestors(span: Span, known: Mapping[str, Span]) -> list[Span]:
    """What a span runs within, from the inside out, up to the tool that it runs in."""
    found: list[Span] = []
    seen = {span.id}
    while span.parent in known and span.parent not in seen and len(found) < HIGHEST:
        span = known[span.parent]
        if span.kind == "tool":
            break
        seen.add(span.id)
        found.append(span)
    return found


def caller(span: Span, known: Mapping[str, Span]) -> Span | None:
    """The tool run that a model call happens in: then its conversation is that of a subagent."""
    top = (_ancestors(span, known) or [span])[-1]
    above = known.get(top.parent)
    return above if above is not None and above.kind == "tool" else None
