"""The closed schema: what an event has to be, and an error that says what it is not."""

from __future__ import annotations

import pytest

from context_gc import EVENT_TYPES, ContextGC, ContextGCError, InvalidEvent, compact_events, validate_event
from context_gc.events import FIELDS, IMPORTANCE, label

#: type -> its required fields with a good value each, as the documentation lists them
GOOD = {
    "set_var": {"key": "x", "value": None},
    "tool_call": {"tool_name": "get", "arguments": {}},
    "tool_result": {"call_id": "c1", "result": None},
    "abandon": {"ref_to": []},
    "decision": {"content": ""},
    "file_read": {"path": "a.py"},
    "file_edit": {"path": "a.py", "diff_hash": "1a2b"},
    "command_run": {"command": "make", "exit_code": -9},
    "test_run": {"test_names": [], "exit_code": 0, "passed_count": 0, "failed_count": 0},
    "build_run": {"exit_code": 0},
    "git_diff": {"diff_hash": "1a2b", "files_changed": []},
    "git_commit": {"commit_hash": "1a2b", "message": "m"},
    "error": {"message": "m"},
    "artifact_created": {"artifact_type": "report", "path": "a"},
    "requirement": {"content": "c"},
    "constraint": {"content": "c"},
    "verification": {"content": "c", "passed": False},
}
#: what each field must not be, beside being absent
NAMES = ("", None, 1, ["x"], b"x")
COUNTS = (None, "1", 1.0, True, [1], 2**63)
BAD = {
    "key": ("", None, ["x"], {"x": 1}),
    "ref_to": (None, "a", ("a",), [1], [""], ["a", None]),
    "passed": (None, 0, 1, "true"),
    "test_names": (None, "a", [1], ("a",)),
    "files_changed": (None, "a", [1], ("a",)),
    "content": (None, 1, ["c"]),
    **dict.fromkeys(("exit_code", "passed_count", "failed_count"), COUNTS),
    **dict.fromkeys(("tool_name", "call_id", "path", "diff_hash", "command", "commit_hash", "message"), NAMES),
    "artifact_type": NAMES,
}


def event(kind: str = "decision", **changes):
    return {"id": "e1", "type": kind, "timestamp": 0, **GOOD[kind], **changes}


def refused(bad, field: str) -> InvalidEvent:
    with pytest.raises(InvalidEvent) as caught:
        validate_event(bad)
    assert caught.value.field == field
    assert repr(field) in str(caught.value)
    assert caught.value.expected in str(caught.value)
    return caught.value


def test_the_types_are_the_documented_ones():
    assert EVENT_TYPES == tuple(GOOD) == tuple(FIELDS)


@pytest.mark.parametrize("kind", GOOD)
def test_the_required_fields_are_enough(kind):
    validate_event(event(kind))
    validate_event(event(kind, parent_id=None))
    validate_event(event(kind, parent_id="p"))


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind in GOOD for field in GOOD[kind]])
def test_no_required_field_may_be_missing_or_wrong(kind, field):
    missing = event(kind)
    del missing[field]
    assert "missing" in str(refused(missing, field))
    for value in BAD.get(field, ()):
        refused(event(kind, **{field: value}), field)


@pytest.mark.parametrize("kind", ["requirement", "constraint", "verification"])
def test_what_was_asked_and_found_is_never_empty(kind):
    refused(event(kind, content=""), "content")


@pytest.mark.parametrize("name", ["", None, 1, ["a"], {"a": 1}])
def test_an_id_is_a_text_that_is_not_empty(name):
    refused(event(id=name), "id")


@pytest.mark.parametrize("kind", ["", None, "DECISION", "receipt", 1, ["decision"], {}])
def test_the_type_is_one_of_the_closed_set(kind):
    refused(event() | {"type": kind}, "type")


@pytest.mark.parametrize("timestamp", [-1, 1.0, True, "1", None, 2**63, float("nan")])
def test_a_timestamp_is_a_whole_number_from_zero(timestamp):
    refused(event(timestamp=timestamp), "timestamp")


