"""Faults that users of other context managers reported: each case's checks hold here.

The cases stand beside the checkout. `LATER` names those that need parts which are not built yet; they are
strict, so that a case that begins to hold has to be taken off the list.
"""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from bug_checks import CHECKS, Run

from context_gc import ContextGC, InvalidEvent, Policy, compact_events

CASES = Path(__file__).parents[2] / "shared" / "cases" / "context_bugs.jsonl"
BUDGET = "needs the budget engine"
THRESHOLDS = "needs thresholds over the context window"
MESSAGES = "needs provider messages"
LATER = {
    "B08": BUDGET,
    "B10": MESSAGES + ": the text keeps trace order, messages put a result behind its call",
    "B19": BUDGET,
    "B20": BUDGET,
    "B22": BUDGET,
    "B23": THRESHOLDS,
    "B25": THRESHOLDS,
    "B26": THRESHOLDS,
    "B28": THRESHOLDS,
    "B29": THRESHOLDS,
    "B37": MESSAGES,
    "B38": MESSAGES,
    "B40": MESSAGES,
    "B44": BUDGET,
    "B59": BUDGET,
    "B64": "needs saved sessions",
}
#: what a case may ask for and the default policy does not need in order to pass its checks
UNUSED = {
    "budget_tokens", "keep_recent", "window", "preserve_prefix", "preview_chars", "already_pruned",
    "check_input_identity", "rounds", "pythonhashseeds", "jsonl", "threshold_low", "threshold_high",
}  # fmt: skip


class NotBuilt(Exception):
    """Raised when a case asks for something that does not exist yet."""


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
    # a template makes stubs long: here that is what "described" does, and "worthwhile" guards against
    policy = Policy(stubs="worthwhile") if "stub_template" in config else Policy()
    done = Run(case, events, json.dumps(events), policy)
    if "messages" in given:
        raise NotBuilt("messages")
    if set(config) - UNUSED - {"stub_template"}:
        raise NotBuilt(", ".join(sorted(set(config) - UNUSED)))
    if "steps" in given:
        steps(done, given["steps"])
        return done
    try:
        for _ in range(config.get("rounds", 1)):
            done.results.append(compact_events(done.results[-1]["compact_events"] if done.results else events, policy))
    except InvalidEvent as error:
        done.refused = error
    return done


def steps(done: Run, asked: list[dict[str, Any]]) -> None:
    client = ContextGC(done.policy)
    one_by_one = any(step["op"].startswith("append_each") for step in asked)
    if not one_by_one:
        client.extend(done.events)
    for step in asked:
        if step["op"] in ("compact", "compact_async_begin", "compact_async_commit", "render"):
            done.results.append(client.compact())
        elif step["op"] in ("append_each_and_tick", "append_each_and_render"):
            for event in done.events:
                client.add_event(event)
                done.results.append(client.compact())
        elif step["op"] == "append":
            done.events.append(materialise(step["event"]))
            client.add_event(done.events[-1])
        elif step["op"] == "load_jsonl":
            done.events = load("\n".join(done.case["input"]["config"]["jsonl"]))
        else:
            raise NotBuilt(step["op"])


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
        later = LATER.get(case["id"])
        mark = [pytest.mark.xfail(reason=later, strict=True, raises=(NotBuilt, AssertionError))] if later else []
        found.append(pytest.param(case, marks=mark, id=case["id"]))
    return found


@pytest.mark.parametrize("case", cases())
def test_the_reported_fault_is_not_here(case):
    done = run(copy.deepcopy(case))
    for check in case["checks"]:
        CHECKS[check["kind"]](done, **{key: value for key, value in check.items() if key != "kind"})


@pytest.mark.skipif(not CASES.is_file(), reason="the cases are not beside the checkout")
def test_every_later_case_is_still_a_case():
    assert set(LATER) <= {json.loads(text)["id"] for text in CASES.read_text("utf-8").splitlines()}


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
