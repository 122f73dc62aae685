"""Scenarios: the same in every process, as long as they say, and valid to the last event."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from context_gc import compact_events
from context_gc.benchmark.probes import KINDS, SCORED, passes
from context_gc.benchmark.scenarios import SIZES, WRITERS, Script, scenario, scenarios
from context_gc.policy import Policy

ALL = {each.name: each for each in scenarios()}
every_scenario = pytest.mark.parametrize("name", list(ALL))


def digest():
    told = [
        [each.name, each.events, [[p.kind, p.question, p.needles, p.outdated] for p in each.probes]]
        for each in scenarios()
    ]
    return sha256(json.dumps(told).encode()).hexdigest()


def test_there_are_nine():
    assert [tuple(name.split()) for name in ALL] == [(domain, size) for domain in WRITERS for size in SIZES]


@pytest.mark.parametrize("seed", ["0", "7"])
def test_another_process_writes_the_same(seed):
    here = str(Path(__file__).parent)
    root = str(Path(__file__).parents[2])
    program = f"import sys; sys.path[:0] = [{here!r}, {root!r}]; import test_scenarios; print(test_scenarios.digest())"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.strip() == digest()


def test_the_same_is_written_by_every_python():
    # only random() and seeds of text are promised to stay: a change here means that every figure of the report is new
    assert Script("coding long").draw(10**6) == DRAWN


DRAWN = 441934


@every_scenario
def test_it_is_about_as_long_as_asked(name):
    each = ALL[name]
    wanted = SIZES[each.size]
    assert 0.95 * wanted <= len(each.events) <= 1.1 * wanted + 10


@every_scenario
def test_its_events_are_valid_and_every_probe_passes_on_the_full_history(name):
    each = ALL[name]
    full = compact_events(each.events, Policy(stages=()))["prompt"]
    assert [probe.question for probe in each.probes if not passes(probe, full)] == []


@every_scenario
def test_it_asks_something_of_every_kind(name):
    kinds = {probe.kind for probe in ALL[name].probes}
    assert set(SCORED) <= kinds <= set(KINDS)


@every_scenario
def test_every_probe_fails_when_any_needle_is_taken_out(name):
    each = ALL[name]
    full = compact_events(each.events, Policy(stages=()))["prompt"]
    for probe in each.probes:
        for needle in probe.needles:
            assert not passes(probe, full.replace(needle, "\n")), probe.question


def test_the_last_event_is_a_call_that_waits():
    assert {each.events[-1]["type"] for each in ALL.values()} == {"tool_call"}


def test_a_longer_session_does_more_of_everything():
    for domain in WRITERS:
        counts = [sum(event["type"] == "abandon" for event in scenario(domain, size).events) for size in SIZES]
        assert counts == sorted(counts)
        assert counts[-1] >= 3


# what a script remembers


def test_only_the_newest_value_counts_and_none_of_a_branch():
    script = Script("values")
    script.system("rules")
    script.var("limit", 1)
    script.var("limit", 2)
    with script.branch("try three", "three is too many"):
        script.var("limit", 3)
    script.says("end")
    (asked,) = [probe for probe in script.done("a", "b").probes if probe.kind == "recall"]
    assert (asked.needles, asked.outdated) == (("\nlimit = 2\n",), ("\nlimit = 1\n",))


def test_the_last_operation_on_a_file_that_a_branch_wrote_is_to_put_it_back():
    script = Script("files")
    script.file("edit_file", "a.py", "done", old_text="x", new_text="y")
    with script.branch("rewrite", "it is slower"):
        script.file("write_file", "a.py", "done", content="z")
        script.file("read_file", "b.py", "text")
    asked = {probe.kind: probe for probe in script.done("a", "b").probes}
    assert "git checkout -- a.py" in asked["artifact"].needles[0]
    assert asked["aside"].needles == ('CALL read_file({"path": "b.py"',)


def test_a_file_that_is_read_again_outside_of_a_branch_is_no_aside():
    script = Script("files")
    with script.branch("look", "there is nothing"):
        script.file("read_file", "b.py", "text")
    script.file("read_file", "b.py", "text")
    assert "aside" not in {probe.kind for probe in script.done("a", "b").probes}
