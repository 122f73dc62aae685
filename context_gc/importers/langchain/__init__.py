"""LangChain and LangGraph: message lists, states, checkpoints, state histories and streamed updates, JSON or JSONL.

Messages may be plain ({"type": "human", …}), from `messages_to_dict`, or LangChain's own serialisation.
Records are messages; of a file that holds several states they are the states. Blind spots: values of a
state beside `messages`; a history whose states have neither times nor steps is taken in the file's order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..dialects.messages import Message, message, text_at
from ..files.document import Document
from ..files.json_roots import Root, first_objects, roots
from ..model_calls.conversations import conversations
from ..model_calls.spans import Span
from ..recording.names import milliseconds
from .chunks import Entry, joined

name = "langchain"

ALL = "__remove_all__"  #: the id by which LangGraph takes back all messages
_OURS = frozenset("human ai humanmessage aimessage humanmessagechunk aimessagechunk remove".split())
_STATES = ("values", "channel_values", "checkpoint", "state")


def sniff(head: bytes) -> bool:
    """Whether one of the first objects is a message as only LangChain writes it, or holds one in a state."""
    for value in first_objects(head):
        listed = [value, *_state(value)[1], *(each for _, said in _updates(value) for each in said)]
        if any(map(_is_ours, listed)):
            return True
    return False


def read(document: Document) -> list[Trace]:
    """One trace a conversation. What is taken back is abandoned; a history that is rewritten opens a new window.

    `extra`: `trace_id` is the thread's id where states tell one.

    Raises:
        TraceError: it holds no message.
    """
    found, problems = roots(document)
    states = [root for root in found if _state(root.value)[0]]
    if len(states) > 1:
        spans = [_of_state(root, problems) for root in _in_order(states)]
        problems += [_problem(root.origin, "no state") for root in found if not _state(root.value)[0]]
        traces = conversations(spans, name, document.name)
    else:
        entries = list(_entries(found))
        damaged = len(problems)
        said = list(_messages(joined(entries), problems))
        traces = conversations(_snapshots(said, _thread(states[0].value) if states else ""), name, document.name)
        for number, trace in enumerate(traces):
            records = found if "line" in found[0].origin else entries
            trace.records_read = 0 if number else len(records) - len(problems) + damaged
    if not traces:
        raise TraceError(document.name, "it holds no messages", "name a file that does")
    traces[0].problems += problems
    return traces


def _is_ours(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if value.get("lc") == 1 and type(value.get("kwargs")) is dict and type(value.get("id")) is list and value["id"]:
        return str(value["id"][-1]).removesuffix("Chunk").endswith("Message")
    inner = value["data"] if type(value.get("data")) is dict else value
    kind = value.get("type")
    return type(kind) is str and kind.lower() in _OURS and "content" in inner and "role" not in value


def _state(value: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The path and the messages of a state, of a snapshot or of a checkpoint; ("", []) for what is none."""
    path = ""
    for _ in range(3):
        if type(value.get("messages")) is list:
            return f"{path}messages", value["messages"]
        key = next((key for key in _STATES if type(value.get(key)) is dict), "")
        if not key:
            break
        path, value = f"{path}{key}/", value[key]
    return "", []


def _updates(value: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    """What each node of a streamed update says, by its path."""
    found = []
    for node, update in value.items():
        said = update.get("messages") if type(update) is dict else None
        if type(said) in (list, dict):
            found.append((f"{node}/messages", said if type(said) is list else [said]))
    return found


def _entries(found: Iterable[Root]) -> Iterator[Entry]:
    """Each message of the file's only state, of updates, or of the file itself."""
    for origin, value in found:
        state = _state(value)
        held = [state] if state[0] else [] if message(value) is not None else _updates(value)
        for path, said in held:
            above = f"{origin['path']}/{path}" if "path" in origin else path
            for number, each in enumerate(said):
                yield {**origin, "path": f"{above}/{number}"}, each
        if not held:
            yield origin, value


def _messages(entries: Iterable[Entry], problems: list[Problem]) -> Iterator[Message]:
    for origin, value in entries:
        read = message(value)
        if read is None:
            problems.append(_problem(origin, "no message"))
        else:
            read.origin = origin
            yield read


def _snapshots(said: Iterable[Message], thread: str) -> list[Span]:
    """The messages as they stood before each time that some were taken back or replaced, and at the end."""
    spans: list[Span] = []
    current: dict[str, Message] = {}  # by id, else by number
    settled, cleared = True, ""
    cause: Message | None = None  # what took back or replaced something
    for number, each in enumerate(said):
        name = each.id or f"#{number}"
        if (each.role == "remove" or name in current) and not settled:
            spans.append(_snapshot(cause, current, thread, cleared))
            settled, cleared, cause = True, "", each
        if each.role == "remove":
            cleared = "unknown" if each.id == ALL and spans else cleared
            current = {} if each.id == ALL else {key: other for key, other in current.items() if key != each.id}
        else:
            settled = False
            current[name] = each
    return [*spans, _snapshot(cause, current, thread, cleared)] if current else spans


def _snapshot(cause: Message | None, current: Mapping[str, Message], thread: str, cleared: str) -> Span:
    prompt = list(current.values())
    origin = (cause or prompt[0]).origin or {}
    return Span("", "model", dict(origin), trace=thread, prompt=prompt, follows=True, compacted=cleared)


def _of_state(root: Root, problems: list[Problem]) -> Span:
    path, listed = _state(root.value)
    above = f"{root.origin['path']}/{path}" if "path" in root.origin else path
    origin = {**root.origin, "path": above}
    said = _messages(joined(({**origin, "path": f"{above}/{at}"}, each) for at, each in enumerate(listed)), problems)
    time = milliseconds(root.value.get("created_at", root.value.get("ts")))
    kind = "model" if listed else "state without messages"
    thread = _thread(root.value)
    return Span("", kind, origin, trace=thread, start=time, prompt=list(said), follows=bool(thread))


def _in_order(states: Sequence[Root]) -> Sequence[Root]:
    """By the times or the steps of their making, as far as all have them."""
    times = [milliseconds(each.value.get("created_at", each.value.get("ts"))) for each in states]
    about = [each.value.get("metadata") for each in states]
    steps = [each.get("step") if type(each) is dict else None for each in about]
    for keys in (zip(times, steps, strict=True), zip(times, strict=True), zip(steps, strict=True)):
        listed = list(keys)
        if all(type(part) is int for key in listed for part in key):
            return [states[place] for place in sorted(range(len(states)), key=lambda at: listed[at])]
    return states


def _thread(value: Mapping[str, Any]) -> str:
    """The id of the thread that a state belongs to, with the subgraph's where it is one's."""
    config, metadata = value.get("config"), value.get("metadata")
    inner = config.get("configurable") if type(config) is dict else None
    holders = (inner, value.get("checkpoint"), metadata, value)
    thread = next((found for each in holders if (found := text_at(each, "thread_id"))), "")
    space = next((found for each in holders if (found := text_at(each, "checkpoint_ns"))), "")
    return f"{thread}/{space}" if space else thread


def _problem(origin: Mapping[str, Any], what: str) -> Problem:
    where = f"{origin['path']}: " if "path" in origin else ""
    return Problem(origin.get("line"), f"{where}{what} (skipped)")
