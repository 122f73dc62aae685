"""Items of the Responses API, as a Codex rollout holds them -> events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...canonical import readable
from ..files.fields import mapping, text
from ..recording.history import History
from ..recording.recorder import VOICES, Recorder
from .facts import Facts

Item = dict[str, Any]
Origin = Mapping[str, Any]

SUMMARY = "Another language model started to solve this problem and produced a summary"
#: how the text begins that Codex writes in the user's name -> the voice or type, and the tags, that it has
WRITTEN_BY_CODEX = (
    (SUMMARY, "decision", ("summary",)),
    ("<environment_context>", "decision", ("environment",)),
    ("<turn_aborted>", "requirement", ("user", "interrupt")),
    ("<user_shell_command>", "decision", ("command",)),
    ("<subagent", "decision", ("notification",)),
    ("# AGENTS.md instructions", "constraint", ("system",)),
    ("<user_instructions>", "constraint", ("system",)),
    ("<skill", "constraint", ("system",)),
    ("<hook_prompt", "constraint", ("system",)),
    ("<permissions instructions>", "constraint", ("system",)),
    ("<collaboration_mode>", "constraint", ("system",)),
)
#: the whole answer of a call that the user stopped or refused
CALLED_OFF = re.compile(
    r"(?:Wall time: [\d.]+ seconds\n)?"
    r"(aborted(?: by user(?: after [\d.]+s)?)?|(?:exec command |patch )?rejected by user)"
    r"|exec_command failed.{0,500}Rejected\(\W{0,4}(rejected by user)\W{0,20}"
)
TEXTS = ("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal")
NO_RESULT = frozenset(("web_search", "image_generation"))  #: tools of the provider: it keeps what they gave
UNSEEN = frozenset(("ghost_snapshot",))  #: items that are never sent to the model


class Items:
    """Appends items to a history. A method that reads one gives "", or the kind that it is ignored as.

    A reasoning item whose text is encrypted is ignored; an encrypted summary or message stands as a placeholder
    with the original in `block`. What an item does not have the form for becomes an opaque event.
    """

    def __init__(self, history: History, facts: Facts) -> None:
        self.history, self.facts = history, facts
        self.cwd = ""
        self.last_output = -1  #: the last event that the model wrote after the last input
        self._recorder: Recorder = history.recorder

    def read(self, item: Any, origin: Origin) -> str:
        """Append one item."""
        if type(item) is not dict:
            return self._opaque(item, origin)
        kind = item.get("type")
        if kind is None and type(item.get("role")) is str:
            kind = "message"
        if type(kind) is not str:
            return self._opaque(item, origin)
        if kind in UNSEEN:
            return kind
        if kind.endswith(("_output", "_result")):
            return self._result(item, origin)
        reader = _READERS.get(kind)
        return reader(self, item, origin) if reader else self._opaque(item, origin)

    def say(self, voice: str, said: str, origin: Origin, name: str = "") -> int | None:
        """What someone says; what Codex itself writes as the user is told apart by how it begins."""
        kind, tags = self._kind_of(voice, said)
        if not kind:
            place = self._recorder.say(voice, said, origin, name)
        else:
            place = self._recorder.add(kind, {"content": said, "tags": tags}, origin, name)
        return self._note(place, voice == "assistant")

    def think(self, said: str, origin: Origin, name: str = "") -> str:
        """What the model thought, as far as it can be read."""
        return "" if self._note(self._recorder.think(said, origin, name), True) is not None else "encrypted reasoning"

    def _kind_of(self, voice: str, said: str) -> tuple[str, list[str]]:
        start = said.lstrip()[:100] if voice == "user" else ""
        return next(((kind, [*tags]) for sign, kind, tags in WRITTEN_BY_CODEX if start.startswith(sign)), ("", []))

    def _note(self, place: int | None, output: bool) -> int | None:
        if place is not None:
            self.last_output = place if output else -1
        return place

    def _opaque(self, item: Any, origin: Origin) -> str:
        self._note(self._recorder.add("decision", {"content": readable(item), "tags": ["opaque"]}, origin), True)
        return ""

    def _message(self, item: Item, origin: Origin) -> str:
        content, role = item.get("content", item.get("message")), text(item.get("role"))
        if not isinstance(content, str | list) or role not in VOICES:
            return self._opaque(item, origin)
        name, events = text(item.get("id")), self._recorder.events
        count = len(events)
        blocks = content if type(content) is list else [content]
        for index, block in enumerate(blocks):
            where = {**origin, "block": index} if len(blocks) > 1 else origin
            self._block(role, block, where, f"{name}.{index}" if name and index else name)
        if any(event["type"] == "requirement" and "interrupt" not in event["tags"] for event in events[count:]):
            self.history.begin_turn(count)
        return "" if len(events) > count else "blank message"

    def _block(self, role: str, block: Any, origin: Origin, name: str) -> None:
        said, kind = _text_of(block), mapping(block).get("type")
        if said is not None:
            self.say(role, said, origin, name)
        elif kind in ("input_image", "image"):
            if block.get("image_url") or block.get("source") or block.get("file_id"):
                fields = {"content": "[image]", "tags": [role or "agent", "image"], "block": block}
                place = self._recorder.add(VOICES.get(role, VOICES["user"])[0], fields, origin, name)
                self._note(place, role == "assistant")
        elif kind == "encrypted_content":
            self._sealed("message", block, ["opaque"], origin)
        else:
            self._opaque(block, origin)

    def _agent_message(self, item: Item, origin: Origin) -> str:
        """What another agent tells this one: it begins a turn."""
        content, count = item.get("content"), len(self._recorder.events)
        if type(content) is not list:
            return self._opaque(item, origin)
        for index, block in enumerate(content):
            where, said = {**origin, "block": index}, _text_of(block)
            if said is None:
                self._block("", block, where, "")
            elif said.strip():
                self._recorder.add("requirement", {"content": said, "tags": ["agent"]}, where)
        if len(self._recorder.events) == count:
            return "blank message"
        self.history.begin_turn(self._note(count, False))
        return ""

    def _reasoning(self, item: Item, origin: Origin) -> str:
        parts = [part for key in ("summary", "content") for part in _parts(item.get(key))]
        return self.think("\n\n".join(parts), origin, text(item.get("id")))

    def _sealed(self, what: str, block: Item, tags: list[str], origin: Origin) -> None:
        self._recorder.add("decision", {"content": f"[encrypted {what}]", "tags": tags, "block": block}, origin)

    def _compaction(self, item: Item, origin: Origin) -> str:
        self._sealed("summary", item, ["summary", "opaque"], origin)
        return ""

    def _call(self, item: Item, origin: Origin) -> str:
        tool = text(item.get("name")) or text(mapping(item.get("function")).get("name"))
        if text(item.get("namespace")):
            tool = f"{item['namespace'].rstrip('_')}__{tool}"
        given = item.get("arguments")
        if "input" in item and given is None:  # a custom tool takes plain text, such as a patch or JavaScript
            given = item["input"]
            given = given if type(given) is not str or given[:1] == "{" else {"input": given}
        return self._add_call(item, tool, {} if given is None else given, origin)

    def _own_call(self, item: Item, origin: Origin) -> str:
        """A call of a tool that is not named as a function is."""
        tool = text(item.get("type")).removesuffix("_call")
        given = item.get("action", item.get("arguments"))
        self._add_call(item, tool, {} if given is None else given, origin)
        if tool in NO_RESULT:
            self.history.settled.add(self._recorder.events[-1]["id"])
        if tool == "image_generation" and item.get("result"):
            self._recorder.result(_id(item), "[image]", origin, block=item["result"])
        return ""

    def _add_call(self, item: Item, tool: str, given: Any, origin: Origin) -> str:
        more = {"cwd": self.cwd} if self.cwd else {}
        place = self._recorder.call(_id(item), tool, given, origin, **more)
        self.facts.called(_id(item), self._recorder.events[place])
        self._note(place, True)
        return ""

    def _result(self, item: Item, origin: Origin) -> str:
        keys = ("output", "result", "tools", "content")
        value = next((item[key] for key in keys if item.get(key) is not None), "")
        failed = mapping(value).get("success") is False or mapping(value).get("is_error") is True
        told = self.facts.told(_id(item))
        self._recorder.result(_id(item), value, origin, failed or told.pop("is_error", False), **told)
        call = self._recorder.answered(_id(item)) if _id(item) else None
        off = CALLED_OFF.fullmatch(value) if type(value) is str else None
        if call is not None and off is not None:
            self.history.give_up([call.place], off[1] or off[2], origin)
        self.last_output = -1
        return ""


_READERS: Mapping[str, Callable[[Items, Item, Origin], str]] = {
    "message": Items._message,
    "agent_message": Items._agent_message,
    "reasoning": Items._reasoning,
    "function_call": Items._call,
    "custom_tool_call": Items._call,
    "tool_call": Items._call,
    "local_shell_call": Items._own_call,
    "web_search_call": Items._own_call,
    "tool_search_call": Items._own_call,
    "image_generation_call": Items._own_call,
    "compaction": Items._compaction,
    "compaction_summary": Items._compaction,
    "context_compaction": Items._compaction,
}


def _parts(blocks: Any) -> Iterator[str]:
    for block in blocks if type(blocks) is list else (blocks,):
        said = _text_of(block)
        if said:
            yield said


def _text_of(block: Any) -> str | None:
    if mapping(block).get("type") in TEXTS:
        block = block.get("text", block.get("refusal"))
    return block if type(block) is str else None


def _id(item: Item) -> str:
    return text(item.get("call_id")) or text(item.get("id"))
