"""Tool parts of opencode, which hold a call together with its result -> calls and results."""

from __future__ import annotations

from typing import Any

from ..files.fields import items, mapping, text
from ..recording.history import History
from ..recording.recorder import Recorder
from .session import Part

REJECTED = (
    "The user rejected permission",
    "The user dismissed this question",
)  #: how the error of an undone call begins
FEEDBACK = "feedback: "  #: what stands before a person's own words in it


class Calls:
    """The calls of one model call: all of them first, then all results, then what was rejected."""

    def __init__(self, recorder: Recorder, history: History) -> None:
        self._recorder, self._history = recorder, history
        self.waiting: list[tuple[int, str, Part]] = []  #: calls whose results are still to be appended

    def add(self, part: Part, message: str) -> None:
        """Append a call."""
        value, state = part.value, mapping(part.value.get("state"))
        self._recorder.at(mapping(state.get("time")).get("start"))
        provided = text(value.get("callID")) or text(value.get("id")) or "call"
        arguments = state.get("input", {})
        tool = text(value.get("tool"))
        place = self._recorder.call(provided, tool, arguments, part.origin, provided, message_id=message)
        self.waiting.append((place, provided, part))

    def answer(self) -> None:
        """Append the results of the calls so far."""
        waiting, self.waiting = self.waiting, []
        rejected: list[tuple[int, str, Part]] = []
        for place, provided, part in waiting:
            state = mapping(part.value.get("state"))
            result, failed = _result(state)
            if result is None:
                continue
            self._recorder.at(mapping(state.get("time")).get("end"))
            self._recorder.result(provided, result, part.origin, failed, **_facts(state))
            if failed and type(result) is str and result.startswith(REJECTED):
                rejected.append((place, result, part))
            elif part.value.get("tool") == "question" and not failed:
                self._decide(state, part)
        for place, result, part in rejected:
            words = result.partition(FEEDBACK)[2].strip()
            self._history.give_up([place], words or "rejected by the user", part.origin)
            if words:
                self._recorder.say("user", words, part.origin)

    def _decide(self, state: dict[str, Any], part: Part) -> None:
        """What a person answered to questions."""
        asked = [text(mapping(each).get("question")) for each in items(mapping(state.get("input")).get("questions"))]
        given = [
            ", ".join(filter(None, map(text, items(each))))
            for each in items(mapping(state.get("metadata")).get("answers"))
        ]
        told = [f"{question}: {answer}" for question, answer in zip(asked, given, strict=False) if answer]
        if told:
            self._recorder.say("assistant", "\n".join(told), part.origin, tags=("answer",))


def image(value: Any) -> Any:
    """An attached file as the block that stands for an image in results."""
    file = mapping(value)
    return {
        "type": "image",
        "source": {"media_type": file.get("mime"), "url": file.get("url")},
        "name": file.get("filename"),
    }


def _result(state: dict[str, Any]) -> tuple[Any, bool]:
    """What a call came to, and whether it failed; None while it has come to nothing."""
    told = mapping(state.get("metadata"))
    if state.get("status") == "error" or ("error" in state and "output" not in state):
        shown = told.get("output") if told.get("interrupted") is True else None
        return (shown if type(shown) is str else state.get("error", "")), True
    if "output" not in state or state.get("status") in ("pending", "running"):
        return None, False
    attached = items(state.get("attachments"))
    output = "" if state["output"] is None else state["output"]
    if not attached:
        return output, False
    return [{"type": "text", "text": output} if type(output) is str else output, *map(image, attached)], False


def _facts(state: dict[str, Any]) -> dict[str, Any]:
    """The exit code, the subagent's session, and when opencode cleared the result out of later requests."""
    told, cleared = mapping(state.get("metadata")), mapping(state.get("time")).get("compacted")
    code, agent = told.get("exit"), text(told.get("sessionId")) or text(told.get("sessionID"))
    facts: dict[str, Any] = {"exit_code": code} if type(code) is int else {}
    return facts | ({"agent_id": agent} if agent else {}) | ({"cleared_at": cleared} if cleared else {})
