"""Claude Code project folders: which files are read together, and how subagents are linked to their sessions."""

from __future__ import annotations

import io
import json
import random
import zipfile

import pytest
from claude_code_records import call, check, forked, jsonl, line, load_folder, of, result, says, user
from importer_checks import CORPUS, cut_and_flipped, needs_corpus, survive, with_other_types

from context_gc.importers import Grouping, claude_code
from context_gc.importers.claude_code.files import groups
from context_gc.importers.files.decode import decode
from context_gc.load import load_trace, load_traces

A, B, C = (f"{letter * 8}-0000-4000-8000-000000000000" for letter in "abc")


def folder(root, files):
    traces = load_folder(root, files)
    for trace in traces:
        check(trace)
    return traces


def started(agent, uuid="r1", parent="a1", name="t1"):
    return user(uuid, parent, [result(name)], toolUseResult={"agentId": agent, "status": "completed"})


MAIN = of(A, user("u1", None, "Go"), says("a1", "u1", call("t1", "Task", description="Look around")), started("x1"))
AGENT = of(A, user("x", None, "Look"), says("y", "x", "Found"), isSidechain=True, agentId="x1")


# which files belong together


def test_the_format_groups_files():
    assert isinstance(claude_code, Grouping)


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([f"{A}.jsonl"], []),
        (["notes.jsonl", "agent-x.jsonl", "other.jsonl"], []),
        ([f"{A}.jsonl", f"{B}.jsonl"], [(f"{A}.jsonl", f"{B}.jsonl")]),
        (["s.jsonl", "s/subagents/agent-x.jsonl"], [("s.jsonl", "s/subagents/agent-x.jsonl")]),
        (["s.jsonl", "t/subagents/agent-x.jsonl"], [("t/subagents/agent-x.jsonl",)]),
        (["subagents/agent-x.meta.json", "subagents/agent-x.jsonl"],
         [("subagents/agent-x.meta.json", "subagents/agent-x.jsonl")]),
        ([f"p/{A}.jsonl", "p/agent-x.jsonl", "p/todo.json"], [(f"p/{A}.jsonl", "p/agent-x.jsonl")]),
        ([f"p/{A}.jsonl", f"q/{B}.jsonl", f"q/{C}.jsonl"], [(f"q/{B}.jsonl", f"q/{C}.jsonl")]),
        ([f"{A}.jsonl", f"{A}/subagents/workflows/w/agent-x.jsonl", f"{A}/tool-results/b.txt"],
         [(f"{A}.jsonl", f"{A}/subagents/workflows/w/agent-x.jsonl")]),
    ],
)  # fmt: skip
def test_names_alone_say_what_is_read_together(paths, found):
    assert groups(paths) == found


# subagents


@pytest.mark.parametrize("place", [f"{A}/subagents/agent-x1.jsonl", "agent-x1.jsonl"])
def test_a_subagent_is_linked_to_the_call_that_started_it(tmp_path, place):
    main, child = folder(tmp_path, {f"{A}.jsonl": MAIN, place: AGENT})
    assert main.events[2]["agent_id"] == child.extra["agent_id"] == "x1"
    assert child.extra["parent"] == {"session": A, "event": "t1"}
    assert child.title == "subagent x1: Look around"
    assert (main.source, child.source) == (f"{A}.jsonl", place)
    assert "subagents_elsewhere" not in main.extra


def test_an_archive_is_read_like_its_folder():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, records in {f"{A}.jsonl": MAIN, f"{A}/subagents/agent-x1.jsonl": AGENT}.items():
            archive.writestr(path, jsonl(records))
    _, child = load_traces(packed.getvalue())
    assert child.extra["parent"] == {"session": A, "event": "t1"}


def test_sessions_come_with_their_own_subagents_behind_them(tmp_path):
    other = of(B, user("v1", None, "Go too"), says("b1", "v1", call("t1", "Task")), started("x2", "s1", "b1"))
    traces = folder(
        tmp_path,
        {
            f"{A}.jsonl": MAIN,
            f"{B}.jsonl": other,
            "agent-x1.jsonl": AGENT,
            "agent-x2.jsonl": of(B, user("z", None, "Look"), isSidechain=True, agentId="x2"),
        },
    )
    assert [trace.extra.get("agent_id", trace.extra["session_id"]) for trace in traces] == [A, "x1", B, "x2"]
    assert traces[3].extra["parent"] == {"session": B, "event": "t1"}


def test_a_subagent_of_a_subagent_names_both(tmp_path):
    inner = of(A, user("i", None, "Deeper"), isSidechain=True, agentId="x2")
    calls = of(A, says("y2", "y", call("t9", "Task")), started("x2", "y3", "y2", "t9"), isSidechain=True, agentId="x1")
    *_, last = folder(
        tmp_path,
        {
            f"{A}.jsonl": MAIN,
            f"{A}/subagents/agent-x1.jsonl": AGENT + calls,
            f"{A}/subagents/agent-x2.jsonl": inner,
        },
    )
    assert last.extra["parent"] == {"session": A, "event": "t9", "agent_id": "x1"}


def test_progress_tells_who_started_a_subagent_that_has_not_ended(tmp_path):
    progress = line("progress", "p1", "a1", data={"type": "agent_progress", "agentId": "x1"}, parentToolUseID="t1")
    _, child = folder(tmp_path, {f"{A}.jsonl": MAIN[:2] + of(A, progress), f"{A}/subagents/agent-x1.jsonl": AGENT})
    assert child.extra["parent"] == {"session": A, "event": "t1"}


