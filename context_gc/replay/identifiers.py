"""Identifiers: the paths, file names, hashes, numbers and names in a text by which an agent refers to what it saw."""

from __future__ import annotations

import re

SHORTEST = 4  #: characters

#: path, file.ext, hash, number, identifier; of the last only those that no prose has
_FOUND = re.compile(
    r"(?:[\w.-]+/)+[\w.-]+|[A-Za-z_][\w-]*\.[A-Za-z]{1,5}\b|\b[0-9a-f]{7,40}\b|\b\d{3,}\b|\b[A-Za-z_]\w{5,}\b"
)
_PLAIN = re.compile(r"[A-Za-z][a-z]*")
_HASH = re.compile(r"[a-f]{7,40}")


def identifiers(text: str) -> frozenset[str]:
    """ref(x): what identifies something in a text. A plain word does only with a digit, `_` or an inner capital."""
    return frozenset(
        found
        for found in _FOUND.findall(text)
        if len(found) >= SHORTEST and (not _PLAIN.fullmatch(found) or _HASH.fullmatch(found))
    )
