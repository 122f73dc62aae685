"""Messages of a mini-swe-agent trajectory -> events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...canonical import readable
from ...trace import Trace
from ..dialects.messages import Part, message, text_at
from ..recording.recorder import Recorder
from ..recording.telling import tell
from ..recording.token_reports import of_call

FINISHED = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")

_ACTION = re.compile(r"```(?:mswea_bash_command|bash|sh|shell)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"\s*(?:<exception>.*?</exception>\s*)?<returncode>\s*(-?\d{1,10})\s*</returncode>", re.DOTALL)
_TIMED_OUT = re.compile(r"The last command <command>.*</command> timed out", re.DOTALL)
_STOPPED = re.compile(
    r"(?:Commands? not executed\.(?: The user rejected your commands? with the following message: )?"
    r"|Interrupted by user: )"
)
_NEW_TASK = "The user added a new task: "
_STAND_IN = ("Temporary interruption caught.", "Switching to human mode")


class Teller:
    """Takes the messages of a trajectory in order."""

    def __init__(self, format_name: str, source: str, cwd: str) -> None:
        self.recorder = Recorder(format_name, source)
        self.recorder.trace.cwd = cwd
        self._facts = {"cwd": cwd} if cwd else {}  # each command has a shell of its own, which starts there
        self._pending: list[str] = []  # calls without results, by the provider's id
        self._acted = False

    def take(self, entry: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """The next message."""
        extra = entry.get("extra")
        extra = extra if type(extra) is dict else {}
        self.recorder.at(extra.get("timestamp", entry.get("timestamp")))
        role = entry.get("role") or ("assistant" if entry.get("object") == "response" else "")
        before = len(self.recorder.events)
        if role == "exit":
            self.recorder.ignore("exit")
            return
        if role == "assistant":
            self._act(entry, extra, origin)
        elif role == "tool" or entry.get("type") == "function_call_output":
            for part in self._parts(entry):
                self._answer(part.call, part.value, extra, origin)
        elif role == "user" and self._acted:
            self._hear(entry, extra, origin)
        else:
            for part in self._parts(entry):
                tell(self.recorder, "system" if role in ("system", "developer") else "user", part, origin)
        if before == len(self.recorder.events):
            self.recorder.ignore("blank text")

    def done(self) -> Trace:
        """The trace."""
        return self.recorder.done()

    def _parts(self, entry: Mapping[str, Any]) -> Iterator[Part]:
        told = message(dict(entry))
        if told is None:
            yield Part("opaque", readable(entry))
        else:
            yield from told.parts

    def _act(self, entry: Mapping[str, Any], extra: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        self._acted, before = True, len(self.recorder.events)
        self._pending.clear()
        items = entry.get("output")
        entries = [each for each in items if type(each) is dict] if type(items) is list else [entry]
        parts = [part for each in entries for part in self._parts(each)]
        written = next((part for part in parts if part.kind == "text"), None)
        commands = [] if any(part.kind == "call" for part in parts) else _commands(extra, written)
        for part in parts:
            if part is written and commands:
                part = part._replace(value=_without_action(part.value))
            self._told(tell(self.recorder, "assistant", part, origin))
        for count, command in enumerate(commands):
            provider_id = f"a{_last(origin)}" + (f".{count}" if count else "")
            self._told(self.recorder.call(provider_id, "bash", {"command": command}, origin))
        response = extra.get("response")
        response = response if type(response) is dict else entry
        trace = self.recorder.trace
        trace.model = trace.model or text_at(response, "model")
        if len(self.recorder.events) > before:
            self.recorder.used(len(self.recorder.events) - 1, *of_call(response.get("usage")))

    def _told(self, place: int | None) -> None:
        event = self.recorder.events[place] if place is not None else {}
        if event.get("type") == "tool_call":
            event.update(self._facts)
            self._pending.append(event["id"])

    def _hear(self, entry: Mapping[str, Any], extra: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """A user message: an observation, a person's word, a command of theirs, or a complaint of the harness."""
        text, kind = text_of(entry.get("content")), text_at(extra, "interrupt_type")
        stopped = _STOPPED.match(text)
        observed = "returncode" in extra or _CODE.match(text) or _TIMED_OUT.match(text)
        if type(extra.get("actions")) is list:
            self._told(self.recorder.say("user", text, origin, tags=("command",)))
            for count, command in enumerate(_commands(extra, None)):
                provider_id = f"u{_last(origin)}" + (f".{count}" if count else "")
                self._told(self.recorder.call(provider_id, "bash", {"command": command}, origin, tags=["user"]))
        elif stopped and not observed:
            self._stop(text, text[stopped.end() :].strip(), origin)
        elif text.startswith(_NEW_TASK) and not observed:
            self.recorder.say("user", text, origin)
        elif self._pending and kind != "FormatError":
            content = entry.get("content")
            self._answer(self._pending[0], content if isinstance(content, str | list) else text, extra, origin)
        else:
            for part in self._parts(entry):
                part = part._replace(more={**part.more, "tags": ["notification"]})
                tell(self.recorder, "assistant", part, origin)

    def _stop(self, text: str, words: str, origin: Mapping[str, Any]) -> None:
        """The user rejected or interrupted the calls that wait: they are given up, what the user said stays."""
        places = []
        for provider_id in self._pending:
            call = self.recorder.answered(provider_id)
            places += [call.place] if call else []
            self.recorder.result(provider_id, text, origin)
        self._pending.clear()
        self.recorder.abandon(places, words or "stopped by the user", origin)
        if words and not words.startswith(_STAND_IN):
            self.recorder.say("user", words, origin, tags=("interrupt",))
        elif not places:
            self.recorder.say("assistant", text, origin, tags=("notification",))

    def _answer(self, provider_id: str, content: Any, extra: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        call = self.recorder.answered(provider_id)
        answered = self.recorder.events[call.place]["id"] if call else provider_id
        self._pending = [waiting for waiting in self._pending if waiting != answered]
        text, code = text_of(content), extra.get("returncode")
        found = _CODE.match(text[:5_000]) if type(code) is not int else None
        code = int(found[1]) if found else code
        failed = bool(extra.get("exception_info")) or _TIMED_OUT.match(text) is not None
        more = {"exit_code": code} if type(code) is int else {}
        self.recorder.result(provider_id, content, origin, failed, **more)


def text_of(content: Any) -> str:
    """The text of a content, blocks joined."""
    if type(content) is str:
        return content
    told = message({"role": "user", "content": content})
    return "\n".join(part.value for part in told.parts if part.kind == "text") if told else ""


def _commands(extra: Mapping[str, Any], written: Part | None) -> list[str]:
    """The commands that the harness took from a message, else the one fenced command in its text."""
    actions = extra.get("actions")
    if type(actions) is list:
        return [command for each in actions if (command := text_at(each, "command", "action"))]
    found = _ACTION.findall(written.value) if written else []
    return [found[0].strip()] if len(found) == 1 else []


def _without_action(text: str) -> str:
    return _ACTION.sub("", text).strip() if len(_ACTION.findall(text)) == 1 else text


def _last(origin: Mapping[str, Any]) -> str:
    return str(origin.get("path", origin.get("line", ""))).rpartition("/")[2]
