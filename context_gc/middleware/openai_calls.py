"""OpenAI: a model call over Chat Completions, with compaction before it. Needs the extra `openai`."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal, overload

from ..compactor import ContextGC
from ..errors import MissingExtra
from ..importers.provider_messages.exchanges import tokens
from ..messages import DIALECTS, Request
from ..messages.dialect import Record
from .answers import AnswerStream, ModelAnswer
from .receipt_tool import RECEIPT_TOOL, receipt_tool
from .rounds import Reply, Result, Rounds, RunTool, calls_of

_OF_RESPONSES = ("annotations", "parsed", "function_call")  # fields that a request does not take, or not as null
_CUT = "length"


@overload
def call_openai_with_compaction(
    context_gc: ContextGC, model: str, user_message: Any = ..., api_key: str | None = ..., *,
    stream: Literal[True], **more: Any,
) -> AnswerStream: ...  # fmt: skip
@overload
def call_openai_with_compaction(
    context_gc: ContextGC, model: str, user_message: Any = ..., api_key: str | None = ..., *,
    stream: Literal[False] = ..., **more: Any,
) -> ModelAnswer: ...  # fmt: skip
def call_openai_with_compaction(
    context_gc: ContextGC,
    model: str,
    user_message: Any = None,
    api_key: str | None = None,
    *,
    stream: bool = False,
    system: str | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    run_tool: RunTool | None = None,
    tool_results: Mapping[str, Any] | None = None,
    client: Any = None,
    base_url: str | None = None,
    timeout: Any = None,
    max_retries: int | None = None,
    max_rounds: int = 20,
    offer_receipts: bool = True,
    **request: Any,
) -> ModelAnswer | AnswerStream:
    """Ask an OpenAI model, or one behind an API like OpenAI's, with the history of a client, compacted.

    `user_message`: text or content parts; None to go on. It and the answer are added to the history. `system`
    stands before the history and is no part of it. `tools`: their definitions; `run_tool(name, arguments)` is
    called for each call, its result goes to the model, for at most `max_rounds` model calls. Without it the
    answer holds the calls, and the next one gets `tool_results`, by id. `offer_receipts`: the model gets a tool
    by which it asks back what was cut. `client`: an `openai.OpenAI`; else one is made of `api_key` (default:
    OPENAI_API_KEY), `base_url`, `timeout` and `max_retries`. `request`: further fields, such as `temperature`.

    Errors of the SDK and of tools come through; the history stays valid, and the same call can be made again.

    Raises:
        MissingExtra: the package openai is not installed.
        InvalidMessages: there is nothing to answer, or a result is for no call that waits.
    """
    if client is None:
        client = _client({"api_key": api_key, "base_url": base_url, "timeout": timeout, "max_retries": max_retries})
    named = any((each.get("function") or each).get("name") == RECEIPT_TOOL for each in tools)
    offers = offer_receipts and not named
    offered = [*([receipt_tool("openai-chat")] if offers else []), *tools]
    fields = {"model": model, **({"tools": offered} if offered else {}), **request}
    rounds = Rounds(context_gc, _OpenAI(client, system, fields, stream), run_tool, offers, max_rounds)
    made = AnswerStream(rounds.run(user_message, tool_results))
    return made if stream else made.answer


def _client(given: Mapping[str, Any]) -> Any:
    try:
        import openai
    except ImportError as error:
        raise MissingExtra("call_openai_with_compaction", f"{error}", "install context-gc[openai]") from error
    return openai.OpenAI(**{key: value for key, value in given.items() if value is not None})


class _OpenAI:
    dialect = DIALECTS["openai-chat"]

    def __init__(self, client: Any, system: str | None, fields: dict[str, Any], streams: bool) -> None:
        self._create = client.chat.completions.create
        self._system = [{"role": "system", "content": system}] if system else []
        self._fields, self._streams = fields, streams

    def ask(self, request: Request, head: int) -> Generator[str, None, Reply]:
        messages = [*self._system, *request.messages]
        if self._streams:
            return (yield from self._streamed(messages))
        completion = self._create(messages=messages, **self._fields)
        choice = completion.choices[0]
        message = choice.message.model_dump(mode="json", exclude_none=True)
        reply = _reply(message, choice.finish_reason, completion.usage, completion)
        if reply.text:
            yield reply.text
        return reply

    def said(self, message: Any) -> Record:
        return {"role": "user", "content": message}

    def results(self, results: Sequence[Result]) -> list[Record]:
        return [{"role": "tool", "tool_call_id": each.call_id, "content": each.content} for each in results]

    def _streamed(self, messages: list[Record]) -> Generator[str, None, Reply]:
        options = {"stream_options": {"include_usage": True}, **self._fields}
        message: Record = {"role": "assistant"}
        chunks, finish, usage = [], "", None
        with self._create(messages=messages, stream=True, **options) as stream:
            for chunk in stream:
                chunks.append(chunk)
                usage = chunk.usage or usage
                for choice in chunk.choices[:1]:
                    finish = choice.finish_reason or finish
                    _grow(message, choice.delta.model_dump(mode="json", exclude_none=True))
                    if choice.delta.content:
                        yield choice.delta.content
            if not finish:
                from openai import APIConnectionError

                raise APIConnectionError(message="The stream ended before the answer.", request=stream.response.request)
        return _reply(message, finish, usage, chunks)


def _grow(message: Record, delta: Record) -> None:
    """Add what a chunk of a stream brings."""
    for key, value in delta.items():
        if key == "tool_calls":
            calls = message.setdefault(key, [])
            for part in value:
                place = part.pop("index", len(calls))
                while len(calls) <= place:
                    calls.append({"type": "function", "function": {"name": "", "arguments": ""}})
                asked = part.pop("function", {})
                calls[place].update({name: each for name, each in part.items() if each})
                for name, text in asked.items():
                    calls[place]["function"][name] = calls[place]["function"].get(name, "") + text
        elif type(value) is str and key != "role":
            message[key] = message.get(key, "") + value
        elif type(value) is list:
            message.setdefault(key, []).extend(value)


def _reply(message: Record, finish: str, usage: Any, raw: Any) -> Reply:
    record = {key: value for key, value in message.items() if key not in _OF_RESPONSES}
    if "audio" in record:
        record["audio"] = {"id": record["audio"]["id"]}
    record = {"role": "assistant", "content": None, **record}
    if not record.get("tool_calls"):
        record.pop("tool_calls", None)
    told = tokens(usage.model_dump(mode="json")) if usage is not None else (0, 0, 0, 0)
    text, refusal = message.get("content") or "", message.get("refusal") or ""
    has_any = text.strip() or refusal or record.get("tool_calls") or record.get("audio")
    return Reply(record if has_any else None, text, calls_of(record), told, finish, raw, refusal, is_cut=finish == _CUT)
