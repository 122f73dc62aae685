"""What one observation of a context says, in whatever shape an agent logged it.

Known shapes: a string; an event of our schema; a record such as `{"tool", "args", "output", "exit_code"}`; an
OpenAI message (role `tool`, or `assistant` with `tool_calls`); an Anthropic message or block (`tool_use`,
`tool_result`). Any other JSON value says its JSON text. Blind spot: what a record holds under keys that are
not known is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..canonical import readable
from ..errors import InvalidEvent
from ..events import EVENT_TYPES, validate_event
from ..render import line
from ..semantics import Command, Fact, arguments, semantics

_TOOL = ("tool", "tool_name", "name", "function_name")
_ARGUMENTS = ("args", "arguments", "input", "tool_input", "params", "parameters")
_OUTPUT = ("output", "result", "content", "stdout", "stderr", "text", "message", "response", "body", "diff")
_EXIT = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_ERROR = ("error", "exception", "error_message")
_FAILED = (("is_error", True), ("isError", True), ("error", True), ("success", False), ("ok", False))
_READ = frozenset((*_OUTPUT, *_EXIT, *_ERROR, "tool_calls"))  #: a dict with one of these is a record
_NO_ARGUMENT = frozenset((*_TOOL, *_OUTPUT, *_EXIT, *_ERROR, "type", "id", "is_error", "isError", "success", "ok"))
_STATED = frozenset(("decision", "requirement", "constraint", "verification", "abandon"))
_IMAGES = ("image", "input_image", "image_url")
_LONGEST = 2_000  #: characters of an argument that facts are read from
_DEEPEST = 4  #: levels of messages, blocks and outputs in each other that are read


@dataclass(frozen=True, slots=True)
class Observation:
    """What one observation says. Nothing in it is escaped or shortened."""

    text: str
    head: str = ""  #: the calls that it states, apart from its text
    spoken: bool = False  #: it may be what the agent said, not what a tool gave back
    stated: bool = False  #: it is a decision, a requirement or the like as a whole
    failed: bool = False
    error: str = ""  #: the error that it names apart from its text
    facts: tuple[Fact, ...] = ()
    exit_code: int | None = None


def plain(value: Any) -> str:
    """An observation as it stands in a prompt: text as it is, anything else as JSON."""
    return value if type(value) is str else readable(value)


def observe(value: Any) -> Observation:
    """Read one observation, which must be a JSON value without rings (`canonical.own` makes sure of it)."""
    if type(value) is str:
        return Observation(value, spoken=True)
    if type(value) is dict:
        return _of_event(value) or _of_record(value)
    if type(value) is list:
        return _of_record({"content": value})
    return Observation(readable(value))


def _of_event(value: dict[str, Any]) -> Observation | None:
    kind = value.get("type")
    if type(kind) is not str or kind not in EVENT_TYPES:
        return None
    try:
        validate_event(value)
    except InvalidEvent:
        return None
    exit_code, command = value.get("exit_code"), value.get("command")
    failed = kind == "error" or bool(exit_code) or value.get("passed") is False or value.get("is_error") is True
    fact = semantics({**value, "command": command[:_LONGEST]} if type(command) is str else value)
    code = exit_code if type(exit_code) is int else None
    facts = (fact,) if fact is not None else ()
    return Observation(line(value), stated=kind in _STATED, failed=failed, facts=facts, exit_code=code)


def _of_record(record: dict[str, Any]) -> Observation:
    calls: list[tuple[str, Any]] = []
    texts: list[str] = []
    errors: list[str] = []
    exit_code, failed, answers = None, False, "tool_call_id" in record or record.get("role") == "tool"
    for part in _parts(record):
        calls += _calls(part)
        texts += _texts(part)
        code = next((part[key] for key in _EXIT if type(part.get(key)) is int), None)
        exit_code = code if exit_code is None else exit_code
        errors += [text for key in _ERROR if (text := _error(part.get(key)))]
        failed = failed or any(part.get(key) is true for key, true in _FAILED)
        answers = answers or "tool_use_id" in part
    facts = tuple(fact for name, given in calls if (fact := _call_fact(name, given, exit_code)) is not None)
    head = "; ".join(f"{name}({_told(given)})" for name, given in calls)
    answers = answers or exit_code is not None or (bool(calls) and record.get("role") != "assistant")
    return Observation(
        "\n".join(texts) or "\n".join(errors) or ("" if head else readable(record)),
        head,
        spoken=bool(texts) and not answers,
        failed=failed or bool(errors) or bool(exit_code),
        error=errors[0] if errors else "",
        facts=facts,
        exit_code=exit_code,
    )


def _parts(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A record and the records in its content and outputs, outermost first, each level in order."""
    level = [record]
    for _ in range(_DEEPEST):
        yield from level
        inner: list[dict[str, Any]] = []
        for part in level:
            for key in ("content", "output", "result", "message"):
                value = part.get(key)
                values: list[Any] = value if type(value) is list else [value]
                inner += [each for each in values if _is_read(each)]
        level = inner


def _is_read(value: Any) -> bool:
    """Whether a value inside a record is a record in its turn."""
    return type(value) is dict and (not _READ.isdisjoint(value) or value.get("type") == "tool_use")


def _texts(part: Mapping[str, Any]) -> Iterator[str]:
    for key in _OUTPUT:
        value = part.get(key)
        for each in value if type(value) is list else [value]:
            if type(each) is str:
                yield each
            elif type(each) is dict and type(each.get("thinking")) is str:
                yield each["thinking"]
            elif type(each) is dict and each.get("type") in _IMAGES:
                yield "[image]"
            elif each is not None and not _is_read(each):
                yield readable(each)


def _calls(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(tool, arguments) of each call that a record states."""
    asked = part.get("tool_calls")
    for each in asked if type(asked) is list else []:
        call = each.get("function", each) if type(each) is dict else None
        if type(call) is dict and type(call.get("name")) is str:
            yield call["name"], call.get("arguments", call.get("args", {}))
    tool = next((part[key] for key in _TOOL if type(part.get(key)) is str), "")
    command = part.get("command", part.get("cmd"))
    if tool and part.get("role") is None:
        beside = {key: each for key, each in part.items() if key not in _NO_ARGUMENT}
        yield tool, next((part[key] for key in _ARGUMENTS if key in part), beside)
    elif type(command) is str and command:
        yield "shell", {"command": command}


def _call_fact(tool: str, given: Any, exit_code: int | None) -> Fact | None:
    """The fact that a call states. Reads the first characters of long arguments only."""
    read = {key: _bounded(each) for key, each in arguments({"arguments": given}).items()}
    fact = semantics({"type": "tool_call", "tool_name": tool[:_LONGEST], "arguments": read})
    return replace(fact, exit_code=exit_code) if isinstance(fact, Command) else fact


def _told(given: Any) -> str:
    named = arguments({"arguments": given})
    return ", ".join(map(plain, named.values())) if named else plain(given)


def _bounded(value: Any) -> Any:
    if type(value) is list and all(type(part) is str for part in value):
        value = " ".join(value[:_LONGEST])
    return value[:_LONGEST] if type(value) is str else value


def _error(value: Any) -> str:
    if type(value) is dict and type(value.get("message")) is str:
        value = value["message"]
    return plain(value) if value and value is not True else ""
