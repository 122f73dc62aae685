"""Traces: what can be opened, and parsed files, kept by the sha256 of their bytes for the whole server.

What the person who started the server named is in CONTEXT_GC_OPEN: a file, or a folder whose files are
listed. Nothing outside of it and of the samples is ever read by name. Uploads live in memory only; a
browser session sees its own, and those whose digest its link knows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ..errors import ContextGCError, TraceError
from ..load import load_traces
from ..trace import Trace
from .home import SAMPLES
from .launch import OPEN

SUFFIXES = (".jsonl", ".json", ".ndjson", ".md", ".log", ".txt", ".gz", ".traj", ".eval")
LISTED = 500  #: files of a folder that are offered
KEPT = 24  #: parsed files that the server keeps
SHA = 12  #: digits of a digest in a link


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be opened: its key in the settings, and its name, which is untrusted text."""

    key: str
    name: str
    origin: str  #: sample, open or upload


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read: the digest of its bytes and the traces in it, at least one. Never changed."""

    sha256: str
    name: str
    traces: Sequence[Trace]


def choices() -> list[Choice]:
    """What can be opened now: what was named at start, uploads of this session, samples."""
    mine: dict[str, str] = st.session_state.get("uploads", {})
    named = [Choice(f"open/{key}", key, "open") for key in _named(os.environ.get(OPEN, ""))]
    uploaded = [Choice(key, name, "upload") for key, name in mine.items()]
    return named + uploaded + [Choice(key, key, "sample") for key in _samples()]


def opened(key: str) -> Opened:
    """The file behind a key, parsed. Raises a ContextGCError that says in one sentence what is wrong."""
    if key in _samples():
        return _from_disk(_samples()[key], _samples()[key].name)
    if key.startswith("open/"):
        path = _named(os.environ.get(OPEN, "")).get(key.removeprefix("open/"))
        if path is None:
            raise TraceError(key.removeprefix("open/"), "this file is not in the folder that is open", "choose another")
        return _from_disk(path, key.removeprefix("open/"))
    for sha, found in _kept().items():
        if len(key) >= SHA and sha.startswith(key):
            st.session_state.setdefault("uploads", {})[key] = found.name
            return found
    raise TraceError("this link", "it names a file that is not open on this server", "upload the file again")


def upload(name: str, data: bytes) -> str:
    """Parse an uploaded file and keep it; gives its key. Raises as `opened` does."""
    found = _parse(data, name)
    key = found.sha256[:SHA]
    st.session_state.setdefault("uploads", {})[key] = name
    return key


def default() -> str:
    """The key of what is shown before anybody chose: the first file that was named at start; "" for none."""
    return next((choice.key for choice in choices() if choice.origin == "open"), "")


def _parse(data: bytes, name: str) -> Opened:
    sha, kept = hashlib.sha256(data).hexdigest(), _kept()
    if sha not in kept:
        try:
            found = Opened(sha, name, load_traces(data, name))
        except ContextGCError:
            raise
        except (RecursionError, MemoryError) as error:
            raise TraceError(name, "the file is too deep or too large to be read", "split it") from error
        while len(kept) >= KEPT:
            del kept[next(iter(kept))]
        kept[sha] = found
    return kept[sha]


def _from_disk(path: Path, name: str) -> Opened:
    try:
        stat = path.stat()
        return _read(str(path), stat.st_mtime_ns, stat.st_size, name)
    except OSError as error:
        raise TraceError(name, f"the file cannot be read: {error.strerror}", "check the path") from error


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _read(path: str, changed: int, size: int, name: str) -> Opened:
    return _parse(Path(path).read_bytes(), name)


@st.cache_resource(show_spinner=False)
def _kept() -> dict[str, Opened]:
    """Every file that this server has parsed and still keeps, by digest."""
    return {}


def _samples() -> dict[str, Path]:
    return _listing(str(SAMPLES), False)


def _named(start: str) -> dict[str, Path]:
    return _listing(start, True) if start else {}


@st.cache_data(ttl=10, show_spinner=False)
def _listing(start: str, deep: bool) -> dict[str, Path]:
    """Files by the key that the settings know them by: path below the folder, or a sample's bare name."""
    base = Path(start)
    if base.is_file():
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
