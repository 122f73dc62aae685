"""Facts: what an event can be said to have done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileRead:
    """Read a file: all of it, or `limit` lines from line `offset`, as the tool counts them (most from 1)."""

    path: str
    offset: int | None = None
    limit: int | None = None
    partial: bool = False  #: something else narrowed it (pages, a symbol): what it showed is not known

    @property
    def full(self) -> bool:
        """Whether all of the file was asked for."""
        return not self.offset and self.limit is None and not self.partial


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Changed a file; `whole` when the arguments hold its whole new text."""

    path: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """Ran a shell command."""

    text: str
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class TestRun(Command):
    """Ran tests."""


@dataclass(frozen=True, slots=True)
class Build(Command):
    """Ran a build, a type check or a linter."""


@dataclass(frozen=True, slots=True)
class Commit(Command):
    """Made a commit."""


@dataclass(frozen=True, slots=True)
class Search:
    """Looked for something: in files, or on the web."""

    query: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """Wrote a to-do list, a plan or the like; `whole` when the arguments hold the whole new state."""

    topic: str
    whole: bool = True


Fact = FileRead | FileEdit | Command | TestRun | Build | Commit | Search | Status
