"""ContextPack: a context, or a trace with its receipts, as JSON that proves itself and holds no secrets."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from reprlib import repr
from typing import Any

from .atomic import write_atomically
from .canonical import digest, own, readable
from .credentials import PLACEHOLDER
from .errors import PackError
from .events import FIELDS, Event, validate_event
from .parse import parse
from .receipt_store import ReceiptStore
from .receipts import Receipt
from .sensitive import SENSITIVE_KEYS, LeftOut, Place, leave_out, places
from .trace import Trace

FORMAT, VERSION = "context-gc pack", 1
KINDS = ("context", "trace")

#: fields of an event that tie it to others or say how it is treated: they stay as they are
_TIES = frozenset("id type timestamp parent_id importance retain_until ref_to call_id related_to".split())
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST = 10_000  # bits of a whole number that JSON readers take


@dataclass(frozen=True, slots=True)
class ContextPack:
    """What another agent, or a later process, gets. `left_out` tells by path what it does not get.

    `content` is for kind "context" the context dict; for kind "trace" an object with `events`, `receipts`,
    `title`, `model` and `cwd`. Each receipt has its fields, its `originals` and `redacted`: True when
    something was left out of an original, whose `sha256` is then null.
    """

    kind: str  #: "context" or "trace"
    content: dict[str, Any]
    left_out: tuple[LeftOut, ...] = ()

    @classmethod
    def of_context(
        cls,
        context: dict[str, Any],
        keys: Collection[str] | None = None,
        sensitive: Iterable[str] = SENSITIVE_KEYS,
        release: Collection[str] = (),
    ) -> ContextPack:
        """Pack a context dict; it is copied.

        `keys`: only these keys of the dict; one that is not there is no error. Naming a key does not let
        a secret through: that takes its exact JSON pointer in `release`, such as "/config/api_key".
        `sensitive`: globs over names at any depth, see `SENSITIVE_KEYS`. Left out is also what JSON cannot
        say (NaN, infinity, numbers of thousands of digits).

        Raises:
            PackError: something in the context is not JSON, or an argument has a wrong type.
        """
        globs = _globs(sensitive)
        if isinstance(keys, str) or isinstance(release, str) or not all(name[:1] == "/" for name in release):
            raise PackError("pack", "keys and release are no lists of names and of JSON pointers", 'as ["/a/b"]')
        content, found = _copy(context, "the context"), list[LeftOut]()
        if type(content) is not dict:
            raise PackError("pack", f"the context is {repr(context)}", "pass a dict")
        if keys is not None:
            for name in [name for name in content if name not in keys]:
                found.append(LeftOut(str(Place(None, "", "").below(name)), "it was not asked for"))
                del content[name]
        content, more = _cleaned(content, globs, "", release)
        return cls("context", content, (*found, *more))

    @classmethod
    def of_trace(
        cls,
        trace: Trace,
        store: ReceiptStore | None = None,
        run_id: str = "",
        sensitive: Iterable[str] = SENSITIVE_KEYS,
    ) -> ContextPack:
        """Pack a trace, with the receipts that a store has for a run and their originals; all are copied.

        Each event stays a valid one: where a field that its type requires is left out, "[left out]" stands.
        Its ids and what ties it to others stay as they are, also where they look like credentials.

        Raises:
            PackError: something in an event is not JSON, or an argument has a wrong type.
            StoreError: an original in the store is damaged.
        """
        globs, found = _globs(sensitive), list[LeftOut]()
        events, receipts = list[Event](), list[dict[str, Any]]()
        for place, event in enumerate(trace.events):
            events.append(_event(_copy(event, f"event {place}"), globs, f"/events/{place}", found))
        for receipt in store.receipts(run_id) if store is not None else ():
            originals = store.recover(receipt.id, run_id) if store is not None else []
            receipts.append(_receipt(receipt, originals, globs, f"/receipts/{len(receipts)}", found))
        about, more = _cleaned({name: getattr(trace, name) for name in ("title", "model", "cwd")}, globs, "")
        return cls("trace", {"events": events, "receipts": receipts, **about}, (*found, *more))

    @property
    def sha256(self) -> str:
        """Of the canonical JSON of the whole pack but this, 64 hex characters."""
        return digest(self._to_mapping())

    def to_json(self) -> str:
        """The pack as strict JSON on one line, in characters that every encoding of Unicode has."""
        text = readable(self._to_mapping() | {"sha256": self.sha256})
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pack to a file, atomically and for its owner alone. Raises PackError when that fails."""
        try:
            write_atomically(path, self.to_json().encode() + b"\n")
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise PackError(os.fsdecode(path), f"the pack cannot be written: {reason}", "check the path") from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ContextPack:
        """Read a pack from a file. Raises PackError as `from_json` does, also for a file that cannot be read."""
        where = os.fsdecode(path)
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise PackError(where, "the pack is damaged: it is not UTF-8", "get it anew") from None
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise PackError(where, f"the pack cannot be read: {reason}", "check the path") from None
        return cls.from_json(text, where)

    @classmethod
    def from_json(cls, text: str, where: str = "pack") -> ContextPack:
        """The pack in a JSON text, when it is as `to_json` gave it (white space and the order of keys aside).

        Raises:
            PackError: it is no pack, was changed or damaged, or its version is newer.
        """
        try:
            given = parse(text, unique=True)
        except ValueError as error:
            raise PackError(where, f"this is no pack: not JSON: {error}", "get it anew") from None
        if type(given) is not dict or given.get("format") != FORMAT:
            raise PackError(where, f"this is no pack: format {FORMAT!r} is missing", "pass what ContextPack saved")
        version = given.get("version")
        if type(version) is int and version > VERSION:
            raise PackError(where, f"its version {version} is newer than {VERSION}", "update context-gc")
        sha256 = given.pop("sha256", None)
        if version != VERSION or type(version) is not int or digest(given) != sha256:
            raise PackError(
                where, "the pack was changed or damaged: its content does not match its sha256", "get it anew"
            )
        try:
            pack = cls(given["kind"], given["content"], tuple(LeftOut(**each) for each in given["left_out"]))
            pack._check()
        except (KeyError, TypeError, ValueError) as error:
            raise PackError(where, f"this is no pack of version {VERSION}: {error}", "pack it anew") from None
        return pack

    def _to_mapping(self) -> dict[str, Any]:
        left_out = [{"path": each.path, "why": each.why} for each in self.left_out]
        head = {"format": FORMAT, "version": VERSION, "kind": self.kind}
        return head | {"content": self.content, "left_out": left_out}

    def _check(self) -> None:
        """Raises ValueError or TypeError when it is none that `of_context` or `of_trace` gives."""
        if self.kind not in KINDS or type(self.content) is not dict:
            raise ValueError(f"kind is {repr(self.kind)}, known: {', '.join(KINDS)}")
        if not all(type(each.path) is str and type(each.why) is str for each in self.left_out):
            raise ValueError("left_out is no list of paths")
        if self.kind == "trace":
            for event in self.content["events"]:
                validate_event(event)
            if not all(type(receipt["id"]) is str for receipt in self.content["receipts"]):
                raise ValueError("a receipt has no id")


