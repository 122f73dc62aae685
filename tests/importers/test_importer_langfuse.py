"""Langfuse: exports of its UI, its API and its batches; values in strings; what stands in for what is absent."""

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
from context_gc.importers import langfuse
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage


def observation(number, kind="GENERATION", **more):
    return {
        "id": f"o{number}",
        "traceId": "t1",
        "type": kind,
        "name": f"step {number}",
        "parentObservationId": None,
        "startTime": f"2026-01-01T00:00:{number:02d}.000Z",
        "endTime": f"2026-01-01T00:00:{number:02d}.500Z",
        "level": "DEFAULT",
        **more,
    }


def trace(**more):
    return {"id": "t1", "projectId": "p", "timestamp": "2026-01-01T00:00:00Z", "name": "run", **more}


def read(value, lines=False):
    data = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    document = decode(data.encode(), "export.json")
    assert langfuse.sniff(document.head)
    traces = langfuse.read(document)
    check(traces)
    return traces


ASK = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "fix it"}]
READ = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CALL = {"role": "assistant", "content": "look", "tool_calls": [READ]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "text of a"}
USED = {"input": 5, "output": 2, "input_cached_tokens": 4, "total": 11}
FIRST = observation(1, input=json.dumps(ASK), output=json.dumps(CALL), model="m", usageDetails=USED)
TOOL = observation(2, "TOOL", name="read", input='{"path": "a.py"}', output='"text of a"')
OLD = {"promptTokens": 20, "completionTokens": 3}
LAST = observation(3, input=json.dumps([*ASK, CALL, RESULT]), output="done", usage=OLD)
EVENTS = [
    ("constraint", "be brief", ["system"]),
    ("requirement", "fix it", ["user"]),
    ("decision", "look", []),
    ("tool_call", "read", []),
    ("tool_result", "text of a", []),
    ("decision", "done", []),
]


@pytest.mark.parametrize(
    ("value", "lines", "place"),
    [
        ({"trace": trace(), "observations": [LAST, TOOL, FIRST]}, False, "observations/2"),
        (trace(observations=[LAST, FIRST, TOOL]), False, "observations/1"),
        ([FIRST, LAST, TOOL], False, "0"),
        ({"data": [FIRST, TOOL, LAST], "meta": {"page": 1}}, False, "data/0"),
        ([LAST, FIRST, TOOL], True, None),
        ([{"trace": trace(), "observations": [FIRST, TOOL, LAST]}], False, "0/observations/0"),
    ],
    ids=["ui", "trace", "array", "api", "lines", "array of traces"],
)
def test_every_layout_gives_the_same_conversation_in_order_of_time(value, lines, place):
    (found,) = read(value, lines)
    assert told(found) == EVENTS
    assert found.usage == [Usage("c1", 5, 2, 4), Usage("e6", 20, 3)]
    assert found.events[0]["origin"] == ({"path": place} if place else {"line": 2}) | {"message": 0}
    assert (found.model, found.title, found.extra["trace_id"], found.problems) == ("m", "fix it", "t1", [])
    assert accounted([found]) == 3


def test_a_failed_tool_has_its_message_as_result():
    failed = observation(2, "TOOL", name="read", level="ERROR", statusMessage="no such file")
    (found,) = read([observation(1, input="q", output=json.dumps(CALL)), failed])
    assert (found.events[-1]["result"], found.events[-1]["is_error"]) == ("no such file", True)


def test_what_is_absent_is_taken_from_the_attributes_in_the_metadata():
    attributes = {
        "ai.prompt.messages": json.dumps(ASK),
        "ai.response.toolCalls": json.dumps([{"toolCallId": "c1", "toolName": "read", "args": "{}"}]),
    }
    tool = {"ai.toolCall.name": "read", "ai.toolCall.id": "c1"}
    (found,) = read(
        [
            observation(1, metadata=json.dumps({"attributes": attributes})),
            observation(2, "TOOL", name="ai.toolCall", output="text of a", metadata={"attributes": json.dumps(tool)}),
        ]
    )
    assert told(found) == [*EVENTS[:2], *EVENTS[3:5]]


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ('"done"', "done"),
        ('"\\"done\\""', "done"),
        ("done", "done"),
        ('{"answer": 42}', '{"answer": 42}'),
        ("[1, 2]", "[1, 2]"),
        ('{"role": "assistant", "content": "done"}', "done"),
        ({"role": "assistant", "content": "done"}, "done"),
    ],
)
def test_answers_in_strings_are_opened_and_json_that_a_model_wrote_stays(output, shown):
    (found,) = read([observation(1, input="q", output=output)])
    assert told(found)[1:] == [("decision", shown, [])]


def test_a_tools_json_stays_the_text_that_it_was():
    tool = observation(2, "TOOL", output='{"rows": [1,2]}')
    (found,) = read([observation(1, input="q", output=json.dumps(CALL)), tool])
    assert found.events[-1]["result"] == '{"rows": [1,2]}'


def test_observations_that_are_listed_twice_are_read_once():
    (found,) = read({"trace": trace(observations=[FIRST, LAST]), "observations": [FIRST, LAST]})
    assert told(found) == EVENTS
    assert found.ignored == {"repeated observation": 2}


