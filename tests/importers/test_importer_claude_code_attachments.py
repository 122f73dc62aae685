"""Claude Code attachments: what the model saw of them, and whether it may be pruned."""

from __future__ import annotations

import json

import pytest
from claude_code_records import line, load, says, user

from context_gc.importers.claude_code.attachments import INFORMATION, INSTRUCTIONS, UNSEEN
from context_gc.semantics import FileRead, semantics


def attach(kind, **fields):
    return load(
        user("u1", None, "Go"),
        line("attachment", "x1", "u1", attachment={"type": kind, **fields}),
        says("a1", "x1", "Done"),
    )


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"type": "nested_memory", "path": "/p/CLAUDE.md", "content": {"content": "Use tabs"}}, "Use tabs"),
        ({"type": "hook_additional_context", "hookName": "Stop", "content": ["a", "b"]}, "Stop:\na\nb"),
        ({"type": "hook_blocking_error", "hookName": "Stop", "blockingError": {"blockingError": "no"}}, "Stop:\nno"),
        ({"type": "critical_system_reminder", "content": "Never push"}, "Never push"),
        ({"type": "plan_mode", "reminderType": "full"}, 'plan_mode {"reminderType": "full"}'),
        ({"type": "auto_mode"}, "auto_mode"),
    ],
)
def test_instructions_bind(fields, content):
    event = attach(fields.pop("type"), **fields).events[1]
    assert (event["type"], event["content"], event["tags"]) == ("constraint", content, ["system"])


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"type": "edited_text_file", "filename": "/p/a.py", "snippet": "1 x"}, "/p/a.py:\n1 x"),
        ({"type": "selected_lines_in_ide", "filename": "a.py", "lineStart": 1, "content": "x"}, "a.py:\nx"),
        ({"type": "todo_reminder", "content": [{"content": "x"}]}, 'todo_reminder {"content": [{"content": "x"}]}'),
        ({"type": "skill_listing", "content": "- review: …"}, "- review: …"),
        ({"type": "deferred_tools_delta", "addedLines": ["A", "B"]}, "A\nB"),
        ({"type": "diagnostics", "files": [{"uri": "a"}]}, 'diagnostics {"files": [{"uri": "a"}]}'),
        ({"type": "hook_success", "hookEvent": "SessionStart", "hookName": "SessionStart", "content": "Hi"},
         "SessionStart:\nHi"),
    ],
)  # fmt: skip
def test_information_may_be_pruned(fields, content):
    event = attach(fields.pop("type"), **fields).events[1]
    assert (event["type"], event["content"], event["tags"]) == ("decision", content, ["attachment"])


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("command_permissions", {"allowedTools": ["Bash"]}),
        ("hook_success", {"hookEvent": "PostToolUse", "content": "formatted"}),
        ("hook_success", {"hookEvent": "SessionStart", "content": "", "stdout": "{}"}),
        ("todo_reminder", {"content": [], "itemCount": 0}),
        ("deferred_tools_delta", {"addedNames": [], "addedLines": []}),
    ],
)
def test_what_the_model_did_not_see_is_counted(kind, fields):
    trace = attach(kind, **fields)
    assert [event["id"] for event in trace.events] == ["u1", "a1"]
    assert trace.ignored == {f"attachment/{kind}": 1}


def test_a_kind_that_is_not_known_is_kept_as_it_is():
    event = attach("hologram", data=[1]).events[1]
    assert (json.loads(event["content"]), event["tags"]) == ({"type": "hologram", "data": [1]}, ["opaque"])


def test_a_file_that_the_user_pointed_to_is_a_read_of_it():
    file = {"filePath": "/p/a.py", "content": "x = 1\n", "numLines": 1, "startLine": 1, "totalLines": 1}
    event = attach("file", filename="/p/a.py", content={"type": "text", "file": file}).events[1]
    assert (event["type"], event["path"], event["text"]) == ("file_read", "/p/a.py", "x = 1\n")
    assert event["tags"] == ["attachment"]
    assert semantics(event) == FileRead("/p/a.py")


@pytest.mark.parametrize(("more", "truncated"), [({"startLine": 5}, False), ({"totalLines": 9}, False), ({}, True)])
def test_a_part_of_a_file_is_a_partial_read(more, truncated):
    file = {"filePath": "a", "content": "x\ny", "numLines": 2, "startLine": 1, "totalLines": 2, **more}
    event = attach("file", content={"type": "text", "file": file}, truncated=truncated).events[1]
    assert semantics(event) == FileRead("a", more.get("startLine", 1), 2)


def test_a_file_that_is_an_image_is_information():
    event = attach("file", filename="a.png", content={"type": "image", "file": {"type": "image/png"}}).events[1]
    assert event["tags"] == ["attachment"]


@pytest.mark.parametrize(
    ("more", "kind", "tags"),
    [
        ({"commandMode": "prompt"}, "requirement", ["user"]),
        ({"commandMode": "prompt", "origin": {"kind": "human"}}, "requirement", ["user"]),
        ({"commandMode": "task-notification"}, "decision", ["notification"]),
        ({"commandMode": "prompt", "origin": {"kind": "peer"}}, "decision", ["notification"]),
        ({"isMeta": True}, "constraint", ["system"]),
    ],
)
def test_only_what_a_person_queued_is_theirs(more, kind, tags):
    event = attach("queued_command", prompt="and the docs", **more).events[1]
    assert (event["type"], event["content"], event["tags"]) == (kind, "and the docs", tags)


def test_a_message_that_says_it_comes_from_elsewhere_is_not_the_users():
    trace = load(user("u1", None, "Go"), user("u2", "u1", "I am done", origin={"kind": "peer"}))
    assert [event["type"] for event in trace.events] == ["requirement", "decision"]


def test_each_kind_is_on_one_list():
    assert len(INSTRUCTIONS | INFORMATION | UNSEEN) == len(INSTRUCTIONS) + len(INFORMATION) + len(UNSEEN)
