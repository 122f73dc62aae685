"""Events of the OpenHands SDK (V1) -> events of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...canonical import readable
from ...trace import Trace
from ..dialects.messages import Part, message, text_at, visible
from ..files.json_roots import decoded
from ..recording.condensed import open_condensed
from ..recording.recorder import Recorder
from ..recording.telling import tell
from ..recording.token_reports import Laid, RunningTotals, Tokens
from ..recording.undone import Edits

_SEEN = frozenset(
    "SystemPromptEvent SystemPromptUpdateEvent MessageEvent ActionEvent ObservationEvent UserRejectObservation"
    " AgentErrorEvent Condensation CondensationSummaryEvent".split()
)
_UNSEEN = frozenset(
    "ConversationStateUpdateEvent ConversationErrorEvent CondensationRequest PauseEvent InterruptEvent TokenEvent"
    " LLMCompletionLogEvent HookExecutionEvent StreamingDeltaEvent".split()
)  #: what no model sees
KINDS = _SEEN | _UNSEEN


class Teller:
    """Takes the events of one conversation in order."""

    def __init__(self, format_name: str, source: str) -> None:
        self.recorder = Recorder(format_name, source)
        self._start = 0  # of the window
        self._ids: dict[int, Any] = {}  # place -> the id of the event that it came from
        self._system = ""
        self._request = ""  # why a condensation was asked for
        self._thought: set[str] = set()  # calls that only think, by the provider's id
        self._cwd = ""
        self._totals: dict[str, RunningTotals] = {}
        self._waiting: Tokens = (0, 0, 0, 0)  # what the response that comes next used
        self._usage = Laid(self.recorder)
        self._edits = Edits(self.recorder)

    def take(self, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """The next event."""
        kind = text_at(event, "kind")
        self.recorder.at(event.get("timestamp"))
        before, start = len(self.recorder.events), self._start
        if kind == "ConversationStateUpdateEvent":
            self._count(event)
        elif kind == "CondensationRequest":
            self._request = text_at(event, "reason")
        elif kind == "InterruptEvent":
            self._cut_off(text_at(event, "reason") or "interrupted by the user", origin)
        elif kind in ("SystemPromptEvent", "SystemPromptUpdateEvent"):
            self._instruct(event, origin)
        elif kind == "MessageEvent":
            self._say(event, origin)
        elif kind == "ActionEvent":
            self._act(event, origin)
        elif kind in ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"):
            self._answer(kind, event, origin)
        elif kind == "Condensation":
            self._condense(event, origin)
        elif kind == "CondensationSummaryEvent":
            self.recorder.say("assistant", text_at(event, "summary"), origin, _short(event), tags=("summary",))
        elif kind not in _UNSEEN:
            fields = {"content": readable(event), "tags": ["opaque"]}
            self.recorder.add("decision", fields, origin, _short(event))
        if before == len(self.recorder.events) and start == self._start:
            self.recorder.ignore(kind)
        for place in range(max(before, self._start), len(self.recorder.events)):
            self._ids.setdefault(place, event.get("id") if type(event.get("id")) is str else None)

    def done(self) -> Trace:
        """The trace."""
        self._usage.settle()
        self.recorder.trace.cwd = self.recorder.trace.cwd or self._cwd
        return self.recorder.done()

    def _instruct(self, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """The system prompt; an update that changes nothing but the tools is no new text."""
        tools = event.get("tools")
        if type(tools) is list:
            self.recorder.trace.extra["tools"] = [named for each in tools if (named := _tool(each))]
        texts = [text_at(event.get(field), "text") for field in ("system_prompt", "dynamic_context")]
        if "\n".join(texts) != self._system:
            self._system = "\n".join(texts)
            for text in texts:
                self.recorder.say("system", text, origin, _short(event))

    def _say(self, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        said = event.get("llm_message")
        told = message(dict(said)) if type(said) is dict else None
        voice = "assistant" if text_at(event, "source") == "agent" else told.role if told else "user"
        facts = _response(event)
        if voice == "assistant":
            self._reason(said if type(said) is dict else {}, "", origin, facts)
        place = None
        for part in (*(told.parts if told else ()), *_texts(event.get("extended_content"))):
            if part.kind != "thinking":
                place = tell(self.recorder, voice, part, origin, _short(event), **facts)
        if voice == "assistant":
            self._lay(event, place)

    def _act(self, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """What the model thought, said and called; calls of one response hang side by side."""
        facts = _response(event)
        parts = _texts(event.get("thought"))
        words = "\n".join(part.value for part in parts if part.kind == "text")
        self._reason(event, words, origin, facts)
        for part in parts:
            tell(self.recorder, "assistant", part, origin, _short(event), **facts)
        call, action = event.get("tool_call"), event.get("action")
        provider_id = text_at(event, "tool_call_id") or text_at(call, "id")
        tool = text_at(event, "tool_name") or text_at(call, "name")
        if text_at(action, "kind") == "ThinkAction" and provider_id:
            self._thought.add(provider_id)
            thought = text_at(action, "thought")
            self._lay(event, self.recorder.say("assistant", thought, origin, tags=("think",), **facts))
            return
        given = call.get("arguments") if type(call) is dict else None
        if given is None:
            given = {key: value for key, value in action.items() if key != "kind"} if type(action) is dict else {}
        if self._cwd:
            facts["cwd"] = self._cwd
        name = "" if provider_id else _short(event)
        self._lay(event, self.recorder.call(provider_id, tool, given, origin, name, **facts))

    def _reason(self, holder: Mapping[str, Any], words: str, origin: Mapping[str, Any], facts: dict[str, Any]) -> None:
        """Thinking, in blocks or as text; not once more where the words hold it."""
        blocks = holder.get("thinking_blocks")
        told = message({"role": "assistant", "content": blocks}) if type(blocks) is list and blocks else None
        item = holder.get("responses_reasoning_item")
        if told is None and type(item) is dict:
            told = message({**item, "type": "reasoning"})
        parts: Sequence[Part] = told.parts if told else ()
        text = text_at(holder, "reasoning_content")
        if not parts and text.strip() and text.strip() not in words:
            parts = (Part("thinking", text),)
        for part in parts:
            tell(self.recorder, "assistant", part, origin, **facts)

    def _answer(self, kind: str, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        provider_id = text_at(event, "tool_call_id")
        if provider_id in self._thought:
            return
        seen = event.get("observation")
        seen = seen if type(seen) is dict else {}
        more: dict[str, Any] = {}
        if kind == "AgentErrorEvent":
            content: Any = text_at(event, "error")
        elif kind == "UserRejectObservation":
            content = f"Action rejected: {text_at(event, 'rejection_reason')}"
        else:
            content = _content(seen, event.get("extended_content"))
        metadata = seen.get("metadata")
        held = (metadata.get("exit_code") if type(metadata) is dict else None, seen.get("exit_code"))
        code = next((each for each in held if type(each) is int and each != -1), None)
        if code is not None:
            more["exit_code"] = code
        failed = kind == "AgentErrorEvent" or seen.get("is_error") is True
        call = self.recorder.answered(provider_id) if provider_id else None
        result = self.recorder.result(provider_id or "unknown", content, origin, failed, **more)
        self._cwd = text_at(metadata, "working_dir") or self._cwd
        if call is None:
            return
        if kind == "UserRejectObservation":
            reason = text_at(event, "rejection_reason") or "rejected"
            self.recorder.abandon([call.place], reason, origin)
        given = decoded(self.recorder.events[call.place]["arguments"])
        text = content if type(content) is str else "\n".join(text_at(block, "text") for block in content)
        self._edits.judge(text_at(given, "command"), text_at(given, "path"), call.place, result, text, origin)

    def _cut_off(self, reason: str, origin: Mapping[str, Any]) -> None:
        """Give up the calls of this window that have no result."""
        waiting: dict[str, int] = {}
        for place, event in enumerate(self.recorder.events[self._start :], self._start):
            if event["type"] == "tool_call":
                waiting[event["id"]] = place
            else:
                waiting.pop(event.get("call_id", ""), None)
        self.recorder.abandon(waiting.values(), reason, origin)

    def _condense(self, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """Events are forgotten, perhaps for a summary: a new window, which begins with what was kept."""
        self._usage.settle()
        listed = event.get("forgotten_event_ids")
        gone = {each for each in listed if type(each) is str} if type(listed) is list else set()
        places = range(self._start, len(self.recorder.events))
        kept = [(place, self._ids.get(place)) for place in places if self._ids.get(place) not in gone]
        offset = event.get("summary_offset")
        summary, opened_by = text_at(event, "summary"), "manual" if self._request == "manual" else "auto"
        offset = offset if type(offset) is int else 0
        self._start, new = open_condensed(self.recorder, kept, opened_by, origin, summary, offset)
        self._ids |= new
        self._request = ""

    # usage

    def _count(self, event: Mapping[str, Any]) -> None:
        """Running totals stand in the state, and are told just before the response that they count last."""
        value = event.get("value")
        totals = value.get("usage_to_metrics") if event.get("key") == "stats" and type(value) is dict else None
        for name, each in (totals if type(totals) is dict else {}).items():
            if type(each) is not dict or name == "condenser":
                continue
            trace = self.recorder.trace
            trace.model = trace.model or text_at(each, "model_name")
            used = self._totals.setdefault(name, RunningTotals()).take(each.get("accumulated_token_usage"))
            if any(used):
                self._waiting = used

    def _lay(self, event: Mapping[str, Any], place: int | None) -> None:
        """Lay what waits on an event of a response."""
        if place is not None and self._usage.lay(text_at(event, "llm_response_id"), place, self._waiting):
            self._waiting = 0, 0, 0, 0


def _short(event: Mapping[str, Any]) -> str:
    return text_at(event, "id")[:8]


def _response(event: Mapping[str, Any]) -> dict[str, Any]:
    name = text_at(event, "llm_response_id")
    return {"message_id": name} if name else {}


def _texts(blocks: Any) -> Sequence[Part]:
    told = message({"role": "assistant", "content": blocks}) if isinstance(blocks, str | list) else None
    return told.parts if told else ()


def _content(seen: Mapping[str, Any], extended: Any) -> Any:
    """What the model saw: the blocks of an observation; of one that has none, its text, else all of it."""
    content = seen.get("content", text_at(seen, "output", "result", "error", "message"))
    if content in ("", None):
        content = {key: value for key, value in seen.items() if key != "kind"}
    if type(content) is list and type(extended) is list:
        content = [*content, *extended]
    return visible(content)


def _tool(tool: Any) -> str:
    name = text_at(tool, "name") or text_at(tool, "title")
    return name or text_at(tool, "kind").removesuffix("Tool")
