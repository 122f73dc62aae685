"""convert and validate: where files go, what is told of what was lost, and what untrusted text cannot do."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from claude_code_records import call, result, says, user

from context_gc import load_trace, load_traces
from context_gc.cli import main

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_traces"
CLAUDE = str(SAMPLES / "claude-code-session.jsonl")
TOUR = str(SAMPLES / "tour.json")


@pytest.fixture
def told(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder; gives its exit code, its output and its complaints."""
    monkeypatch.chdir(tmp_path)

    def tell(*arguments):
        code = main(arguments)
        return code, *capsys.readouterr()

    return tell


@pytest.fixture
def two(tmp_path):
    """A file with two traces, the second not a subagent's."""
    rows = [[{"role": "system", "content": "s"}, {"role": "user", "content": name}] for name in ("one", "two")]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps({"messages": row}) for row in rows), "utf-8")
    return str(path)


# where it goes


def test_a_jsonl_name_means_native_and_reading_it_gives_the_same_events(told):
    assert told("convert", CLAUDE, "out.jsonl") == (0, "", "")
    assert load_trace("out.jsonl").events == load_trace(CLAUDE).events


def test_a_name_that_does_not_tell_the_format_is_refused_before_anything_is_read(told):
    code, out, said = told("convert", "gone.jsonl", "out.json")
    assert (code, out) == (2, "")
    assert "out.json: its name does not tell the format (give --to, one of native, atif, openai-chat," in said


def test_a_file_that_is_there_is_not_replaced_unless_forced(told):
    Path("out.jsonl").write_text("mine", "utf-8")
    code, _, said = told("convert", CLAUDE, "out.jsonl")
    assert (code, Path("out.jsonl").read_text("utf-8")) == (2, "mine")
    assert "out.jsonl: it is there already (give --force to replace it)" in said
    assert told("convert", CLAUDE, "out.jsonl", "--force")[0] == 0
    assert load_trace("out.jsonl").format == "native"


def test_a_link_that_leads_nowhere_counts_as_there(told):
    os.symlink("nowhere", "out.jsonl")
    assert told("convert", CLAUDE, "out.jsonl")[0] == 2
    assert not Path("nowhere").exists()


def test_nothing_is_written_when_one_of_several_names_is_taken(two, told):
    Path("b-2.json").write_text("mine", "utf-8")
    assert told("convert", two, "b-{n}.json", "--to", "openai-chat")[0] == 2
    assert not Path("b-1.json").exists()


def test_several_traces_go_into_one_native_file(two, told):
    assert told("convert", two, "out.jsonl")[0] == 0
    assert [trace.events for trace in load_traces("out.jsonl")] == [trace.events for trace in load_traces(two)]


@pytest.mark.parametrize("to", ["atif", "openai-chat", "anthropic-messages"])
def test_several_traces_do_not_fit_into_one_json_file_and_none_is_left_out(two, told, to):
    code, _, said = told("convert", two, "out.json", "--to", to)
    assert (code, Path("out.json").exists()) == (2, False)
    assert "one such file holds one trace, and there are 2 (name a folder or a .jsonl file, put {n}" in said


@pytest.mark.parametrize(
    ("out", "names"),
    [
        ("a/b-{n}.json", ["a/b-1.json", "a/b-2.json"]),
        ("folder/", ["folder/rows-1.json", "folder/rows-2.json"]),
        ("rows.out.jsonl", ["rows.out.jsonl"]),
    ],
)
def test_a_pattern_a_folder_or_lines_take_several_traces(two, told, out, names):
    assert told("convert", two, out, "--to", "openai-chat") == (0, "", "")
    written = (
        [json.loads(line) for name in names for line in Path(name).read_text("utf-8").splitlines(keepends=False)]
        if out.endswith(".jsonl")
        else [json.loads(Path(name).read_text("utf-8")) for name in names]
    )
    assert [each["messages"][1]["content"] for each in written] == ["one", "two"]


