"""The rows of a receipt store: receipts and originals as bytes that prove themselves, and back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from ..canonical import canonical, own
from ..errors import StoreError
from ..parse import parse
from ..receipts import Receipt

Rows = Callable[..., list[tuple[Any, ...]]]  #: runs one statement of a store with its arguments

COLUMNS = "SELECT id, run_id, receipt_id, fields, sha256 FROM receipts WHERE "  #: of a `Stored`

_STATED = tuple(field.name for field in fields(Receipt))
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ODD = re.compile("[NIx]")  # NaN, Infinity, 0x…: outside of strings no other JSON has these letters
_ESCAPE = re.compile(r'\\(?:(["\\])|u[0-9a-f]{4}|.)')
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row:
    """One receipt as it goes in."""

    run: bytes
    name: bytes
    fields: bytes
    seal: str
    sha256: tuple[str, ...]
    texts: tuple[bytes, ...]


class Stored(NamedTuple):
    """One receipt as the file gives it; a damaged file may give anything."""

    number: int
    run: bytes
    name: bytes
    fields: bytes
    seal: str


def row_of(receipt: Receipt, originals: Sequence[Any], run_id: str, where: str) -> Row:
    """The row of a receipt. Raises StoreError unless each original is the one whose sha256 is stated."""
    try:
        texts = tuple(encoded(canonical(own(original))) for original in originals)
        sha256 = tuple(hashlib.sha256(text).hexdigest() for text in texts)
        stated = {name: getattr(receipt, name) for name in _STATED}
        fields = encoded(canonical(own(stated)))
    except TypeError as error:
        raise StoreError(where, f"receipt {receipt.id!r}: it holds {error}", "use JSON values") from None
    if sha256 != tuple(receipt.sha256):
        what = f"receipt {receipt.id!r}: its originals are not those whose sha256 it states"
        raise StoreError(where, what, f"{len(sha256)} given, {len(receipt.sha256)} stated, in the same order")
    run, name = encoded(run_id), encoded(receipt.id)
    return Row(run, name, fields, seal(run, name, fields), sha256, texts)


def seal(run: bytes, name: bytes, stated: bytes) -> str:
    """sha256 over everything that a receipt's row holds, 64 hex characters."""
    return hashlib.sha256(b"\n".join((run, name, stated))).hexdigest()


def receipt_in(row: Stored, where: str) -> Receipt:
    """The receipt in a row. Raises StoreError when its bytes are not those that were stored."""
    try:
        if seal(row.run, row.name, row.fields) != row.seal:
            raise ValueError("its bytes do not match their sha256")
        stated = parse(shown(row.fields))
        given: dict[str, Any] = {}
        for name in _STATED:
            part = stated[name]
            given[name] = tuple(part) if type(part) is list else part
        return Receipt(**given)
    except (KeyError, TypeError, ValueError) as error:
        what = f"the row of receipt {shown(row.name)!r} of run {shown(row.run)!r} is damaged: {error}"
        raise StoreError(where, what, "verify() names all that is damaged") from None


def line_of(row: Stored, texts: Sequence[str]) -> str:
    """A receipt with its originals as one line of strict JSON; `as_text` lists originals that JSON cannot say."""
    odd = [place for place, text in enumerate(texts) if _ODD.search(_STRING.sub("", text))]
    stated = {"run_id": shown(row.run), **parse(shown(row.fields)), **({"as_text": odd} if odd else {})}
    parts = [canonical(text) if place in odd else text for place, text in enumerate(texts)]
    line = canonical(stated)[:-1] + ',"originals":[' + ",".join(parts) + "]}"
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def in_order(rows: Rows, where: str, query: str, *arguments: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of `query`, which has `id > ?` first, in batches: nothing is locked while one is worked on.

    Raises StoreError when a damaged file gives the same rows again.
    """
    last = 0
    while batch := rows(f"{query} ORDER BY id LIMIT 200", last, *arguments):
        if type(batch[-1][0]) is not int or batch[-1][0] <= last:
            raise StoreError(where, "the store is damaged: its rows are out of order", "see verify()")
        yield from batch
        last = batch[-1][0]


def encoded(text: str) -> bytes:
    """UTF-8 that keeps lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def shown(value: Any) -> str:
    """The text in a column, whatever a damaged file has there."""
    if type(value) is not bytes:
        return str(value)
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return value.decode("utf-8", "backslashreplace")


def words_of(text: bytes) -> str:
    """The canonical JSON of an original as a search sees it: escapes undone, control characters as spaces."""
    plain = shown(text)
    return _ESCAPE.sub(lambda found: found[1] or " ", plain) if "\\" in plain else plain
