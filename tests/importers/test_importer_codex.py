"""Codex sessions: what each kind of record becomes, in today's form and in those of 2025, and what is claimed."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, check

from context_gc.importers import codex
from context_gc.importers.files.decode import decode

META = {"type": "session_meta", "payload": {"id": "s1", "cwd": "/home/dev/shop", "cli_version": "0.98.0"}}


def load(*records):
    (trace,) = codex.read(decode("\n".join(map(json.dumps, records)).encode(), "rollout.jsonl"))
    check([trace])
    assert accounted([trace]) == len(records)
    return trace


def item(kind, **fields):
    return {"timestamp": "2026-02-03T10:00:00Z", "type": "response_item", "payload": {"type": kind, **fields}}


def event(kind, **fields):
    return {"timestamp": "2026-02-03T10:00:00Z", "type": "event_msg", "payload": {"type": kind, **fields}}


def says(role, *texts):
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def call(name, arguments, call_id="c1"):
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return item("function_call", name=name, arguments=given, call_id=call_id)


def output(value, call_id="c1"):
    return item("function_call_output", call_id=call_id, output=value)


def facts(trace):
    return [(e["type"], e.get("content"), e.get("tags")) for e in trace.events]


# what is claimed


@pytest.mark.parametrize(
    "record",
    [
        META,
        says("user", "Hi"),
        event("token_count"),
        {"id": "a", "timestamp": "2025-06-01T00:00:00Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"timestamp": "2025-09-10T12:00:00Z", "type": "tool_call", "function": {"name": "git"}, "arguments": "status"},
        {"created_at": "2025-09-10T12:00:00Z", "type": "function_call", "function": {}, "arguments": {}},
    ],
)
def test_a_record_of_any_age_is_claimed_also_behind_damaged_lines(record):
    assert codex.sniff(b"{damaged\n[1]\n42\n" + json.dumps(record).encode())


@pytest.mark.parametrize(
    "record",
    [
        {"timestamp": "2025-09-10T10:00:00Z", "role": "user", "content": "plain role and content"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a bare item"}]},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
        {"type": "session_meta", "payload": []},
        {"type": "item.completed", "item": {"id": "1", "type": "agent_message"}},
        {"id": "e1", "type": "tool_call", "timestamp": 1, "tool_name": "f", "arguments": {}},
        {"type": ["session_meta"], "payload": {}},
        {"id": "a", "instructions": None},
        {"id": 1, "timestamp": "2025-06-01T00:00:00Z", "instructions": None},
        {"id": "a", "timestamp": "2025-06-01T00:00:00Z", "instructions": None, "role": "user"},
        {"type": "tool_call", "function": {"name": "git"}, "arguments": "status"},
    ],
)
def test_records_of_other_formats_are_left_alone(record):
    assert not codex.sniff(json.dumps(record).encode())


# what items become


def test_each_voice_has_its_event_and_blocks_stand_apart():
    trace = load(
        META,
        says("developer", "<permissions instructions>ask first</permissions instructions>"),
        says(
            "user", "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>tabs</INSTRUCTIONS>", "<environment_context> /a"
        ),
        says("user", "Fix it"),
        item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="gAAA"),
        says("assistant", "Done."),
    )
    assert facts(trace) == [
        ("constraint", "<permissions instructions>ask first</permissions instructions>", ["system"]),
        ("constraint", "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>tabs</INSTRUCTIONS>", ["system"]),
        ("decision", "<environment_context> /a", ["environment"]),
        ("requirement", "Fix it", ["user"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "Done.", None),
    ]
    assert [e["origin"] for e in trace.events[1:3]] == [{"line": 3, "block": 0}, {"line": 3, "block": 1}]
    assert (trace.title, trace.cwd, trace.extra["session_id"]) == ("Fix it", "/home/dev/shop", "s1")


@pytest.mark.parametrize(
    ("text", "kind", "tags"),
    [
        ("<turn_aborted>The user interrupted", "requirement", ["user", "interrupt"]),
        ("<user_shell_command>ls</user_shell_command>", "decision", ["command"]),
        ("<subagent_notification>{}</subagent_notification>", "decision", ["notification"]),
        ("<skill><name>pdf</name></skill>", "constraint", ["system"]),
        ("<user_instructions>tabs</user_instructions>", "constraint", ["system"]),
        ("Please write <skill> in bold", "requirement", ["user"]),
    ],
)
def test_what_codex_writes_as_the_user_is_told_apart_by_how_it_begins(text, kind, tags):
    (found,) = load(says("user", text)).events
    assert (found["type"], found["content"], found["tags"]) == (kind, text, tags)


def test_the_title_is_a_persons_own_words_or_the_threads_name():
    asked = says("user", "# Context from my IDE setup:\n\n## My request for Codex:\nFix  the\n cart")
    assert load(asked).title == "Fix the cart"
    assert load(asked, event("thread_name_updated", thread_name="Cart")).title == "Cart"
    assert load(asked, event("thread_name_updated", thread_name=None)).title == "Fix the cart"
    told = item("agent_message", content=[{"type": "input_text", "text": "Count files"}])
    assert (load(META, told).title, load(META).title) == ("Count files", "s1")


def test_events_that_repeat_items_add_no_text():
    trace = load(
        event("user_message", message="Fix it"),
        says("user", "Fix it"),
        event("agent_reasoning", text="hm"),
        item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        event("agent_message", message="Done."),
        says("assistant", "Done."),
        event(
            "item_completed", item={"type": "AgentMessage", "id": "1", "content": [{"type": "Text", "text": "Done."}]}
        ),
    )
    assert [e["content"] for e in trace.events] == ["Fix it", "hm", "Done."]
    assert trace.ignored == {
        "event_msg/user_message": 1,
        "event_msg/agent_reasoning": 1,
        "event_msg/agent_message": 1,
        "event_msg/item_completed": 1,
    }


def test_events_speak_where_no_item_does():
    trace = load(
        event("user_message", message="Fix it"),
        item("reasoning", summary=[], content=None, encrypted_content="gAAA"),
        event("agent_reasoning", text="hm"),
        event("agent_message", message="Done."),
        event("agent_message", message=" "),
    )
    assert facts(trace) == [
        ("requirement", "Fix it", ["user"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "Done.", None),
    ]
    assert trace.ignored == {"encrypted reasoning": 1, "blank message": 1}


def test_thoughts_that_can_be_read_in_the_item_are_not_told_again_by_the_event():
    thought = item("reasoning", content=[{"type": "reasoning_text", "text": "hm"}])
    assert [e["content"] for e in load(event("agent_reasoning", text="hm"), thought).events] == ["hm"]


def test_a_message_of_several_blocks_has_ids_that_begin_with_its_own():
    blocks = [{"type": "output_text", "text": text} for text in ("one", " ", "two")]
    trace = load(item("message", id="m", role="assistant", content=blocks))
    assert [(e["id"], e["content"]) for e in trace.events] == [("m", "one"), ("m.2", "two")]


def test_images_and_sealed_blocks_stay_in_their_event():
    image = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
    sealed = {"type": "encrypted_content", "encrypted_content": "gAAA"}
    trace = load(
        item("message", role="user", content=[{"type": "input_text", "text": "See"}, image, {"type": "input_image"}]),
        item("agent_message", author="/root", content=[{"type": "input_text", "text": "Count files"}, sealed]),
        item("image_generation_call", id="i1", status="completed", revised_prompt="a cat", result="AAAA"),
    )
    assert facts(trace)[:4] == [
        ("requirement", "See", ["user"]),
        ("requirement", "[image]", ["user", "image"]),
        ("requirement", "Count files", ["agent"]),
        ("decision", "[encrypted message]", ["opaque"]),
    ]
    assert [e.get("block") for e in trace.events[1:4]] == [image, None, sealed]
    assert (trace.events[-1]["result"], trace.events[-1]["block"]) == ("[image]", "AAAA")


def test_the_unknown_becomes_opaque_and_what_never_reaches_the_model_is_counted():
    trace = load(
        item("hologram", data=[1]),
        item("message", role="user", content=7),
        item("message", role="oracle", content="x"),
        item("message", role="user", content=[None]),
        {"neither": "type nor role"},
        item(7),
        item("ghost_snapshot", ghost_commit={}),
        {"type": "world_state", "payload": {"full": True}},
        {"type": "turn_context", "payload": {"cwd": "/a", "model": "gpt-5.2"}},
        {"type": "turn_context", "payload": {"cwd": "/b", "model": "gpt-5.3"}},
        {"type": "new_kind", "payload": {}},
        event("thread_goal_updated"),
        {"type": "event_msg", "payload": {}},
    )
    assert all(e["type"] == "decision" and e["tags"] == ["opaque"] for e in trace.events)
    assert trace.events[0]["content"] == '{"type": "hologram", "data": [1]}'
    assert len(trace.events) == 6
    assert (trace.model, trace.cwd) == ("gpt-5.2", "/a")
    assert set(trace.ignored) == {
        "ghost_snapshot",
        "world_state",
        "turn_context",
        "new_kind",
        "event_msg/thread_goal_updated",
        "event_msg/untyped",
    }


def test_instructions_of_the_session_stand_first_unless_a_message_repeats_them():
    meta = {"type": "session_meta", "payload": {"base_instructions": {"text": "Be brief."}, "instructions": "tabs"}}
    alone = load(meta, says("user", "Hi"))
    assert [e["content"] for e in alone.events] == ["Be brief.", "tabs", "Hi"]
    assert alone.events[0]["origin"] == {"line": 1, "path": "base_instructions"}
    repeated = load(meta, says("user", "<user_instructions>\ntabs\n</user_instructions>"), says("user", "Hi"))
    assert [e["content"] for e in repeated.events][:1] == ["Be brief."]
    assert len(repeated.events) == 3


def test_a_damaged_payload_is_reported_with_its_line():
    trace = load(META, {"type": "response_item", "payload": "text"}, says("user", "Hi"))
    assert [(p.line, p.text) for p in trace.problems] == [
        (2, "field 'payload' is a string, expected an object (skipped)")
    ]
    assert [e["content"] for e in trace.events] == ["Hi"]


# sessions of the first half of 2025, and drifted ones


def test_an_old_session_of_bare_items_is_read_alike():
    trace = load(
        {"id": "o1", "timestamp": "2025-06-01T00:00:00Z", "instructions": "tabs", "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]},
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": None},
        {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "a"},
    )
    assert [e["type"] for e in trace.events] == ["constraint", "requirement", "tool_call", "tool_result"]
    assert trace.extra["session_id"] == "o1"
    assert trace.ignored == {"state record": 1, "encrypted reasoning": 1}
    assert trace.events[0]["timestamp"] == trace.events[-1]["timestamp"] == 1748736000000


def test_flat_records_with_calls_are_paired_by_order():
    trace = load(
        {"created_at": "2025-09-10T12:00:00Z", "role": "user", "message": "Say hello"},
        {"created_at": "2025-09-10T12:00:01Z", "type": "function_call", "function": {"name": "say"}, "arguments": {}},
        {"created_at": "2025-09-10T12:00:01Z", "type": "function_result", "name": "say", "result": "hola"},
        {"timestamp": "2025-09-10T12:00:03Z", "type": "error", "text": "x"},
    )
    assert [e["type"] for e in trace.events] == ["requirement", "tool_call", "tool_result"]
    assert (trace.events[2]["call_id"], trace.events[2]["result"]) == (trace.events[1]["id"], "hola")
    assert trace.events[1]["tool_name"] == "say"
    assert trace.ignored == {"error": 1}