def test_one_trace_of_several_is_chosen_by_number(two, told):
    assert told("convert", two, "out.json", "--to", "openai-chat", "--trace", "2")[0] == 0
    assert json.loads(Path("out.json").read_text("utf-8"))["messages"][1]["content"] == "two"
    assert "there is no trace 3 (1 to 2)" in told("convert", two, "other.json", "--to", "atif", "--trace", "3")[2]


def test_subagents_go_into_the_trajectory_of_their_session(told, written):
    path = written([user("u1", None, "Main"), user("x1", None, "Aside", isSidechain=True, agentId="a1")])
    assert len(load_traces(path)) == 2
    assert told("convert", path, "out.json", "--to", "atif")[0] == 0
    assert [trace.events[0]["content"] for trace in load_traces("out.json")] == ["Main", "Aside"]


def test_a_file_is_readable_by_its_owner_alone_and_no_other_file_is_left(told):
    assert told("convert", TOUR, "out.jsonl")[0] == 0
    assert stat.S_IMODE(Path("out.jsonl").stat().st_mode) == 0o600
    assert os.listdir() == ["out.jsonl"]


def test_a_folder_that_cannot_be_written_is_told_in_one_line(told):
    Path("file").write_text("x", "utf-8")
    code, _, said = told("convert", TOUR, "file/out.jsonl")
    assert code == 2
    assert said.startswith("context-gc: file/out.jsonl: it cannot be written: ")
    assert len(said.splitlines()) == 1


# standard input and output


def run(*arguments, stdin=b"", head=None):
    command = [sys.executable, "-m", "context_gc.cli", *arguments]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        if head is None:
            out, said = process.communicate(stdin)
        else:
            process.stdin.close()
            out = process.stdout.read(head)
            process.stdout.close()
            said = process.stderr.read()
        process.wait()
    return process.returncode, out, said


def test_a_dash_reads_standard_input_and_writes_standard_output():
    code, out, said = run("convert", "-", "-", stdin=Path(CLAUDE).read_bytes())
    assert (code, said) == (0, b"")
    assert out == run("convert", CLAUDE, "-")[1]
    assert len(out.splitlines()) == len(load_trace(CLAUDE).events) + 1


def test_whoever_stops_reading_gets_no_complaint(tmp_path):
    path = tmp_path / "long.jsonl"
    event = {"id": "e", "type": "decision", "timestamp": 1, "content": "x" * 1000}
    path.write_text("\n".join(json.dumps(event | {"id": f"e{at}"}) for at in range(2000)), "utf-8")
    assert run("convert", str(path), "-", head=100)[::2] == (0, b"")


def test_several_documents_on_standard_output_are_lines(two, told):
    out = told("convert", two, "-", "--to", "atif")[1]
    assert [json.loads(line)["steps"][1]["message"] for line in out.splitlines()] == ["one", "two"]


# what is told


def test_what_a_format_cannot_hold_is_told_by_kind_with_its_count(told):
    code, _, said = told("convert", CLAUDE, "out.json", "--to", "atif")
    assert code == 0
    assert said.splitlines() == [
        "context-gc: not in atif: 1 × signatures of thinking",
        "context-gc: not in atif: 2 × abandons (their branches stand among the others)",
    ]


def test_what_could_not_be_read_is_told_as_well(told, written):
    event = {"id": "e", "type": "decision", "timestamp": 1, "content": "x"}
    path = written([event, {**event, "timestamp": -1}])
    assert told("convert", path, "out.jsonl") == (
        0,
        "",
        "context-gc: 1 problem in reading (see `context-gc validate`)\n",
    )


def test_compacted_messages_are_shorter_and_follow_the_policy(told, tmp_path):
    path = str(SAMPLES / "openai-chat-log.jsonl")
    whole = told("convert", path, "-", "--to", "openai-chat")[1]
    short = told("convert", path, "-", "--to", "openai-chat", "--compact")[1]
    assert "[RECEIPT" in short
    assert "[RECEIPT" not in whole
    (tmp_path / "policy.toml").write_text("stages = []\n", "utf-8")
    assert "[RECEIPT" not in told("convert", path, "-", "--to", "openai-chat", "--policy", "policy.toml")[1]


