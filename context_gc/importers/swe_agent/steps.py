"""Entries of a SWE-agent history, with the steps that they belong to -> events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...canonical import readable
from ...trace import Trace
from ..dialects.messages import Message, message, text_at
from ..files.json_roots import decoded
from ..recording.recorder import Recorder
from ..recording.telling import tell
from ..recording.undone import Edits
from .file_window import lines_shown, refused

EDITOR = "str_replace_editor"
COMMANDS = frozenset(
    "open goto scroll_up scroll_down create edit insert append search_dir search_file find_file submit view_image"
    " filemap".split()
) | {EDITOR}  #: what the agent calls by name; anything else it writes is for the shell

#: how answers begin that say that a command did not run, in the words of the harness
_NOT_RUN = re.compile(
    r"\s*(?:EXECUTION TIMED OUT|Your (?:bash )?command contained syntax errors"
    r"|Your output (?:could not be parsed|was not formatted)|Interactive operation "
    r"|The command .{0,500} was cancelled because it took more than)",
    re.DOTALL,
)


class Step(NamedTuple):
    """A step of the trajectory and its path in the file."""

    at: str
    value: dict[str, Any]

    @property
    def action(self) -> Any:
        """What was run."""
        return self.value.get("action")


class Teller:
    """Takes the entries of a history in order; steps that the history lacks are told where they belong."""

    def __init__(self, format_name: str, source: str, steps: Sequence[Step]) -> None:
        self.recorder = Recorder(format_name, source)
        self._steps = steps
        self._next = 0  # the first step that is not told yet
        self._current: Step | None = None
        self._state: dict[str, Any] = {}  # where the agent stood before what comes next
        self._pending = ""  # the call that waits for its observation, by the provider's id
        self._acted = False
        self._edits = Edits(self.recorder)

    def take(self, entry: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """The next entry of the history."""
        role = entry.get("role")
        if entry.get("is_demo") is True:
            self.recorder.ignore("demonstration")
        elif role == "assistant":
            self._match(entry.get("action"))
            self._act(entry, origin)
        else:
            told = message(dict(entry))
            if told is None:
                self.recorder.add("decision", {"content": readable(entry), "tags": ["opaque"]}, origin)
            else:
                self._hear(told, entry, origin)

    def done(self) -> Trace:
        """The trace, with the steps that no entry told and the observation that came after the last entry."""
        self._finish_step()
        while self._next < len(self._steps):
            self._tell_step()
        return self.recorder.done()

    def _match(self, action: Any) -> None:
        """Find the step of an action; steps before it that no entry has are told first."""
        self._finish_step()
        later = range(self._next, len(self._steps))
        found = next((place for place in later if self._steps[place].action == action), None)
        while found is not None and self._next < found:
            self._tell_step()
        if found is not None:
            self._begin(self._steps[found])

    def _begin(self, step: Step) -> None:
        self._next += 1
        self._current = step
        state = step.value.get("state")
        if type(state) is str:  # 0.x asks for the state before it runs the action
            self._stand(decoded(state))

    def _finish_step(self) -> None:
        """The observation of the step that was told, where no entry holds it; and the state that it left."""
        step, self._current = self._current, None
        if step is None:
            return
        observation = step.value.get("observation")
        if self._pending and type(observation) is str:
            self._answer(self._pending, observation, {"path": step.at})
        self._stand(step.value.get("state"))

    def _tell_step(self) -> None:
        step = self._steps[self._next]
        self._begin(step)
        response = step.value.get("response")
        self._act({**step.value, "content": response if type(response) is str else ""}, {"path": step.at})
        self._finish_step()

    def _stand(self, state: Any) -> None:
        if type(state) is not dict:
            return
        cwd, file = text_at(state, "working_dir"), text_at(state, "open_file")
        self._state = {key: value for key, value in (("cwd", cwd), ("open_file", file)) if value not in ("", "n/a")}
        trace = self.recorder.trace
        trace.cwd = trace.cwd or cwd

    def _act(self, entry: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """What the model wrote: thinking, words, and its action as one call."""
        self._pending, self._acted = "", True
        calls, action = entry.get("tool_calls"), text_at(entry, "action")
        acts = bool(action.strip())
        says = entry.get("content")
        limit = action.startswith("exit_") if acts else type(says) is str and says.startswith("Exit due to ")
        if limit and not calls:  # of cost, of context, of time: the harness wrote this
            self.recorder.ignore("exit")
            if self._current is not None and self._current.at != origin["path"]:
                self.recorder.ignore("exit")
            self._current = None
            return
        thought = entry.get("thought")
        content = thought if acts and type(thought) is str else says
        told = message({**entry, "role": "assistant", "content": content})
        blocks = message({"role": "assistant", "content": entry.get("thinking_blocks")})
        before = len(self.recorder.events)
        for part in (*(blocks.parts if blocks else ()), *(told.parts if told else ())):
            place = tell(self.recorder, "assistant", part, origin)
            if part.kind == "call" and place is not None:
                self._pending = part.call or self.recorder.events[place]["id"]
                self.recorder.events[place].update(self._state)
        if acts and not self._pending:
            tool = action.split(None, 1)[0]
            self._pending = "a" + origin["path"].replace("history/", "").replace("trajectory/", "t")
            tool = tool if tool in COMMANDS else "bash"
            self.recorder.call(self._pending, tool, {"command": action}, origin, **self._state)
        if before == len(self.recorder.events):
            self.recorder.ignore("blank text")

    def _hear(self, told: Message, entry: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        if told.role == "tool" or (self._pending and told.role == "user"):
            ids = entry.get("tool_call_ids")
            named = ids[0] if type(ids) is list and ids and type(ids[0]) is str else ""
            content = entry.get("content")
            self._answer(named or self._pending, content if isinstance(content, str | list) else "", origin)
            return
        before = len(self.recorder.events)
        for part in told.parts:
            if told.role == "user" and self._acted:  # the harness speaks: errors of format and the like
                part = part._replace(more={**part.more, "tags": ["notification"]})
                tell(self.recorder, "assistant", part, origin)
            else:
                tell(self.recorder, told.role, part, origin)
        if before == len(self.recorder.events):
            self.recorder.ignore("blank text")

    def _answer(self, provider_id: str, content: Any, origin: Mapping[str, Any]) -> None:
        """An observation: what it failed at, which lines of a file it shows, which edit it makes or undoes."""
        self._pending = ""
        call = self.recorder.answered(provider_id)
        text = content if type(content) is str else "\n".join(text_at(block, "text") for block in content)
        tool = self.recorder.events[call.place]["tool_name"] if call else "bash"
        failed = _NOT_RUN.match(text) is not None or (tool != "bash" and refused(text))
        result = self.recorder.result(provider_id, content, origin, failed)
        if call is None:
            return
        event = self.recorder.events[call.place]
        window = lines_shown(text) if tool != "bash" else None
        if window:
            event["shows"] = window
        if tool == EDITOR:
            command, path = _asked(event["arguments"])
            self._edits.judge(command, path, call.place, result, text, origin)


def _asked(arguments: Any) -> tuple[str, str]:
    """The command and the path of an editor call, from its fields or from the line that was typed."""
    given = decoded(arguments)
    if type(given) is not dict:
        return "", ""
    command = text_at(given, "command")
    if command.startswith(EDITOR):
        words = command.split(None, 3)
        return (words[1], words[2]) if len(words) > 2 else ("", "")
    return command, text_at(given, "path")
