"""Rounds: ask the model, run what it calls, tell it, ask again; the history stays valid wherever this stops."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any, Protocol

from ..canonical import readable
from ..compaction import Compaction
from ..compactor import ContextGC
from ..conversation import Conversation
from ..errors import InvalidMessages
from ..messages import Dialect, Request
from ..messages.dialect import SOURCE, Record
from .answers import Metrics, ModelAnswer, ToolCall
from .receipt_tool import RECEIPT_TOOL, answer_receipt_call

RunTool = Callable[[str, dict[str, Any]], Any]  #: name and arguments -> text, content blocks, or any JSON value

KEPT_TURNS = 8  #: model calls for which recovered content is not cut
KEPT_SHARE = 0.25  #: of the window that it may fill meanwhile; the newest stays in any case
MOST_RECOVERIES = 8  #: receipts that are recovered in one call of a model function

_NO_OBJECT = "The arguments are not a valid JSON object. Call again with valid arguments."
_CUT_SHORT = "The call was cut short by the output limit and did not run."
_NOT_RUN = "The call did not run: the call before it failed."


@dataclass(frozen=True, slots=True)
class Result:
    """What a call gave."""

    call_id: str
    content: Any  #: text, or content blocks of the provider
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model, as far as the rounds need it."""

    record: Record | None  #: the message for the history; None when it is empty
    text: str
    calls: Sequence[ToolCall]
    usage: tuple[int, int, int, int]  #: input, output, cache reads, cache writes
    stop: str
    raw: Any
    refusal: str = ""
    is_cut: bool = False  #: the output limit was reached
    goes_on: bool = False  #: the provider paused: it wants to be asked again


class Provider(Protocol):
    """How one SDK is asked."""

    dialect: Dialect

    def ask(self, request: Request, head: int) -> Generator[str, None, Reply]:
        """The answer, with its text as it comes. `head`: how many of its first contents no pass will change."""

    def said(self, message: Any) -> Record:
        """What the user says as a message."""

    def results(self, results: Sequence[Result]) -> list[Record]:
        """Results as messages."""


