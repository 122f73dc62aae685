"""OTLP JSON files: ids, names and layouts as exporters write them, the recorded file, and damage."""

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
from otlp_records import ASKED, CALL, EVENTS, WENT_ON, chat, only, openinference, read, said, span, text, wrapped

from context_gc import TraceError
from context_gc.importers import otlp
from context_gc.importers.files.decode import decode
from context_gc.importers.otlp.attributes import hexadecimal, milliseconds_of, plain, unflattened
from context_gc.trace import Usage


def test_ids_in_base64_and_in_hex_are_the_same_ids():
    first = chat(1, ASKED, said("assistant", text("look"), CALL)) | {
        "traceId": "CvdlGRbNQ92ESOshHIAxnA==",
        "spanId": "AAAAAAAAAAE=",
    }
    inner = chat(2, ASKED, said("assistant", text("look"), CALL)) | {"parentSpanId": "0000000000000001"}
    trace = only(first, inner)
    assert trace.extra["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    assert trace.ignored == {"model call around others": 1}


@pytest.mark.parametrize("scopes", ["scopeSpans", "instrumentationLibrarySpans", "scope_spans"])
def test_spans_stand_under_names_old_and_new(scopes):
    (trace,) = read(wrapped(chat(1, ASKED, said("assistant", text("done"))), scopes=scopes))
    assert len(trace.events) == 3


def test_exports_one_a_line_and_in_an_array_are_one_log():
    first = wrapped(chat(1, ASKED, said("assistant", text("look"), CALL)))
    second = wrapped(chat(2, WENT_ON, said("assistant", text("done"))))
    (by_line,) = read(second, first)
    (in_array,) = otlp.read(decode(json.dumps([second, first]).encode(), "spans.json"))
    assert told(by_line) == told(in_array) == EVENTS
    place = "resourceSpans/0/scopeSpans/0/spans/0"
    assert by_line.events[0]["origin"] == {"line": 2, "path": place, "message": 0}
    assert in_array.events[0]["origin"] == {"path": f"1/{place}", "message": 0}


def test_calls_of_one_conversation_id_belong_together():
    other = {"traceId": "f" * 32}
    first = chat(1, ASKED, said("assistant", text("a")), **{"gen_ai.conversation.id": "talk"})
    second = chat(2, ASKED, said("assistant", text("b")), **{"gen_ai.conversation.id": "talk"}) | other
    trace = only(first, second)
    assert [event["type"] for event in trace.events][-2:] == ["abandon", "decision"]
    assert trace.extra["session_id"] == "talk"


def test_spans_without_messages_are_an_error_that_says_what_to_do():
    with pytest.raises(TraceError, match=r"its 2 spans, 1 of them model calls, hold no messages \(turn on the capture"):
        read(wrapped(span(1, {"gen_ai.operation.name": "chat"}), span(2, {"http.method": "GET"})))


def test_what_is_no_span_is_reported_with_its_place():
    (trace,) = read(
        {"resourceSpans": [5, {"scopeSpans": [None, {"spans": [[], chat(1, ASKED, said("assistant", text("a")))]}]}]}
    )
    assert [problem.text for problem in trace.problems] == [
        "resourceSpans/0: a number where an object was expected (skipped)",
        "resourceSpans/1/scopeSpans/0: null where an object was expected (skipped)",
        "resourceSpans/1/scopeSpans/1/spans/0: a list where an object was expected (skipped)",
    ]


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        ('{"resourceSpans": [{"resource": {', True),
        ('[{"resourceSpans": []}]', True),
        ('{"x": 1}\n{"resourceSpans": []}', True),
        ('{"resourceLogs": []}', False),
        ('{"resourceSpans": 5}', False),
        ("", False),
    ],
)
def test_sniff(head, claimed):
    assert otlp.sniff(head.encode()) is claimed


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"intValue": "12"}, 12),
        ({"intValue": 12}, 12),
        ({"int_value": "-3"}, -3),
        ({"doubleValue": 1.5}, 1.5),
        ({"boolValue": False}, False),
        ({"arrayValue": {"values": [{"stringValue": "a"}, {"kvlistValue": {"values": []}}]}}, ["a", {}]),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"intValue": "1"}}, 5]}}, {"k": 1}),
        ({"arrayValue": 3}, []),
        ({}, None),
        ("plain", "plain"),
        ({"other": 1}, {"other": 1}),
    ],
)
def test_typed_values_are_plain_values(given, found):
    assert plain(given) == found


