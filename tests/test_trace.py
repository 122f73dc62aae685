"""Loading: any bytes become traces or one clear error of ours."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_gc.errors import AmbiguousFormat, TraceError, UnknownFormat
from context_gc.importers import IMPORTERS, claude_code, native
from context_gc.importers.files import decode
from context_gc.importers.files.document import Document, objects, parse_at
from context_gc.importers.recording.names import Names, milliseconds
from context_gc.load import load_trace, load_traces

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real traces is not beside the checkout")

EVENT = {"id": "e1", "type": "decision", "timestamp": 1, "parent_id": None, "content": "a"}
ONE = json.dumps(EVENT).encode()


def records(data: bytes) -> tuple[list[tuple[int, dict]], list[tuple[int | None, str]]]:
    found, problems = decode.decode(data, "x").records()
    return [tuple(record) for record in found], [(problem.line, problem.text) for problem in problems]


# sources


def test_a_path_a_string_bytes_and_a_stream_give_the_same(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(ONE)
    with path.open("rb") as stream:
        loaded = [load_trace(source) for source in (path, str(path), ONE, io.BytesIO(ONE), stream)]
        assert not stream.closed
    assert [trace.events for trace in loaded] == [[EVENT]] * 5
    assert [trace.source for trace in loaded] == [str(path), str(path), "the data", "the data", str(path)]


def test_a_name_stands_for_the_path_in_source_and_errors():
    assert load_trace(ONE, "upload.jsonl").source == "upload.jsonl"
    with pytest.raises(TraceError, match=r"^upload\.jsonl: the file is empty"):
        load_traces(b"", "upload.jsonl")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: folder / "none.jsonl", "cannot be read: no such file"),
        (lambda folder: folder, "no trace could be read: it is empty"),
        (lambda folder: str(folder / "a\0b"), "cannot be read"),
        (lambda folder: io.StringIO("{}"), "gives text, not bytes"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(tmp_path, make, says):
    with pytest.raises(TraceError, match=says) as caught:
        load_traces(make(tmp_path))
    assert "\n" not in str(caught.value)


# formats


def test_an_unknown_file_lists_the_known_formats():
    with pytest.raises(UnknownFormat, match="known formats: native, claude-code"):
        load_traces(b'{"hello": "world"}')


def test_two_claims_are_an_error_that_names_both():
    both = ONE + b'\n{"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "x"}}'
    with pytest.raises(AmbiguousFormat, match="native and claude-code"):
        load_traces(both)


def test_load_trace_says_how_many_there_are():
    line = '{"type":"user","sessionId":"s","uuid":"%s","isSidechain":%s,"message":{"role":"user","content":"x"}}'
    both = "\n".join((line % ("a", "false"), line % ("b", "true"))).encode()
    assert len(load_traces(both)) == 2
    with pytest.raises(TraceError, match="holds 2 traces, not one"):
        load_trace(both)


def test_each_importer_has_its_kebab_module_name():
    for importer in IMPORTERS:
        assert importer.__name__.rpartition(".")[2] == importer.name.replace("-", "_")


@needs_corpus
def test_no_other_format_in_the_corpus_is_claimed():
    allowed = {"claude_code", "derived", "malformed", "role_content_jsonl"}  # the last is the same envelope
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file() and path.relative_to(CORPUS).parts[0] not in allowed:
            head = decode.decode(path.read_bytes(), path.name).head
            assert not native.sniff(head), path
            assert not claude_code.sniff(head), path


@given(st.binary())
def test_sniffing_never_raises(head):
    for importer in IMPORTERS:
        assert importer.sniff(head) in (True, False)


# decoding


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\0\0\0", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_said_to_be_empty(data):
    with pytest.raises(TraceError, match="the file is empty"):
        load_traces(data)


@pytest.mark.parametrize("data", [b"null\n", b"[]", b"[ ]", b"{}"])
def test_a_file_without_any_record_is_said_to_hold_none(data):
    with pytest.raises(TraceError, match="holds only"):
        load_traces(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + ONE,
        ONE.decode().encode("utf-16"),
        ONE.decode().encode("utf-16-le"),
        ONE.decode().encode("utf-16-be"),
        ONE + b"\r\n",
        b"\n\r\n" + ONE,
        gzip.compress(ONE, mtime=0),
        gzip.compress(ONE[:20], mtime=0) + gzip.compress(ONE[20:], mtime=0),
        gzip.compress(ONE.decode().encode("utf-16"), mtime=0),
    ],
)
def test_packing_and_encoding_do_not_matter(data):
    trace = load_trace(data)
    assert (trace.events, trace.problems) == ([EVENT], [])


def test_nul_bytes_are_removed_and_reported():
    trace = load_trace(ONE + b"\n" + b"\0" * 4096)
    assert trace.events == [EVENT]
    assert [problem.text for problem in trace.problems] == ["4,096 NUL bytes (removed)"]


def test_bytes_that_are_not_utf8_are_replaced_and_reported_with_a_line():
    bad = json.dumps({**EVENT, "id": "e2"}).encode().replace(b'"a"', b'"\xff"')
    trace = load_trace(ONE + b"\n" + bad)
    assert trace.events[1]["content"] == "\ufffd"
    assert "not UTF-8, first on line 2" in trace.problems[0].text


def test_a_cut_gzip_file_gives_what_came_before_the_cut():
    lines = b"\n".join(json.dumps({**EVENT, "id": f"e{k}", "n": k * k}).encode() for k in range(4000))
    packed = gzip.compress(lines, mtime=0)
    trace = load_trace(packed[: len(packed) // 2])
    assert 1000 < len(trace.events) < 4000
    assert "ends too early" in trace.problems[0].text
    with pytest.raises(TraceError, match="before its first byte"):
        load_traces(packed[:5])


def test_damaged_gzip_data_is_a_clear_error():
    with pytest.raises(TraceError, match="gzip data is damaged"):
        load_traces(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff")


# records


def test_two_objects_on_one_line_are_two_records():
    assert records(b'{"a":1}{"b":2} {"c":3}\n{"d":4}') == (
        [(1, {"a": 1}), (1, {"b": 2}), (1, {"c": 3}), (2, {"d": 4})],
        [],
    )


def test_lines_that_are_no_objects_are_problems_with_their_number():
    found, problems = records(b'{"a":1}\n42\n[1]\n"x"\n\ntrue\nnull\n{"b":2}')
    assert [line for line, _ in found] == [1, 8]
    assert [line for line, _ in problems] == [2, 3, 4, 6, 7]
    assert problems[0][1] == "a number where an object was expected (skipped)"


def test_damage_after_an_object_keeps_the_object():
    found, problems = records(b'{"a":1} {"b":\n{"c":3}')
    assert [value for _, value in found] == [{"a": 1}, {"c": 3}]
    assert problems == [(1, "not JSON: expecting value at column 14 (rest of the line skipped)")]


def test_a_half_written_line_is_skipped_with_what_follows_on_it():
    half = b'{"id":"e2","type":"deci{"id":"e2","type":"decision","timestamp":2,"parent_id":"e1","content":"b"}'
    third = b'{"id":"e3","type":"decision","timestamp":3,"parent_id":"e2","content":"c"}'
    trace = load_trace(b"\n".join((ONE, half, third, b"")))
    assert [event["id"] for event in trace.events] == ["e1", "e3"]
    assert trace.events[1]["parent_id"] == "e2"
    assert [problem.line for problem in trace.problems] == [2]


def test_json_nested_too_deeply_is_a_problem_of_its_line():
    deep = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    found, problems = records(deep + b"\n" + b'{"b":1}')
    assert found == [(2, {"b": 1})]
    assert problems == [(1, "not JSON: nested too deeply (line skipped)")]


def test_a_number_with_too_many_digits_is_a_problem_of_its_line():
    assert records(b'{"a":' + b"9" * 5000 + b"}")[1] == [(1, "not JSON: a number with too many digits (line skipped)")]


def test_nan_is_read():
    assert records(b'{"a":NaN}')[1] == []


def test_a_line_separator_inside_a_string_does_not_end_a_line():
    assert len(records('{"a":"x\u2028y\x85z"}\n{"b":1}'.encode())[0]) == 2


def test_the_head_is_whole_lines_and_not_too_few_or_too_much():
    wide = b'{"a":"' + b"x" * 100_000 + b'"}'
    assert Document("x", wide + b"\n" + ONE).head == wide + b"\n" + ONE
    assert Document("x", b"\n".join([wide] * 39)).head == b"\n".join([wide] * 20)
    assert Document("x", wide + b"\n" + b"x" * 9_000_000).head == wide
    assert Document("x", b"\n".join([ONE] * 9000)).head.count(b"\n") == (64 << 10) // (len(ONE) + 1)
    assert len(Document("x", b"x" * 9_000_000).head) == 64 << 10
    assert Document("x", ONE).head == ONE


def test_a_huge_first_line_does_not_hide_the_format():
    assert load_trace(b'{"a":"' + b"x" * 100_000 + b'"\n' + ONE).events == [EVENT]


def test_sniffers_pass_over_damaged_lines():
    assert list(objects('{"a":\n7\n\n{"b":1}\n{"c":1}', 4)) == [{"b": 1}]
    with pytest.raises(ValueError, match=r"^expecting value at column 1$"):
        parse_at("")


# names and times


def test_ids_are_given_once_in_their_charset():
    names = Names()
    assert [names.take(name) for name in ("a b/ä", "a b/ä", "", "x" * 99)] == ["a_b_", "a_b_:2", "e", "x" * 64]


def test_a_uuid_is_shortened_and_lengthened_where_it_collides():
    names = Names()
    first, second = "12345678-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "12345678-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
    assert [names.take_short(uuid) for uuid in (first, second, first, "msg-001")] == [
        "12345678",
        "12345678-bbbb",
        "12345678-aaaa",
        "msg-001",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1970-01-01T00:00:01.500Z", 1500),
        ("1970-01-01T01:00:01+01:00", 1000),
        ("1970-01-01T00:00:01", 1000),
        (1_700_000_000, 1_700_000_000_000),
        (1_700_000_000_123, 1_700_000_000_123),
        ("yesterday", None),
        ("1969-01-01T00:00:00Z", None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_times_are_milliseconds(value, expected):
    assert milliseconds(value) == expected


# any bytes at all


@given(st.binary(max_size=300), st.sampled_from([b"", ONE + b"\n", b"[" + ONE, b"\x1f\x8b\x08", b"\xff\xfe"]))
def test_any_bytes_give_traces_or_our_error(data, start):
    try:
        traces = load_traces(start + data)
    except TraceError:
        return
    for trace in traces:
        assert trace.windows[-1].stop == len(trace.events)
