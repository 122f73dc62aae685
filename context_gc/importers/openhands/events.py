"""Events of OpenHands V0 -> events of traces: the conversation's own, and one trace for each delegate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...canonical import readable
from ...semantics import shows
from ...trace import Trace
from ..dialects.messages import media, text_at
from ..files.json_roots import decoded
from ..recording.condensed import open_condensed
from ..recording.recorder import Recorder
from ..recording.telling import tell
from ..recording.undone import Edits
from ..swe_agent.file_window import lines_shown, refused
from .responses import Responses, within, written

#: actions and observations that no model sees
UNSEEN_ACTIONS = frozenset(
    "null change_agent_state initialize start stop pause resume recall condensation_request loop_recovery".split()
)
UNSEEN_OBSERVATIONS = frozenset(("null", "agent_state_changed", "think", "condense", "server_ready", "success"))
TOOLS = {"run": "execute_bash", "run_ipython": "execute_ipython_cell", "task_tracking": "task_tracker"}
_ASIDE = frozenset(
    "action id timestamp source message cause timeout tool_call_metadata llm_metrics observation thought is_confirmed"
    " confirmation_state security_risk action_risk keep_prompt hidden blocking kernel_init_code include_extra"
    " translated_ipython_code impl_source background images_urls image_urls wait_for_response".split()
)  #: fields of an action that are not what the agent asked for


class Teller:
    """Takes the events of one conversation in order."""

    def __init__(self, format_name: str, source: str) -> None:
        self._format, self._source = format_name, source
        self._agents = [_Agent(Recorder(format_name, source))]
        self._children: list[_Agent] = []

    def take(self, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """The next event; what lies between a delegation and its answer belongs to the delegate."""
        if event.get("observation") == "delegate" and len(self._agents) > 1:
            self._agents.pop()
        agent = self._agents[-1]
        agent.take(event, origin)
        if event.get("action") == "delegate":
            self._agents.append(_Agent(Recorder(self._format, self._source)))
            self._children.append(self._agents[-1])
            trace = self._agents[-1].recorder.trace
            trace.title = f"delegate {text_at(_arguments(event), 'agent') or 'agent'}"
            trace.extra["parent_call"] = agent.recorder.events[-1]["id"]

    def done(self) -> list[Trace]:
        """The conversation, then its delegates. `extra["records"]` counts what each took in."""
        agents = [self._agents[0], *self._children]
        return [agent.done() for agent in agents if agent.records or agent is agents[0]]


class _Agent:
    """One agent's part of the conversation."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.records = 0
        self._start = 0  # of the window
        self._ids: dict[int, Any] = {}  # place -> the id of the event that it came from
        self._calls: dict[Any, str] = {}  # id of an action -> the id of its call
        self._cwd = ""
        self._responses = Responses(recorder)
        self._edits = Edits(recorder)

    def take(self, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        self.records += 1
        self.recorder.at(event.get("timestamp"))
        before, windows = len(self.recorder.events), self._start
        kind = text_at(event, "action")
        if kind:
            self._act(kind, event, _arguments(event), origin)
        else:
            kind = text_at(event, "observation")
            self._observe(kind, event, origin)
        if before == len(self.recorder.events) and windows == self._start:
            self.recorder.ignore(kind if kind in UNSEEN_ACTIONS | UNSEEN_OBSERVATIONS else f"{kind} without text")
        name = event.get("id")
        for place in range(max(before, self._start), len(self.recorder.events)):
            self._ids.setdefault(place, name if type(name) in (int, str) else None)

    def done(self) -> Trace:
        self._responses.settle()
        trace = self.recorder.done()
        trace.extra["records"] = self.records
        return trace

    # actions

    def _act(self, kind: str, event: Mapping[str, Any], args: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        name = f"e{event['id']}" if type(event.get("id")) is int else ""
        if kind in UNSEEN_ACTIONS:
            return
        if kind == "condensation":
            self._condense(event, args, origin)
        elif kind == "message":
            self._say(event, args, origin, name)
        elif kind == "system":
            self.recorder.say("system", text_at(args, "content"), origin, name)
        elif kind in ("finish", "reject", "think", "summarize"):
            outputs = args.get("outputs")
            text = text_at(args, "final_thought", "thought", "summary") or text_at(outputs, "reason", "content")
            tags = {"think": ("think",), "summarize": ("summary",)}.get(kind, ())
            facts = self._responses.reason(event, origin)
            self._responses.used(event, self.recorder.say("assistant", text, origin, name, tags=tags, **facts))
        else:
            self._call(kind, event, args, origin, name)

    def _say(self, event: Mapping[str, Any], args: Mapping[str, Any], origin: Mapping[str, Any], name: str) -> None:
        source = text_at(event, "source") or ("agent" if args.get("wait_for_response") is True else "user")
        voice = {"agent": "assistant", "user": "user"}.get(source, "assistant")
        facts: dict[str, Any] = self._responses.reason(event, origin) if source == "agent" else {}
        if source not in ("agent", "user"):
            facts["tags"] = ("notification",)
        place = self.recorder.say(voice, text_at(args, "content"), origin, name, **facts)
        for key in ("image_urls", "images_urls"):
            for address in args.get(key) or () if isinstance(args.get(key), list) else ():
                tell(self.recorder, voice, media("image", {"type": "image", "url": address}), origin)
        if source == "agent":
            self._responses.used(event, place)

    def _call(
        self, kind: str, event: Mapping[str, Any], args: Mapping[str, Any], origin: Mapping[str, Any], name: str
    ) -> None:
        facts = self._responses.reason(event, origin)
        metadata = event.get("tool_call_metadata")
        provider_id = text_at(metadata, "tool_call_id")
        tool = text_at(metadata, "function_name") or TOOLS.get(kind, kind)
        place = None
        thought = text_at(args, "thought")
        if thought:
            place = self.recorder.say("assistant", thought, origin, name, **facts)
        given: Any = written(metadata, provider_id)
        if given is None:
            given = {key: value for key, value in args.items() if key not in _ASIDE}
        if event.get("source") == "user":
            facts["tags"] = ["user"]
        if self._cwd:
            facts["cwd"] = self._cwd
        provider_id = provider_id or (f"a{event['id']}" if name else f"a{self.records}")
        place = self.recorder.call(provider_id, tool, given, origin, **facts)
        self._calls[event.get("id") if type(event.get("id")) in (int, str) else None] = provider_id
        self._responses.used(event, place)

    # observations

    def _observe(self, kind: str, event: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        extras = event.get("extras")
        extras = extras if type(extras) is dict else event
        content = event.get("content")
        content = content if type(content) is str else readable(content) if content is not None else ""
        if kind == "recall":
            self._recall(extras, origin)
        if kind in UNSEEN_OBSERVATIONS or kind == "recall":
            return
        cause = event.get("cause")
        provider_id = self._calls.get(cause, "") if type(cause) in (int, str) else ""
        provider_id = provider_id or text_at(event.get("tool_call_metadata"), "tool_call_id")
        call = self.recorder.answered(provider_id)
        if call is None and kind == "error":
            self.recorder.add("error", {"message": content or "error"}, origin)
            return
        if call is None and not provider_id:
            self.recorder.say("assistant", content, origin, tags=("notification",))
            return
        code = next(
            (
                each
                for each in (within(extras, "metadata", "exit_code"), extras.get("exit_code"))
                if type(each) is int and each != -1
            ),
            None,
        )
        failed = kind == "error" or (event.get("success") is False and code is None)
        failed = failed or (kind == "run_ipython" and refused(content))
        more = {} if code is None else {"exit_code": code}
        if kind == "delegate" and not content:
            content = readable(extras.get("outputs", extras))
        result = self.recorder.result(provider_id, content, origin, failed, **more)
        self._cwd = text_at(within(extras, "metadata"), "working_dir") or self._cwd
        trace = self.recorder.trace
        trace.cwd = trace.cwd or self._cwd
        if call is not None:
            self._judge(kind, call.place, result, content, origin)

    def _judge(self, kind: str, call: int, result: int, content: str, origin: Mapping[str, Any]) -> None:
        """What an answer says about its call: the lines that it shows, an edit made or undone, a rejection."""
        event = self.recorder.events[call]
        given = decoded(event["arguments"])
        window = lines_shown(content) if shows(text_at(given, "code")) else None
        if window:
            event["shows"] = window
        if kind == "user_rejected":
            self.recorder.abandon([call], content or "rejected by the user", origin)
        self._edits.judge(text_at(given, "command"), text_at(given, "path"), call, result, content, origin)

    def _recall(self, extras: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """Instructions of the repository and of microagents, which the prompt takes in."""
        self.recorder.say("system", text_at(extras, "repo_instructions"), origin)
        known = extras.get("microagent_knowledge")
        for each in known if type(known) is list else ():
            self.recorder.say("system", text_at(each, "content"), origin)

    # windows

    def _condense(self, event: Mapping[str, Any], args: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """Events are forgotten, perhaps for a summary: a new window, which begins with what was kept."""
        listed = args.get("forgotten_event_ids", args.get("pruned_event_ids"))
        gone = set(filter(lambda each: type(each) in (int, str), listed)) if type(listed) is list else set()
        first = args.get("forgotten_events_start_id", args.get("pruned_events_start_id"))
        last = args.get("forgotten_events_end_id", args.get("pruned_events_end_id"))
        kept = [place for place in range(self._start, len(self.recorder.events)) if self._ids.get(place) not in gone]
        if type(first) is int and type(last) is int:
            kept = [place for place in kept if not _between(first, self._ids.get(place), last)]
        offset = args.get("summary_offset")
        self._responses.settle()
        records = [(place, self._ids.get(place)) for place in kept]
        offset = offset if type(offset) is int else 0
        summary = text_at(args, "summary")
        self._start, new = open_condensed(self.recorder, records, "auto", origin, summary, offset)
        self._ids |= new


def _arguments(event: Mapping[str, Any]) -> Mapping[str, Any]:
    args = event.get("args")
    return args if type(args) is dict else event


def _between(first: int, name: Any, last: int) -> bool:
    return type(name) is int and first <= name <= last
