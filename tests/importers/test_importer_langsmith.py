"""LangSmith: runs created and patched, listed or nested; parents from dotted orders; messages of every SDK."""

from __future__ import annotations

import json

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    cut_and_flipped,
    needs_corpus,
    survive,
    told,
    with_other_types,
)

from context_gc import TraceError
from context_gc.importers import langsmith
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage


def run(number, kind="llm", inputs=None, outputs=None, **more):
    return {
        "id": f"r{number}",
        "trace_id": "t1",
        "run_type": kind,
        "name": f"step {number}",
        "start_time": f"2026-01-01T00:00:{number:02d}.000000+00:00",
        "end_time": f"2026-01-01T00:00:{number:02d}.500000",
        "inputs": inputs,
        "outputs": outputs,
        **more,
    }


def lc(kind, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


def read(value, lines=False):
    data = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    document = decode(data.encode(), "runs.json")
    assert langsmith.sniff(document.head)
    traces = langsmith.read(document)
    check(traces)
    return traces


HUMAN = lc("HumanMessage", content="fix it")
USED = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "input_token_details": {"cache_read": 4}}
LOOK = lc("AIMessage", content="look", tool_calls=[{"id": "c1", "name": "read", "args": {}}], usage_metadata=USED)
RESULT = lc("ToolMessage", content="text of a", tool_call_id="c1", name="read")
DONE = lc("AIMessage", content="done")
FIRST = run(1, "llm", {"messages": [[HUMAN]]}, {"generations": [[{"text": "look", "message": LOOK}]]})
TOOL = run(
    2, "tool", {"input": "{'path': 'a'}"}, {"output": {"type": "tool", "content": "text of a", "tool_call_id": "c1"}}
)
LAST = run(3, "llm", {"messages": [[HUMAN, LOOK, RESULT]]}, {"generations": [[{"text": "done", "message": DONE}]]})
EVENTS = [
    ("requirement", "fix it", ["user"]),
    ("decision", "look", []),
    ("tool_call", "read", []),
    ("tool_result", "text of a", []),
    ("decision", "done", []),
]


@pytest.mark.parametrize(
    ("value", "lines", "place"),
    [
        ([LAST, FIRST, TOOL], False, "1"),
        ([LAST, TOOL, FIRST], True, None),
        ({"post": [TOOL, FIRST, LAST]}, False, "post/1"),
        ({"runs": [FIRST, TOOL, LAST]}, False, "runs/0"),
        (run(0, "chain", child_runs=[FIRST, TOOL, LAST]), False, "child_runs/0"),
    ],
    ids=["array", "lines", "post", "list", "children"],
)
def test_every_layout_gives_the_same_conversation_in_order_of_time(value, lines, place):
    (found,) = read(value, lines)
    assert told(found) == EVENTS
    assert found.usage == [Usage("c1", 5, 2, 4)]
    assert found.events[0]["origin"] == ({"path": place} if place else {"line": 3}) | {"message": 0}
    assert (found.title, found.extra["trace_id"], found.problems) == ("fix it", "t1", [])
    assert accounted([found]) == 3 + ("child_runs" in value)
    assert found.events[3]["timestamp"] == 1767225602500  # the end of the tool's run


def test_create_and_patch_rows_of_a_run_are_one_run():
    created = run(1, "llm", {"messages": [[HUMAN]]}, {}, end_time=None)
    patch = {
        "id": "r1",
        "trace_id": "t1",
        "dotted_order": "20260101T000001000000Zr1",
        "end_time": "2026-01-01T00:00:09Z",
    }
    patch |= {"inputs": None, "outputs": {"choices": [{"message": {"role": "assistant", "content": "done"}}]}}
    (found,) = read({"post": [created], "patch": [patch]})
    assert told(found) == [EVENTS[0], EVENTS[4]]
    assert found.events[1]["timestamp"] == 1767225609000
    assert accounted([found]) == 2


def test_a_parent_is_known_from_the_dotted_order():
    inner = {"dotted_order": "20260101T000000000000Zr7.20260101T000001000000Zr1"}
    outer = run(7, "tool", {"q": 1}, {"output": "x"}, start_time="2026-01-01T00:00:00Z")
    (main, sub) = read([run(0, "llm", {"messages": "q"}, "a"), outer, FIRST | inner])
    assert [event["type"] for event in main.events] == ["requirement", "decision", "tool_call", "tool_result"]
    assert sub.title == "subagent step 7: fix it"


@pytest.mark.parametrize(
    ("error", "failed"),
    [("ValueError('x')", True), ("GraphInterrupt(())", False), ("ParentCommand('x')", False), (None, False)],
)
def test_an_error_is_a_failure_unless_it_steers_the_graph(error, failed):
    (found,) = read([FIRST, run(2, "tool", {"path": "a"}, None, error=error, name="read")])
    result = found.events[-1]
    assert result.get("is_error", False) is failed
    assert result["result"] == (error if failed else "")
    assert result["call_id"] == "c1"