def test_flattened_keys_spell_out_a_list_in_order_of_numbers():
    given = {"m.10.role": "c", "m.2.parts.1.x": 2, "m.2.parts.0.x": 1, "m.2.role": "b", "m.x.role": "no", "n.0": 1}
    assert unflattened(given, "m") == [{"parts": [{"x": 1}, {"x": 2}], "role": "b"}, {"role": "c"}]
    assert unflattened({"m.0": "text", "m.0.role": "late"}, "m") == [{"role": "late"}]
    assert unflattened({"m." + "0." * 5_000 + "x": 1}, "m")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("AAAAAAAAAAE=", "0000000000000001"),
        ("00000000000000AB", "00000000000000ab"),
        ("span-1", "span-1"),
        ("", ""),
        (5, ""),
    ],
)
def test_ids_are_hexadecimal_where_they_are_bytes(given, found):
    assert hexadecimal(given) == found


@pytest.mark.parametrize(
    ("given", "found"),
    [("1760000000000000000", 1_760_000_000_000.0), (5_000_000, 5.0), ("x", None), (-1, None), (0, None)],
)
def test_nanoseconds_become_milliseconds(given, found):
    assert milliseconds_of(given) == found


# the corpus, and damage

FILE = CORPUS / "otlp_openinference" / "rag_earnings_agent.json"


@needs_corpus
def test_the_recorded_retrieval_agent_says_what_was_counted_by_hand():
    document = decode(FILE.read_bytes(), FILE.name)
    assert claimants(document.head) == {"otlp"}
    (trace,) = otlp.read(document)
    check([trace])
    raw = json.loads(FILE.read_text("utf-8"))
    spans = [
        each
        for root in raw
        for resource in root["resourceSpans"]
        for scope in resource["scopeSpans"]
        for each in scope["spans"]
    ]
    kinds = [
        a["value"]["stringValue"] for each in spans for a in each["attributes"] if a["key"] == "openinference.span.kind"
    ]
    assert (len(spans), kinds.count("LLM"), kinds.count("TOOL")) == (18, 1, 0)
    assert accounted([trace]) == len(spans)
    assert trace.ignored == {"CHAIN span": 11, "other span": 3, "UNKNOWN span": 2, "RETRIEVER span": 1}
    assert [event["type"] for event in trace.events] == ["requirement", "decision"]
    assert trace.events[1]["content"] == "Meta Platforms Inc.'s revenue in Q4 2023 was $40.1 billion."
    assert trace.usage == [Usage("e2", 629, 19)]
    assert (trace.problems, len(trace.windows)) == ([], 1)


SOUND = [
    wrapped(
        chat(1, ASKED, said("assistant", text("look"), CALL)),
        span(2, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "gen_ai.tool.call.id": "c1"}),
        chat(3, WENT_ON, said("assistant", text("done")), lambda given: given),
    ),
    wrapped(
        openinference(
            4, "LLM", {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "x"}
        )
    ),
]


def damaged_read(data):
    document = decode(data, "damaged")
    otlp.sniff(document.head)
    return otlp.read(document)


def test_damaged_files_give_sound_traces_or_our_error():
    for data in cut_and_flipped(json.dumps(SOUND, indent=1).encode()):
        survive(damaged_read, data)
    for copy in with_other_types(SOUND, 150):
        survive(damaged_read, json.dumps(copy).encode())
