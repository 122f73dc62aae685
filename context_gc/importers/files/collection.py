"""Collections: the files of a folder or of a zip archive, by relative path, read one at a time."""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ...errors import TraceError
from ...trace import Problem

MOST_FILES = 20_000  #: of a collection; more are reported and left out
DEEPEST = 12  #: folders below its top
LARGEST = 1 << 30  #: bytes of one file
MAX_RATIO = 300  #: unpacked to packed size of a member; beyond it a member is refused once it exceeds RATIO_FROM
RATIO_FROM = 32 << 20

ZIP = b"PK\x03\x04"


@dataclass
class Collection:
    """`files` maps relative paths (with `/`, in order) to a function that reads the file's bytes."""

    name: str
    files: Mapping[str, Callable[[], bytes]]
    problems: list[Problem] = field(default_factory=list)

    def data(self, path: str) -> bytes:
        """The bytes of a file. Raises TraceError when it cannot be read."""
        return self.files[path]()


def folder(path: str | os.PathLike[str]) -> Collection:
    """The files below a folder. Links are not followed; hidden files are left out.

    Raises:
        TraceError: the folder cannot be read.
    """
    root, problems = Path(path), list[Problem]()
    files: dict[str, Callable[[], bytes]] = {}
    try:
        for found in _walk(root, 0, problems):
            if len(files) == MOST_FILES:
                problems.append(Problem(None, f"more than {MOST_FILES:,} files (the rest was left out)"))
                break
            files[found.relative_to(root).as_posix()] = _reader(found)
    except OSError as error:
        raise TraceError(str(path), f"the folder cannot be read: {error.strerror}", "check the path") from error
    return Collection(str(path), files, problems)


def archive(data: bytes, name: str) -> Collection:
    """The members of a zip archive. One whose path leads out of it is left out and reported.

    Raises:
        TraceError: it is no archive that can be read.
    """
    try:
        zipped = zipfile.ZipFile(io.BytesIO(data))
        members = zipped.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeDecodeError) as error:
        raise TraceError(name, f"the zip archive is damaged: {error}", "unpack it by other means") from error
    files: dict[str, Callable[[], bytes]] = {}
    problems: list[Problem] = []
    for member in sorted(members, key=lambda each: each.filename):
        path = member.filename.replace("\\", "/")
        if member.is_dir() or path.startswith("__MACOSX/") or PurePosixPath(path).name.startswith("."):
            continue
        if path.startswith("/") or ".." in path.split("/") or ":" in path.split("/")[0]:
            problems.append(Problem(None, f"the member {path[:200]!r} leads out of the archive (left out)"))
        elif stat.S_ISLNK(member.external_attr >> 16):
            problems.append(Problem(None, f"the member {path[:200]!r} is a link (left out)"))
        elif len(files) == MOST_FILES:
            problems.append(Problem(None, f"more than {MOST_FILES:,} members (the rest was left out)"))
            break
        else:
            files[path] = _member(zipped, member, f"{name}/{path}")
    return Collection(name, files, problems)


def _walk(root: Path, depth: int, problems: list[Problem]) -> Iterator[Path]:
    folders: list[Path] = []
    for entry in sorted(os.scandir(root), key=lambda each: each.name):
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            problems.append(Problem(None, f"{entry.name[:200]!r} is a link (not followed)"))
        elif entry.is_dir():
            folders.append(Path(entry.path))
        elif entry.is_file():
            yield Path(entry.path)
    if folders and depth == DEEPEST:
        problems.append(Problem(None, f"folders more than {DEEPEST} deep (left out)"))
        return
    for each in folders:
        yield from _walk(each, depth + 1, problems)


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            if path.stat().st_size > LARGEST:
                raise TraceError(str(path), f"the file is larger than {LARGEST:,} bytes", "split it")
            return path.read_bytes()
        except OSError as error:
            raise TraceError(str(path), f"the file cannot be read: {error.strerror}", "check the path") from error

    return read


def _member(zipped: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        size, packed = member.file_size, member.compress_size
        if size > LARGEST or size > max(RATIO_FROM, MAX_RATIO * packed):
            what = f"{packed:,} bytes unpack to {size:,}"
            raise TraceError(name, what, "if that is meant, unpack it first")
        try:
            with zipped.open(member) as stream:
                data = stream.read(size + 1)
        except NotImplementedError as error:
            raise TraceError(
                name, f"it is packed in a way that Python does not know: {error}", "unpack it first"
            ) from error
        except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError) as error:
            raise TraceError(name, f"it cannot be unpacked: {error}", "unpack it by other means") from error
        return data

    return read
