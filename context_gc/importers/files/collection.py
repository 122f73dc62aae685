"""Collections: the files of a folder or of a zip archive, by relative path, read one at a time."""

from __future__ import annotations

import io
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ...errors import TraceError
from ...trace import Problem
from .decode import LARGEST, MAX_RATIO, RATIO_FROM, decode
from .document import ARCHIVES, Document

MOST_FILES = 20_000  #: of a collection; more are reported and left out
MOST_BYTES = 2 << 30  #: of all files of a collection together, unpacked
DEEPEST = 12  #: folders below its top
ZSTD = 93  #: the number of that way to pack a member of a zip archive

_DAMAGE = (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError)


@dataclass
class Collection:
    """`files` maps relative paths (with `/`, in order) to a function that reads the file's bytes."""

    name: str
    files: Mapping[str, Callable[[], bytes]]
    problems: list[Problem]
    most: int  #: bytes of all files together, unpacked
    taken: int = 0  #: so far

    @property
    def is_spent(self) -> bool:
        """Whether so much was read that no further file is."""
        return self.taken > self.most

    def data(self, path: str) -> bytes:
        """The bytes of a file. Raises TraceError when it cannot be read, or when enough was read."""
        if self.is_spent:
            what = f"the files before it unpack to more than {self.most:,} bytes"
            raise TraceError(path, what, "if that is meant, unpack it first and read a part of it")
        data = self.files[path]()
        self.taken += len(data)
        return data

    def document(self, path: str) -> Document:
        """A file as a document. Raises TraceError as `data` and `decode` do."""
        data = self.data(path)
        document = decode(data, path)
        self.taken += max(_size(document.data) - len(data), 0)
        return document


def folder(path: str | os.PathLike[str]) -> Collection:
    """The files below a folder. Links are not followed; hidden files are left out.

    Raises:
        TraceError: the folder cannot be read.
    """
    root, problems = Path(path), list[Problem]()
    files: dict[str, Callable[[], bytes]] = {}
    try:
        found = _listed(root)
    except OSError as error:
        raise TraceError(printable(path), f"the folder cannot be read: {error.strerror}", "check the path") from error
    for each in _walk(root, found, 0, problems):
        if len(files) == MOST_FILES:
            problems.append(Problem(None, f"more than {MOST_FILES:,} files (the rest was left out)", 0))
            break
        files[printable(each.relative_to(root).as_posix())] = _reader(each)
    return Collection(printable(path), files, problems, MOST_BYTES)


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
        if path.startswith("/") or ".." in path.split("/") or path[1:2] == ":":
            problems.append(Problem(None, f"the member {path[:200]!r} leads out of the archive (left out)", 0))
        elif stat.S_ISLNK(member.external_attr >> 16):
            problems.append(Problem(None, f"the member {path[:200]!r} is a link (left out)", 0))
        elif len(files) == MOST_FILES and path not in files:
            problems.append(Problem(None, f"more than {MOST_FILES:,} members (the rest was left out)", 0))
            break
        else:
            if path in files:
                problems.append(Problem(None, f"several members are called {path[:200]!r} (the last was read)", 0))
            files[path] = _member(data, zipped, member, f"{name}/{path}")
    return Collection(name, files, problems, min(MOST_BYTES, max(RATIO_FROM, MAX_RATIO * len(data))))


def printable(path: str | os.PathLike[str]) -> str:
    """A path as text that has a UTF-8 form: bytes of a name that have none are shown as \\udc80 to \\udcff."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode("utf-8")


def _listed(path: Path) -> list[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        return sorted(entries, key=lambda each: each.name)


def _walk(root: Path, entries: list[os.DirEntry[str]], depth: int, problems: list[Problem]) -> Iterator[Path]:
    folders: list[Path] = []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        shown = f"{printable(entry.name)[:200]!r}"
        if entry.is_symlink():
            problems.append(Problem(None, f"{shown} is a link (not followed)", 0))
        elif entry.is_dir():
            folders.append(Path(entry.path))
        elif entry.is_file():
            yield Path(entry.path)
        else:
            problems.append(Problem(None, f"{shown} is a pipe, a socket or a device (left out)", 0))
    if folders and depth == DEEPEST:
        problems.append(Problem(None, f"folders more than {DEEPEST} deep (left out)", 0))
        return
    for each in folders:
        try:
            inner = _listed(each)
        except OSError as error:
            shown = printable(each.relative_to(root).as_posix())[:200]
            problems.append(Problem(None, f"the folder {shown!r} cannot be read: {error.strerror} (left out)", 0))
            continue
        yield from _walk(root, inner, depth + 1, problems)


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > LARGEST:
                    raise TraceError(printable(path), f"the file is larger than {LARGEST:,} bytes", "split it")
                return file.read(size)
        except OSError as error:
            what = f"the file cannot be read: {error.strerror}"
            raise TraceError(printable(path), what, "check the path") from error

    return read


def _member(data: bytes, zipped: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        size, packed = member.file_size, member.compress_size
        if size > LARGEST or size > max(RATIO_FROM, MAX_RATIO * packed):
            what = f"{packed:,} bytes unpack to {size:,}"
            raise TraceError(name, what, "if that is meant, unpack it first")
        if member.flag_bits & 1:
            raise TraceError(name, "it is encrypted", "unpack it first")
        if member.compress_type == ZSTD:
            return _unpacked_zstd(data, member, name)
        try:
            with zipped.open(member) as stream:
                found = stream.read(size + 1)
        except NotImplementedError as error:
            what = f"it is packed in a way that Python does not know: {error}"
            raise TraceError(name, what, "unpack it first") from error
        except _DAMAGE as error:
            raise TraceError(name, f"it cannot be unpacked: {error}", "unpack it by other means") from error
        if len(found) != size:
            what = f"it says that it unpacks to {size:,} bytes, but it is {len(found):,}"
            raise TraceError(name, what, "unpack it by other means")
        return found

    return read


def _unpacked_zstd(data: bytes, member: zipfile.ZipInfo, name: str) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError as error:
            what = "it is packed with zstd, which Python unpacks from 3.14 on"
            raise TraceError(name, what, "pip install 'context-gc[inspect-zstd]'") from error
    header = data[member.header_offset : member.header_offset + 30]
    start = member.header_offset + 30 + sum(int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    try:
        packed = data[start : start + member.compress_size]
        found: bytes = zstd.ZstdDecompressor().decompress(packed, member.file_size + 1)
    except zstd.ZstdError as error:
        raise TraceError(name, f"it cannot be unpacked: {error}", "unpack it by other means") from error
    if zlib.crc32(found) != member.CRC:
        raise TraceError(name, "it cannot be unpacked: its checksum is wrong", "unpack it by other means")
    return found


def _size(data: bytes) -> int:
    """The bytes of a file; those of an archive in an archive are what all its members say that they unpack to."""
    if not data.startswith(ARCHIVES):
        return len(data)
    try:
        return sum(each.file_size for each in zipfile.ZipFile(io.BytesIO(data)).infolist())
    except (*_DAMAGE, NotImplementedError):
        return len(data)
