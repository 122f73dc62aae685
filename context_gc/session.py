"""Session: which runs belong together, when they began and for whom; JSON in the run directory.

session.json   policy.toml   receipts.db   runs/<run_id>/trace.jsonl
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from reprlib import repr
from typing import Any
from uuid import uuid4

from .atomic import PREVIOUS, locked, write_atomically
from .canonical import readable
from .errors import SessionError, TraceError
from .load import load_trace
from .parse import parse
from .trace import Trace, Window

VERSION = 1  #: of the file; a newer one is refused
SESSION, RUNS, TRACE = "session.json", "runs", "trace.jsonl"  #: names in a run directory

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_FIELDS = ("version", "session_id", "started_at", "user", "run_ids")


@dataclass(slots=True)
class Session:
    """What a run directory says about its runs. Keys of the file that are not known here stay in it.

    Raises:
        SessionError: a field has a wrong type; an id would not be a safe name of a folder.
    """

    session_id: str
    started_at: str  #: ISO 8601 with its offset from UTC
    run_ids: list[str] = field(default_factory=list)  #: in the order of their beginning
    user: str | None = None
    _more: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._check()
        self.run_ids = list(dict.fromkeys(self.run_ids))

    @classmethod
    def new(cls, user: str | None = None) -> Session:
        """A session that begins now, with an id of its own and no runs; it is on no disk yet."""
        return cls(str(uuid4()), datetime.now(UTC).isoformat(timespec="seconds"), [], user)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Session:
        """Read a session from its file, or from the run directory that holds it.

        Raises:
            SessionError: there is none, it is damaged (the version before it may be beside it, see
                `save`; it is never taken instead), or its version is newer.
        """
        file = _file_of(path)
        try:
            if not stat.S_ISREG(os.stat(file).st_mode):
                raise SessionError(str(file), "it is no regular file", "name a run directory")
            data = file.read_bytes()
        except SessionError:
            raise
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise SessionError(str(file), f"the session cannot be read: {reason}", _advice(file)) from None
        try:
            return cls._from_mapping(parse(data.decode("utf-8-sig"), unique=True))
        except SessionError as error:
            raise SessionError(str(file), error.what, error.todo or _advice(file)) from None
        except UnicodeDecodeError:
            raise SessionError(str(file), "the session file is damaged: it is not UTF-8", _advice(file)) from None
        except ValueError as error:
            raise SessionError(str(file), f"the session file is damaged: {error}", _advice(file)) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to its file or its run directory, which is made; the file is its owner's alone.

        What others have saved meanwhile is kept: the runs of both are in the file, and here, afterwards. The
        version before stays beside it as `session.json.previous`. After a kill or a power loss at any moment
        the file holds the old or the new version.

        Raises:
            SessionError: the file holds another session or is damaged, or it cannot be written. It is
                left as it is.
        """
        file = _file_of(path)
        self._check()
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(file):
                if os.path.lexists(file):
                    self._take_in(Session.load(file), file)
                mapping = self._to_mapping()
                lines = (f"  {readable(key, True)}: {readable(part, True)}" for key, part in mapping.items())
                data = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
                if not file.exists() or file.read_bytes() != data:
                    write_atomically(file, data, keep_previous=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SessionError(str(file), f"the session cannot be written: {reason}", "check the folder") from None

    def add_run(self, run_id: str) -> None:
        """Add a run at the end; one that is there already stays where it is. Raises SessionError for a bad id."""
        if run_name(run_id) not in self.run_ids:
            self.run_ids.append(run_id)

    @staticmethod
    def open(directory: str | os.PathLike[str]) -> OpenSession:
        """Read a run directory: its session, and its runs as traces. Nothing outside of it is read.

        Raises:
            SessionError: it is no run directory, or its session cannot be read. What is wrong with
                single runs is in `problems`.
        """
        return _opened(Path(directory))

    def _take_in(self, known: Session, file: Path) -> None:
        """Add what the file has. Its start and what is not known here stand; a user is only replaced by one."""
        if known.session_id != self.session_id:
            what = f"it holds session {known.session_id}, not {self.session_id}"
            raise SessionError(str(file), what, "each session has a run directory of its own")
        self.run_ids[:] = dict.fromkeys((*known.run_ids, *self.run_ids))
        self.started_at, self._more = known.started_at, known._more
        self.user = known.user if self.user is None else self.user

    def _to_mapping(self) -> dict[str, Any]:
        own_fields = (VERSION, self.session_id, self.started_at, self.user, self.run_ids)
        return dict(zip(_FIELDS, own_fields, strict=True)) | self._more

    @classmethod
    def _from_mapping(cls, given: Any) -> Session:
        if type(given) is not dict:
            raise SessionError("session", "the session file is damaged: it holds no object")
        version = given.get("version", VERSION)
        if type(version) is not int or version < 1:
            raise SessionError("session", f"version is {repr(version)}, expected a whole number from 1")
        if version > VERSION:
            raise SessionError("session", f"its version {version} is newer than {VERSION}", "update context-gc")
        session = cls(*map(given.get, ("session_id", "started_at", "run_ids", "user")))  # type: ignore[arg-type]
        session._more = {name: part for name, part in given.items() if name not in _FIELDS}
        return session

    def _check(self) -> None:
        run_name(self.session_id, "session_id")
        if type(self.started_at) is not str or not _is_moment(self.started_at):
            what = f"started_at is {repr(self.started_at)}, expected a time in ISO 8601 with its offset from UTC"
            raise SessionError("session", what)
        if type(self.run_ids) is not list:
            raise SessionError("session", f"run_ids is {repr(self.run_ids)}, expected a list of run ids")
        for name in self.run_ids:
            run_name(name, "one of run_ids")
        if self.user is not None and type(self.user) is not str:
            raise SessionError("session", f"user is {repr(self.user)}, expected a string or null")


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A run directory as it was read."""

    directory: Path
    session: Session
    runs: dict[str, Trace]  #: those that could be read, in the order of `session.run_ids`
    problems: list[str]  #: runs that could not, and folders that no session lists


def run_name(name: str, what: str = "the run id") -> str:
    """The name, as a folder may have it: 1 to 100 of A-Z a-z 0-9 . _ - and neither . nor - first.

    Raises:
        SessionError: it is none.
    """
    if type(name) is not str or _NAME.fullmatch(name) is None:
        expected = "expected 1 to 100 of A-Z a-z 0-9 . _ - with neither . nor - first"
        raise SessionError("session", f"{what} is {repr(name)}, {expected}")
    return name


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def _file_of(path: str | os.PathLike[str]) -> Path:
    """The session's file: the path itself, or what a run directory has; a new one ends in .json if a file."""
    given = Path(path)
    is_file = given.is_file() or (given.suffix == ".json" and not given.is_dir())
    return given if is_file else given / SESSION


def _advice(file: Path) -> str:
    previous = file.with_name(file.name + PREVIOUS)
    if previous.exists():
        return f"the version before it is kept beside it: {previous.name}"
    return "no version before it is kept beside it" if file.exists() else "Session.new() begins one"


def _opened(directory: Path) -> OpenSession:
    try:
        root = directory.resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise SessionError(str(directory), f"the run directory cannot be read: {reason}", "check the path") from None
    if not root.is_dir():
        raise SessionError(str(directory), "this is no folder", "name a run directory")
    if not _is_inside(root / SESSION, root):
        raise SessionError(str(directory / SESSION), "a link leads out of the run directory", "copy the file there")
    session = Session.load(directory / SESSION)
    opened = OpenSession(directory, session, {}, [])
    for name in session.run_ids:
        found = _run(root, name)
        if isinstance(found, Trace):
            opened.runs[name] = found
        else:
            opened.problems.append(found)
    for name in _folders(root):
        if name not in session.run_ids:
            opened.problems.append(f"{RUNS}/{name}: the session does not list this run (add_run does)")
    return opened


def _run(root: Path, name: str) -> Trace | str:
    """The trace of a run, or what is wrong with it."""
    file, shown = root / RUNS / name / TRACE, f"{RUNS}/{name}/{TRACE}"
    if not _is_inside(file, root):
        return f"{shown}: a link leads out of the run directory (not followed)"
    if not file.is_file():
        return f"{shown}: the session lists this run, but there is no such file"
    try:
        return load_trace(file, shown) if file.stat().st_size else Trace([], "native", shown, windows=[Window(0, 0)])
    except (OSError, TraceError) as error:
        return str(error) if isinstance(error, TraceError) else f"{shown}: it cannot be read: {error.strerror}"


def _folders(root: Path) -> list[str]:
    """The names of the folders of runs, as text that can be shown."""
    runs = root / RUNS
    if not _is_inside(runs, root):
        return []
    try:
        names = sorted(name for name in os.listdir(runs) if os.path.isdir(runs / name) and not name.startswith("."))
    except OSError:  # no run has begun, or the problems of the runs say it
        return []
    return [name if _NAME.fullmatch(name) else ascii(name) for name in names]


def _is_inside(path: Path, root: Path) -> bool:
    """Whether a path, with every link in it followed, stays in a folder whose own links are followed."""
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a ring of links
        return False
