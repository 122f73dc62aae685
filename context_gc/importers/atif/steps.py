"""Steps of an ATIF trajectory -> the events of one trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...trace import Problem, Trace
from ..dialects.messages import Message, Part, message, text_at, visible
from ..dialects.payloads import Tokens, count_at
from ..files.document import kind_of
from ..model_calls.events import Writer, sums_up
from ..recording.history import one_line
from ..recording.names import milliseconds
from ..recording.recorder import Recorder

_COMPACTION = re.compile(r"context (?:summari|compact)|summari[sz]ation and handoff|compaction", re.IGNORECASE)
_NOTICE = 200  #: characters of a compaction step's message up to which it is a notice, not the summary
_VOICE = {"agent": "assistant", "user": "user", "system": "system"}


class Steps:
    """Takes trajectories that continue one another; `steps` is how many steps were seen.

    A further trajectory is a window of its own. So is what follows a system step that tells of a compaction:
    it begins with what the first one began with before its first agent step. In a window after a compaction
    user text before the first agent step that no earlier window holds is the summary, when it was copied from
    elsewhere or reads like one.
    """

    def __init__(self, format_name: str, source: str, problems: list[Problem]) -> None:
        self.recorder = Recorder(format_name, source)
        self.writer = Writer(self.recorder)
        self.steps = 0
        self._problems = problems
        self._about: dict[str, Any] = {}
        self._opening: list[tuple[Message, dict[str, Any], list[int]]] = []  # what stands before the first agent step
        self._acted = False
        self._handover = False  # after a compaction, before the agent's next step
        self._known: set[str] = set()  # what the user said
        self._tokens = 0
        self._read = 0

    def take(self, trajectory: Mapping[str, Any], origin: dict[str, Any]) -> None:
        """Record a trajectory's steps; another one before it was continued by it."""
        listed = trajectory.get("steps")
        if self.steps and type(listed) is list:
            self._open()
        if not self._about:
            agent = trajectory.get("agent")
            given = {"session_id": trajectory.get("session_id"), "trajectory_id": trajectory.get("trajectory_id")}
            given |= {"agent": text_at(agent, "name"), "agent_version": text_at(agent, "version")}
            self._about = {key: value for key, value in given.items() if type(value) is str and value}
            self.recorder.trace.model = text_at(agent, "model_name")
        above = f"{origin['path']}/" if "path" in origin else ""
        for place, step in enumerate(listed if type(listed) is list else ()):
            self.steps += 1
            where = {**origin, "path": f"{above}steps/{place}"}
            if type(step) is not dict:
                text = f"{where['path']}: {kind_of(step)} where an object was expected (skipped)"
                self._problems.append(Problem(origin.get("line"), text))
            else:
                self._step(step, where)

    def done(self, embedded: bool) -> Trace:
        """The trace; an embedded one is a subagent's."""
        trace = self.recorder.done()
        said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
        trace.title = one_line(said) or self._about.get("session_id", "")
        trace.records_read, trace.extra = self._read, {**self._about}
        if embedded:
            trace.extra["agent_id"] = self._about.get("trajectory_id", "")
            trace.title = f"subagent {trace.extra['agent_id'] or self._about.get('agent', '')}: {trace.title}"
        return trace

    def _step(self, step: dict[str, Any], origin: dict[str, Any]) -> None:
        recorder, first = self.recorder, len(self.recorder.events)
        recorder.at(step.get("timestamp"))
        voice = _VOICE.get(text_at(step, "source"), "user")
        results = self._objects(_held(step, "observation", "results"), origin, "result")
        if voice == "system" and _is_compaction(step, results):
            told = _held(step, "extra", "context_management")
            self._open(text_at(told, "trigger") or "auto", count_at(told, "tokens_before"))
            self._notice(step, results, origin, _held(step, "extra", "context_management", "carried") is True)
            return
        more = {"copied": True} if step.get("is_copied_context") is True else {}
        calls = list(_calls(self._objects(step.get("tool_calls"), origin, "call"), str(origin["path"])))
        thought = text_at(step, "reasoning_content")
        said = message({"content": step.get("message")}, voice)
        parts = [Part("thinking", thought)] if thought else []
        parts += [*(said.parts if said is not None else ()), *calls]
        facts = more | ({"message_id": origin["path"]} if voice == "assistant" else {})
        self._say(Message(voice, [part._replace(more={**part.more, **facts}) for part in parts]), origin, bool(more))
        for event in recorder.events[first:]:
            late = milliseconds(event.pop("called_at", None))
            event["timestamp"] = event["timestamp"] if late is None else late
        if voice == "assistant":
            self._acted, self._handover = True, False
            self._used(step)
            recorder.trace.model = recorder.trace.model or text_at(step, "model_name")
        self._observe(results, [call.call for call in calls], origin, more)
        if len(recorder.events) > first:
            self._read += 1
        else:
            recorder.ignore("step without content")

    def _open(self, opened_by: str = "auto", tokens_before: int = 0) -> None:
        self.recorder.open_window(opened_by, tokens_before or self._tokens or None)
        self.writer.begin_anew()
        self._handover = True

    def _notice(
        self, step: dict[str, Any], results: Sequence[dict[str, Any]], origin: dict[str, Any], carried: bool
    ) -> None:
        """A compaction step, and what every window begins with; a text of some length in it is the summary.

        `carried`: the steps that follow say what the window begins with, as what this project writes does.
        """
        events = self.recorder.events
        for said, place, before in () if carried else self._opening:
            for old, new in zip(before, self.writer.write(said, place), strict=True):
                events[new]["repeats"] = events[old]["id"]
        texts = [step.get("message"), *(result.get("content") for result in results)]
        summary = [Part("text", text) for text in texts if type(text) is str and len(text) > _NOTICE]
        if summary:
            self.writer.write(Message("assistant", summary), origin, ("summary",))
            self._read += 1
            self._handover = False
        else:
            self.recorder.ignore("notice of a compaction")

    def _say(self, said: Message, origin: dict[str, Any], copied: bool) -> None:
        summary = self._handover and said.role == "user" and said.key not in self._known and (copied or sums_up(said))
        places = self.writer.write(said, origin, ("summary",) if summary else ())
        if said.role == "user" and not summary:
            self._known.add(said.key)
        if said.role != "assistant" and not self._acted:
            self._opening.append((said, origin, places))

    def _observe(
        self, results: Sequence[dict[str, Any]], calls: Sequence[str], origin: dict[str, Any], more: Mapping[str, Any]
    ) -> None:
        """Record results: by their call's id, else one for each call in order; one alone came after all calls.

        What was observed without any call is a decision tagged `observation`: the model reads it, nobody said it.
        """
        named = [text_at(result, "source_call_id") for result in results]
        free = [call for call in calls if call not in named]
        free = free[-named.count("") :] if 0 < named.count("") < len(free) else free
        for result, call in zip(results, named, strict=True):
            call = call or (free.pop(0) if free else calls[-1] if calls else "")
            extra = result.get("extra")
            told = (
                {key: extra[key] for key in ("exit_code",) if type(extra.get(key)) is int}
                if type(extra) is dict
                else {}
            )
            self.recorder.at(text_at(extra, "timestamp") or None)
            agent = _agent(result)
            fields = {**more, **told, **({"agent_id": agent} if agent else {})}
            if call:
                failed = type(extra) is dict and extra.get("is_error") is True
                part = Part("result", visible(result.get("content")), "", call, failed, fields)
                self.writer.write(Message("tool", [part]), origin)
            else:
                seen = message({"content": result.get("content")}, "assistant")
                parts = [
                    part._replace(more={**part.more, **fields}) for part in (seen.parts if seen is not None else ())
                ]
                self.writer.write(Message("tool", parts), origin, ("observation",))

    def _objects(self, listed: Any, origin: dict[str, Any], what: str) -> list[dict[str, Any]]:
        """The objects of a list; what is none is reported."""
        found = []
        for place, each in enumerate(listed if type(listed) is list else ()):
            if type(each) is dict:
                found.append(each)
            else:
                text = f"{origin['path']}: {what} {place} is {kind_of(each)}, not an object (skipped)"
                self._problems.append(Problem(origin.get("line"), text, 0))
        return found

    def _used(self, step: dict[str, Any]) -> None:
        report = step.get("metrics")
        cached = count_at(report, "cached_tokens")
        written = count_at(_held(step, "metrics", "extra"), "cache_creation_input_tokens")
        sent, told = count_at(report, "prompt_tokens"), count_at(report, "completion_tokens")
        tokens = Tokens.of_whole(sent, told, cached, written)
        self.recorder.used(len(self.recorder.events) - 1, *tokens)
        self._tokens = sum(tokens) or self._tokens


