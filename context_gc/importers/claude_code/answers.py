"""What a person decided when a tool asked: answers to questions, and the approval of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...events import Event
from ..files.fields import items, mapping, text

ANSWERED = ("User has answered your questions: ", "Your questions have been answered: ", "The user answered: ")
AFTER_ANSWERS = ". You can now continue"
APPROVED = ("User has approved your plan", "User has approved exiting plan mode", "Plan mode exited")


def decided(call: Event, result: Any, report: Any) -> Iterator[tuple[str, str]]:
    """The tag and the words of the decision that a result reports, if any; `report` is what the app noted of it."""
    tool, said = call["tool_name"], _said(result)
    if tool == "AskUserQuestion":
        words = _answers(mapping(report)) or _answers_in(said)
        if words:
            yield "answer", words
    elif tool == "ExitPlanMode" and said.startswith(APPROVED):
        proposed = text(mapping(call["arguments"]).get("plan"))
        plan = text(mapping(report).get("plan")) or proposed
        heading = next((line.strip("# \t\r") for line in plan.split("\n") if line.strip("# \t\r")), "")
        edited = " as the user changed it" if proposed and plan != proposed else ""
        yield "plan", f"Approved the plan{edited}: {heading}" if heading else f"Approved the plan{edited}"


def _answers(report: dict[str, Any]) -> str:
    """Each question with its answer, on a line of its own, and the notes that the user added."""
    notes, told = mapping(report.get("annotations")), []
    for question, answer in mapping(report.get("answers")).items():
        chosen = answer if type(answer) is str else ", ".join(each for each in items(answer) if type(each) is str)
        note = text(mapping(notes.get(question)).get("notes"))
        if chosen or note:
            told.append(f"{question} → {chosen}" + (f" ({note})" if note else ""))
    return "\n".join(told)


def _answers_in(said: str) -> str:
    """The answers that a result's text gives, for logs without the app's own note."""
    start = next((start for start in ANSWERED if said.startswith(start)), "")
    return said[len(start) :].partition(AFTER_ANSWERS)[0].strip() if start else ""


def _said(result: Any) -> str:
    if type(result) is list and result:
        result = mapping(result[0]).get("text")
    return text(result)
