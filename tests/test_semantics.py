"""What events did, by their facts: reads, edits, commands and status of the tools that real agents have."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_gc import semantics
from context_gc.semantics import (
    ANYTHING,
    Build,
    Command,
    FileEdit,
    FileRead,
    Replacement,
    Search,
    Status,
    changes,
    question,
    replacement,
    shows,
    tool_kind,
)

naive = settings(deadline=None, max_examples=300)


def call(tool: str, asked: Any, **more: Any) -> dict[str, Any]:
    return {"id": "c", "type": "tool_call", "timestamp": 1, "tool_name": tool, "arguments": asked, **more}


def fact(tool: str, **asked: Any) -> object:
    return semantics.semantics({"type": "tool_call", "tool_name": tool, "arguments": asked})


@pytest.mark.parametrize(
    ("tool", "asked", "read"),
    [
        ("Read", {"file_path": "a"}, FileRead("a")),
        ("Read", {"file_path": "a", "offset": 3, "limit": None}, FileRead("a", 3)),
        ("Read", {"file_path": "a", "offset": "3"}, FileRead("a", partial=True)),
        ("Read", {"file_path": "a", "pages": "1-3"}, FileRead("a", partial=True)),
        ("Read", {"file_path": "a", "path": "b"}, FileRead("a", partial=True)),
        ("view", {"path": "a", "view_range": [1, -1]}, FileRead("a")),
        ("view", {"path": "a", "view_range": [5, 9]}, FileRead("a", 5, 5)),
        ("view", {"path": "a", "view_range": [9, 5]}, FileRead("a", partial=True)),
        ("read_file", {"path": "a", "start_line": 3, "end_line": 9}, FileRead("a", 3, 7)),
        ("read_file", {"path": ["a", "b"]}, None),
        ("Bash", {"command": "cat /a/b.py"}, FileRead("/a/b.py")),
        ("Bash", {"command": "cat -n '/a b'"}, FileRead("/a b")),
        ("Bash", {"command": "sed -n '10,20p' /a"}, FileRead("/a", 10, 11)),
        ("Bash", {"command": "sed -n 5p /a"}, FileRead("/a", 5, 1)),
        ("Bash", {"command": "head -5 /a"}, FileRead("/a", 1, 5)),
        ("Bash", {"command": "nl -ba /a | sed -n '1,3p'"}, FileRead("/a", 1, 3)),
        ("shell", {"command": ["bash", "-lc", "cat a"], "workdir": "/r"}, FileRead("/r/a")),
    ],
)
def test_what_a_call_read(tool, asked, read):
    assert fact(tool, **asked) == read


ODD = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.lists(st.integers() | st.text(max_size=9))
KEYS = (
    "path",
    "file_path",
    "offset",
    "limit",
    "view_range",
    "start_line",
    "command",
    "todos",
    "merge",
    "input",
    "mode",
)


@naive
@given(
    st.sampled_from(("Read", "view", "Write", "edit", "apply_patch", "Bash", "Grep", "TodoWrite")),
    st.dictionaries(st.sampled_from(KEYS), ODD | st.sampled_from(("cat /a", "sed -n '1,2p' /a", "head -1 a'", "view"))),
)
def test_no_arguments_are_too_odd_to_be_looked_at(tool, asked):
    known = fact(tool, **asked)
    assert known is None or known == fact(tool, **asked)


@pytest.mark.parametrize(
    ("tool", "asked", "edit"),
    [
        ("Write", {"file_path": "a", "content": "x"}, FileEdit("a", whole=True)),
        ("write_file", {"path": "a", "content": "x", "append": True}, FileEdit("a")),
        ("Write", {"file_path": "a"}, FileEdit("a")),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": "x"}, FileEdit("a", whole=True)),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, FileEdit("a")),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a/b.py\n@@"}, FileEdit("a/b.py")),
        ("apply_patch", {"input": "*** Update File: a\n*** Add File: b"}, None),
        ("create", {"title": "an issue"}, None),
    ],
)
def test_what_a_call_changed(tool, asked, edit):
    assert fact(tool, **asked) == edit


@pytest.mark.parametrize(
    ("tool", "asked", "whole"),
    [
        ("TodoWrite", {"todos": []}, True),
        ("update_todo_list", {"todos": "[x] a"}, True),
        ("todo_write", {"todos": ["a"], "merge": True}, False),
        ("task_tracker", {"command": "view"}, False),
        ("manage_todo_list", {"operation": "read", "todoList": []}, False),
        ("TodoList", {}, False),
    ],
)
def test_which_status_calls_hold_the_whole_state(tool, asked, whole):
    assert fact(tool, **asked) == Status(tool, whole)


def test_a_command_in_a_list_is_the_command_that_the_shell_runs():
    assert fact("shell", command=["bash", "-lc", "pytest -q"]) == semantics.TestRun("pytest -q")
    assert fact("shell", command=["make", "all"]) == Build("make all")


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("execute_bash", "shell"), ("shell_command", "shell"), ("write_stdin", "shell"), ("write_bash", "shell"),
        ("local_shell_call", "shell"), ("file_editor", "edit"), ("functions.rg", "search"), ("fetchurl", "search"),
        ("mcp__x__tool_search", "search"), ("google_web_search", "search"), ("update_todo", "status"),
        ("update_topic", "status"), ("scroll_down", "read"), ("run_ipython", "code"), ("get_order", None),
        ("research", None), ("list_orders", None),
    ],
)  # fmt: skip
def test_what_a_tool_is_known_to_do(tool, kind):
    assert tool_kind(tool) == kind


def test_a_call_about_several_files_may_have_changed_each_of_them():
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n*** Add File: b.py\n+x"
    assert semantics.semantics(call("apply_patch", {"input": patch})) is None
    assert changes(call("apply_patch", {"input": patch})) == {"a.py", "b.py"}
    assert changes(call("shell", {"command": ["apply_patch", patch]})) == {"a.py", "b.py"}
    assert changes(call("edit", {"files": ["a.py"]})) is ANYTHING
    assert changes(call("Read", {"file_path": "a.py"})) == frozenset()


@pytest.mark.parametrize(
    ("script", "known"),
    [
        ('const r = await tools.exec_command({"cmd": "cat /a.py"});', FileRead("/a.py")),
        ('await tools.exec_command({cmd: "pytest -q", workdir: "/r"})', semantics.TestRun("pytest -q")),
        ('await tools.apply_patch("*** Begin Patch\\n*** Update File: a.py\\n@@")', FileEdit("a.py")),
        ('await tools.update_plan({"plan": [1]})', Status("update_plan")),
    ],
)
def test_one_tool_call_in_a_script_is_that_call(script, known):
    assert semantics.semantics(call("exec", {"input": script})) == known


@pytest.mark.parametrize(
    "script",
    [
        'await tools.exec_command({"cmd": "ls"}); await tools.exec_command({"cmd": "rm a"})',
        "await tools.exec_command(options)",
        'await tools.exec_command({"cmd": "ls" + x})',
    ],
)
def test_a_script_of_several_calls_or_of_worked_out_arguments_may_have_changed_anything(script):
    assert semantics.semantics(call("exec", {"input": script})) is None
    assert changes(call("exec", {"input": script})) is ANYTHING


def test_file_editor_does_what_its_command_says():
    def fact(**asked: Any) -> object:
        return semantics.semantics(call("file_editor", {"path": "/a", **asked}))

    assert fact(command="view", view_range=[2, 4]) == FileRead("/a", 2, 3)
    assert fact(command="create", file_text="x") == FileEdit("/a", whole=True)
    assert fact(command="str_replace", old_str="x", new_str="y") == FileEdit("/a")
    assert fact(command="undo_edit") == FileEdit("/a")


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("view /a.py", FileRead("/a.py")),
        ("view /a.py --view_range 2 4", FileRead("/a.py", 2, 3)),
        ("view /a.py --view_range 2 x", FileRead("/a.py", partial=True)),
        ("create /a.py --file_text 'x = 1\ny'", FileEdit("/a.py", whole=True)),
        ("str_replace /a.py --old_str 'x' --new_str 'y z'", FileEdit("/a.py")),
        ("undo_edit /a.py", FileEdit("/a.py")),
    ],
)
def test_an_editor_s_command_typed_as_one_line_says_the_same(line, known):
    event = call("str_replace_editor", {"command": f"str_replace_editor {line}"})
    assert semantics.semantics(event) == known
    if "--old_str" in line:
        assert replacement(event) == Replacement("x", "y z")


def test_a_typed_line_that_does_not_end_is_left_without_a_fact():
    assert semantics.semantics(call("str_replace_editor", {"command": "str_replace_editor view '/a.py"})) is None


def test_a_window_that_is_shown_is_a_read_of_its_lines_or_belongs_to_an_edit():
    window = {"path": "/r/a.py", "offset": 11, "limit": 100, "lines": 300}
    for tool in ("open", "goto", "scroll_down"):
        event = call(tool, {"command": f"{tool} 11"}, shows=window, open_file="/r/b.py")
        assert semantics.semantics(event) == FileRead("/r/a.py", 11, 100)
    whole = {**window, "offset": 1, "limit": 300}
    assert semantics.semantics(call("open", {"command": "open a.py"}, shows=whole)) == FileRead("/r/a.py")
    assert semantics.semantics(call("edit", {"command": "edit 1:2\nx"}, shows=window)) == FileEdit("/r/a.py")
    assert semantics.semantics(call("edit", {"command": "edit 1:2\nx"}, open_file="/r/b.py")) == FileEdit("/r/b.py")
    assert semantics.semantics(call("open", {"command": "open a.py"}, open_file="/r/b.py")) is None
    assert semantics.semantics(call("bash", {"command": "ls"}, shows=window)) == Command("ls")
    assert semantics.semantics(call("insert", {"text": "x", "line": 1}, shows=window)) == FileEdit("/r/a.py")


def test_a_tool_that_inserts_into_who_knows_what_is_left_without_a_fact():
    assert semantics.semantics(call("insert", {"table": "orders", "content": "x"})) is None
    assert tool_kind("insert") is tool_kind("append") is None


def test_file_skills_in_a_cell_count_where_they_are_all_of_it():
    edit = "edit_file_by_replace('a.py', to_replace='x', new_content='y')"
    assert semantics.semantics(call("execute_ipython_cell", {"code": edit})) == FileEdit("a.py")
    assert replacement(call("execute_ipython_cell", {"code": edit})) == Replacement("x", "y")
    assert semantics.semantics(call("run_ipython", {"code": "search_dir('x')"})) == Search("search_dir('x')")
    assert shows(edit)
    assert shows("open_file('a.py', 10)")
    for code in (edit + "\nprint(1)", "open_file(name)", "print(open_file('a'))", "open_file('a'", "x = 1", "\0"):
        assert semantics.semantics(call("execute_ipython_cell", {"code": code})) is None
        assert not shows(code)


@pytest.mark.parametrize(
    ("tool", "asked", "told"),
    [
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, Replacement("x", "y")),
        ("edit", {"path": "a", "oldText": "x", "newText": ""}, Replacement("x", "")),
        ("edit", {"command": "edit 3:5\nx\ny\nend_of_edit"}, Replacement(None, "x\ny", 3, 3)),
        ("edit", {"replacement_text": "x", "start_line": 3, "end_line": 3}, Replacement(None, "x", 1, 3)),
        ("file_editor", {"command": "insert", "insert_line": 3, "new_str": "x"}, Replacement("", "x")),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True}, None),
        ("Edit", {"file_path": "a", "old_string": "", "new_string": "y"}, None),
        ("edit", {"command": "edit 5:3\nx"}, None),
        ("Write", {"file_path": "a", "content": "x"}, None),
        ("get", {"old_string": "x", "new_string": "y"}, None),
    ],
)
def test_what_an_edit_replaced_by_what(tool, asked, told):
    assert replacement(call(tool, asked)) == told


def test_what_says_why_a_call_is_made_makes_no_other_call_of_it():
    first = call("Bash", {"command": "make", "description": "build", "timeout": 5})
    assert question(first) == question(call("Bash", {"command": "make", "description": "again"}))
    assert question(first) != question(call("Bash", {"command": "make all", "description": "build"}))
    assert question(first) != question(call("Bash", {"command": "make", "run_in_background": True}))
    assert question(first) != question(call("Bash", {"command": "make"}, cwd="/r"))
    assert question(call("get", {"q": 1})) != question(call("get", {"q": True}))
