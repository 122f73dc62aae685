"""The text of a file: whatever its encoding, its lines and its numbers, it is read as it is or the line is told."""

from __future__ import annotations

import json

import pytest

from context_gc import ContextGC, Policy, compact_events, load_trace, receipt_of
from context_gc.canonical import canonical, digest, readable
from context_gc.cli import main
from context_gc.importers.files.document import LONGEST_HEAD, STEP, Document

EVENT = {"id": "e1", "type": "decision", "timestamp": 1, "parent_id": None, "content": "äß → 😀"}
SECOND = {**EVENT, "id": "e2", "parent_id": "e1"}
ONE, TWO = (json.dumps(event, ensure_ascii=False) for event in (EVENT, SECOND))


def told(trace):
    return [(problem.line, problem.text) for problem in trace.problems]


def with_field(text):
    return (ONE[:-1] + f', "n": {text}}}\n{TWO}\n').encode()


# encodings


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", "\n\x0c\n", "\x1e", "\n\x0b", " "])
def test_encodings_and_line_ends_do_not_matter(encoding, end):
    trace = load_trace(f"{ONE}{end}{TWO}{end}".encode(encoding))
    assert (trace.events, trace.problems) == ([EVENT, SECOND], [])


def test_a_wide_file_that_is_cut_in_a_letter_is_told_with_its_line():
    data = f"{ONE}\n{TWO}".encode("utf-16")
    assert told(load_trace(data[:-1])) == [
        (None, "bytes that are not UTF-16, first on line 2 (each replaced by U+FFFD)"),
        (2, "not JSON: expecting ',' delimiter at column 88, where the file is cut off (line skipped)"),
    ]


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf"])
def test_bytes_that_are_not_utf8_are_told_once_with_the_first_line(bad):
    broken = TWO.encode().replace("ä".encode(), bad)
    trace = load_trace(b"\n".join((ONE.encode(), broken, broken.replace(b"e2", b"e3"))))
    assert told(trace) == [(None, "bytes that are not UTF-8, first on line 2 (each replaced by U+FFFD)")]
    assert [event["content"].strip("\ufffd") for event in trace.events[1:]] == ["ß → 😀"] * 2


def test_lines_keep_their_numbers_over_all_pieces_of_a_large_file():
    filler = json.dumps({"x": "y" * 1_000})
    rows = [filler] * (3 * STEP // len(filler))
    bad = len(rows) - 10
    data = "\n".join(rows).encode().split(b"\n")
    data[bad] = b'{"x": "\xff"'
    document = Document("x", b"\n".join(data))
    records, problems = document.records()
    assert [record.line for record in records] == [n for n in range(1, len(rows) + 1) if n != bad + 1]
    assert [problem.line for problem in problems] == [bad + 1]
    assert f"first on line {bad + 1} " in document.problems[0].text


def test_a_separator_inside_a_string_ends_no_line():
    text = json.dumps({**EVENT, "content": "a\u2028b\u2029c\x85d"}, ensure_ascii=False)
    assert load_trace(f"{text}\n{TWO}".encode()).events[0]["content"] == "a\u2028b\u2029c\x85d"


# damage


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_last_line_that_is_cut_is_told_as_such(cut):
    trace = load_trace(f"{ONE}\n{TWO[:-cut]}".encode())
    ((line, text),) = told(trace)
    assert (trace.events, line) == ([EVENT], 2)
    assert text.startswith("not JSON: ")
    assert text.endswith(", where the file is cut off (line skipped)")


@pytest.mark.parametrize("rest", [f"{TWO[:20]}\n", '{"id": nothing, "type": "decision", "timestamp": 2}'])
def test_a_damaged_line_is_not_said_to_be_cut_when_it_is_ended_or_damaged_before(rest):
    assert "cut off" not in told(load_trace(f"{ONE}\n{rest}".encode()))[0][1]


def test_what_is_no_object_is_told_and_objects_around_it_are_read():
    trace = load_trace(f"{ONE} 7 {TWO}\n42\n[{TWO}]".encode())
    assert trace.events == [EVENT, SECOND]
    assert told(trace) == [
        (1, "a number where an object was expected (skipped)"),
        (2, "a number where an object was expected (skipped)"),
        (3, "a list where an object was expected (skipped)"),
    ]


def test_of_a_key_that_occurs_twice_the_last_value_stands():
    assert load_trace(with_field('1, "n": 2')).events[0]["n"] == 2


# numbers


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("1e999", "Infinity"),
        ("1E3", "1000.0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1" * 4_300, "1" * 4_300),
        ("0.1", "0.1"),
    ],
)
def test_odd_numbers_are_read_and_have_one_canonical_text(text, again):
    (event, _), problems = load_trace(with_field(text)).events, load_trace(with_field(text)).problems
    assert problems == []
    assert canonical({"n": event["n"]}) == f'{{"n":{again}}}'
    twice = load_trace(f"{readable(event)}\n".encode()).events[0]
    assert digest(twice) == digest(event)
    assert twice["n"] == event["n"] or event["n"] != event["n"]  # NaN is not itself