def _event(event: Event, globs: tuple[str, ...], at: str, found: list[LeftOut]) -> Event:
    """An event without what must not leave; what is left out goes to `found`."""
    order = list(event)
    required = [name for name, _ in FIELDS.get(str(event.get("type")), ()) if name in event]
    found += _make_portable([event], at)
    body, more = leave_out({name: part for name, part in event.items() if name not in _TIES}, globs, at=at)
    found += more
    kept = {**dict.fromkeys(required, PLACEHOLDER), **{name: event[name] for name in _TIES & set(event)}, **body}
    return {name: kept[name] for name in dict.fromkeys((*order, *body)) if name in kept}


def _receipt(
    receipt: Receipt, originals: list[Any], globs: tuple[str, ...], at: str, found: list[LeftOut]
) -> dict[str, Any]:
    """A receipt with its originals; one that is no longer the original has no sha256."""
    stated = _copy({field.name: getattr(receipt, field.name) for field in fields(Receipt)}, f"receipt {receipt.id!r}")
    stated["reason"], more = _cleaned(stated["reason"], globs, f"{at}/reason")
    found += [*_make_portable([stated], at), *more]
    packed = []
    for place, original in enumerate(originals):
        here = f"{at}/originals/{place}"
        if type(original) is dict and str(original.get("type")) in FIELDS:
            packed.append(_event(original, globs, here, found))
        else:
            clean, more = _cleaned(original, globs, here)
            packed.append(clean)
            found += more
    same = [digest(part) == sha256 for part, sha256 in zip(packed, receipt.sha256, strict=True)]
    stated["sha256"] = [sha256 if kept else None for sha256, kept in zip(receipt.sha256, same, strict=True)]
    return {**stated, "originals": packed, "redacted": not all(same)}


def _cleaned(value: Any, globs: tuple[str, ...], at: str, release: Collection[str] = ()) -> tuple[Any, list[LeftOut]]:
    """A private copy without what JSON cannot say and what must not leave; and what that was."""
    root = [value]
    odd = _make_portable(root, at)
    clean, found = leave_out(root[0], globs, release, at)
    return clean, [*odd, *found]


def _make_portable(root: list[Any], at: str) -> list[LeftOut]:
    """Take out what JSON cannot say, and join the halves of characters that its readers would join."""
    found = []
    for holder, slot, place in places(root, Place(None, "", at)):
        item = holder[slot]
        if (type(item) is float and not math.isfinite(item)) or (type(item) is int and item.bit_length() > _LONGEST):
            found.append(LeftOut(str(place), "JSON has no such number"))
            if type(holder) is dict:
                del holder[slot]
            else:
                holder[slot] = PLACEHOLDER
        elif type(item) is str:
            holder[slot] = _joined(item)
        elif type(item) is dict and not all(map(str.isascii, item)):
            pairs = [(_joined(name), part) for name, part in item.items()]
            item.clear()
            item.update(pairs)
    return found


def _joined(text: str) -> str:
    if text.isascii() or _PAIR.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _copy(value: Any, what: str) -> Any:
    try:
        return own(value)
    except TypeError as error:
        raise PackError("pack", f"{what} holds {error}", "use JSON values") from None


def _globs(sensitive: Iterable[str]) -> tuple[str, ...]:
    globs = () if isinstance(sensitive, str) else tuple(sensitive)
    if isinstance(sensitive, str) or not all(isinstance(glob, str) for glob in globs):
        raise PackError("pack", f"sensitive is {repr(sensitive)}", "pass a list of globs over names")
    return globs
