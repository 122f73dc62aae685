"""The closed event schema: 17 types, the fields of each, and `validate_event`.

An event is a plain dict of JSON values. Fields that the schema does not name are kept verbatim.
"""

from __future__ import annotations

import hashlib
import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

from .errors import InvalidEvent

Event = dict[str, Any]
Check = Callable[[Any], bool]

IMPORTANCE = ("critical", "task", "session", "temporary", "debug")
LARGEST = 2**63 - 1  #: of timestamps and counts
RETAIN_UNTIL = ("task_end", "session_end")


def _text(value: Any) -> bool:
    return type(value) is str


def _name(value: Any) -> bool:
    return type(value) is str and value != ""


def _count(value: Any) -> bool:
    return type(value) is int and -LARGEST <= value <= LARGEST


def _flag(value: Any) -> bool:
    return type(value) is bool


def _any(value: Any) -> bool:
    return True


def _key(value: Any) -> bool:
    return type(value) in (int, float, bool) or _name(value)


def _texts(value: Any) -> bool:
    return type(value) is list and all(type(part) is str for part in value)


def _names(value: Any) -> bool:
    return type(value) is list and all(_name(part) for part in value)


EXPECTED: Mapping[Check, str] = {
    _text: "a string", _name: "a non-empty string", _count: "a whole number", _flag: "true or false",
    _any: "a JSON value", _key: "a non-empty string, a number or a boolean", _texts: "a list of strings",
    _names: "a list of event ids",
}  # fmt: skip

#: type -> its required fields, each with the check that its value must pass
FIELDS: Mapping[str, tuple[tuple[str, Check], ...]] = {
    "set_var": (("key", _key), ("value", _any)),
    "tool_call": (("tool_name", _name), ("arguments", _any)),
    "tool_result": (("call_id", _name), ("result", _any)),
    "abandon": (("ref_to", _names),),
    "decision": (("content", _text),),
    "file_read": (("path", _name),),
    "file_edit": (("path", _name), ("diff_hash", _name)),
    "command_run": (("command", _name), ("exit_code", _count)),
    "test_run": (("test_names", _texts), ("exit_code", _count), ("passed_count", _count), ("failed_count", _count)),
    "build_run": (("exit_code", _count),),
    "git_diff": (("diff_hash", _name), ("files_changed", _texts)),
    "git_commit": (("commit_hash", _name), ("message", _name)),
    "error": (("message", _name),),
    "artifact_created": (("artifact_type", _name), ("path", _name)),
    "requirement": (("content", _name),),
    "constraint": (("content", _name),),
    "verification": (("content", _name), ("passed", _flag)),
}
EVENT_TYPES = tuple(FIELDS)
#: how many fields an event has that carries nothing beyond the schema's required ones (`parent_id` aside)
PLAIN_SIZE = {kind: 3 + len(fields) for kind, fields in FIELDS.items()}
_SAFE_ID = re.compile(r"[A-Za-z0-9_.:@/+-]{1,200}")
_LABEL = re.compile(r"(?:id|cluster)_[0-9a-f]{12}")


def validate_event(event: Any) -> None:
    """Check one event against the schema.

    Raises:
        InvalidEvent: naming the event, the field and what was expected.
    """
    try:
        if _is_plain(event):
            return
    except (KeyError, TypeError):  # a field is missing, or a type that cannot be a key
        pass
    _validate_all(event)


def _is_plain(event: Any) -> bool:
    """Whether an event is right at first sight: the fields of its type and a parent, nothing else."""
    name, timestamp, kind = event["id"], event["timestamp"], event["type"]
    if type(name) is not str or not name or type(timestamp) is not int or not 0 <= timestamp <= LARGEST:
        return False
    fields = FIELDS[kind]
    for field, check in fields:
        if not check(event[field]):
            return False
    parent = event["parent_id"]
    known = parent is None or (type(parent) is str and parent != "")
    return known and type(event) is dict and len(event) == len(fields) + 4


def _validate_all(event: Any) -> None:
    if type(event) is not dict:
        raise InvalidEvent("event", f"a {type(event).__name__} where an object was expected", "pass a dict")
    get = event.get
    if not _name(get("id")):
        raise _broken(event, "id", "a non-empty string")
    timestamp = get("timestamp")
    if type(timestamp) is not int or not 0 <= timestamp <= LARGEST:
        raise _broken(event, "timestamp", "a whole number >= 0")
    kind = get("type")
    fields = FIELDS.get(kind) if type(kind) is str else None
    if fields is None:
        raise _broken(event, "type", "one of " + ", ".join(EVENT_TYPES))
    for field, check in fields:
        if field not in event or not check(event[field]):
            raise _broken(event, field, EXPECTED[check])
    if get("parent_id") is not None and not _name(event["parent_id"]):
        raise _broken(event, "parent_id", "an event id or null")
    _validate_optional(event)


def _validate_optional(event: Event) -> None:
    for field in event:
        if type(field) is not str:
            raise _broken(event, field, "no field with a name that is not a string")
    importance = event.get("importance")
    if importance is not None and importance not in IMPORTANCE:
        raise _broken(event, "importance", "one of " + ", ".join(IMPORTANCE))
    until = event.get("retain_until")
    if until is not None and until not in RETAIN_UNTIL:
        raise _broken(event, "retain_until", "task_end, session_end or null")
    tags = event.get("tags")
    if tags is not None and not _texts(tags):
        raise _broken(event, "tags", "a list of strings")
    related = event.get("related_to")
    if event["type"] == "error" and related is not None and not _name(related):
        raise _broken(event, "related_to", "an event id or null")


def label(name: str) -> str:
    """An event id as a prompt may show it: itself, or `id_` and a hash when it could mislead.

    It could when it has characters beyond `A-Za-z0-9_.:@/+-`, is long, or looks like such a label or like
    the name of a cluster.
    """
    if _SAFE_ID.fullmatch(name) and not _LABEL.fullmatch(name):
        return name
    return "id_" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def is_label(text: str) -> bool:
    """Whether a text looks like the label of an id that a prompt does not show, or like a cluster's name."""
    return _LABEL.fullmatch(text) is not None


def _broken(event: Event, field: str, expected: str) -> InvalidEvent:
    name = event.get("id")
    where = f"event {name!r}" if _name(name) else "event"
    found = reprlib.repr(event[field]) if field in event else "missing"
    what = f"field {field!r} is {found}, expected {expected}"
    return InvalidEvent(where, what, event_id=name, field=field, expected=expected)