def test_a_generation_around_others_and_spans_are_counted():
    outer = observation(0, input="fix it", output="done")
    inner = [each | {"parentObservationId": "o0"} for each in (FIRST, TOOL, LAST)]
    (found,) = read([outer, observation(4, "SPAN"), observation(5, "EVENT"), *inner])
    assert told(found) == EVENTS
    assert found.ignored == {"model call around others": 1, "SPAN observation": 1, "EVENT observation": 1}


def test_a_trace_without_generations_counts_as_a_call_of_its_own():
    (found,) = read({"trace": trace(input='"q"', output='"a"'), "observations": [observation(1, "SPAN")]})
    assert told(found) == [("requirement", "q", ["user"]), ("decision", "a", [])]
    assert accounted([found]) == 2


def test_traces_of_one_session_belong_together():
    history = [{"role": role, "content": words} for role, words in (("user", "q"), ("assistant", "a"), ("user", "b"))]
    later = {"id": "t2", "timestamp": "2026-01-01T00:01:00Z", "input": history, "output": "c"}
    (found,) = read([trace(sessionId="s", input="q", output="a"), trace(sessionId="s") | later], lines=True)
    assert [event["content"] for event in found.events] == ["q", "a", "b", "c"]
    assert found.extra["session_id"] == "s"


def test_snake_case_of_blob_exports_is_read():
    row = {"id": "o", "trace_id": "t", "type": "GENERATION", "start_time": "2026-01-01T00:00:01Z"}
    (found,) = read([row | {"input": "q", "output": "a", "usage_details": {"input": 3, "output": 1}}], lines=True)
    assert found.usage == [Usage("e2", 3, 1)]


def test_what_is_neither_trace_nor_observation_is_reported():
    (found,) = read([FIRST, {"id": "x"}, LAST], lines=True)
    assert [(problem.line, problem.text) for problem in found.problems] == [
        (2, "the record: neither a trace nor an observation (skipped)")
    ]
    (found,) = read({"trace": trace(), "observations": [FIRST, 7]})
    told_of = [problem.text for problem in found.problems]
    assert told_of == ["observations/1: a number where an object was expected (skipped)"]


def test_observations_without_messages_are_an_error():
    with pytest.raises(TraceError, match="its 1 observations hold no messages"):
        read([observation(1)])


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        ('{"trace": {"id": "t", "projectId": "p", "timestamp": "x", "input": "' + "x" * 300_000, True),
        ('{"observations": [], "timestamp": "x"}', True),
        ('[{"type": "SPAN", "id": "x", "startTime": 1, "traceId": "t"}]', True),
        ('{"trace": {"events": []}}', False),
        ('{"type": "SPAN", "id": "x"}', False),
        ('{"data": [{"id": 1}]}', False),
        ("x", False),
    ],
)
def test_sniff(head, claimed):
    assert langfuse.sniff(head.encode()) is claimed


# the corpus, and damage


@needs_corpus
@pytest.mark.parametrize(
    ("name", "types", "usage", "ignored"),
    [
        (
            "langfuse-1.json",
            ["constraint", "decision", "requirement", "decision"],
            [Usage("e4", 1115, 101)],
            {"SPAN observation": 2, "model call around others": 2, "repeated observation": 5},
        ),
        (
            "langfuse-3.json",
            ["constraint", "decision", "requirement", "tool_call", "tool_result", "decision"],
            [Usage("call_Wgy5Y139OQnSh7grDUUE0iil", 1115, 44), Usage("e6", 17324, 429)],
            {"SPAN observation": 2, "model call around others": 1, "repeated observation": 7},
        ),
    ],
)
def test_the_recorded_chats_say_what_was_counted_by_hand(name, types, usage, ignored):
    data = (CORPUS / "langfuse" / name).read_bytes()
    document = decode(data, name)
    assert claimants(document.head) == {"langfuse"}
    (found,) = langfuse.read(document)
    check([found])
    assert [event["type"] for event in found.events] == types
    assert (found.usage, found.ignored, found.problems, len(found.windows)) == (usage, ignored, [], 1)
    raw = json.loads(data)
    assert accounted([found]) == len(raw["observations"]) + len(raw["trace"]["observations"])
    generations = [each for each in raw["observations"] if each["type"] == "GENERATION"]
    models = [each for each in generations if each["model"]]
    assert len(models) == len(usage)
    answers = {each["output"] for each in generations if each.get("output")}
    assert {event["content"] for event in found.events[-1:]} == answers  # all wrappers repeat one answer


@needs_corpus
def test_the_recorded_tool_call_has_the_arguments_and_the_result_of_the_tools_observation():
    data = (CORPUS / "langfuse" / "langfuse-3.json").read_bytes()
    (found,) = langfuse.read(decode(data, "x"))
    (tool,) = (each for each in json.loads(data)["observations"] if each["type"] == "TOOL")
    call, result = found.events[3:5]
    assert call["arguments"] == json.loads(tool["input"])
    assert result["result"] == tool["output"]
    assert result["call_id"] == call["id"]


def damaged_read(data):
    document = decode(data, "damaged")
    langfuse.sniff(document.head)
    return langfuse.read(document)


def test_damaged_files_give_sound_traces_or_our_error():
    sound = {"trace": trace(observations=[FIRST]), "observations": [FIRST, TOOL, LAST, observation(4, "SPAN")]}
    for data in cut_and_flipped(json.dumps(sound, indent=1).encode()):
        survive(damaged_read, data)
    for copy in with_other_types(sound, 150):
        survive(damaged_read, json.dumps(copy).encode())
