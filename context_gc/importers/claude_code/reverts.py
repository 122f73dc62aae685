"""Reverts: edits that the agent itself took back, while its work went on.

An edit is undone by one that swaps its texts on the same file, and by `git checkout -- FILE` or
`git restore FILE` for a file that was edited since git last recorded anything. Both only when nothing in
between can have read, changed or committed the file. Blind spots, left alone because what they undo is not
certain: directories, `git stash`, `git reset`, other branches, and what was committed outside the session.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping
from typing import Any

from ...semantics import Command, FileEdit, FileRead, Search, Status, TestRun, arguments, normalise, semantics
from ..recording.recorder import Recorder
from ..recording.undone import give_up

_HARM = ("-delete", "-exec", "-ok", "-fprint", "--output")
LONGEST_COMMAND = 4_096  #: characters; a longer one is not looked into
_GIT_READS = re.compile(r"git\s+(?:diff|status|log|show|blame|ls-files|rev-parse|grep)\b")
_UNDOES = re.compile(r"git\s+(?:checkout\s+--|restore)\s")
_HARMLESS = re.compile(r"(?:ls|cat|head|tail|wc|pwd|grep|rg|find|tree|which|echo|sleep)\b")
_MOVES = re.compile(r"cd [\w./@+-]*[\w./]")
_SPECIAL = re.compile(r"[|;<>()$`\\*?\[\]{}~!#\n]|(?<!&)&(?!&)")  # more of a shell than programs one after the other


class Reverts:
    """Follows the successful calls of one branch and gives up the edits that a later one undid."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._edits: dict[str, list[_Edit]] = {}  # by path; those that stand and that nothing has touched since

    def forget(self) -> None:
        """A new window begins, or something may have touched any file."""
        self._edits.clear()

    def judge(self, call: int, result: int, failed: bool, cwd: str, origin: Mapping[str, Any]) -> None:
        """The next call, with its result."""
        event = self._recorder.events[call]
        fact = semantics(event)
        if isinstance(fact, Command):
            self._ran(fact, failed, cwd, origin)
        elif isinstance(fact, FileEdit) and not failed:
            self._edited(normalise(fact.path, cwd), _Edit(call, result, arguments(event)), origin)
        elif isinstance(fact, FileRead):
            for edit in self._edits.get(normalise(fact.path, cwd), ()):
                edit.read = True
        elif not isinstance(fact, FileEdit | Search | Status):
            self.forget()  # a tool that is not known, or an agent of its own

    def _edited(self, path: str, edit: _Edit, origin: Mapping[str, Any]) -> None:
        standing = self._edits.setdefault(path, [])
        if standing and standing[-1].swapped_by(edit) and not standing[-1].read:
            earlier = standing.pop()
            give_up(self._recorder, (earlier.call, earlier.result), f"taken back by a later edit of {path}", origin)
        standing.append(edit)

    def _ran(self, command: Command, failed: bool, cwd: str, origin: Mapping[str, Any]) -> None:
        steps = _steps(command.text)
        undone = any(map(_restored, steps)) and not failed
        if undone and all(_UNDOES.match(step) or _is_harmless(step) for step in steps):
            here = cwd
            for step in steps:
                if _MOVES.fullmatch(step):
                    here = posixpath.join(here, step[3:])
                for path in _restored(step):
                    self._restore(normalise(posixpath.join(here, path), cwd), origin)
        elif not all(_is_harmless(step) or _is_test(step) for step in steps):
            self.forget()

    def _restore(self, path: str, origin: Mapping[str, Any]) -> None:
        for edit in self._edits.pop(path, ()):
            give_up(self._recorder, (edit.call, edit.result), f"git took back the edits of {path}", origin)


class _Edit:
    """A standing edit: the places of its call and result, and what it replaced by what."""

    __slots__ = ("call", "new", "old", "read", "result")

    def __init__(self, call: int, result: int, given: Mapping[str, Any]) -> None:
        self.call, self.result, self.read = call, result, False
        texts = given.get("old_string"), given.get("new_string")
        plain = all(type(each) is str and each for each in texts) and not given.get("replace_all")
        self.old, self.new = texts if plain else (None, None)

    def swapped_by(self, later: _Edit) -> bool:
        return self.old is not None and self.old != self.new and (self.old, self.new) == (later.new, later.old)


def _steps(text: str) -> list[str]:
    """The programs of a command, of which each runs only if the one before succeeded; [""] where that is unclear."""
    if len(text) > LONGEST_COMMAND or _SPECIAL.search(text):
        return [""]
    return [step.strip() for step in text.split("&&")]


def _is_harmless(step: str) -> bool:
    """Whether a program neither changes a file nor makes git record one."""
    if _MOVES.fullmatch(step):
        return True
    return bool(_GIT_READS.match(step) or _HARMLESS.match(step)) and not any(word in step for word in _HARM)


def _is_test(step: str) -> bool:
    """Whether a program runs tests. `make` may do anything."""
    fact = semantics({"type": "tool_call", "tool_name": "bash", "arguments": {"command": step}})
    return isinstance(fact, TestRun) and "make" not in step


def _restored(step: str) -> list[str]:
    """The files that a git command took back to what git had recorded; [] when it names anything else."""
    if not _UNDOES.match(step):
        return []
    try:
        words = shlex.split(step)[2:]
    except ValueError:
        return []
    words = words[1:] if words[:1] == ["--"] else words
    return [] if any(word.startswith("-") for word in words) else words
