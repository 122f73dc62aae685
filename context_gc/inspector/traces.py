"""Traces: what can be opened, and parsed files, kept by the sha256 of their bytes for the whole server.

What the person who started the server named is in CONTEXT_GC_OPEN: a file, or a folder whose files are
listed. Nothing outside of it and of the samples is ever read by name. Uploads live in memory only; a
browser session sees its own, and those whose digest its link knows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from ..errors import ContextGCError, TraceError
from ..follow import newest
from ..load import load_traces
from ..trace import Trace
from .home import SAMPLES
from .launch import FOLLOW, OPEN

SUFFIXES = (".jsonl", ".json", ".ndjson", ".md", ".log", ".txt", ".gz", ".traj", ".eval")
LISTED = 500  #: files of a folder that are offered
KEPT = 24  #: parsed files, and uploads, that the server keeps
SHA = 12  #: digits of a digest in a link


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be opened: its key in the settings, and its name, which is untrusted text."""

    key: str
    name: str
    origin: str  #: sample, open or upload


@dataclass(frozen=True, slots=True)
class Source:
    """What is behind a key: a file, or bytes that were uploaded."""

    key: str
    name: str
    origin: str
    path: Path | None
    data: bytes = b""

    def read(self) -> bytes:
        """Its bytes as they are now. Raises TraceError when there are none to be had."""
        try:
            return self.data if self.path is None else self.path.read_bytes()
        except OSError as error:
            raise TraceError(self.name, f"the file cannot be read: {error.strerror}", "check the path") from error


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read: the digest of its bytes and the traces in it, at least one. Never changed."""

    sha256: str
    traces: Sequence[Trace]
    name: str
    read: Callable[[], bytes]  #: the bytes; they may be others by now

    def data(self) -> bytes:
        """The bytes that the traces were read from. Raises TraceError when the file is another one by now."""
        found = self.read()
        if hashlib.sha256(found).hexdigest() != self.sha256:
            raise TraceError(self.name, "the file has changed since it was read", "reload the page")
        return found


def choices() -> list[Choice]:
    """What can be opened now: what was named at start, uploads of this session, samples."""
    mine: dict[str, str] = st.session_state.get("uploads", {})
    named = [Choice(f"open/{key}", key, "open") for key in _named(os.environ.get(OPEN, ""))]
    uploaded = [Choice(key, name, "upload") for key, name in mine.items()]
    return named + uploaded + [Choice(key, key, "sample") for key in _samples()]


def source(key: str) -> Source:
    """What is behind a key. Raises a TraceError that says in one sentence why nothing is."""
    if key in _samples():
        return Source(key, _samples()[key].name, "sample", _samples()[key])
    if key.startswith("open/"):
        name = key.removeprefix("open/")
        path = _named_file(os.environ.get(OPEN, ""), name)
        if path is None:
            raise TraceError(name, "this file is not in the folder that is open", "choose another")
        return Source(key, name, "open", path)
    for sha, (name, data) in _uploads().items():
        if len(key) >= SHA and sha.startswith(key):
            st.session_state.setdefault("uploads", {}).setdefault(key, name)
            return Source(key, name, "upload", None, data)
    raise TraceError("this link", "it names a file that is not open on this server", "upload the file again")


def opened(key: str, format: str = "") -> Opened:
    """The file behind a key, parsed: by the importer that claims it, or by the one that is named.

    Raises a ContextGCError that says in one sentence what is wrong.
    """
    found = source(key)
    if found.path is None:
        return Opened(*_parse(found.data, found.name, format), found.name, found.read)
    try:
        stat = found.path.stat()
        return _read(str(found.path), stat.st_mtime_ns, stat.st_size, found.name, format)
    except OSError as error:
        raise TraceError(found.name, f"the file cannot be read: {error.strerror}", "check the path") from error


def upload(name: str, data: bytes) -> str:
    """Keep an uploaded file; gives its key. Raises as `opened` does, and keeps it all the same."""
    sha, kept = hashlib.sha256(data).hexdigest(), _uploads()
    _make_room(kept, sha)
    kept[sha] = name, data
    key = sha[:SHA]
    _parse(data, name, "")
    st.session_state.setdefault("uploads", {})[key] = name
    return key


def upload_key(data: bytes) -> str:
    """The key of an uploaded file."""
    return hashlib.sha256(data).hexdigest()[:SHA]


def default() -> str:
    """The key of what is shown before anybody chose: the first file that was named at start; "" for none.

    When a folder is followed it is the newest trace in it, for as long as this browser session lasts.
    """
    if os.environ.get(FOLLOW) and "newest" not in st.session_state:
        st.session_state.newest = newest_key()
    followed: str = st.session_state.get("newest", "")
    return followed or next((choice.key for choice in choices() if choice.origin == "open"), "")


def newest_key() -> str:
    """The key of the newest trace in the folder that is open; "" where no folder is, or no trace in it."""
    start = os.environ.get(OPEN, "")
    return _newest(start) if start and Path(start).is_dir() else ""


def _parse(data: bytes, name: str, format: str) -> tuple[str, Sequence[Trace]]:
    """The digest of a file and its traces, parsed once for the whole server. Raises as `opened` does."""
    sha, kept = hashlib.sha256(data).hexdigest(), _kept()
    key = f"{sha}/{format}"
    if key not in kept:
        try:
            found = load_traces(data, name, format or None)
        except ContextGCError:
            raise
        except (RecursionError, MemoryError) as error:
            raise TraceError(name, "the file is too deep or too large to be read", "split it") from error
        _make_room(kept, key)
        kept[key] = found
    return sha, kept[key]


def _make_room(kept: dict[str, Any], key: str) -> None:
    while key not in kept and len(kept) >= KEPT:
        del kept[next(iter(kept))]


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _read(path: str, changed: int, size: int, name: str, format: str) -> Opened:
    return Opened(*_parse(Path(path).read_bytes(), name, format), name, Path(path).read_bytes)


@st.cache_resource(show_spinner=False)
def _kept() -> dict[str, Sequence[Trace]]:
    """The traces of every file that this server has parsed and still keeps, by digest and format."""
    return {}


@st.cache_resource(show_spinner=False)
def _uploads() -> dict[str, tuple[str, bytes]]:
    """The last uploads, by digest: name and bytes."""
    return {}


def _samples() -> dict[str, Path]:
    return _listing(str(SAMPLES), False)


def _named(start: str) -> dict[str, Path]:
    return _listing(start, True) if start else {}


def _named_file(start: str, name: str) -> Path | None:
    """The file of this name in what was named at start, wherever its links lead; None outside of it."""
    base = Path(start)
    if not start or not base.is_dir():
        return base if start and name == base.name else None
    path, root = base.resolve() / name, base.resolve()
    is_inside = path.resolve().is_relative_to(root)
    return path if is_inside and path.suffix.lower() in SUFFIXES and path.is_file() else None


@st.cache_data(ttl=5, show_spinner=False)
def _newest(start: str) -> str:
    found = newest(start)
    return f"open/{found.relative_to(start).as_posix()}" if found else ""


@st.cache_data(ttl=10, show_spinner=False)
def _listing(start: str, deep: bool) -> dict[str, Path]:
    """Files by the key that the settings know them by: path below the folder, or a sample's bare name."""
    base = Path(start)
    if not base.is_dir():
        return {base.name: base}
    root = base.resolve()
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*") if deep else root.glob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file() and path.resolve().is_relative_to(root):
            below = path.relative_to(root).as_posix()
            found[below if deep else path.stem] = path
        if len(found) >= LISTED:
            break
    return found
