"""The paths and identifiers that a text names, whole and counted; linear in the size of the text.

Blind spots: a file is known by a slash or by its type, so `src/utils` and a `Dockerfile` are words; of a
Windows path only one with a drive is a path.
"""

from __future__ import annotations

import re

LONGEST_NAME = 200  #: characters; a longer run without white space is data, not a name
_COUNTED = 10_000  #: different ones of a kind that are counted, the first to come

# A path with a drive, an escape of JSON (which parts names), or a run that is classified as a whole.
_RUN = re.compile(r"\b[A-Za-z]:(?:\\\\?[\w.@+~-]+)+|\\[nrt\"]|[\w./~@+-]+")
_TYPES = frozenset(
    "bat c cc cfg cjs conf cpp cs css csv cts cxx dart db diff env ex exs go gradle h hpp hs html ini ipynb jar java "
    "js json jsonl jsx kt less lock log lua md mdx mjs ml mts parquet patch php pl png proto ps1 py pyi r rb rs rst "
    "scala scss sh sql sqlite svg swift tf toml ts tsv tsx txt vue wasm xml yaml yml zig zip".split()
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{5,}")
_MARKED = re.compile(r"[\d_]|[a-z][A-Z]|[A-Z]{2}[a-z]")
_HASH = re.compile(r"(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}")
_PARTS = re.compile(r"[./~@+-]+")


class Names:
    """Counts names over several texts."""

    def __init__(self) -> None:
        self._paths: dict[str, int] = {}
        self._names: dict[str, int] = {}

    def read(self, text: str) -> None:
        """Count the names of one more text."""
        for run in _RUN.findall(text):
            if 3 <= len(run) <= LONGEST_NAME:
                known, name = (self._paths, run) if run[1] == ":" else self._classified(run)
                if name and (name in known or len(known) < _COUNTED):
                    known[name] = known.get(name, 0) + 1

    def paths(self) -> list[str]:
        """The paths, those named most often first; of two named as often the one that came last."""
        return _ranked(self._paths)

    def names(self) -> list[str]:
        """The identifiers, hashes and numbers, in the same order; numbers are last."""
        return sorted(_ranked(self._names), key=str.isdigit)

    def _classified(self, run: str) -> tuple[dict[str, int], str]:
        run = run.strip("-+@").rstrip(".").removeprefix("//")
        if "/" in run:
            return self._paths, run if _is_path(run) else ""
        name = run.strip(".~/")
        if "." in name and name.rpartition(".")[2].lower() in _TYPES and not name[0].isdigit():
            return self._paths, run
        if name.isdigit() or any(map(_is_identifier, _PARTS.split(name))):
            return self._names, name if len(name) > 2 else ""
        return self._names, name if _is_dashed(name) else ""


def _is_path(run: str) -> bool:
    parts = [part for part in run.split("/") if part]
    if len(parts) < 2 or not re.search(r"[^\W\d]", run):
        return False
    return len(parts) > 2 or "." in parts[-1].strip(".") or run[0] in "/.~"


def _is_identifier(part: str) -> bool:
    if _IDENTIFIER.fullmatch(part) is not None and _MARKED.search(part) is not None:
        return True
    return _HASH.fullmatch(part) is not None


def _is_dashed(name: str) -> bool:
    """Whether this is an id of several parts, such as `call-17b`; not a word with a dash, nor a date."""
    known = "-" in name and "." not in name and len(name) >= 6
    return known and re.search(r"\d", name) is not None and re.search(r"[^\W\d_]", name) is not None


def _ranked(counted: dict[str, int]) -> list[str]:
    newest = list(reversed(counted.items()))
    return [name for name, _ in sorted(newest, key=lambda each: -each[1])]