@pytest.mark.parametrize("text", ["1" * 4_301, "-" + "9" * 100_000])
def test_a_number_with_too_many_digits_is_told_and_its_line_skipped(text):
    trace = load_trace(with_field(text))
    assert trace.events == [SECOND]
    assert told(trace) == [(1, "not JSON: a number with too many digits (line skipped)")]


@pytest.mark.parametrize("text", ["1e999", "-1", "1.5", "NaN", "true"])
def test_a_time_that_is_none_is_told_and_its_event_skipped(text):
    trace = load_trace((ONE.replace('"timestamp": 1', f'"timestamp": {text}') + "\n" + TWO).encode())
    assert trace.events == [SECOND]
    assert "field 'timestamp'" in trace.problems[0].text


# depth and size


@pytest.mark.parametrize("depth", [50, 500])
def test_a_deep_value_is_read_compacted_and_recovered(depth):
    event = load_trace(with_field("[" * depth + "]" * depth)).events[0]
    result = compact_events([{**event, "type": "set_var", "key": "k", "value": event["n"]}])
    assert json.loads(canonical(event))["n"] == event["n"]
    assert "[" * depth in result["prompt"]


def test_a_value_nested_too_deeply_is_told_and_the_rest_of_the_file_is_read():
    for opened, closed in (("[", "]"), ('{"a":', "}")):
        trace = load_trace(with_field(opened * 100_000 + "1" + closed * 100_000))
        assert trace.events == [SECOND]
        assert told(trace) == [(1, "not JSON: nested too deeply (line skipped)")]


@pytest.mark.parametrize("place", [0, 1])
def test_a_line_of_30_megabytes_is_read_like_any_other(place):
    texts = [ONE, TWO]
    texts[place] = texts[place].replace("äß", "x" * 30_000_000)
    trace = load_trace("\n".join(texts).encode())
    assert [len(event["content"]) > 30_000_000 for event in trace.events] == [place == 0, place == 1]
    assert trace.problems == []


def test_a_file_that_is_one_line_of_30_megabytes_is_read():
    assert len(load_trace(ONE.replace("äß", "x" * 30_000_000).encode()).events) == 1


def test_a_first_line_of_30_megabytes_of_junk_hides_nothing():
    trace = load_trace(b"[" * 30_000_000 + f"\n{ONE}\n{TWO}".encode())
    assert (trace.events, len(trace.problems)) == ([EVENT, SECOND], 1)


def test_a_list_with_endless_damage_is_given_up_in_time():
    trace = load_trace(f"[{ONE},".encode() + b"{x}," * 300_000)
    assert trace.events == [EVENT]
    assert len(trace.problems) == 1_001
    assert "more than 1,000 places" in trace.problems[-1].text


@pytest.mark.parametrize("blank", [" ", "\n", "\r\n", "\t\n"])
def test_blanks_at_the_beginning_hide_nothing(blank):
    assert load_trace(f"{blank * (LONGEST_HEAD // len(blank))}{ONE}".encode()).events == [EVENT]


# lone surrogates


def test_a_lone_surrogate_survives_every_step(tmp_path, capsys):
    odd = "half \ud800 pair"
    rows = [{**EVENT, "type": "set_var", "key": odd, "value": odd, "id": f"v{n}", "timestamp": n} for n in (1, 2)]
    for row in rows:
        del row["content"]
    path = tmp_path / "odd.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    events = load_trace(path).events
    assert events == rows
    client = ContextGC(Policy())
    client.extend(events)
    result = client.compact()
    assert result["pruned_ids"] == ["v1"]
    assert "half \ufffd pair" in result["prompt"]
    assert receipt_of(result["graph"], "v1").verify([rows[0]])
    client.save(tmp_path / "run")
    again = ContextGC.load(tmp_path / "run")
    again.compact()
    assert again.expand_receipt("v1") == [rows[0]]
    for command in (["compact"], ["compact", "--json"], ["compact", "--dry-run"], ["diff"]):
        assert main([*command, str(path)]) == 0
    assert main(["restore", str(path), "v1"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == rows[0]