def _held(step: Mapping[str, Any], *keys: str) -> Any:
    value: Any = step
    for key in keys:
        value = value.get(key) if type(value) is dict else None
    return value


def _calls(listed: Sequence[Mapping[str, Any]], path: str) -> Iterator[Part]:
    for place, call in enumerate(listed):
        given = call.get("arguments")
        made = text_at(call, "tool_call_id") or f"{path}/{place}"
        extra = call.get("extra")
        if type(extra) is dict and extra.get("wrapped_arguments") is True and type(given) is dict:
            given = given.get("input")
        time = text_at(extra, "timestamp")
        more = {"called_at": time} if time else {}
        yield Part("call", {} if given is None else given, text_at(call, "function_name"), made, more=more)


def _references(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = result.get("subagent_trajectory_ref")
    return [each for each in (given if type(given) is list else [given]) if type(each) is dict]


def _agent(result: Mapping[str, Any]) -> str:
    """What the result of a call says of the subagent that worked for it."""
    names = (text_at(each, "trajectory_id", "trajectory_path", "session_id") for each in _references(result))
    return next((each for each in names if each), "")


def _is_compaction(step: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> bool:
    managed = _held(step, "extra", "context_management", "type")
    if managed == "none":
        return False
    if managed == "compaction" or _held(step, "extra", "compaction"):
        return True
    names = [value for result in results for each in _references(result) for value in each.values()]
    if any(type(each) is str and "summarization" in each for each in names):
        return True
    return _COMPACTION.search(text_at(step, "message")[:_NOTICE]) is not None