@pytest.mark.parametrize("parent", ["", 1, True, ["a"]])
def test_a_parent_is_an_id_or_nothing(parent):
    refused(event(parent_id=parent), "parent_id")


@pytest.mark.parametrize("with_parent", [True, False])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("importance", "Critical"),
        ("importance", ["critical"]),
        ("importance", 1),
        ("retain_until", "forever"),
        ("retain_until", ["task_end"]),
        ("tags", "user"),
        ("tags", [1]),
        ("tags", ("user",)),
        ("tags", {"user": 1}),
    ],
)
def test_an_optional_field_is_checked_wherever_it_stands(with_parent, field, value):
    parent = {"parent_id": "p"} if with_parent else {}
    for kind in GOOD:
        refused(event(kind, **parent, **{field: value}), field)


def test_optional_fields_may_be_null_or_good():
    for value in (*IMPORTANCE, None):
        validate_event(event(importance=value))
    for value in ("task_end", "session_end", None):
        validate_event(event(retain_until=value))
    for value in ([], ["a", "b"], None):
        validate_event(event(tags=value))


@pytest.mark.parametrize("related", ["", 1, ["a"]])
def test_what_an_error_relates_to_is_an_id_or_nothing(related):
    refused(event("error", related_to=related), "related_to")
    validate_event(event("error", related_to=None))
    validate_event(event("error", related_to="e0"))
    validate_event(event("decision", related_to=related))


def test_further_fields_are_kept_verbatim():
    extra = event(source={"file": "a.jsonl", "line": 3}, usage=[1, None, {"b": 1.5}])
    assert compact_events([extra])["compact_events"] == [extra]


@pytest.mark.parametrize("thing", [None, "event", 1, ["id"], (("id", "a"),)])
def test_an_event_is_an_object(thing):
    with pytest.raises(InvalidEvent, match="an object was expected"):
        validate_event(thing)


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", 1j, {1: "x"}, [{"a": {None: 1}}]])
def test_what_is_not_json_is_refused_and_leaves_nothing_behind(value):
    client = ContextGC()
    for bad in (event("set_var", value=value), event(extra=value)):
        with pytest.raises(InvalidEvent, match="'e1'"):
            client.add_event(bad)
    assert client.compact()["compact_events"] == []


def test_a_value_that_contains_itself_is_refused():
    ring: list[object] = []
    ring.append(ring)
    with pytest.raises(InvalidEvent, match="contains itself"):
        compact_events([event("set_var", value=ring)])


def test_a_field_name_is_a_string():
    with pytest.raises(InvalidEvent):
        compact_events([event() | {1: "x"}])


def test_the_error_names_event_field_and_what_was_expected():
    with pytest.raises(ValueError, match=r"^event 'e1': field 'path' is '', expected a non-empty string$") as caught:
        validate_event(event("file_read", path=""))
    assert isinstance(caught.value, ContextGCError)
    assert (caught.value.event_id, caught.value.field) == ("e1", "path")


def test_the_error_is_one_short_line_whatever_the_value():
    for value in ("x" * 10_000, ["\n"] * 10_000, "\ud800"):
        with pytest.raises(InvalidEvent) as caught:
            validate_event(event(timestamp=value))
        text = str(caught.value)
        assert len(text) < 300
        assert "\n" not in text
        text.encode("utf-8")


@pytest.mark.parametrize("name", ["e1", "a.b", "toolu_01:2", "src/a.py", "me@x", "a+b-c", "z" * 200])
def test_a_plain_id_is_its_own_label(name):
    assert label(name) == name


@pytest.mark.parametrize(
    "name", ["", "a b", "a\n", "a]", "[a", "é", "z" * 201, "\ud800", "id_0123456789ab", "cluster_0123456789ab", "a\\"]
)
def test_an_id_that_could_mislead_has_a_label_of_its_own(name):
    assert label(name).startswith("id_")
    assert len(label(name)) == 15
    assert label(name) != name
