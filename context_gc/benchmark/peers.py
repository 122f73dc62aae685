"""Peers: other people's packages through their public API, on the same sessions and the same meter.

None is needed: a row whose package is not installed is left out and named. What they give back is put into text as
this project renders its own events, so that a needle that they left alone is found.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any

from ..events import Event
from ..graph import StateGraph
from ..render import line
from .methods import COUNTER

KEPT_TOKENS = 20_000  #: what a truncation leaves, as the baseline of that kind does


@dataclass(frozen=True, slots=True)
class Peer:
    """One row: the package as an index of packages knows it, and how it makes a prompt."""

    name: str
    package: str
    prompt: Callable[[Sequence[Event]], str]

    @property
    def version(self) -> str | None:
        """The installed version, None when there is none."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def messages(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Events as chat messages: one an event, so that what was cut can be told."""
    made: list[dict[str, Any]] = []
    for event in events:
        match event["type"]:
            case "constraint":
                made.append({"role": "system", "content": line(event)})
            case "requirement":
                made.append({"role": "user", "content": line(event)})
            case "tool_call":
                function = {"name": event["tool_name"], "arguments": json.dumps(event["arguments"])}
                calls = [{"id": event["id"], "type": "function", "function": function}]
                made.append({"role": "assistant", "content": "", "tool_calls": calls})
            case "tool_result":
                made.append({"role": "tool", "tool_call_id": event["call_id"], "content": line(event)})
            case _ if text := line(event):
                made.append({"role": "assistant", "content": text})
    return made


def text(told: Sequence[dict[str, Any]]) -> str:
    """Chat messages as the text of a prompt."""
    parts: list[str] = []
    for message in told:
        if message.get("content"):
            parts.append(str(message["content"]))
        for call in message.get("tool_calls") or ():
            arguments = json.loads(call["function"]["arguments"])
            named = {"id": "m", "type": "tool_call", "timestamp": 0, "tool_name": call["function"]["name"]}
            parts.append(line({**named, "parent_id": None, "arguments": arguments}))
    return "\n".join(parts)


def _trimmed(events: Sequence[Event]) -> str:
    core = import_module("langchain_core.messages")
    found = core.convert_to_messages(messages(events))
    kept = core.trim_messages(
        found, max_tokens=KEPT_TOKENS, strategy="last", include_system=True, token_counter=_count_messages
    )
    return text(core.convert_to_openai_messages(kept))


def _cleared(trigger: int) -> Callable[[Sequence[Event]], str]:
    def prompt(events: Sequence[Event]) -> str:
        core = import_module("langchain_core.messages")
        edit = import_module("langchain.agents.middleware").ClearToolUsesEdit(trigger=trigger, keep=3)
        found = core.convert_to_messages(messages(events))
        edit.apply(found, count_tokens=_count_messages)
        return text(core.convert_to_openai_messages(found))

    return prompt


def _count_messages(found: Sequence[Any]) -> int:
    return sum(COUNTER.count(f"{each.content}\n{getattr(each, 'tool_calls', '') or ''}") for each in found)


def _contextgc(events: Sequence[Event]) -> str:
    compiled, _ = import_module("contextgc").compile_messages(messages(events))
    return text(compiled)


def _tracegc(events: Sequence[Event]) -> str:
    told = import_module("tracegc").compact_events([_plain(event) for event in events])
    return "\n".join(_with_stubs(events, set(told["pruned_ids"])))


def _with_stubs(events: Sequence[Event], pruned: set[str]) -> Iterator[str]:
    for event in events:
        if event["id"] in pruned:
            yield f"[RECEIPT {event['id']}]"
        elif shown := line(event):
            yield shown


def _plain(event: Event) -> dict[str, Any]:
    """An event without what only importers add."""
    return {key: value for key, value in event.items() if key != "is_error"}


def _distil(verbatim: bool) -> Callable[[Sequence[Event]], str]:
    def prompt(events: Sequence[Event]) -> str:
        with _home_of_its_own("DISTIL_HOME"):
            return text(import_module("distil").compress_messages(messages(events), verbatim=verbatim).messages)

    return prompt


@contextmanager
def _home_of_its_own(variable: str) -> Iterator[None]:
    """A folder that goes away again, for a package that keeps what it took out on disk."""
    before = os.environ.get(variable)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[variable] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ[variable]
            else:
                os.environ[variable] = before


PEERS = (
    Peer(f"LangChain trim_messages, last {KEPT_TOKENS:,} tokens", "langchain-core", _trimmed),
    Peer("LangChain ClearToolUsesEdit, 100,000 (its default), keep 3", "langchain", _cleared(100_000)),
    Peer("LangChain ClearToolUsesEdit, 20,000, keep 3", "langchain", _cleared(20_000)),
    Peer("contextgc compile_messages", "contextgc", _contextgc),
    Peer("tracegc compact_events", "tracegc", _tracegc),
    Peer("distil-llm compress_messages", "distil-llm", _distil(False)),
    Peer("distil-llm compress_messages, verbatim", "distil-llm", _distil(True)),
)


def tracegc_sessions() -> list[tuple[str, StateGraph, dict[str, Any]]]:
    """(name, graph, probes) of the sessions that ship with tracegc: what the 21 % were measured on."""
    folder = files("tracegc") / "benchmark" / "fixtures"
    found = sorted((each for each in folder.iterdir() if each.name.endswith(".json")), key=lambda each: each.name)
    made = []
    for each in found:
        given = json.loads(each.read_text("utf-8"))
        graph = StateGraph()
        graph.extend(event for event in given["events"] if event["type"] != "edge_injection")
        for edge in given["events"]:
            if edge["type"] == "edge_injection":
                graph.add_edge(edge["src"], edge["dst"], "sequence")
        made.append((each.name.removesuffix(".json"), graph, given["probes"]))
    return made


def tracegc_passes(probe: dict[str, Any], prompt: str) -> bool:
    """A probe of tracegc as its own benchmark asks it: letters of either case, and nothing excluded anywhere."""
    low = prompt.lower()
    return all(text.lower() in low for text in probe["contains"]) and not any(
        text.lower() in low for text in probe["excludes"]
    )