def test_the_status_of_a_tool_message_is_its_failure():
    output = {"type": "tool", "content": "Error: no", "tool_call_id": "c1", "status": "error"}
    (found,) = read([FIRST, run(2, "tool", {"path": "a"}, {"output": output}), LAST])
    assert [event["is_error"] for event in found.events if event["type"] == "tool_result"] == [True]


def test_wrapped_sdks_are_read():
    anthropic = {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}],
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
    responses = {
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}]
    }
    (first,) = read(
        [run(1, "llm", {"system": "s", "messages": [{"role": "user", "content": "q"}], "model": "m"}, anthropic)]
    )
    (second,) = read([run(1, "llm", {"instructions": "s", "input": "q"}, responses | {"usage_metadata": USED})])
    assert [told(each) for each in (first, second)] == [
        [("constraint", "s", ["system"]), ("requirement", "q", ["user"]), ("decision", answer, [])] for answer in "ab"
    ]
    assert (first.usage, second.usage, first.model) == ([Usage("e3", 3, 1)], [Usage("e3", 5, 2, 4)], "m")


def test_totals_of_a_listed_run_are_its_usage():
    (found,) = read([run(1, "llm", {"messages": "q"}, "a", prompt_tokens=7, completion_tokens=2, total_tokens=9)])
    assert found.usage == [Usage("e2", 7, 2)]


def test_runs_of_one_thread_belong_together():
    thread = {"extra": {"metadata": {"thread_id": "T", "ls_model_name": "m"}}}
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "b"},
    ]
    first = run(1, "llm", {"messages": history[:1]}, "a", trace_id="x") | thread
    second = run(2, "llm", {"messages": history[:1]}, "other", trace_id="y") | thread
    (found,) = read([first, second])
    assert [event["type"] for event in found.events] == ["requirement", "decision", "abandon", "decision"]
    assert (found.extra["session_id"], found.model) == ("T", "m")


def test_chains_and_what_is_no_run_are_accounted_for():
    (found,) = read([run(0, "chain", {"x": 1}, {"y": 2}), FIRST, {"id": "x"}, run(9, "retriever"), LAST], lines=True)
    assert found.ignored == {"chain run": 1, "retriever run": 1}
    assert [(problem.line, problem.text) for problem in found.problems] == [(3, "the record: no run (skipped)")]
    assert accounted([found]) == 5


def test_runs_without_messages_are_an_error():
    with pytest.raises(TraceError, match=r"its 1 runs hold no messages \(export them with inputs and outputs\)"):
        read([run(1)])


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        ('{"post": [{"id": "x", "run_type": "llm", "inputs": {"messages": ["' + "x" * 300_000, True),
        ('{"dotted_order": "x", "trace_id": "t"}', True),
        ('{"runs": [{"run_type": "chain", "trace_id": "t"}]}', True),
        ('{"run_type": "marathon", "trace_id": "t"}', False),
        ('{"runs": [{"id": 1}]}', False),
        ('{"post": []}', False),
        ("x", False),
    ],
)
def test_sniff(head, claimed):
    assert langsmith.sniff(head.encode()) is claimed


# the corpus, and damage

NAMES = ["langsmith_py_wrap_openai_.json", "langsmith_py_wrap_openai_stream.json"]


@needs_corpus
@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_calls_say_what_was_counted_by_hand(name):
    data = (CORPUS / "langsmith" / name).read_bytes()
    document = decode(data, name)
    assert claimants(document.head) == {"langsmith"}
    (found,) = langsmith.read(document)
    check([found])
    assert told(found) == [("requirement", "howdy", ["user"]), ("decision", "Howdy! How can I assist you today?", [])]
    assert (found.usage, found.model) == ([Usage("e2", 9, 9)], "gpt-4o-mini")
    assert (found.problems, found.ignored, len(found.windows)) == ([], {}, 1)
    raw = json.loads(data)
    assert accounted([found]) == len(raw["post"]) + len(raw["patch"]) == 2
    (patch,) = raw["patch"]
    assert found.events[1]["content"] == patch["outputs"]["choices"][0]["message"]["content"]


def damaged_read(data):
    document = decode(data, "damaged")
    langsmith.sniff(document.head)
    return langsmith.read(document)


def test_damaged_files_give_sound_traces_or_our_error():
    sound = {"post": [FIRST, TOOL, LAST, run(4, "chain")], "patch": [{"id": "r3", "error": "x", "trace_id": "t1"}]}
    for data in cut_and_flipped(json.dumps(sound, indent=1).encode()):
        survive(damaged_read, data)
    for copy in with_other_types(sound, 150):
        survive(damaged_read, json.dumps(copy).encode())
