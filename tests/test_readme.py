"""README: its code runs, its output is real, and its tables are those of the code."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from context_gc import Budget, Policy
from context_gc.events import FIELDS
from context_gc.render import line
from context_gc.stages import STAGES
from context_gc.tokens import COUNTERS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def table(title: str) -> list[list[str]]:
    rows = [line for line in section(title).split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[2:]]


def promised(block: str) -> list[tuple[str, str]]:
    """(expression, what its comment says it gives) of the lines that end in a comment."""
    return [
        (left.strip(), right.strip()) for left, mark, right in (each.partition("  # ") for each in lines(block)) if mark
    ]


def lines(block: str) -> list[str]:
    return block.strip().split("\n")


def as_pattern(comment: str) -> str:
    """A comment as a pattern for what `repr` prints: `…` stands for anything."""
    return ".*".join(re.escape(part.replace('"', "'")) for part in comment.split("…"))


# code


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: lines(block)[0])
def test_each_python_block_runs_and_gives_what_its_comments_say(block, monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    expected = dict(promised(block))
    for statement in ast.parse(block).body:
        source = ast.unparse(statement)
        text = ast.get_source_segment(block, statement)
        if isinstance(statement, ast.Expr):
            value = eval(source, names)
            if text in expected:
                assert re.fullmatch(as_pattern(expected.pop(text)), repr(value))
        else:
            exec(source, names)
    assert expected == {}


def test_the_quick_start_promises_a_prompt_and_a_receipt():
    block = blocks("python")[0]
    assert [expression for expression, _ in promised(block)] == [
        'client.compact()["prompt"]',
        'client.get_receipt("e002")',
    ]


def test_each_toml_block_is_a_policy_that_differs_from_the_default():
    assert blocks("toml")
    for block in blocks("toml"):
        assert Policy.from_toml(block) != Policy()


SHOWN = [
    (command, output)
    for block in blocks("console")
    for command, output in re.findall(r"^\$ context-gc (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_output_of_each_command_is_the_one_shown(command, output):
    arguments = [sys.executable, "-m", "context_gc.cli", *shlex.split(command)]
    told = subprocess.run(arguments, cwd=ROOT, capture_output=True, check=True)
    assert told.stdout.decode("utf-8") == output


def test_every_command_that_prints_is_shown():
    assert {command.split()[0] for command, _ in SHOWN} == {"compact", "explain", "restore", "diff", "validate"}


# set-up


def test_two_commands_of_one_line_do_all_set_up():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    start = r"python3 -m venv \.venv && \.venv/bin/pip install -q -e '\.\[(\w+)\]' && \.venv/bin/(\S+)(.*)"
    found = [re.fullmatch(start, line) for line in lines(blocks("sh")[0])]
    assert all(found)
    (first, second) = ((match[1], match[2], match[3].split()) for match in found if match)
    assert first == ("app", "context-gc", ["inspect", "sample_traces/coding_agent.json"])
    assert second == ("test", "pytest", [])
    assert "context-gc" in project["scripts"]
    assert {"app", "test"} <= set(project["optional-dependencies"])
    assert project["requires-python"] == ">=3.11"
    assert "Python 3.11 or newer" in section("Set-up")
    assert (ROOT / first[2][1]).is_file()


def test_the_wheel_has_no_dependencies_as_the_readme_says():
    assert tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"] == []


# tables


def test_the_table_of_stages_has_all_in_their_order_with_their_rationale_first():
    rows = table("Stages")
    assert [row[0] for row in rows] == [f"`{stage.name}`" for stage in STAGES]
    for row, stage in zip(rows, STAGES, strict=True):
        assert row[1].startswith(stage.rationale)
        assert all(len(cell) > 20 for cell in row[1:])


def test_the_table_of_the_policy_has_all_fields_in_their_order_with_their_defaults():
    rows = table("Policy")
    assert [row[0] for row in rows] == [f"`{field.name}`" for field in fields(Policy)]
    shown = {row[0].strip("`"): row[1].strip("`") for row in rows}
    assert shown.pop("side_effects") == "a list"
    assert (shown.pop("budget"), Policy().budget) == ("none", None)
    written = dict(row.split(" = ", 1) for row in Policy().to_toml().splitlines())
    assert shown == {name: written[name] for name in shown}


def test_the_table_of_the_budget_has_all_fields_in_their_order_with_their_defaults():
    rows = table("Under a budget")
    assert [row[0] for row in rows] == [f"`{field.name}`" for field in fields(Budget)]
    told = {"—": MISSING, "none": None, "a tenth of the window": None}
    for row, field in zip(rows, fields(Budget), strict=True):
        shown = row[1].strip("`")
        default = told[shown] if shown in told else tomllib.loads(f"x = {shown}")["x"]
        assert default == field.default


def test_every_value_that_a_policy_field_may_have_is_explained():
    meaning = {row[0].strip("`"): row[2] for row in table("Policy")}
    for field, values in (
        ("stubs", ("always", "worthwhile", "described", "none")),
        ("override_scope", ("trace", "path")),
        ("counter", tuple(COUNTERS)),
    ):
        for value in values:
            assert f'`"{value}"`' in meaning[field]
            assert getattr(Policy(**{field: value}), field) == value


def test_the_table_of_types_has_each_type_with_its_fields():
    shown = {}
    for kinds, told in table("Formats"):
        for kind in re.findall(r"`(\w+)`", kinds):
            shown[kind] = re.findall(r"`(\w+)`", told)
    assert set(shown) == set(FIELDS)
    optional = {"abandon": ["content"], "error": ["related_to"]}
    for kind, required in FIELDS.items():
        assert shown[kind] == [name for name, _ in required] + optional.get(kind, [])


def test_the_fields_that_the_readme_calls_payload_are_shown_below_the_line():
    (told,) = re.findall(r"((?:`\w+`,? (?:and )?)+)are shown below its line", section("Formats").replace("\n", " "))
    for name in re.findall(r"`(\w+)`", told):
        event = {"id": "b1", "type": "build_run", "timestamp": 1, "exit_code": 0, name: "payload"}
        assert line(event) == "BUILD -> exit 0\npayload"
