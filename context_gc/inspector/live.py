"""Live: a file that is followed, one follower for all browser sessions that look at it."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from threading import Lock

import streamlit as st

from ..errors import ContextGCError, TraceError
from ..follow import Follower, Update
from .traces import KEPT, Opened, Source


class Live:
    """What stands of a followed file. `version` grows with each change; `Opened` values never change."""

    def __init__(self, path: Path, name: str, format: str) -> None:
        self.name = name
        self.version = 0
        self.opened: Opened | None = None
        self.told = ""  #: what is waited for or wrong
        self.anew = ""  #: why the file was begun anew, last time
        self.begun = 0  #: how often it was begun anew
        self.changed = time.time()  #: when it last changed, in seconds since 1970
        self._follower = Follower(path, format or None, name)
        self._lock = Lock()

    def poll(self) -> int:
        """Look at the file; gives the version that stands."""
        with self._lock:
            before = self.told
            try:
                update = self._follower.poll()
                self.told = self._follower.told
            except ContextGCError as error:
                update, self.told = None, str(error)
            except (RecursionError, MemoryError):
                update, self.told = None, "the file is too deep or too large to be read"
            if update is not None:
                self._take(update)
            elif before != self.told and self.opened is None:
                self.version += 1
            return self.version

    def _take(self, update: Update) -> None:
        data = update.data
        self.opened = Opened(hashlib.sha256(data).hexdigest(), update.traces, self.name, lambda: data)
        self.version += 1
        if update.anew:
            self.anew, self.begun = update.anew, self.begun + 1
        try:
            self.changed = self._follower.path.stat().st_mtime if self.version == 1 else time.time()
        except OSError:
            self.changed = time.time()

    def current(self) -> Opened:
        """What stood at the last poll. Raises TraceError, which says what is waited for, while nothing does."""
        if self.opened is None:
            told = self.told.removeprefix(f"{self.name}: ") or "nothing is in the file so far"
            raise TraceError(self.name, told, "it is looked at every second")
        return self.opened


def live(source: Source, format: str) -> Live:
    """The follower of a file that was named at start."""
    if source.path is None:
        raise TraceError(source.name, "an upload cannot be followed", "name the file: context-gc inspect --follow FILE")
    return _live(str(source.path), source.name, format)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _live(path: str, name: str, format: str) -> Live:
    return Live(Path(path), name, format)