def test_a_description_names_the_call_and_the_kind(tmp_path):
    about = {"agentType": "Explore", "description": "Look there", "toolUseId": "t1"}
    _, child = folder(
        tmp_path,
        {
            f"{A}.jsonl": of(A, user("u1", None, "Go"), says("a1", "u1", call("t1", "Task"))),
            f"{A}/subagents/agent-x1.jsonl": AGENT,
            f"{A}/subagents/agent-x1.meta.json": json.dumps(about, indent=1),
        },
    )
    assert child.extra["parent"] == {"session": A, "event": "t1"}
    assert (child.extra["agent_type"], child.title) == ("Explore", "subagent x1: Look there")


def test_the_only_call_with_its_prompt_started_a_subagent_in_the_same_file():
    records = of(
        A, user("u1", None, "Go"), says("a1", "u1", call("t1", "Task", prompt="Look")),
        user("x", None, "Look", isSidechain=True),
    )  # fmt: skip
    traces = load_traces(jsonl(records))
    assert traces[1].extra["parent"] == {"session": A, "event": "t1"}


def test_a_subagent_that_names_another_session_is_linked_by_its_own_id(tmp_path):
    _, child = folder(tmp_path, {f"{A}.jsonl": MAIN, f"{A}/subagents/agent-x1.jsonl": of(B, *AGENT)})
    assert child.extra["parent"] == {"session": A, "event": "t1"}


def test_a_link_that_cannot_be_found_is_not_made_up(tmp_path):
    twice = says("a1", "u1", call("t1", "Task", prompt="Look"), call("t2", "Task", prompt="Look"))
    _, child = folder(
        tmp_path, {f"{A}.jsonl": of(A, user("u1", None, "Go"), twice), f"{A}/subagents/agent-x1.jsonl": AGENT}
    )
    assert child.extra["parent"] == {"session": A}
    assert child.title == "subagent x1: Look"


def test_the_agent_that_summarises_is_marked(tmp_path):
    lines = of(A, user("x", None, "Sum up"), isSidechain=True, agentId="acompact-e1")
    _, child = folder(tmp_path, {f"{A}.jsonl": MAIN[:1], f"{A}/subagents/agent-acompact-e1.jsonl": lines})
    assert (child.extra["role"], child.title) == ("summariser", "summariser acompact-e1: Sum up")


def test_a_session_without_its_subagents_says_which():
    main = load_trace(jsonl(MAIN))
    assert main.extra["subagents_elsewhere"] == ["x1"]
    assert main.problems == []


def test_subagents_without_their_session_are_read(tmp_path):
    (child,) = folder(tmp_path, {f"{A}/subagents/agent-x1.jsonl": AGENT})
    assert child.extra["parent"] == {"session": A}


# what is damaged, or something else


def test_problems_stand_with_the_file_that_they_are_in(tmp_path):
    first, second = folder(tmp_path, {f"{A}.jsonl": of(A, user("u1", None, "a")), f"{B}.jsonl": json.dumps(
        of(B, user("v1", None, "b"))[0]) + "\n{"})  # fmt: skip
    assert (first.problems, [problem.line for problem in second.problems]) == ([], [2])


def test_a_file_of_another_format_is_read_as_what_it_is(tmp_path):
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    ours, other = load_folder(tmp_path, {f"{A}.jsonl": MAIN, f"{B}.jsonl": chat})
    assert (ours.format, other.format) == ("claude-code", "role-content")


def test_a_file_of_no_format_is_a_problem(tmp_path):
    (trace,) = folder(
        tmp_path, {f"{A}.jsonl": MAIN, f"{B}.jsonl": [{"a": 1}], f"{A}/subagents/agent-x1.meta.json": "["}
    )
    assert sorted(problem.text for problem in trace.problems) == [
        f"{A}/subagents/agent-x1.meta.json: it describes no subagent (left out)",
        f"{B}.jsonl: it is of no known format (left out)",
    ]


def survive_group(files):
    """Damaged files of one group: sound traces, or an error of ours."""
    survive(lambda _: claude_code.read_group([decode(data, path) for path, data in files.items() if data.strip()]), b"")


GROUP = {
    f"{A}.jsonl": MAIN,
    f"{B}.jsonl": forked(B, A, *MAIN) + of(B, user("u2", "r1", "And now"), says("a2", "u2", "Yes")),
    f"{A}/subagents/agent-x1.jsonl": AGENT,
    f"{A}/subagents/agent-x1.meta.json": [{"toolUseId": "t1", "description": "Look", "agentType": "Explore"}],
}


@pytest.mark.parametrize("path", GROUP, ids=["main", "fork", "agent", "description"])
def test_a_group_with_a_damaged_file_gives_sound_traces_or_our_error(path):
    files = {name: jsonl(records) for name, records in GROUP.items()}
    for damaged in cut_and_flipped(files[path], 60):
        survive_group(files | {path: damaged})
    for records in with_other_types(GROUP[path], 150):
        if type(records) is list:
            survive_group(files | {path: jsonl(records)})


@needs_corpus
@pytest.mark.parametrize("name", ["spotter-8463c716", "spotter-4d5611e5"])
def test_a_real_group_with_damaged_files_gives_sound_traces_or_our_error(name):
    root = CORPUS / "claude_code"
    files = {f"{name}.jsonl": (root / f"{name}.jsonl").read_bytes()}
    files |= {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / name).rglob("*.jsonl")}
    chance = random.Random(name)
    for _ in range(3):
        damaged = {}
        for path, data in files.items():
            broken = bytearray(data[: chance.randrange(1, len(data))])
            for _ in range(40):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            damaged[path] = bytes(broken)
        survive_group(damaged)
