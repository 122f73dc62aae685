"""Claude Code sessions: real files against counts made by other means, and one small case for each rule."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_gc.errors import TraceError
from context_gc.events import validate_event
from context_gc.load import load_trace, load_traces
from context_gc.trace import Trace, Usage

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
SAMPLE = Path(__file__).parents[1] / "sample_traces" / "claude-code-session.jsonl"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real traces is not beside the checkout")

REAL = sorted((CORPUS / "claude_code").rglob("*.jsonl"))
DAMAGED = [path for name in ("derived/claude*", "malformed/cass-[!e]*") for path in sorted(CORPUS.glob(name))]
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def user(uuid, parent, content, **more):
    return line("user", uuid, parent, {"role": "user", "content": content}, **more)


def says(uuid, parent, *blocks, message=None, **more):
    body = {"role": "assistant", "content": [text(b) if isinstance(b, str) else b for b in blocks]}
    if message:
        body["id"] = message
    body |= {key: more.pop(key) for key in ("usage", "model") if key in more}
    return line("assistant", uuid, parent, body, **more)


def line(kind, uuid, parent, message=None, **more):
    record = {"type": kind, "sessionId": "s", "uuid": uuid, "parentUuid": parent, **more}
    return record if message is None else {**record, "message": message}


def text(words):
    return {"type": "text", "text": words}


def call(name, tool="Bash", **arguments):
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def result(name, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def boundary(uuid, last, **facts):
    return line("system", uuid, None, subtype="compact_boundary", logicalParentUuid=last, compactMetadata=facts)


def load_all(*records) -> list[Trace]:
    traces = load_traces("\n".join(json.dumps(record) for record in records).encode())
    for trace in traces:
        check(trace)
    return traces


def load(*records) -> Trace:
    (trace,) = load_all(*records)
    return trace


def tree(trace):
    return {event["id"]: event["parent_id"] for event in trace.events}


def only(trace, kind):
    (event,) = (event for event in trace.events if event["type"] == kind)
    return event


def check(trace):
    """What holds for every trace: valid, unique, parents before children, windows closed and without gaps."""
    stops = [0]
    for window in trace.windows:
        assert window.start == stops[-1] <= window.stop
        stops.append(window.stop)
        seen = set()
        for event in trace.events[window.start : window.stop]:
            validate_event(event)
            assert event["parent_id"] is None if not seen else event["parent_id"] in seen | {None}
            assert set(event.get("ref_to", ())) <= seen
            assert event["origin"]["line"] > 0
            seen.add(event["id"])
    assert stops[-1] == len(trace.events)
    assert len({event["id"] for event in trace.events}) == len(trace.events)
    assert {usage.event_id for usage in trace.usage} <= {event["id"] for event in trace.events}


# real files


@needs_corpus
@pytest.mark.parametrize("path", [*REAL, *DAMAGED], ids=lambda path: path.name)
def test_every_corpus_file_keeps_the_promises(path):
    for trace in load_traces(path):
        check(trace)
        calls = {event["id"] for event in trace.events if event["type"] == "tool_call"}
        assert {event["call_id"] for event in trace.events if event["type"] == "tool_result"} <= calls


@needs_corpus
@pytest.mark.parametrize(
    "path", [*REAL, *(path for path in DAMAGED if path.suffix != ".gz")], ids=lambda path: path.name
)
def test_every_line_is_read_or_ignored_by_kind_or_a_problem(path):
    traces = load_traces(path)
    accounted = sum(trace.extra["records_read"] + sum(trace.ignored.values()) for trace in traces)
    accounted += sum(problem.line is not None for trace in traces for problem in trace.problems)
    assert accounted == sum(bool(line.strip()) for line in path.read_bytes().split(b"\n"))


@needs_corpus
@pytest.mark.parametrize(
    ("name", "types", "windows", "calls", "tokens"),
    [
        (
            "spotter-8463c716.jsonl",
            {"requirement": 1, "decision": 99, "tool_call": 177, "tool_result": 177},
            [(0, 226, "start", None), (226, 454, "auto", 167731)],
            143,
            (2481, 40320, 15740561, 260451),
        ),
        (
            "spotter-4d5611e5.jsonl",
            {"requirement": 2, "decision": 100, "tool_call": 150, "tool_result": 150},
            [(0, 188, "start", None), (188, 402, "auto", 170251)],
            139,
            (177, 28755, 11618567, 479537),
        ),
    ],
)
def test_the_two_long_real_sessions_hold_what_was_counted_by_hand(name, types, windows, calls, tokens):
    trace = load_trace(CORPUS / "claude_code" / name)
    assert Counter(event["type"] for event in trace.events) == types
    assert [(w.start, w.stop, w.opened_by, w.tokens_before) for w in trace.windows] == windows
    assert trace.problems == []
    assert len(trace.usage) == calls
    fields = ("input_tokens", "output_tokens", "cache_read", "cache_write")
    assert tuple(sum(getattr(usage, field) for usage in trace.usage) for field in fields) == tokens
    answered = [event["call_id"] for event in trace.events if event["type"] == "tool_result"]
    assert sorted(answered) == sorted(event["id"] for event in trace.events if event["type"] == "tool_call")
    assert trace.model == "claude-opus-4-6"
    assert trace.title.startswith("Work on bead spotter-")


@needs_corpus
def test_a_result_is_the_recorded_content_verbatim():
    path = CORPUS / "claude_code" / "spotter-8463c716.jsonl"
    recorded = {}
    for record in map(json.loads, path.read_text("utf-8").splitlines()):
        content = record.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_result":
                recorded[block["tool_use_id"]] = block["content"]
    events = load_trace(path).events
    assert {e["call_id"]: e["result"] for e in events if e["type"] == "tool_result"} == recorded


@needs_corpus
def test_reading_a_long_session_takes_about_as_long_as_parsing_it():
    data = (CORPUS / "claude_code" / "spotter-8463c716.jsonl").read_bytes()

    def seconds(job):
        start = time.process_time()
        job()
        return time.process_time() - start

    def ratio():
        parsing = seconds(lambda: [json.loads(line) for line in data.decode().split("\n") if line])
        return seconds(lambda: load_trace(data)) / parsing

    assert min(ratio() for _ in range(8)) < 3  # 1.5 on an idle machine


@needs_corpus
def test_the_rewound_session_before_a_compaction():
    trace = load_trace(CORPUS / "claude_code" / "ccl-dag_compact_after_rewind.jsonl")
    assert tree(trace) == {
        "u1": None,
        "a1": "u1",
        "b1u": "a1",
        "b1a": "b1u",
        "b1u:abandon": "a1",
        "b2u": "b1u:abandon",
        "b2a": "b2u",
        "b2u2": "b2a",
        "b2a2": "b2u2",
        "cs": None,
        "p1u": "cs",
        "p1a": "p1u",
    }
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 9, "start"), (9, 12, "auto")]


@needs_corpus
def test_the_edge_cases_file_reports_its_damaged_lines():
    trace = load_trace(CORPUS / "claude_code" / "ccl-edge_cases.jsonl")
    assert [problem.line for problem in trace.problems] == [10, 11, 13, 15, 16]
    assert trace.ignored == {"local command caveat": 1, "local command": 1, "untyped record": 1, "summary": 1}
    by_line = {event["origin"]["line"]: event for event in trace.events}
    assert by_line[12]["content"].startswith("Testing special characters")  # its uuid is that of damaged line 11
    assert by_line[18]["content"] == "wow error"
    assert by_line[5]["is_error"] is True


@needs_corpus
def test_a_changed_schema_keeps_its_calls():
    trace = load_trace(CORPUS / "claude_code" / "agentsessions-schema_drift.jsonl")
    kinds = [event["type"] for event in trace.events]
    assert kinds == ["requirement", "tool_call", "tool_result", "decision", "requirement"]
    assert trace.events[2]["call_id"] == trace.events[1]["id"]
    assert trace.events[2]["result"] == "# Title\n\nBody\n"
    assert sum(trace.ignored.values()) == 5


@needs_corpus
@pytest.mark.parametrize("name", ["claude-crlf-bom.jsonl", "claude-resume-duplicated.jsonl", "claude.jsonl.gz"])
def test_derived_files_hold_the_events_of_their_original(name):
    original = load_trace(CORPUS / "claude_code" / "spotter-tool_heavy.jsonl")
    derived = load_trace(CORPUS / "derived" / name)
    assert tree(derived) == tree(original)
    assert derived.problems == []
    assert derived.usage == original.usage
    if name != "claude.jsonl.gz":  # made before the user's name was replaced
        assert derived.events == original.events


@needs_corpus
def test_a_truncated_file_loses_only_its_last_line():
    original = load_trace(CORPUS / "claude_code" / "spotter-tool_heavy.jsonl")
    cut = load_trace(CORPUS / "derived" / "claude-truncated-tail.jsonl")
    assert cut.events == original.events[:-1]
    assert [problem.line for problem in cut.problems] == [39]


@needs_corpus
@pytest.mark.parametrize("name", ["empty.jsonl", "null.json", "empty-array.json", "whitespace.jsonl"])
def test_files_without_content_are_clear_errors(name):
    with pytest.raises(TraceError, match=r"the file is empty|the file holds only"):
        load_traces(CORPUS / "derived" / name)


@needs_corpus
@pytest.mark.parametrize(
    ("name", "kinds", "lines"),
    [
        ("cass-all_message_types.jsonl", ["constraint", "requirement", "decision", "decision", "decision"], []),
        ("cass-invalid_json.jsonl", ["requirement", "decision", "decision"], [2, 4]),
        ("cass-missing_fields.jsonl", ["requirement"] * 5, [5, 7]),
        ("cass-single_message.jsonl", ["requirement"], []),
        ("cass-unicode_heavy.jsonl", ["requirement", "decision"] * 4, []),
    ],
)
def test_malformed_files_keep_what_is_good(name, kinds, lines):
    trace = load_trace(CORPUS / "malformed" / name)
    assert [event["type"] for event in trace.events] == kinds
    assert [problem.line for problem in trace.problems] == lines


@needs_corpus
def test_a_subagents_own_file_is_one_trace_titled_so():
    trace = load_trace(CORPUS / "claude_code" / "spotter-8463c716" / "subagents" / "agent-a7be2f0.jsonl")
    assert trace.title.startswith("subagent a7be2f0: I need to understand")
    assert trace.extra["agent_id"] == "a7be2f0"
    assert len(trace.events) == 52


@needs_corpus
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_damaged_real_session_gives_sound_traces_or_our_error(path):
    whole = path.read_bytes()
    chance = random.Random(len(whole))
    for _ in range(30 if len(whole) < 400_000 else 4):
        data = bytearray(whole[: chance.randrange(len(whole))])
        for _ in range(chance.choice((0, 1, 20, 400)) if data else 0):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            traces = load_traces(bytes(data))
        except TraceError:
            continue
        for trace in traces:
            check(trace)


# any session

UUIDS = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "12345678-aaaa-4aaa-8aaa-aaaaaaaaaaaa", None, 7])
CALL_IDS = st.sampled_from(["t1", "t2", "", None, "a"])
BLOCKS = st.one_of(
    st.builds(text, st.sampled_from(["x", " ", "[Request interrupted by user]", "<command-name>/x</command-name>"])),
    st.builds(lambda name: call(name), CALL_IDS),
    st.builds(result, CALL_IDS, st.sampled_from(["ok", REFUSED, REFUSED + "the user said:\nno", [], None, 4])),
    st.sampled_from([{"type": "thinking", "thinking": "x"}, {"type": "image"}, {"type": []}, {}, "bare", None, [1]]),
)
RECORDS = st.builds(
    lambda kind, uuid, parent, content, message_id, **more: line(
        kind, uuid, parent, {"role": kind, "content": content, "id": message_id, "usage": {"input_tokens": 1}}, **more
    ),
    st.sampled_from(["user", "user", "assistant", "system", "progress", "attachment", "x", 3]),
    UUIDS,
    UUIDS,
    st.one_of(st.text(max_size=3), st.lists(BLOCKS, max_size=3), st.none()),
    st.sampled_from(["m", "n", None, {}]),
    isSidechain=st.sampled_from([False, False, False, True]),
    isMeta=st.sampled_from([False, False, True]),
    isCompactSummary=st.sampled_from([False] * 9 + [True]),
    subtype=st.sampled_from([None] * 4 + ["compact_boundary"]),
    timestamp=st.sampled_from(["2026-01-01T00:00:00Z", "bad", None, 5]),
    attachment=st.sampled_from([None, {"type": "queued_command", "prompt": "x"}, {"type": "file"}, []]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(RECORDS, max_size=25))
def test_any_session_keeps_the_promises_and_accounts_for_each_line(made):
    made = [user("first", None, "so that the file is claimed"), *made]
    traces = load_all(*made)
    accounted = sum(trace.extra["records_read"] + sum(trace.ignored.values()) for trace in traces)
    assert accounted + sum(len(trace.problems) for trace in traces) == len(made)


# the sample


def test_the_sample_shows_each_thing_it_was_written_for():
    trace = load_trace(SAMPLE)
    check(trace)
    assert (trace.title, trace.cwd, trace.model) == ("Take a coupon off once", "/home/dev/shop", "claude-opus-4-6")
    assert trace.problems == []
    assert len(trace.usage) == 17
    tools = Counter(event["tool_name"] for event in trace.events if event["type"] == "tool_call")
    assert tools == {"Read": 3, "Grep": 2, "Bash": 5, "Edit": 4, "TodoWrite": 2}
    reasons = [event["content"] for event in trace.events if event["type"] == "abandon"]
    assert reasons == ["rewound by the user", "Never force-push. Commit only, I push myself."]
    assert len(SAMPLE.read_text("utf-8").splitlines()) == 44


# what lines become


def test_each_kind_of_content_has_its_event():
    trace = load(
        user("u1", None, "Fix it"),
        user("u2", "u1", [text("<system-reminder>Be brief.</system-reminder>"), text("And quickly")]),
        says("a1", "u2", {"type": "thinking", "thinking": "hm", "signature": "S"}, "Yes", call("t1", file="a")),
        user("u3", "a1", [result("t1", [text("x"), {"type": "image", "source": {}}], is_error=True)]),
        line("system", "s1", "u3", {"role": "system", "content": "Rules"}),
    )
    facts = [
        (e["type"], e.get("content", e.get("result", e.get("arguments"))), e.get("tags"), e.get("importance"))
        for e in trace.events
    ]
    assert facts == [
        ("requirement", "Fix it", ["user"], None),
        ("constraint", "<system-reminder>Be brief.</system-reminder>", ["system"], None),
        ("requirement", "And quickly", ["user"], None),
        ("decision", "hm", ["thinking"], "temporary"),
        ("decision", "Yes", None, None),
        ("tool_call", {"file": "a"}, None, None),
        ("tool_result", [text("x"), {"type": "image", "source": {}}], None, None),
        ("constraint", "Rules", ["system"], None),
    ]
    assert trace.events[6]["is_error"] is True
    assert trace.events[3]["signature"] == "S"


def test_events_say_where_they_come_from():
    trace = load(
        user("u1", None, "one", cwd="/a", timestamp="1970-01-01T00:00:01Z"),
        says("a1", "u1", "two", call("t1"), message="m", cwd="/a/b"),
    )
    assert trace.events[0]["origin"] == {"line": 1}
    assert [event["origin"] for event in trace.events[1:]] == [{"line": 2, "block": 0}, {"line": 2, "block": 1}]
    assert [event.get("message_id") for event in trace.events] == [None, "m", "m"]
    assert [event.get("cwd") for event in trace.events] == [None, "/a/b", "/a/b"]
    assert trace.cwd == "/a"
    assert [event["timestamp"] for event in trace.events] == [1000, 1000, 1000]  # a missing time is the one before


def test_what_the_model_never_sees_is_counted_by_kind():
    trace = load(
        line("file-history-snapshot", None, None, snapshot={}),
        user("u1", None, "Hi"),
        line("progress", "p1", "u1", data={"message": {"content": "x"}}),
        line("system", "s1", "p1", subtype="turn_duration"),
        line("attachment", "t1", "s1", attachment={"type": "skill_listing", "content": "x"}),
        user("c1", "t1", "<local-command-caveat>Caveat: …</local-command-caveat>", isMeta=True),
        user("c2", "c1", "<command-name>/mcp</command-name><command-args></command-args>"),
        user("c3", "c2", "<local-command-stdout>done</local-command-stdout>"),
        says("a1", "c3", "\n\n", {"type": "thinking", "thinking": "", "signature": "S"}),
        says("a2", "a1", "API Error", isApiErrorMessage=True),
        says("a3", "a2", "Hello"),
    )
    assert tree(trace) == {"u1": None, "a3": "u1"}
    assert trace.ignored == {
        "file-history-snapshot": 1,
        "progress": 1,
        "system/turn_duration": 1,
        "attachment/skill_listing": 1,
        "local command caveat": 1,
        "local command": 2,
        "blank text": 1,
        "API error message": 1,
    }


def test_words_of_a_person_are_kept_wherever_they_stand():
    trace = load(
        user("u1", None, "<command-name>/review</command-name><command-args>only the API</command-args>"),
        user("u2", "u1", "Review the code.", isMeta=True),
        line("attachment", "q1", "u2", attachment={"type": "queued_command", "prompt": "and the docs"}),
        line("attachment", "m1", "q1", attachment={"type": "nested_memory", "content": {"content": "Use tabs"}}),
        user("u3", "m1", "[Request interrupted by user]"),
    )
    assert [(event["type"], event["tags"]) for event in trace.events] == [
        ("requirement", ["user", "command"]),
        ("constraint", ["system"]),
        ("requirement", ["user"]),
        ("constraint", ["system"]),
        ("requirement", ["user", "interrupt"]),
    ]
    assert trace.events[3]["content"] == "Use tabs"


def test_the_unknown_becomes_opaque_and_is_not_dropped():
    trace = load(
        user("u1", None, "Hi"),
        says("a1", "u1", {"type": "hologram", "data": [1]}),
        line("oracle", "o1", "a1", {"role": "oracle", "words": "x"}),
        says("a2", "o1", {"type": "redacted_thinking", "data": "e"}),
    )
    assert [(event["content"], event["tags"]) for event in trace.events[1:]] == [
        ('{"type": "hologram", "data": [1]}', ["opaque"]),
        ('{"role": "oracle", "words": "x"}', ["opaque"]),
        ('{"type": "redacted_thinking", "data": "e"}', ["thinking", "opaque"]),
    ]


def test_an_image_that_a_user_sends_stays_in_the_event():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    event = only(load(user("u1", None, [image])), "requirement")
    assert (event["content"], event["block"], event["tags"]) == ("[image image/png]", image, ["user", "image"])


def test_background_task_reports_are_not_words_of_the_user():
    event = only(load(user("u1", None, "<task-notification>done</task-notification>")), "decision")
    assert event["tags"] == ["notification"]


# parents


def test_parallel_calls_share_a_parent_and_results_hang_below_their_call():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", "Both", message="m"),
        says("a2", "a1", call("t1"), message="m"),
        line("progress", "p1", "a2"),
        says("a3", "p1", call("t2"), message="m"),
        user("r2", "a3", [result("t2")]),
        user("r1", "a2", [result("t1")]),
        says("a4", "r1", "Done", message="n"),
    )
    assert tree(trace) == {
        "u1": None,
        "a1": "u1",
        "t1": "a1",
        "t2": "a1",
        "t2:r": "t2",
        "t1:r": "t1",
        "a4": "t1:r",
    }


def test_a_call_made_while_the_message_goes_on_is_still_parallel():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1"), message="m"),
        user("r1", "a1", [result("t1")]),
        says("a2", "r1", call("t2"), message="m"),
        user("r2", "a2", [result("t2"), text("and hurry")]),
        says("a3", "r2", "Done", message="n"),
    )
    assert tree(trace) == {"u1": None, "t1": "u1", "t1:r": "t1", "t2": "u1", "t2:r": "t2", "r2": "t2:r", "a3": "r2"}


def test_a_line_without_a_known_parent_follows_the_line_above():
    trace = load(user("u1", None, "a"), says("a1", None, "b"), user("u2", "lost", "c"), user("u3", None, "d"))
    assert tree(trace) == {"u1": None, "a1": "u1", "u2": "a1", "u3": "u2"}


def test_a_parent_below_its_child_comes_first():
    trace = load(user("u1", None, "a"), says("a2", "a1", "c"), says("a1", "u1", "b"))
    assert list(tree(trace)) == ["u1", "a1", "a2"]


def test_a_circle_of_parents_is_cut():
    trace = load(user("u1", "u1", "a"), says("a1", "a3", "b"), says("a2", "a1", "c"), says("a3", "a2", "d"))
    assert sorted(tree(trace)) == ["a1", "a2", "a3", "u1"]


def test_two_circles_are_no_fork():
    trace = load(user("a", "b", "1"), user("b", "a", "2"), user("c", "d", "3"), user("d", "c", "4"))
    assert sorted(tree(trace)) == ["a", "b", "c", "d"]


# ids and pairing


def test_a_repeated_call_id_is_told_apart_and_paired_in_order():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1", n=1)),
        user("r1", "a1", [result("t1", "one")]),
        says("a2", "r1", call("t1", n=2)),
        user("r2", "a2", [result("t1", "two")]),
        user("r3", "r2", [result("t1", "again")]),
    )
    results = [(e["id"], e["call_id"], e["result"]) for e in trace.events if e["type"] == "tool_result"]
    assert results == [("t1:r", "t1", "one"), ("t1:2:r", "t1:2", "two"), ("t1:2:r2", "t1:2", "again")]


def test_calls_without_ids_are_paired_in_order():
    bare = {"type": "tool_use", "name": "Bash", "input": {}}
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", bare, bare),
        user("r1", "a1", [{"type": "tool_result", "content": "one"}, {"type": "tool_result", "content": "two"}]),
    )
    assert [e["call_id"] for e in trace.events if e["type"] == "tool_result"] == ["a1.0", "a1.1"]


def test_a_result_whose_call_was_lost_is_kept():
    event = only(load(user("u1", None, "Go"), user("r1", "u1", [result("t9", "late")])), "tool_result")
    assert (event["id"], event["call_id"], event["parent_id"]) == ("t9:r", "t9", "u1")


def test_ids_are_short_and_lengthened_where_they_collide():
    first, second = "12345678-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "12345678-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
    trace = load(user(first, None, [text("a"), text("b")]), user(second, first, "c"))
    assert list(tree(trace)) == ["12345678", "12345678.1", "12345678-bbbb"]


def test_lines_that_a_resumed_session_copied_are_read_once():
    lines = (user("u1", None, "a"), says("a1", "u1", "b", message="m", usage={"input_tokens": 5}))
    copies = ({**record, "sessionId": "s2"} for record in lines)
    trace = load(*lines, *copies, user("u2", "a1", "c"))
    assert list(tree(trace)) == ["u1", "a1", "u2"]
    assert trace.ignored == {"repeated line": 2}
    assert len(trace.usage) == 1


def test_two_different_lines_of_one_uuid_are_both_kept():
    trace = load(user("u1", None, "a"), user("u1", None, "b"))
    assert tree(trace) == {"u1": None, "u1:2": "u1"}


# what was undone


def test_a_losing_fork_becomes_an_abandon_before_the_winner():
    trace = load(
        user("u1", None, "Start"),
        says("a1", "u1", "Ready"),
        user("b1", "a1", "First try"),
        says("b2", "b1", call("t1")),
        user("b3", "b2", [result("t1")]),
        line("system", "s1", "a1", subtype="turn_duration"),
        user("c1", "s1", "Second try"),  # below the same message, by way of a line that the model never sees
        says("b4", "b3", "late words of the losing branch"),
        says("c2", "c1", "Better"),
    )
    assert tree(trace) == {
        "u1": None,
        "a1": "u1",
        "b1": "a1",
        "t1": "b1",
        "t1:r": "t1",
        "b4": "t1:r",
        "b1:abandon": "a1",
        "c1": "b1:abandon",
        "c2": "c1",
    }
    assert list(tree(trace))[2:] == ["b1", "t1", "t1:r", "b4", "b1:abandon", "c1", "c2"]
    assert only(trace, "abandon")["ref_to"] == ["b1"]


def test_each_of_several_rewinds_abandons_the_branch_before_it():
    trace = load(
        user("u1", None, "Start"),
        *(user(f"b{k}", "u1", f"Try {k}") for k in range(3)),
        user("c", "b2", "x"),
        user("d", "b2", "y"),
    )
    refs = [(event["id"], event["ref_to"]) for event in trace.events if event["type"] == "abandon"]
    assert refs == [("b0:abandon", ["b0"]), ("b1:abandon", ["b1"]), ("c:abandon", ["c"])]


def test_a_fork_inside_a_losing_branch_is_abandoned_with_it():
    trace = load(
        user("u1", None, "Start"),
        user("b", "u1", "x"),
        user("b1", "b", "x1"),
        user("b2", "b", "x2"),
        user("c", "u1", "y"),
    )
    assert [event["ref_to"] for event in trace.events if event["type"] == "abandon"] == [["b1"], ["b"]]


def test_a_rewind_of_the_very_first_prompt_is_seen():
    trace = load(line("progress", "p", None), user("u1", "p", "a"), says("a1", "u1", "b"), user("u2", "p", "c"))
    assert tree(trace) == {"u1": None, "a1": "u1", "u1:abandon": None, "u2": "u1:abandon"}


def test_answers_beside_each_other_are_no_fork():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1"), message="m"),
        user("r1", "a1", [result("t1")]),
        says("a2", "a1", call("t2"), message="m"),
        user("i1", "a1", "[Request interrupted by user]"),
        user("m1", "a1", "A reminder", isMeta=True),
        user("u2", "a1", "Go on"),
    )
    assert "abandon" not in {event["type"] for event in trace.events}


def test_prompts_without_parents_are_no_fork():
    trace = load(user("u1", None, "a"), user("u2", None, "b"), user("u3", None, "c"))
    assert [event["type"] for event in trace.events] == ["requirement"] * 3


def test_prompts_below_two_different_roots_are_no_fork():
    trace = load(line("progress", "p", None), user("u1", "p", "a"), line("progress", "q", None), user("u2", "q", "b"))
    assert tree(trace) == {"u1": None, "u2": "u1"}


def test_the_branch_that_a_compaction_goes_on_from_wins():
    trace = load(
        user("u1", None, "Start"),
        user("x", "u1", "first"),
        user("y", "u1", "second"),
        boundary("c1", "x"),
        user("c2", "c1", "Summary", isCompactSummary=True),
    )
    assert list(tree(trace)) == ["u1", "y", "y:abandon", "x", "c2"]


def test_a_rejected_call_is_abandoned_and_the_users_words_live():
    said = REFUSED + " To tell you how to proceed, the user said:\nUse the other file."
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1"), message="m"),
        says("a2", "a1", call("t2"), message="m"),
        user("r1", "a1", [result("t1", said, is_error=True)]),
        user("r2", "a2", [result("t2", REFUSED, is_error=True)]),
        user("i1", "r2", [text("[Request interrupted by user for tool use]")]),
    )
    assert tree(trace) == {
        "u1": None,
        "t1": "u1",
        "t2": "u1",
        "t1:r": "t1",
        "t1:abandon": "t1:r",
        "t1:said": "t1:abandon",
        "t2:r": "t2",
        "t2:abandon": "t2:r",
        "i1": "t2:abandon",
    }
    events = {event["id"]: event for event in trace.events}
    assert (events["t1:abandon"]["ref_to"], events["t1:abandon"]["content"]) == (["t1"], "Use the other file.")
    assert (events["t1:said"]["type"], events["t1:said"]["content"]) == ("requirement", "Use the other file.")
    assert events["t2:abandon"]["content"] == "rejected by the user"


def test_an_interrupt_that_undid_nothing_abandons_nothing():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1")),
        user("r1", "a1", [result("t1", "all done")]),
        user("i1", "r1", "[Request interrupted by user]"),
    )
    assert [event["type"] for event in trace.events] == ["requirement", "tool_call", "tool_result", "requirement"]


def test_words_between_a_call_and_its_rejection_are_not_abandoned():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1")),
        line("attachment", "q1", "a1", attachment={"type": "queued_command", "prompt": "wait"}),
        user("r1", "q1", [result("t1", REFUSED)]),
    )
    assert tree(trace) == {"u1": None, "t1": "u1", "q1": "u1", "t1:r": "t1", "t1:abandon": "t1:r"}


# windows


def test_a_compaction_opens_a_window_with_its_summary():
    trace = load(
        user("u1", None, "a"),
        boundary("c1", "u1", trigger="manual", preTokens=9),
        user("c2", "c1", "This session is being continued", isCompactSummary=True),
        says("a1", "c2", "b"),
    )
    assert [(w.start, w.stop, w.opened_by, w.tokens_before) for w in trace.windows] == [
        (0, 1, "start", None),
        (1, 3, "manual", 9),
    ]
    assert trace.events[1]["tags"] == ["summary"]
    assert tree(trace) == {"u1": None, "c2": None, "a1": "c2"}


def test_a_summary_whose_boundary_was_lost_opens_a_window_too():
    trace = load(
        user("u1", None, "a"),
        boundary("c1", "u1", trigger="auto"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        user("c3", "c2", "Summary", isCompactSummary=True),
    )
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [
        (0, 1, "start"),
        (1, 2, "auto"),
        (2, 3, "unknown"),
    ]


def test_a_file_that_begins_with_a_boundary_has_one_window():
    trace = load(boundary("c1", "x", trigger="auto"), user("c2", "c1", "Summary", isCompactSummary=True))
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 1, "auto")]


def test_a_late_answer_does_not_reach_into_the_window_before():
    trace = load(
        user("u1", None, "a"),
        says("a1", "u1", call("t1")),
        boundary("c1", "a1"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        user("r1", "a1", [result("t1", REFUSED)]),
    )
    assert (trace.events[-1]["parent_id"], trace.events[-1]["call_id"]) == ("c2", "t1")


def test_a_rewind_from_behind_a_compaction_opens_a_window():
    trace = load(
        user("u1", None, "a"),
        user("b1", "u1", "b"),
        boundary("c1", "b1"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        user("d1", "u1", "d"),
        says("d2", "d1", "e"),
    )
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [
        (0, 2, "start"),
        (2, 3, "unknown"),
        (3, 5, "rewind"),
    ]
    assert tree(trace)["d1"] is None


# usage, titles, subagents


def test_usage_counts_a_message_once_with_its_last_report():
    def report(output):
        return {
            "input_tokens": 3,
            "output_tokens": output,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 10,
        }

    trace = load(
        user("u1", None, "a"),
        says("a1", "u1", "b", message="m", usage=report(1), model="claude-x"),
        says("a2", "a1", call("t1"), message="m", usage=report(7), model="claude-x"),
        user("r1", "a2", [result("t1")]),
        says("a3", "r1", "c", message="n", usage=report(0) | {"input_tokens": "many"}, model="claude-y"),
        says("a4", "a3", "d", message="o", usage={"input_tokens": 0, "output_tokens": 0}, model="<synthetic>"),
    )
    assert trace.usage == [Usage("t1", 3, 7, 20, 10), Usage("a3", 0, 0, 20, 10)]
    assert trace.model == "claude-x"


@pytest.mark.parametrize(
    ("more", "title"),
    [
        ([], "Please fix it"),
        ([{"type": "summary", "summary": "Of another session", "leafUuid": "x"}], "Please fix it"),
        ([{"type": "summary", "summary": "Fixing", "leafUuid": "u1"}], "Fixing"),
        ([{"type": "ai-title", "aiTitle": "Fix\nit"}, {"type": "summary", "summary": "Fixing"}], "Fix it"),
    ],
)
def test_the_title_is_the_sessions_own_or_its_first_prompt(more, title):
    trace = load(user("u1", None, "Please  fix\n it"), *more)
    assert (trace.title, trace.extra["session_id"]) == (title, "s")


def test_subagents_in_the_same_file_are_traces_of_their_own():
    main, first, second = load_all(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1", "Task")),
        user("x1", None, "Look", isSidechain=True),
        says("x2", "x1", "Found", isSidechain=True),
        user("y1", None, "Check", isSidechain=True, agentId="b7"),
        user("r1", "a1", [result("t1")], toolUseResult={"agentId": "b7"}),
    )
    assert list(tree(main)) == ["u1", "t1", "t1:r"]
    assert main.events[2]["agent_id"] == "b7"
    assert tree(first) == {"x1": None, "x2": "x1"}
    assert [trace.title for trace in (first, second)] == ["subagent x1: Look", "subagent b7: Check"]


def test_the_same_file_gives_the_same_trace_twice():
    assert load_trace(SAMPLE) == load_trace(SAMPLE)
