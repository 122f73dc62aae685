"""Anthropic: a model call over the Messages API, with compaction before it. Needs the extra `anthropic`."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal, overload

from ..compactor import ContextGC
from ..errors import MissingExtra
from ..importers.provider_messages.exchanges import tokens
from ..messages import DIALECTS, Request
from ..messages.anthropic import within_marks
from ..messages.dialect import Record, block_of, blocks, kind_of_block
from .answers import AnswerStream, ModelAnswer
from .receipt_tool import RECEIPT_TOOL, receipt_tool
from .rounds import Reply, Result, Rounds, RunTool, calls_of

_MARK = {"type": "ephemeral"}
_UNMARKED = frozenset(("thinking", "redacted_thinking"))  # blocks that take no mark


@overload
def call_anthropic_with_compaction(
    context_gc: ContextGC, model: str, user_message: Any = ..., api_key: str | None = ..., *,
    stream: Literal[True], **more: Any,
) -> AnswerStream: ...  # fmt: skip
@overload
def call_anthropic_with_compaction(
    context_gc: ContextGC, model: str, user_message: Any = ..., api_key: str | None = ..., *,
    stream: Literal[False] = ..., **more: Any,
) -> ModelAnswer: ...  # fmt: skip
def call_anthropic_with_compaction(
    context_gc: ContextGC,
    model: str,
    user_message: Any = None,
    api_key: str | None = None,
    *,
    stream: bool = False,
    system: str | Sequence[Mapping[str, Any]] | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    run_tool: RunTool | None = None,
    tool_results: Mapping[str, Any] | None = None,
    client: Any = None,
    base_url: str | None = None,
    timeout: Any = None,
    max_retries: int | None = None,
    max_tokens: int = 8192,
    max_rounds: int = 20,
    offer_receipts: bool = True,
    cache: bool = True,
    **request: Any,
) -> ModelAnswer | AnswerStream:
    """Ask a model of Anthropic's, with the history of a client, compacted.

    `cache`: cache breakpoints stand on the system prompt, on the last message and the one of the user before it,
    and on the opening message while nothing of it may be cut, as far as the request has none yet. All else as in
    `call_openai_with_compaction`; `client` is an `anthropic.Anthropic`, the key's default ANTHROPIC_API_KEY.

    Errors of the SDK and of tools come through; the history stays valid, and the same call can be made again.

    Raises:
        MissingExtra: the package anthropic is not installed.
        InvalidMessages: there is nothing to answer, or a result is for no call that waits.
    """
    if client is None:
        client = _client({"api_key": api_key, "base_url": base_url, "timeout": timeout, "max_retries": max_retries})
    offers = offer_receipts and not any(each.get("name") == RECEIPT_TOOL for each in tools)
    offered = [*([receipt_tool("anthropic-messages")] if offers else []), *tools]
    fields = {"model": model, "max_tokens": max_tokens, **({"tools": offered} if offered else {}), **request}
    asked = _Anthropic(client, blocks(system if system is None or isinstance(system, str) else [*system]), fields)
    asked.streams, asked.caches = stream, cache
    made = AnswerStream(Rounds(context_gc, asked, run_tool, offers, max_rounds).run(user_message, tool_results))
    return made if stream else made.answer


def _client(given: Mapping[str, Any]) -> Any:
    try:
        import anthropic
    except ImportError as error:
        raise MissingExtra("call_anthropic_with_compaction", f"{error}", "install context-gc[anthropic]") from error
    return anthropic.Anthropic(**{key: value for key, value in given.items() if value is not None})


class _Anthropic:
    dialect = DIALECTS["anthropic-messages"]

    def __init__(self, client: Any, system: list[Record], fields: dict[str, Any]) -> None:
        self._messages, self._system, self._fields = client.messages, system, fields
        self.streams, self.caches = False, True

    def ask(self, request: Request, head: int) -> Generator[str, None, Reply]:
        asked: Record = {**self._fields, "messages": request.messages}
        if system := [*map(dict, self._system), *blocks(request.system)]:
            asked["system"] = system
        if self.caches:
            _mark(asked, head)
        within_marks(asked)
        if self.streams:
            with self._messages.stream(**asked) as stream:
                yield from stream.text_stream
                message = stream.get_final_message()
                if not message.stop_reason:
                    from anthropic import APIConnectionError

                    told = "The stream ended before the answer."
                    raise APIConnectionError(message=told, request=stream.response.request)
        else:
            message = self._messages.create(**asked)
        reply = _reply(message)
        if reply.text and not self.streams:
            yield reply.text
        return reply

    def said(self, message: Any) -> Record:
        return {"role": "user", "content": message}

    def results(self, results: Sequence[Result]) -> list[Record]:
        content = [
            {
                "type": "tool_result", "tool_use_id": each.call_id, "content": each.content,
                **({"is_error": True} if each.is_error else {}),
            }
            for each in results
        ]  # fmt: skip
        return [{"role": "user", "content": content}] if content else []


def _mark(asked: Record, head: int) -> None:
    """Put cache breakpoints where a prefix ends that comes again."""
    messages = asked["messages"]
    if (system := asked.get("system")) and not any("cache_control" in block_of(each) for each in system):
        system[-1] = {**system[-1], "cache_control": _MARK}
    users = [place for place, each in enumerate(messages) if each["role"] == "user"]
    opening = [(users[0], head)] if users and head else []
    for place, upto in [*opening, *((place, 0) for place in users[-2:])]:
        content = [*blocks(messages[place]["content"])]
        at = min(upto, len(content)) - 1 if upto else len(content) - 1
        if at >= 0 and kind_of_block(content[at]) not in _UNMARKED:
            content[at] = {**content[at], "cache_control": _MARK}
            messages[place] = {**messages[place], "content": content}


def _reply(message: Any) -> Reply:
    content = []
    for block in message.content:
        told = block.model_dump(mode="json", exclude_none=True)
        told.pop("parsed_output", None)
        if told.get("type") != "text" or str(told.get("text", "")).strip():
            content.append(told)
    record = {"role": "assistant", "content": content}
    text = "".join(each["text"] for each in content if each.get("type") == "text")
    stop = message.stop_reason or ""
    return Reply(
        record if content else None, text, calls_of(record), tokens(message.usage.model_dump(mode="json")), stop,
        message, text if stop == "refusal" else "", stop == "max_tokens", stop == "pause_turn",
    )  # fmt: skip
