"""Search a receipt store: the words of a query, never its syntax, over the text of the originals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .rows import Rows, encoded, in_order, shown, words_of

SNIPPET = 200  #: characters of an original that `Found.snippet` shows at most
WORDS = 32  #: words of a query that are looked for

_MOST = 2**62
_BEFORE = 60  # characters that a snippet shows before the word
_NO_SPACES = "\u0e00"  # from here on come scripts that put no spaces between words, and symbols
_WORD = re.compile("[^\\s\x00-\x1f\x7f\ud800-\udfff]+")
_PLACES = """SELECT r.run_id, r.receipt_id, o.place, o.payload FROM {} JOIN receipts r ON r.id = o.receipt
    WHERE {} AND (? IS NULL OR r.run_id = ?) ORDER BY {} r.id, o.place"""
_MATCHES = (
    _PLACES.format("words JOIN originals o ON o.payload = words.rowid", "words MATCH ?", "words.rank,")
    + " LIMIT ? OFFSET ?"
)
_OWNERS = _PLACES.format("originals o", "o.payload = ?", "")


@dataclass(frozen=True, slots=True)
class Found:
    """One original that a search found: `place` is its index in what `recover` gives for the receipt."""

    run_id: str
    receipt_id: str
    place: int
    snippet: str  #: the text around the first word of the query, on one line, at most SNIPPET characters


def search(
    rows: Rows, where: str, indexed: bool, query: str, limit: int, offset: int, run_id: str | None
) -> list[Found]:
    """What `ReceiptStore.search` gives; `rows` reads from the store, `indexed` tells whether it has FTS5."""
    words = [word[:SNIPPET] for word in _WORD.findall(query)[:WORDS]]
    limit, offset = min(max(limit, 0), _MOST), min(max(offset, 0), _MOST)
    run = None if run_id is None else encoded(run_id)
    if not words or not limit:
        return []
    if indexed and all(map(_is_indexed, words)):
        asked = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
        places = rows(_MATCHES, asked, run, run, limit, offset)
    else:
        places = _scan(rows, where, words, run, offset + limit)[offset:]
    return [
        Found(shown(owner), shown(name), place, _snippet(_text(rows, payload), words[0]))
        for owner, name, place, payload in places
    ]


def _scan(rows: Rows, where: str, words: list[str], run: bytes | None, enough: int) -> list[tuple[Any, ...]]:
    """The first places in the order of storing whose original holds every word."""
    folded = [word.casefold() for word in words]
    found: list[tuple[Any, ...]] = []
    for (number,) in in_order(rows, where, "SELECT id FROM payloads WHERE id > ?"):
        text = _text(rows, number).casefold()
        if all(word in text for word in folded):
            found += rows(_OWNERS, number, run, run)
        if len(found) >= enough:
            break
    return found[:enough]


def _text(rows: Rows, payload: int) -> str:
    found = rows("SELECT text FROM payloads WHERE id = ?", payload)
    return words_of(found[0][0]) if found else ""


def _is_indexed(word: str) -> bool:
    """Whether the index holds such a word: letters or digits of a script that separates words."""
    return max(word) < _NO_SPACES and any(map(str.isalnum, word))


def _snippet(text: str, word: str) -> str:
    lowered = text.replace("\u0130", "I").lower()  # the one character that gets longer
    begin = max(lowered.find(word.lower()) - _BEFORE, 0)
    part = " ".join(text[begin : begin + SNIPPET - 2].split())
    return "…" * (begin > 0) + part + "…" * (begin + SNIPPET - 2 < len(text))