@pytest.mark.parametrize("to", ["native", "atif"])
def test_what_a_compaction_leaves_is_no_trace(told, to):
    code, _, said = told("convert", TOUR, "out.x", "--to", to, "--compact")
    assert code == 2
    assert f"--to {to}: what a compaction leaves is no trace (use a format of messages)" in said


# validate


def test_validate_tells_windows_calls_pairs_and_usage(told, written):
    asked = says("a1", "u1", call("t1", tool="Read", file_path="a"), call("t2", tool="Read", file_path="b"))
    path = written([user("u1", None, "First"), asked, user("r1", "a1", [result("t1", "text")])])
    out = told("validate", path)[1]
    assert "  1 context window, 1 model call, 2 tool calls (1 answered, 1 without a result)" in out


def test_validate_as_json_has_the_same_and_where_problems_are(told, written):
    event = {"id": "e", "type": "decision", "timestamp": 1, "content": "x"}
    code, out, _ = told("validate", written([event, {**event, "timestamp": -1}, 7]), "--json")
    value = json.loads(out)
    assert code == 1
    assert (value["records_read"], value["records_reported"], value["problems"]) == (1, 2, 2)
    (trace,) = value["traces"]
    assert [problem["line"] for problem in trace["problems"]] == [2, 3]
    assert (trace["format"], trace["types"], trace["model_calls"]) == ("native", {"decision": 1}, 1)


def test_validate_of_a_good_file_as_json_ends_with_0(told):
    code, out, _ = told("validate", CLAUDE, "--json")
    value = json.loads(out)["traces"][0]
    assert code == 0
    assert (value["tool_calls"], value["answered"], value["usage_reports"]) == (16, 16, 17)
    assert value["windows"] == [{"start": 0, "stop": 44, "opened_by": "start", "tokens_before": None}]


def test_validate_reads_a_file_as_the_format_that_is_named(told):
    path = str(SAMPLES / "role-content.jsonl")
    assert "trace 1: role-content" in told("validate", path)[1]
    assert "trace 1: openai-chat" in told("validate", path, "--format", "openai-chat")[1]
    assert "'nothing' is no format" in told("validate", path, "--format", "nothing")[2]


EVIL = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202egnp.exe \r\x00"


@pytest.mark.parametrize("more", [(), ("--json",)], ids=str)
def test_text_of_a_trace_cannot_steer_the_terminal(told, more, tmp_path):
    event = {"id": EVIL, "type": "decision", "timestamp": 1, "content": EVIL, "parent_id": "gone" + EVIL}
    path = tmp_path / "evil.json"
    path.write_text(json.dumps({"title": EVIL, "events": [event, {**event, "type": EVIL}]}), "utf-8")
    code, out, said = told("validate", str(path), *more)
    assert code == 1
    assert "owned" in out
    assert all(each.isprintable() for line in (out + said).split("\n") for each in line)


def test_neither_can_the_name_of_a_file(told):
    code, _, said = told("validate", "gone\x1b[2J.json")
    assert code == 2
    assert "\x1b" not in said


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_json_that_goes_to_a_terminal_is_equal_and_has_no_hidden_characters(monkeypatch, told, written):
    path = written([{"id": "e", "type": "decision", "timestamp": 1, "content": EVIL}])
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    assert main(["convert", path, "-"]) == 0
    (line,) = shown.getvalue().splitlines()
    assert line.isprintable()
    assert json.loads(line)["content"] == EVIL


def test_half_of_a_surrogate_pair_is_written_as_its_escape(told, written):
    path = written([{"id": "e", "type": "decision", "timestamp": 1, "content": "\ud800"}])
    assert told("convert", path, "out.jsonl")[0] == 0
    assert load_trace("out.jsonl").events[0]["content"] == "\ud800"
