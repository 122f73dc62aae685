"""The command line: what each command prints, what it says about bad input, and with which exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from claude_code_records import boundary, call, result, says, user

from context_gc import compact_events, load_trace
from context_gc.cli import main

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_traces"
TOUR = str(SAMPLES / "tour.json")
CODING = str(SAMPLES / "coding_agent.json")
NATIVE = sorted(path.name for path in SAMPLES.glob("*.json"))
CLUSTER = "cluster_8604fa1f9845"
PRUNE = re.compile(
    r"PRUNE (\S.*?) \| Reason: (\S.*) \| Prompt impact: ([+-][\d,]+) tokens \| Recoverable: (yes|no)", re.ASCII
)
PROTECT = re.compile(
    r"PROTECT (\S.*?) \| Reason: (\S[^|]*?)(?: \| Prompt impact: (\+[\d,]+) tokens \(a mark\))?", re.ASCII
)
TOTAL = re.compile(r"TOTAL ([\d,]+) of ([\d,]+) events \| ([\d,]+) -> ([\d,]+) tokens \(([+-][\d,]+)\)", re.ASCII)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def variable(name: str, value: Any, timestamp: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "set_var", "timestamp": timestamp, "key": "k", "value": value, **more}


@pytest.fixture
def told(capsys):
    """Run a command in this process; gives its exit code, its output and its complaints."""

    def tell(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capsys.readouterr()

    return tell


# compact


@pytest.mark.parametrize("name", NATIVE)
def test_compact_prints_the_prompt(name, told):
    prompt = compact_events(load_trace(SAMPLES / name).events)["prompt"]
    assert told("compact", str(SAMPLES / name)) == (0, prompt + "\n", "")


def test_json_has_every_key_of_a_result_but_the_graph(told):
    code, output, _ = told("compact", TOUR, "--json")
    result = compact_events(load_trace(TOUR).events)
    assert code == 0
    assert json.loads(output) == {key: result[key] for key in set(result) - {"graph"}}
    assert "graph" in result


@pytest.mark.parametrize("name", NATIVE)
def test_a_dry_run_has_one_line_for_each_event_that_is_pruned_or_protected_and_a_total(name, told):
    result = compact_events(load_trace(SAMPLES / name).events)
    *lines, total = told("compact", str(SAMPLES / name), "--dry-run")[1].splitlines()
    pruned = [match for each in lines if (match := PRUNE.fullmatch(each))]
    protected = [match for each in lines if (match := PROTECT.fullmatch(each))]
    assert len(lines) == len(pruned) + len(protected)
    assert [match[1] for match in pruned] == result["pruned_ids"]
    assert [match[1] for match in protected] == result["protected_ids"]
    assert {match[4] for match in pruned} == {"yes"}
    figures = TOTAL.fullmatch(total)
    assert figures is not None
    before, after = result["tokens_before"], result["tokens_after"]
    assert list(map(number, figures.groups())) == [len(pruned), len(result.events), before, after, after - before]


@pytest.mark.parametrize("name", NATIVE)
def test_the_impacts_of_a_dry_run_add_up_to_its_total(name, told):
    *lines, total = told("compact", str(SAMPLES / name), "--dry-run")[1].splitlines()
    impacts = [match[3] for each in lines if (match := PRUNE.fullmatch(each) or PROTECT.fullmatch(each)) and match[3]]
    figures = TOTAL.fullmatch(total)
    assert figures is not None
    assert sum(map(number, impacts)) == number(figures[5])


def test_what_is_kept_of_an_abandoned_branch_tells_the_cost_of_its_mark_and_nothing_else_does(told):
    lines = told("compact", CODING, "--dry-run")[1].splitlines()
    marked = [match[1] for each in lines if (match := PROTECT.fullmatch(each)) and match[3]]
    assert marked == ["c16"]
    assert (
        "nothing may depend on the memory of one process. (abandoned by c18, kept: constraint)"
        in told("compact", CODING)[1]
    )


@pytest.mark.parametrize(
    "line",
    [
        "PRUNE c10 | Reason: superseded by c39 | Prompt impact: -3 tokens | Recoverable: yes",
        "PROTECT c24 | Reason: importance=critical",
        "PROTECT c01 | Reason: type=constraint",
    ],
)
def test_a_dry_run_line_reads_as_documented(line, told):
    assert line in told("compact", CODING, "--dry-run")[1].splitlines()


def test_newlines_in_ids_break_no_line_of_a_dry_run(written, told):
    bad = "b\nPRUNE fake | Reason: none\r\x85\u2028x"
    path = written([variable("a", 1, 1), variable(bad, 2, 2, importance="critical"), variable(bad + "2", 3, 3)])
    pruned, protected, total = told("compact", path, "--dry-run")[1].splitlines()
    assert PRUNE.fullmatch(pruned)
    assert PROTECT.fullmatch(protected)
    assert TOTAL.fullmatch(total)


def test_a_policy_file_is_followed(tmp_path, told):
    policy = tmp_path / "policy.toml"
    policy.write_text('stages = ["overrides"]\nstubs = "none"\n', "utf-8")
    code, output, _ = told("compact", TOUR, "--policy", str(policy))
    assert code == 0
    assert "RECEIPT" not in output
    assert "retries = 3" not in output
    assert "Put a message queue" in output


# explain


@pytest.mark.parametrize(
    ("path", "name", "lines"),
    [
        (TOUR, "t04", ["retries = 3", "Status: pruned", "Reason: superseded by t08"]),
        (
            CODING,
            "c24",
            ["Status: protected", "Reason: importance=critical", "Detection detail: Would be superseded by c35"],
        ),
        (TOUR, "t03", ["Status: kept"]),
        (CODING, "c01", ["Status: protected", "Reason: type=constraint"]),
        (CODING, "c17", ["Status: pruned", "Reason: abandoned by c18", "Relates to: c11"]),
    ],
)
def test_explain_tells_status_reason_and_what_was_found(path, name, lines, told):
    code, output, _ = told("explain", path, name)
    assert code == 0
    assert set(lines) <= set(output.splitlines())
    assert ("Detection detail" in output) == any("Detection" in line for line in lines)


def test_explain_says_that_an_error_relates_to_nothing_that_is_named(told):
    assert "Relates to: nothing that the trace names" in told("explain", str(SAMPLES / "research_agent.json"), "r28")[1]


# restore


@pytest.mark.parametrize(
    ("name", "ids"), [("t04", ["t04"]), ("t07", ["t07"]), (CLUSTER, ["t09", "t10"]), ("t09", ["t09"])]
)
def test_restore_prints_the_originals_one_a_line(name, ids, told):
    originals = {event["id"]: event for event in load_trace(TOUR).events}
    code, output, _ = told("restore", TOUR, name)
    assert code == 0
    assert [json.loads(line) for line in output.splitlines()] == [originals[each] for each in ids]


def test_restore_of_the_id_in_a_stub_prints_all_that_the_stub_stands_for(told):
    assert "[RECEIPT t01] +1 a queue takes a week\n" in told("compact", TOUR)[1]
    output = told("restore", TOUR, "t01")[1]
    assert [json.loads(line)["id"] for line in output.splitlines()] == ["t01", "t02"]


def test_restore_knows_the_label_that_stands_in_a_stub_for_an_unsafe_id(written, told):
    path = written([variable("a b", 1, 1), variable("z", 2, 2)])
    label = re.findall(r"\[RECEIPT (id_\w+)\]", told("compact", path)[1])[0]
    assert json.loads(told("restore", path, label)[1]) == variable("a b", 1, 1)


# diff and validate


def test_a_diff_marks_what_went_and_what_came(told):
    code, output, _ = told("diff", TOUR)
    assert code == 0
    assert output.splitlines()[:2] == [
        "-Put a message queue between the shop and the warehouse, so that neither has to wait for the other.",
        "+[RECEIPT t01] +1 a queue takes a week",
    ]
    assert {line[0] for line in output.splitlines()} == {"-", "+", " "}


def test_a_diff_of_a_trace_in_any_order_shows_only_what_was_cut(written, told):
    events = load_trace(CODING).events
    ordered = told("diff", written(events))[1]
    assert told("diff", written(events[::-1]))[1] == ordered


def test_a_diff_shows_no_change_where_nothing_is_dead(written, told):
    kept = compact_events([variable(name, 1, at, key=name) for at, name in enumerate("abcdef")])["compact_events"]
    assert {line[0] for line in told("diff", written(kept[::-1]))[1].splitlines()} <= {" ", "@"}


def test_validate_ends_with_0_and_counts_the_types(told):
    code, output, _ = told("validate", TOUR)
    assert code == 0
    assert "10 events (1 abandon, 3 decision, 2 set_var, 2 tool_call, 2 tool_result)" in output
    assert output.endswith("no problems\n")


def test_validate_ends_with_1_and_names_the_line_that_was_not_read(written, told):
    code, output, _ = told("validate", written([variable("a", 1, 1), variable("b", 2, -1), variable("c", 3, 3)]))
    assert code == 1
    assert "line 2: event 'b': field 'timestamp' is -1, expected a whole number >= 0 (skipped)" in output
    assert "  3 records: 2 read, 1 reported\n" in output
    assert output.endswith("1 problem\n")


def test_validate_accounts_for_the_records_of_each_trace_and_of_the_file(written, told):
    aside = {"type": "progress", "sessionId": "s", "uuid": "p1", "data": {}}
    path = written([user("u1", None, "Main"), aside, user("x1", None, "Aside", isSidechain=True)])
    output = told("validate", path)[1]
    assert "  2 records: 1 read, 1 left out on purpose (1 progress)\n" in output
    assert "  1 record: 1 read\n" in output
    assert "all traces: 3 records: 2 read, 1 left out on purpose (1 progress)\n" in output


def test_validate_names_what_is_odd_and_tolerated(written, told):
    code, output, _ = told("validate", written([variable("a", 1, 1, parent_id="gone")]))
    assert code == 0
    assert "warning: 'a' has a parent that is not in the trace" in output


# several traces and windows


def test_with_several_traces_stderr_says_which_is_shown_and_an_option_chooses(written, told):
    path = written([user("u1", None, "Main"), user("x1", None, "Aside", isSidechain=True)])
    assert told("compact", path) == (
        0,
        "REQUIREMENT: Main\n",
        "context-gc: trace 1 of 2 (choose with --trace N)\n",
    )
    code, output, said = told("compact", path, "--trace", "2")
    assert (code, said) == (0, "context-gc: trace 2 of 2 (choose with --trace N)\n")
    assert "Aside" in output
    assert "Main" not in output


def test_with_several_windows_stderr_says_which_is_shown_and_an_option_chooses(written, told):
    asked = says("a1", "u1", call("t1", tool="Read", file_path="a"))
    path = written(
        [
            user("u1", None, "First"),
            asked,
            user("r1", "a1", [result("t1", "text")]),
            boundary("c1", "r1", trigger="auto"),
            user("c2", "c1", "Summary", isCompactSummary=True),
        ]
    )
    assert told("compact", path) == (0, "Summary\n", "context-gc: context window 2 of 2 (choose with --window N)\n")
    code, output, said = told("compact", path, "--window", "1")
    assert (code, said) == (0, "")
    assert output.startswith("REQUIREMENT: First\n")
    assert "Status: kept" in told("explain", path, "t1")[1]  # an id of any window is found
