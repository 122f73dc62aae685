"""JSON roots: which objects a file consists of, whole, as lines, cut and damaged, and what a sniffer sees of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_gc import TraceError
from context_gc.importers.files.document import Document
from context_gc.importers.files.json_roots import decoded, each_root, first_objects, roots

VALUE = {"a": [1, 2, {"b": 'x"y\\', "c": None}], "d": {"e": [[], {}]}, "f": 12345, "g": [{"k": 1}, {"k": 2}]}


def read(text):
    found, problems = roots(Document("x", text.encode("utf-8", "surrogatepass")))
    return [(root.origin, root.value) for root in found], [(problem.line, problem.text) for problem in problems]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', [({}, {"a": 1})]),
        ('\n {\n "a": 1\n}\n', [({}, {"a": 1})]),
        ('[{"a": 1}, {"b": 2}]', [({"path": "0"}, {"a": 1}), ({"path": "1"}, {"b": 2})]),
        ('{"a": 1}\n\n{"b": 2}\n', [({"line": 1}, {"a": 1}), ({"line": 3}, {"b": 2})]),
        ('{"a": 1} {"b": 2}', [({"line": 1}, {"a": 1}), ({"line": 1}, {"b": 2})]),
    ],
)
def test_objects_of_whole_files_with_their_places(text, found):
    assert read(text) == (found, [])


@pytest.mark.parametrize(
    ("text", "found", "lines"),
    [
        ('{"a": 1}\n{"b": ', [({"line": 1}, {"a": 1})], [2]),
        ('{"a": \n{"b": 2}', [({"line": 2}, {"b": 2})], [1]),
        ('{"a": 1}\njunk', [({"line": 1}, {"a": 1})], [2]),
        ('[{"a": 1}, 5, {"b": [1, 2', [({"path": "0"}, {"a": 1}), ({"path": "2"}, {"b": [1]})], [1, None]),
        ('{\n"a": 1,\n"b": [{"c": "d', [({}, {"a": 1, "b": [{}]})], [3]),
        ('{"a": {"b": "c"}, "d', [({}, {"a": {"b": "c"}})], [1]),
        ('{"a": [1, 2] "b": 3}', [({}, {"a": [1, 2]})], [1]),
    ],
)
def test_of_a_damaged_file_the_start_is_kept_and_the_line_is_told(text, found, lines):
    kept, problems = read(text)
    assert kept == found
    assert [line for line, _ in problems] == lines


@pytest.mark.parametrize("text", ["x", "5", "[1, 2]", '"text"', "[" * 100_000, '{"a":' * 100_000, "9" * 5_000])
def test_a_file_without_any_object_is_one_clear_error(text):
    with pytest.raises(TraceError, match=r"^x: (it holds no JSON object|line 1 is not JSON)"):
        read(text)


def leaves(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 1 if inner is None else sum(map(leaves, inner))


@pytest.mark.parametrize("indent", [None, 1])
def test_wherever_an_object_is_cut_all_that_came_whole_is_kept(indent):
    text = json.dumps(VALUE, indent=indent)
    kept = []
    for end in range(1, len(text)):
        ((_, value),), problems = read(text[:end])
        kept.append(leaves(value))
        assert len(problems) == 1
    assert kept == sorted(kept)
    assert (kept[0], kept[-1]) == (0, leaves(VALUE))


def test_a_number_at_the_very_end_of_a_cut_file_may_go_on_and_is_left_out():
    assert read('{"a": 1, "b": 12')[0] == [({}, {"a": 1})]


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        ('[{"a": 1}, {"b": {"c": [1, {"d', [{"a": 1}, {"b": {"c": [1, {}]}}]),
        ('{"trace": {"id": "t", "long": "' + "x" * 1_000, [{"trace": {"id": "t"}}]),
        ('{"a": \n{"b": 2}', [{"b": 2}]),
        ("# markdown", []),
        ("", []),
        ("[" * 90_000, []),
    ],
)
def test_a_sniffer_sees_the_first_objects_as_far_as_the_head_goes(head, found):
    assert list(first_objects(head.encode())) == found


def test_a_sniffer_sees_twenty_objects_at_most():
    assert len(first_objects(b'{"a": 1}\n' * 30)) == len(first_objects(b"[" + b"{}," * 30 + b"{}]")) == 20


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('{"a": "[1]"}', {"a": "[1]"}),
        ('"\\"a\\""', "a"),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("plain {text", "plain {text"),
        ('{"a": 1} and more', '{"a": 1} and more'),
        ("12", "12"),
        (12, 12),
        (None, None),
    ],
)
def test_json_in_strings_is_opened_and_other_text_stays(value, found):
    assert decoded(value) == found


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 200))
def test_any_bytes_give_objects_or_our_error(junk, at):
    text = json.dumps(VALUE).encode()
    data = text[:at] + junk + text[at:]
    first_objects(data)
    try:
        found, _ = roots(Document("x", data or b"{}"))
    except TraceError:
        return
    assert all(type(root.value) is dict for root in found)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}\n{"b": 2}\n',
        '{"a": 1}\nx\n[3] {"b": 2}\n{"c"',
        '[{"a": 1}, 5, {"b": 2}]',
        '[{"a": 1}, {"b"',
        '{"a": 1}',
    ],
)
def test_one_after_the_other_they_are_the_same(text):
    problems = []
    found = list(each_root(Document("x", text.encode()), problems))
    assert (found, problems) == roots(Document("x", text.encode()))


def test_of_lines_each_is_given_before_the_next_is_parsed():
    problems = []
    found = each_root(Document("x", b'{"a": 1}\nx\n{"b": 2}\n'), problems)
    assert (next(found).value, problems) == ({"a": 1}, [])
    assert next(found).value == {"b": 2}
    assert [problem.line for problem in problems] == [2]
