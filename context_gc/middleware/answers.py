"""Answers: what a call of a model gave, whole or while it is streamed."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one of the caller's tools."""

    id: str
    name: str
    arguments: dict[str, Any] | None  #: None when the model wrote no valid JSON object


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a call cost, in tokens, summed over its rounds; `tokens_before` and `tokens_after` are of the last one."""

    input_tokens: int = 0  #: as the provider counted them, those of the cache not among them
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0
    tokens_before: int = 0  #: estimate of the full history
    tokens_after: int = 0  #: estimate of what was sent
    rounds: int = 0  #: model calls


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model answered.

    `tool_calls`: calls that wait for the caller, who goes on with `tool_results`. `is_finished`: the model has
    nothing more to do; not so while calls wait, or when the rounds ran out: then call again without a message.
    """

    response_text: str  #: the text of the last answer; "" when it only called tools
    metrics: Metrics
    raw: Any  #: the last response as the SDK gave it; for a stream of OpenAI's the list of its chunks
    stop_reason: str  #: the provider's word: stop, end_turn, tool_calls, tool_use, length, max_tokens, refusal, …
    refusal: str = ""  #: what the model said in refusing; "" when it did not refuse or gave no reason
    tool_calls: tuple[ToolCall, ...] = ()
    is_finished: bool = True


class AnswerStream:
    """An iterator of the text as it comes; `answer` afterwards, or at once, which reads the rest.

    Also a context manager. Until the stream of a round has ended nothing of it is in the history: one that is
    closed early, or breaks, can be asked for again.
    """

    def __init__(self, rounds: Generator[str, None, ModelAnswer]) -> None:
        self._rounds = rounds
        self._answer: ModelAnswer | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            return next(self._rounds)
        except StopIteration as stop:
            if stop.value is not None:
                self._answer = stop.value
            raise StopIteration from None

    @property
    def answer(self) -> ModelAnswer:
        """The whole answer. Raises RuntimeError when the stream was closed before its end."""
        for _ in self:
            pass
        if self._answer is None:
            raise RuntimeError("the stream was closed before its end: there is no answer")
        return self._answer

    def close(self) -> None:
        """Stop reading, and let go of the connection."""
        self._rounds.close()

    def __enter__(self) -> AnswerStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