@dataclass(slots=True)
class Rounds:
    """One call of a model function."""

    client: ContextGC
    provider: Provider
    run_tool: RunTool | None
    offers_receipts: bool
    most: int
    metrics: Metrics = field(default_factory=Metrics)
    recovered: int = 0

    def __post_init__(self) -> None:
        if type(self.most) is not int or self.most < 1:
            raise ValueError(f"max_rounds: {self.most!r} (give a whole number from 1 on)")

    def run(self, message: Any, tool_results: Mapping[str, Any] | None) -> Generator[str, None, ModelAnswer]:
        """Ask until the model has nothing more to do. Errors of the SDK and of tools come through."""
        talk = Conversation(self.client, self.provider.dialect)
        talk.time = max(talk.time, int(time() * 1000))
        self._go_on(talk, tool_results or {})
        self._say(talk, message)
        if not talk.count and not self.client.look().events:
            raise InvalidMessages("user_message", "there is nothing to answer yet", "give a message of the user")
        while True:
            self._keep_recovered()
            compaction, request = talk.compact()
            for each in request.messages:
                each.pop(SOURCE, None)
            reply = yield from self.provider.ask(request, _head(compaction))
            self._count(reply, compaction)
            if reply.record is not None:
                talk.tell(reply.record)
            waiting = tuple(each for each in reply.calls if not self._is_ours(each))
            if waiting and self.run_tool is None and not reply.is_cut:
                return self._answer(reply, waiting, False)
            if reply.calls:
                self._tell_results(talk, reply.calls, {}, reply.is_cut)
            elif not reply.goes_on:
                return self._answer(reply, (), True)
            if self.metrics.rounds >= self.most:
                return self._answer(reply, (), False)

    # before the first round

    def _go_on(self, talk: Conversation, given: Mapping[str, Any]) -> None:
        """Answer the calls that the last message left open."""
        waiting = talk.waiting
        if unknown := [name for name in given if name not in waiting]:
            raise InvalidMessages("tool_results", f"no call waits with the id {unknown[0]!r}", "name calls that wait")
        if not waiting:
            return
        calls = {each.id: each for each in self.provider_calls(talk)}
        open_calls = [calls[name] for name in waiting if name in calls]
        others = [each for each in open_calls if not self._is_ours(each) and each.id not in given]
        if others and self.run_tool is None and given:
            raise InvalidMessages("tool_results", f"the call {others[0].id!r} waits as well", "give its result, too")
        if given or self.run_tool is not None or not others:
            self._tell_results(talk, open_calls, given, False)

    def provider_calls(self, talk: Conversation) -> Sequence[ToolCall]:
        """The calls of the last message."""
        return calls_of(talk.last)

    def _say(self, talk: Conversation, message: Any) -> None:
        """Add the user's message, unless it is the one that still waits for its answer: a call that is repeated."""
        if message is None:
            return
        record = self.provider.said(message)
        for before in talk.back():
            role = self.provider.dialect.role(before)
            if role == "assistant" and not self.provider.dialect.call_ids(before):
                break
            if before == record:
                return
            if role == "user" and not self.provider.dialect.result_ids(before):
                break
        talk.tell(record)

    # between two rounds

    def _is_ours(self, call: ToolCall) -> bool:
        return self.offers_receipts and call.name == RECEIPT_TOOL

    def _tell_results(
        self, talk: Conversation, calls: Sequence[ToolCall], given: Mapping[str, Any], is_cut: bool
    ) -> None:
        """Run calls in their order and tell all results together; also when a tool raises, which comes through."""
        results: list[Result] = []
        try:
            for call in calls:
                results.append(self._result(call, given, is_cut))
        except BaseException as error:
            failed = calls[len(results)].id
            results.append(Result(failed, f"The tool failed: {type(error).__name__}: {error}", True))
            results += [Result(each.id, _NOT_RUN, True) for each in calls[len(results) :]]
            raise
        finally:
            for record in self.provider.results(results):
                talk.tell(record)

    def _result(self, call: ToolCall, given: Mapping[str, Any], is_cut: bool) -> Result:
        if call.id in given:
            return Result(call.id, seen(given[call.id]))
        if is_cut:
            return Result(call.id, _CUT_SHORT, True)
        if self._is_ours(call):
            self.recovered += 1
            if self.recovered > MOST_RECOVERIES:
                return Result(call.id, f"No more than {MOST_RECOVERIES} receipts at a time: answer first.", True)
            return Result(call.id, *answer_receipt_call(self.client, call.arguments))
        if call.arguments is None:
            return Result(call.id, _NO_OBJECT, True)
        assert self.run_tool is not None
        return Result(call.id, seen(self.run_tool(call.name, call.arguments)))

    def _keep_recovered(self) -> None:
        """Pin what was recovered in the last turns; what is older is judged like the rest."""
        live, budget = self.client._live, self.client.policy.budget
        self.client.look()
        events, pinned = live.engine.graph.events, live.engine.guard.pinned
        room = float("inf") if budget is None else budget.max_tokens * KEPT_SHARE
        turns = filled = 0
        for place in range(len(events) - 1, -1, -1):
            event = events[place]
            if event["type"] == "tool_call" and event["tool_name"] == RECEIPT_TOOL:
                members = live.engine.view.units.members(place)
                is_kept = turns < KEPT_TURNS and (not filled or filled < room)
                filled += sum(map(live.meter.line, members))
                for member in members:
                    if is_kept:
                        live.engine.pin(member)
                    elif member in pinned:
                        live.engine.unpin(member)
            turns += event["type"] != "tool_result" and "envelope" in event and _is_written(event)
            if turns > 2 * KEPT_TURNS:
                break

    # the answer

    def _count(self, reply: Reply, compaction: Compaction) -> None:
        read, told, cached, written = reply.usage
        if any(reply.usage):
            self.client.record_usage(read, told, cached, written)
        was = self.metrics
        self.metrics = Metrics(
            was.input_tokens + read, was.output_tokens + told, was.cache_read + cached, was.cache_write + written,
            compaction["tokens_before"], compaction["tokens_after"], was.rounds + 1,
        )  # fmt: skip

    def _answer(self, reply: Reply, waiting: tuple[ToolCall, ...], is_finished: bool) -> ModelAnswer:
        return ModelAnswer(reply.text, self.metrics, reply.raw, reply.stop, reply.refusal, waiting, is_finished)


def calls_of(record: Record) -> list[ToolCall]:
    """The calls of a message of the model that the caller has to answer."""
    from ..messages.dialect import block_of, kind_of_block
    from ..parse import parse

    found: list[ToolCall] = []
    content = record.get("content")
    for block in content if type(content) is list else ():
        if kind_of_block(block) == "tool_use":
            given = block.get("input")
            found.append(ToolCall(block["id"], block["name"], given if type(given) is dict else None))
    for call in record.get("tool_calls") or ():
        asked = block_of(call.get("function") or call.get("custom"))
        text = asked.get("arguments", asked.get("input"))
        try:
            given = parse(text) if type(text) is str and text.strip() else {}
        except ValueError:
            given = None
        found.append(ToolCall(call["id"], str(asked.get("name", "")), given if type(given) is dict else None))
    return found


def seen(value: Any) -> Any:
    """What a tool gave, as a model sees it: text and content blocks as they are, else JSON."""
    is_blocks = isinstance(value, list) and value and all(isinstance(each, dict) and "type" in each for each in value)
    return value if isinstance(value, str) or is_blocks else readable(value)


def _is_written(event: Mapping[str, Any]) -> bool:
    envelope = event["envelope"]
    return isinstance(envelope, dict) and envelope.get("role") == "assistant"


def _head(compaction: Compaction) -> int:
    """How much of what opens the conversation no pass will change, in events without instructions."""
    count = 0
    for event in compaction.events:
        if compaction.protected(event["id"]) is None:
            break
        count += event["type"] != "constraint"
    return count
