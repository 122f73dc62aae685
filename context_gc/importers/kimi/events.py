"""Records of one Kimi agent, in the order of the log -> events of its trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...canonical import readable
from ...trace import Trace
from ..files.fields import count, items, mapping, text
from ..recording.history import History
from ..recording.recorder import VOICES, Recorder
from .origins import voice

Record = Mapping[str, Any]
Fields = dict[str, Any]
Origin = Mapping[str, Any]

ASKS = frozenset(("AskUserQuestion",))  #: tools whose result is a person's answer
PLANS = frozenset(("ExitPlanMode",))  #: tools whose permission is a person's word on a plan


class Agent:
    """Takes the records of one agent one by one."""

    def __init__(self, format_name: str, source: str) -> None:
        self.recorder = Recorder(format_name, source)
        self.trace = self.recorder.trace
        self._history = History(self.recorder)
        self._count = 0
        self._system = ""
        self._words: dict[str, tuple[str, Origin]] = {}  # call -> what a person said about it, until its result
        self._refused: set[str] = set()
        self._written = ("", -1)  # the step that wrote last, and the place of its last event
        self._trigger = "unknown"  # of the compaction under way

    def take(self, kind: str, record: Record, origin: Origin) -> None:
        """Read one record."""
        self._count += 1
        self.recorder.at(record.get("time", record.get("created_at")))
        reader = _READERS.get(kind)
        left_out = reader(self, record, origin) if reader else kind
        if left_out:
            self.recorder.ignore(left_out)

    def done(self, agent: str) -> Trace:
        """The agent's trace; "" is the main one."""
        trace = self._history.done("", agent_id=agent)
        trace.records_read = self._count - sum(trace.ignored.values())
        if agent:
            trace.title = f"subagent {agent}: {trace.title}"
        return trace

    # settings and messages

    def _configure(self, record: Record, origin: Origin) -> str:
        self.trace.model = self.trace.model or text(record.get("modelAlias"))
        self.trace.cwd = self.trace.cwd or text(record.get("cwd"))
        said = text(record.get("systemPrompt"))
        if not said.strip() or said == self._system:
            return "config.update"
        self._system = said
        self.recorder.say("system", said, origin, "system")
        self._history.standing = [len(self.recorder.events) - 1]
        return ""

    def _message(self, record: Record, origin: Origin) -> str:
        message, start = record["message"], len(self.recorder.events)
        role, content = text(message.get("role")), message.get("content")
        parts = content if type(content) is list else [content] if type(content) is str else None
        if role == "tool":
            self._answer(text(message.get("toolCallId")), message | {"output": content}, origin)
            return ""
        if parts is None or role not in VOICES:
            self.recorder.add("decision", {"content": readable(message), "tags": ["opaque"]}, origin)
            return ""
        kind, tags = voice(role, message.get("origin"))
        for index, part in enumerate(parts):
            self._part(part, kind, tags, {**origin, "block": index} if len(parts) > 1 else origin, {})
        calls = message.get("toolCalls")
        for index, call in enumerate(items(calls)):
            self._call(call, {**origin, "path": f"message/toolCalls/{index}"})
        if "user" in tags:
            self._history.begin_turn(start if len(self.recorder.events) > start else None)
        return "" if len(self.recorder.events) > start else "blank message"

    def _part(self, part: Any, kind: str, tags: list[str], origin: Origin, more: Fields) -> None:
        part = {"type": "text", "text": part} if type(part) is str else part
        what = mapping(part).get("type")
        said = text(part.get(what)) if what in ("text", "think") else ""
        if what == "think":
            self.recorder.think(said, origin, **more)
        elif what == "text":
            if said.strip():
                told: Fields = {"content": said} | ({"tags": tags} if tags else {})
                self.recorder.add(kind, told | more, origin)
        elif type(what) is str and what.endswith("_url"):
            media = what.removesuffix("_url")
            fields: Fields = {"content": f"[{media}]", "tags": [*tags, media], "block": part}
            self.recorder.add(kind, fields | more, origin)
        else:
            self.recorder.add("decision", {"content": readable(part), "tags": ["opaque"], **more}, origin)

    # what the model does

    def _step(self, record: Record, origin: Origin) -> str:
        event = record["event"]
        kind, step = text(event.get("type")), text(event.get("stepUuid"))
        more = {"message_id": step} if step else {}
        start = len(self.recorder.events)
        if kind == "content.part":
            self._part(event.get("part"), "decision", [], origin, more)
            if len(self.recorder.events) == start:
                return "blank text"
            self._written = (step, start)
            return ""
        if kind == "tool.call":
            name, given = text(event.get("name")), event.get("args")
            call = text(event.get("toolCallId"))
            self._written = (step, self.recorder.call(call, name, {} if given is None else given, origin, **more))
            self.trace.cwd = self.trace.cwd or text(mapping(event.get("display")).get("cwd"))
            return ""
        if kind == "tool.result":
            result = event.get("result")
            self._answer(text(event.get("toolCallId")), result if type(result) is dict else {"output": result}, origin)
            return ""
        if kind == "step.end" and self._used(text(event.get("uuid")), mapping(event.get("usage"))):
            return ""
        if kind not in ("step.begin", "step.end"):
            self.recorder.add("decision", {"content": readable(event), "tags": ["opaque"]}, origin)
            return ""
        return f"loop event {kind}"

    def _call(self, call: Any, origin: Origin) -> None:
        holder = mapping(mapping(call).get("function")) or mapping(call)
        if not holder:
            self.recorder.add("decision", {"content": readable(call), "tags": ["opaque"]}, origin)
            return
        given = holder.get("arguments")
        self.recorder.call(text(call.get("id")), text(holder.get("name")), {} if given is None else given, origin)

    def _answer(self, call: str, result: Record, origin: Origin) -> None:
        output, note = result.get("output"), text(result.get("note"))
        output = "" if output is None else output
        if note:  # Kimi shows it to the model after the output
            shown = output if type(output) is list else [{"type": "text", "text": text(output)}]
            output = [*shown, {"type": "text", "text": note}]
        self.recorder.result(call, output, origin, result.get("isError") is True)
        asked = self.recorder.answered(call) if call else None
        if asked is None:
            return
        event = self.recorder.events[asked.place]
        words, said_at = self._words.pop(call, ("", origin))
        if call in self._refused:
            self._history.give_up([asked.place], words or "rejected by the user", said_at)
        elif event["tool_name"] in ASKS and result.get("isError") is not True:
            words = words or (output if type(output) is str else readable(output))
        if words and call not in self._refused:
            self.recorder.say("assistant", words, said_at, f"{event['id']}:answer", tags=["answer"])
        self._refused.discard(call)

    def _permit(self, record: Record, origin: Origin) -> str:
        """What a person said when a tool asked for permission; their word on a plan is kept, and why they refused."""
        result, call = mapping(record.get("result")), text(record.get("toolCallId"))
        decision, reason = text(result.get("decision")), text(result.get("feedback"))
        if decision in ("rejected", "denied"):
            self._refused.add(call)
            self._words[call] = (reason or f"{text(record.get('action'))}: {decision}", origin)
        elif text(record.get("toolName")) in PLANS and decision:
            label = text(result.get("selectedLabel"))
            self._words[call] = (f"{record.get('action')}: {decision}" + (f" ({label})" if label else ""), origin)
        else:
            return "permission.record_approval_result"
        return ""

    def _used(self, step: str, report: Fields) -> bool:
        """Lay a step's report on the last event that it wrote."""
        place = self._written[1] if step and self._written[0] == step else -1
        keys = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
        self.recorder.used(place, *(count(report.get(key)) for key in keys))
        return place >= 0

    # what changes the history

    def _compact(self, record: Record, origin: Origin) -> str:
        before, summary = record.get("tokensBefore"), record.get("contextSummary")
        summary = record.get("summary") if summary is None else summary
        self._history.open_window(self._trigger, before if type(before) is int else None, self._kept(record))
        self._trigger = "unknown"
        said = summary if type(summary) is str else readable(summary)
        self.recorder.say("assistant", said, origin, tags=["summary"])
        return ""

    def _kept(self, record: Record) -> list[int]:
        """The places of the user's messages that stay: the first ones where it says how many, and the last ones."""
        turns, kept = self._history.turns, count(record.get("keptUserMessageCount"))
        head = min(count(record.get("keptHeadUserMessageCount")), kept)
        last = turns[max(len(turns) - (kept - head), head) :] if kept > head else []
        return [*turns[:head], *last]

    def _begin_compaction(self, record: Record, origin: Origin) -> str:
        source = text(record.get("source"))
        self._trigger = source if source in ("auto", "manual") else "unknown"
        return "full_compaction.begin"

    def _clear(self, record: Record, origin: Origin) -> str:
        self._history.open_window("manual")
        return ""

    def _undo(self, record: Record, origin: Origin) -> str:
        turns = count(record.get("count"))
        there = turns <= len(self._history.turns)
        return "" if there and self._history.take_back(turns, "undone by the user", origin) else "context.undo"

    def _cancel(self, record: Record, origin: Origin) -> str:
        return "" if self._history.cut_off("cancelled by the user", origin) else text(record.get("type"))


_READERS: Mapping[str, Callable[[Agent, Record, Origin], str]] = {
    "config.update": Agent._configure,
    "context.append_message": Agent._message,
    "context.append_loop_event": Agent._step,
    "permission.record_approval_result": Agent._permit,
    "full_compaction.begin": Agent._begin_compaction,
    "context.apply_compaction": Agent._compact,
    "context.clear": Agent._clear,
    "context.undo": Agent._undo,
    "turn.cancel": Agent._cancel,
    "turn.step.interrupted": Agent._cancel,
}
