"""Faults that users of other context managers reported: each case's checks hold here.

The cases stand beside the checkout. What one asks for and nothing here knows fails.
"""

from __future__ import annotations

import copy
import itertools
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from bug_checks import CHECKS, Run

from context_gc import Budget, ContextGC, InvalidEvent, InvalidPolicy, Policy, compact_events

CASES = Path(__file__).parents[2] / "shared" / "cases" / "context_bugs.jsonl"
#: what a case may ask for and the checks read, or the policy does not need in order to pass them
UNUSED = {
    "preserve_prefix", "preview_chars", "already_pruned", "check_input_identity", "rounds", "pythonhashseeds", "jsonl",
    "stub_template",
}  # fmt: skip
#: key of a case's config -> field of the budget
BUDGET = {
    "budget_tokens": "max_tokens", "window": "max_tokens", "keep_recent": "recent_observations",
    "threshold_low": "threshold_low", "threshold_high": "threshold_high", "max_prompt_tokens": "max_prompt_tokens",
    "r": "cache_read", "w": "cache_write", "expected_calls": "expected_calls",
}  # fmt: skip
READ = {"usage", "last_usage_input", "prompt_tokens", "model", "A", "K", "delta"}


class NotBuilt(Exception):
    """Raised when a case asks for something that nothing here knows."""


def materialise(value: Any) -> Any:
    if isinstance(value, dict) and "$repeat" in value:
        text, times = value["$repeat"]
        return text * times
    if isinstance(value, dict) and "$concat" in value:
        return "".join(map(materialise, value["$concat"]))
    if isinstance(value, dict):
        return {key: materialise(part) for key, part in value.items()}
    return list(map(materialise, value)) if isinstance(value, list) else value


def run(case: dict[str, Any]) -> Run:
    given = case["input"]
    config = given.get("config") or {}
    events = materialise(given.get("events") or [])
    done = Run(case, events, json.dumps(events), Policy())
    if "messages" in given:
        done.messages = materialise(given["messages"])
        return done
    if set(config) - UNUSED - READ - set(BUDGET):
        raise NotBuilt(", ".join(sorted(set(config) - UNUSED - READ - set(BUDGET))))
    try:
        # a template makes stubs long: here that is what "described" does, and "worthwhile" guards against
        done.policy = policy = Policy(
            stubs="worthwhile" if "stub_template" in config else "always", budget=budget_of(config)
        )
        if "steps" in given:
            steps(done, given["steps"])
            return done
        for _ in range(config.get("rounds", 1)):
            done.results.append(compact_events(done.results[-1]["compact_events"] if done.results else events, policy))
    except (InvalidEvent, InvalidPolicy) as error:
        done.refused = error
    return done


def budget_of(config: dict[str, Any]) -> Budget | None:
    """The budget that a case asks for. A case without a window but with thresholds gets one."""
    asked = {BUDGET[key]: value for key, value in config.items() if key in BUDGET and value is not None}
    if "model" in config:
        return Budget.for_model(config["model"], **asked)
    return Budget(**{"max_tokens": 200_000} | asked) if asked else None


def steps(done: Run, asked: list[dict[str, Any]]) -> None:
    client = ContextGC(done.policy)
    folder = cache(lambda: Path(mkdtemp()))
    one_by_one = any(step["op"].startswith("append_each") for step in asked)
    if not one_by_one:
        client.extend(done.events)
    for step in asked:
        if step["op"] in ("compact", "compact_async_begin", "compact_async_commit", "render", "tick"):
            done.results.append(client.compact(force=step.get("force", False)))
        elif step["op"] in ("append_each_and_tick", "append_each_and_render"):
            for event in done.events:
                client.add_event(event)
                done.results.append(client.compact())
        elif step["op"] == "append":
            done.events.append(materialise(step["event"]))
            client.add_event(done.events[-1])
        elif step["op"] == "construct":
            pass  # the policy was made before
        elif step["op"] == "should_compact":
            done.value = should_compact(done, client)
        elif step["op"] == "should_prune":
            config = done.case["input"]["config"]
            done.value = done.policy.budget.pays(config["K"], config["delta"])
        elif step["op"] == "save":
            client.save(folder())
        elif step["op"] == "save_crash_at":
            crash(folder(), done.events, step["byte"])
        elif step["op"] == "load":
            done.results.append(ContextGC.load(folder()).compact())
        elif step["op"] == "load_jsonl":
            done.events = load("\n".join(done.case["input"]["config"]["jsonl"]))
        else:
            raise NotBuilt(step["op"])


def crash(directory: Path, events: list[dict[str, Any]], byte: int) -> None:
    """Save in a process that may not write beyond a byte of any file: it ends in the middle of a write."""
    program = (
        "import json, resource, sys; from context_gc import ContextGC; client = ContextGC.load(sys.argv[1]);"
        "client.extend(json.loads(sys.argv[2])); client.compact();"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({byte}, {byte})); client.save(sys.argv[1])"
    )
    command = [sys.executable, "-c", program, str(directory), json.dumps(events[1:])]
    assert subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[1]).returncode


class Words:
    """An exact count for made-up texts of one-letter words, which the estimate takes for less."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())


def should_compact(done: Run, client: ContextGC) -> bool:
    """Whether the window is at a threshold, by what the provider reported and what came after it."""
    config = done.case["input"]["config"]
    if "prompt_tokens" in config:
        return done.policy.budget.level(config["prompt_tokens"]) != "ok"
    anew = ContextGC(done.policy, counter=Words())
    anew.record_usage(**config.get("usage", {"input_tokens": config.get("last_usage_input", 0)}))
    anew.extend(done.events)
    return anew.budget.level != "ok"


def load(text: str) -> list[dict[str, Any]]:
    from context_gc import load_trace

    trace = load_trace(text.encode())
    assert [problem.line for problem in trace.problems] == [2]
    return trace.events


def cases() -> list[Any]:
    if not CASES.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="the cases are not beside the checkout"), id="none")]
    found = []
    for text in CASES.read_text("utf-8").splitlines():
        case = json.loads(text)
        found.append(pytest.param(case, id=case["id"]))
    return found


@pytest.mark.parametrize("case", cases())
def test_the_reported_fault_is_not_here(case):
    done = run(copy.deepcopy(case))
    for check in case["checks"]:
        CHECKS[check["kind"]](done, **{key: value for key, value in check.items() if key != "kind"})


@pytest.mark.skipif(not CASES.is_file(), reason="the cases are not beside the checkout")
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_b47_the_survivor_is_the_same_for_each_order_of_input(order):
    (case,) = (json.loads(text) for text in CASES.read_text("utf-8").splitlines() if '"B47"' in text)
    events = [case["input"]["events"][place] for place in order]
    assert compact_events(events)["prompt"] == "[RECEIPT v1] +1\nx = 3"


@pytest.mark.parametrize("style", ["always", "worthwhile", "described"])
def test_b43_a_stub_does_not_change_with_what_comes_later(style):
    client = ContextGC(Policy(stubs=style))
    first = []
    for number in range(12):
        client.add_event(
            {"id": f"v{number}", "type": "set_var", "timestamp": number, "key": number % 2, "value": "long " * 9}
        )
        client.add_event({"id": f"d{number}", "type": "decision", "timestamp": number, "content": f"then {number}"})
        first.append(client.compact()["prompt"].split("\n")[0])
    assert set(first[2:]) == {first[2]}
    assert first[2].startswith("[RECEIPT v0]")
