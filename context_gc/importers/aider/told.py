"""What the user, the model and aider itself wrote in a chat history -> events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...canonical import digest
from ...trace import Trace
from ..recording.recorder import Recorder
from ..recording.undone import give_up

#: commands whose words are a prompt
_ASKING = re.compile(r"/(?:ask|code|architect|context|help|chat-mode \w+)\s+\S")
_EDIT = re.compile(r"Applied edit to (.+)")
_COMMIT = re.compile(r"Commit ([0-9a-f]{7,40})\b ?(.*)")
_ADDED = re.compile(r"Added (.+?) to (?:the chat|read-only files)\b")
_DROPPED = re.compile(r"Removed (?:read-only file )?(.+?) from the chat\b")
_UNDONE = re.compile(r"(?:Removed|Undid): ?([0-9a-f]{7,40})\b")
_TOKENS = re.compile(
    r"Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?"
    r", ([\d.,]+[kM]?) received"
)
_MODEL = re.compile(r"(?:Main )?[Mm]odel: (\S+)")
_FOLDER = re.compile(r"(?:Working directory|Git working dir): (\S.*)")
_CLEARED = ("All chat history cleared", "All files dropped and chat history cleared")
_BLOCK = re.compile(r"<<<<<<< SEARCH\n.*?\n>>>>>>> REPLACE", re.DOTALL)


class Teller:
    """Takes the runs of one session in order. An event's `origin` is its line."""

    def __init__(self, format_name: str, source: str, begun: str) -> None:
        self.recorder = Recorder(format_name, source)
        self.recorder.at(begun)
        self.begun = begun
        self._answer = -1  # place of the model's last answer
        self._files: dict[str, int] = {}  # files in the chat -> the event of adding them
        self._turn: list[int] = []  # what the last answer did: itself, edits, commits
        self._commits: dict[str, list[int]] = {}  # commit -> all of its turn so far
        self._cleared = False

    def take(self, speaker: str, lines: Sequence[str], number: int) -> None:
        """The next run."""
        before, window = len(self.recorder.events), self._cleared
        if speaker == "user":
            self._hear(lines, number)
        elif speaker == "assistant":
            self._open()
            place = self.recorder.say("assistant", "\n".join(lines).strip(), {"line": number})
            if place is not None:
                self._answer, self._turn = place, [place]
        elif speaker == "told":
            self._listen(lines, number)
        if before == len(self.recorder.events) and window == self._cleared:
            kinds = {"session": "session header", "user": "command", "told": "report"}
            self.recorder.ignore(kinds.get(speaker, "blank text"))

    def done(self) -> Trace:
        """The trace."""
        return self.recorder.done()

    def _open(self) -> None:
        """After a `/clear` what is said next stands in a new window."""
        if self._cleared and self.recorder.events:
            self.recorder.open_window("manual")
            self._answer, self._turn, self._files = -1, [], {}
            self._commits.clear()
        self._cleared = False

    def _hear(self, lines: Sequence[str], number: int) -> None:
        text = "\n".join(line.removeprefix("#### ").rstrip() for line in lines).strip()
        if text == "<blank>":
            return
        if text.startswith("/") and not _ASKING.match(text):
            return
        self._open()
        tags = ("command",) if text.startswith("/") else ()
        self.recorder.say("user", text, {"line": number}, tags=tags)
        self._turn = []

    def _listen(self, lines: Sequence[str], number: int) -> None:
        """What aider told: facts are events of their own, the rest of a run is one."""
        rest: list[str] = []
        for place, line in enumerate(lines, number):
            text = line.removeprefix(">").strip()
            if not self._fact(text, {"line": place}):
                rest.append(line.removeprefix("> ").removeprefix(">").rstrip())
        told = "\n".join(rest).strip("\n")
        if told.strip():
            self.recorder.say("assistant", told, {"line": number}, tags=("environment",))

    def _fact(self, text: str, origin: dict[str, Any]) -> bool:
        """Whether a line states one; its event is appended."""
        recorder = self.recorder
        if found := _EDIT.match(text):
            fields = {"path": found[1].strip(), "diff_hash": self._hash(found[1].strip())}
            self._turn.append(recorder.add("file_edit", fields, origin))
        elif found := _COMMIT.match(text):
            self._turn.append(
                recorder.add("git_commit", {"commit_hash": found[1], "message": found[2] or text}, origin)
            )
            self._commits[found[1]] = list(self._turn)
        elif found := _UNDONE.match(text):
            self._undo(found[1], text, origin)
        elif found := _ADDED.match(text):
            self._files[found[1]] = recorder.add("file_read", {"path": found[1]}, origin)
        elif found := _DROPPED.match(text):
            place = self._files.pop(found[1], None)
            if place is not None:
                give_up(recorder, [place], text, origin)
        elif text.startswith(_CLEARED):
            self._cleared = True
        elif found := _TOKENS.match(text):
            sent, written, read, received = (_count(each) for each in found.groups())
            recorder.used(self._answer, max(sent - written - read, 0), received, read, written)
            self._answer = -1
        elif found := _MODEL.match(text):
            recorder.trace.model = recorder.trace.model or found[1]
        elif found := _FOLDER.match(text):
            recorder.trace.cwd = recorder.trace.cwd or found[1]
        else:
            return False
        return True

    def _undo(self, commit: str, text: str, origin: dict[str, Any]) -> None:
        """Give up the answer whose commit was taken back, with its edits."""
        known = next((each for each in self._commits if each.startswith(commit) or commit.startswith(each)), None)
        if known is not None:
            give_up(self.recorder, self._commits.pop(known), text, origin)

    def _hash(self, path: str) -> str:
        """Of the blocks for a file in the answer; of the whole answer where they are not told apart."""
        answer = next((self.recorder.events[at]["content"] for at in self._turn[:1]), "")
        blocks = [found[0] for found in _BLOCK.finditer(answer) if path in _lines_before(answer, found)]
        return digest(blocks or answer or path)


def _lines_before(answer: str, found: re.Match[str]) -> list[str]:
    """The lines just above a block, without fences and marks: one of them is its path."""
    lines = answer[max(found.start() - 500, 0) : found.start()].split("\n")[-4:]
    return [line.strip().strip("`*#: ") for line in lines]


def _count(text: str | None) -> int:
    if not text:
        return 0
    factor = {"k": 1_000, "M": 1_000_000}.get(text[-1], 1)
    try:
        return round(float(text.rstrip("kM").replace(",", "")) * factor)
    except ValueError:
        return 0
