"""Kimi sessions: what each record becomes, and what is claimed."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, check, tree

from context_gc.importers import kimi
from context_gc.importers.files.decode import decode
from context_gc.outcomes import exit_code, failed
from context_gc.semantics import Command, FileRead, semantics
from context_gc.trace import Usage

META = {"type": "metadata", "protocol_version": "1.4", "created_at": 1785612803281}


def load_all(*records):
    traces = kimi.read(decode("\n".join(map(json.dumps, records)).encode(), "wire.jsonl"))
    check(traces)
    assert accounted(traces) == len(records)
    return traces


def load(*records):
    (trace,) = load_all(*records)
    return trace


def message(content, role="user", **more):
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    body = {"role": role, "content": parts, "toolCalls": [], **more}
    return {"type": "context.append_message", "message": body, "time": 1785612812820}


def asks(words, **origin):
    return message(words, origin={"kind": "user"} | origin)


def step(kind, **fields):
    return {"type": "context.append_loop_event", "event": {"type": kind, **fields}, "time": 1785612812825}


def part(kind, text, uuid="s1"):
    return step("content.part", stepUuid=uuid, part={"type": kind, kind: text})


def call(name, args, key="c1", uuid="s1"):
    return step("tool.call", stepUuid=uuid, toolCallId=key, name=name, args=args)


def result(output, key="c1", **more):
    return step("tool.result", toolCallId=key, result={"output": output, **more})


def permits(decision, tool="Bash", key="c1", **more):
    told = {"decision": decision, **more}
    asked = {"toolCallId": key, "toolName": tool, "action": "Running"}
    return {"type": "permission.record_approval_result", **asked, "result": told}


def compaction(summary="So far.", **more):
    return {
        "type": "context.apply_compaction",
        "summary": "raw",
        "contextSummary": summary,
        "compactedCount": 9,
        **more,
    }


def abandons(trace):
    return [(e["ref_to"], e["content"]) for e in trace.events if e["type"] == "abandon"]


# what is claimed


@pytest.mark.parametrize("record", [META, asks("Hi"), step("step.begin", uuid="s")])
def test_a_record_is_claimed_also_behind_damaged_lines(record):
    assert kimi.sniff(b"{damaged\n[1]\n" + json.dumps(record).encode())


@pytest.mark.parametrize(
    "record",
    [
        {"type": "metadata"},
        {"type": "context.append_message", "message": "x"},
        {"type": "usage.record"},
        {"type": [], "message": {}},
        {"role": "user", "content": "Hi"},
    ],
)
def test_other_records_are_left_alone(record):
    assert not kimi.sniff(json.dumps(record).encode())


# what records become


def test_each_part_of_a_session_has_its_event():
    trace = load(
        META,
        {"type": "config.update", "systemPrompt": "You are Kimi.", "time": 1785612803281},
        {"type": "config.update", "modelAlias": "kimi-k2", "cwd": "/a"},
        {"type": "turn.prompt", "input": [{"type": "text", "text": "Read it"}]},
        asks("Read it"),
        step("step.begin", uuid="s1"),
        part("think", "hm"),
        part("text", "Reading."),
        part("text", " "),
        call("Read", {"path": "/a/b.py"}),
        step("step.end", uuid="s1", usage={"inputOther": 5, "output": 2, "inputCacheRead": 7, "inputCacheCreation": 1}),
        {"type": "usage.record", "usage": {"inputOther": 5}},
        result("1\tx", note="<system>1 line read</system>"),
    )
    assert [(e["type"], e.get("content"), e.get("tags"), e.get("message_id")) for e in trace.events] == [
        ("constraint", "You are Kimi.", ["system"], None),
        ("requirement", "Read it", ["user"], None),
        ("decision", "hm", ["thinking"], "s1"),
        ("decision", "Reading.", None, "s1"),
        ("tool_call", None, None, "s1"),
        ("tool_result", None, None, None),
    ]
    assert semantics(trace.events[4]) == FileRead("/a/b.py")
    assert [block["text"] for block in trace.events[5]["result"]] == ["1\tx", "<system>1 line read</system>"]
    assert trace.usage == [Usage("c1", 5, 2, 7, 1)]
    assert (trace.title, trace.model, trace.cwd) == ("Read it", "kimi-k2", "/a")
    assert trace.events[0]["timestamp"] == 1785612803281
    assert trace.ignored == {
        "metadata": 1,
        "config.update": 1,
        "turn.prompt": 1,
        "loop event step.begin": 1,
        "blank text": 1,
        "usage.record": 1,
    }


@pytest.mark.parametrize(
    ("origin", "kind", "tags"),
    [
        (None, "requirement", ["user"]),
        ({"kind": "user"}, "requirement", ["user"]),
        ({"kind": "injection", "variant": "plan_mode"}, "constraint", ["system"]),
        ({"kind": "injection", "variant": "environment_binding"}, "decision", ["environment"]),
        ({"kind": "skill_activation", "trigger": "user-slash"}, "requirement", ["user", "command"]),
        ({"kind": "skill_activation", "trigger": "model-tool"}, "constraint", ["system"]),
        ({"kind": "shell_command", "phase": "output"}, "decision", ["command"]),
        ({"kind": "compaction_summary"}, "decision", ["summary"]),
        ({"kind": "task", "taskId": "t"}, "decision", ["notification"]),
        ({"kind": 7}, "requirement", ["user"]),
        ("odd", "requirement", ["user"]),
    ],
)
def test_in_whose_name_a_message_stands_is_told_by_its_origin(origin, kind, tags):
    (event,) = load(message("Hi", origin=origin)).events
    assert (event["type"], event["tags"]) == (kind, tags)


def test_parallel_calls_hang_side_by_side_and_an_injection_outlives_them():
    trace = load(
        part("text", "Both."),
        call("Read", {}, "a"),
        call("Read", {}, "b"),
        message("<system-reminder>x</system-reminder>", origin={"kind": "injection", "variant": "plan_mode"}),
        result("B", "b"),
        part("text", "So."),
        result("A", "a"),
    )
    assert tree(trace) == {"e1": None, "a": "e1", "b": "e1", "e4": "e1", "b:r": "b", "e6": "b:r", "a:r": "a"}


def test_text_after_a_call_stands_beside_it():
    trace = load(part("text", "One."), call("Read", {}, "a"), part("text", "Two."))
    assert tree(trace) == {"e1": None, "a": "e1", "e3": "e1"}


def test_a_report_of_a_step_that_wrote_nothing_is_about_no_event():
    usage = {"inputOther": 5, "output": 2}
    trace = load(part("text", "One.", "s1"), step("step.end", uuid="s2", usage=usage), step("step.end", uuid=""))
    assert (trace.usage, trace.ignored) == ([], {"loop event step.end": 2})


def test_a_result_without_its_call_is_kept():
    assert load(result("ok", "gone")).events[0]["call_id"] == "gone"


@pytest.mark.parametrize(
    ("output", "more", "has_failed", "code"),
    [
        ("a", {}, False, None),
        ("no\nCommand failed with exit code: 1.", {"isError": True}, True, 1),
        ([{"type": "text", "text": "x"}], {}, False, None),
        (None, {}, False, None),
    ],
)
def test_a_result_tells_whether_it_failed(output, more, has_failed, code):
    lead, answer = load(call("Bash", {"command": "ls"}), result(output, **more)).events
    assert semantics(lead) == Command("ls")
    assert (failed(lead, [answer]), exit_code(lead, [answer])) == (has_failed, code)


def test_messages_of_older_wires_hold_calls_and_results():
    trace = load(
        message("Looking.", "assistant", toolCalls=[{"id": "t", "function": {"name": "Bash", "arguments": "{}"}}, 7]),
        message("ok", "tool", toolCallId="t"),
    )
    assert [(e["type"], e.get("tool_name")) for e in trace.events] == [
        ("decision", None), ("tool_call", "Bash"), ("decision", None), ("tool_result", None),
    ]  # fmt: skip
    assert trace.events[1]["origin"] == {"line": 1, "path": "message/toolCalls/0"}
    assert trace.events[3]["call_id"] == "t"


def test_media_and_unknown_parts_are_not_dropped():
    image = {"type": "image_url", "imageUrl": {"url": "data:image/png;base64,AA=="}}
    trace = load(
        message([{"type": "text", "text": "See"}, image, {"type": "hologram"}, None]),
        step("hologram", data=1),
        message(7, "user"),
    )
    assert [(e["type"], e["content"], e["tags"]) for e in trace.events] == [
        ("requirement", "See", ["user"]),
        ("requirement", "[image]", ["user", "image"]),
        ("decision", '{"type": "hologram"}', ["opaque"]),
        ("decision", "null", ["opaque"]),
        ("decision", '{"type": "hologram", "data": 1}', ["opaque"]),
        ("decision", '{"role": "user", "content": 7, "toolCalls": []}', ["opaque"]),
    ]
    assert trace.events[1]["block"] == image
    assert trace.events[1]["origin"] == {"line": 1, "block": 1}


def test_damaged_records_are_reported_with_their_line():
    trace = load(asks("Hi"), {"type": "context.append_message"}, {"type": "context.append_loop_event", "event": []})
    assert [(p.line, p.text) for p in trace.problems] == [
        (2, "field 'message' is missing, expected an object (skipped)"),
        (3, "field 'event' is a list, expected an object (skipped)"),
    ]
