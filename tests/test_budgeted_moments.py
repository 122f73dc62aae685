"""Compaction under a budget: on arrival, when the cache is cold, when asked; what comes back and what comes late."""

from __future__ import annotations

from typing import Any

import pytest
from notation import trace
from test_budgeted import TEXT, client, compacted, passes, work, writes

from context_gc import Budget, ContextGC, NotPruned, Policy, UnknownReceipt
from context_gc.policy import KNOWN_STAGES

READ = f'call get {{"q": "{TEXT}"}}'


# on arrival


def test_what_is_dead_when_it_enters_never_enters_and_no_sent_byte_changes():
    text = f"c1 {READ}\nr1 result c1 {TEXT}\nc2 {READ}\nr2 result c2 {TEXT}"
    waits, commits = client(text), client(text, commit_on_arrival=True)
    assert compacted(waits).compact()["pruned_ids"] == []
    result = commits.compact()
    assert result["pruned_ids"] == ["c2", "r2"]
    assert result["prompt"].endswith("\n[RECEIPT c2] +1")
    assert passes(commits) == []


def test_what_dies_after_it_was_sent_waits_for_a_pass():
    made = client("v1 x = 1", commit_on_arrival=True)
    before = made.compact()["prompt"]
    made.extend(trace("v2 x = 2 @2"))
    result = made.compact()
    assert result["prompt"] == before + "\nx = 2"
    assert result.decision("v1").kept == "it waits for the next pass"


@pytest.mark.parametrize("looks", [False, True])
def test_a_stub_that_was_sent_stays_as_it_is_when_the_next_event_is_dead_as_well(looks):
    made = client(f"c1 {READ}\nr1 result c1 {TEXT}\nc2 {READ}\nr2 result c2 {TEXT}", commit_on_arrival=True)
    before = made.compact()["prompt"]
    made.extend(trace(f"v1 x = {TEXT} @7"))
    if looks:
        assert made.budget is not None
    made.extend(trace("v2 x = 2 @8"))
    result = made.compact()
    assert result["prompt"] == before + "\n[RECEIPT v1]\nx = 2"
    assert [stub["event_ids"] for stub in result["stubs"]] == [["c2", "r2"], ["v1"]]
    assert [event["id"] for event in made.expand_receipt("c2")] == ["c2", "r2"]
    assert [event["id"] for event in made.expand_receipt("v1")] == ["v1"]


def test_a_long_result_is_clipped_when_it_arrives_or_else_waits():
    lines = "\\n".join(f"line {number} of a long result" for number in range(400))
    text = 'c1 call get {"q": 1}\nr1 result c1 LONG'
    for arrives in (True, False):
        made = client(stages=KNOWN_STAGES, max_tokens=20_000, commit_on_arrival=arrives)
        made.extend(
            [{**each, "result": lines.replace("\\n", "\n")} if each["id"] == "r1" else each for each in trace(text)]
        )
        result = made.compact()
        assert result.decision("r1").clipped
        assert (result.decision("r1").kept is None) == arrives
        assert ("[RECEIPT r1] " in result["prompt"]) == arrives
        assert result["pruned_ids"] == []
        assert result["receipts"] == (["r1"] if arrives else [])
        assert made.explain("r1").status == ("clipped" if arrives else "kept")


# when the cache is cold


def test_a_cold_cache_commits_what_is_marked_if_the_budget_says_so():
    for commits, cold in ((True, True), (True, False), (False, True)):
        made = client(writes(0, 4), commit_when_cold=commits)
        made.compact(cold=cold)
        assert passes(made) == ([("cold", 4)] if commits and cold else [])


def test_a_cold_cache_evicts_nothing_and_repeats_nothing():
    made = client(f"{work(0, 6)}\n{writes(20, 22)}", commit_when_cold=True)
    for _ in range(3):
        assert made.compact(cold=True)["pruned_ids"] == ["v20"]
    assert passes(made) == [("cold", 14)]
    alive = client(work(0, 3), commit_when_cold=True)
    alive.compact(cold=True)
    assert passes(alive) == []


# when asked


def test_a_pass_that_was_asked_for_commits_at_any_level():
    made = client(writes(0, 4), auto=False)
    assert made.compact()["pruned_ids"] == []
    assert made.compact(force=True)["pruned_ids"] == ["v0", "v1", "v2"]
    assert passes(made) == [("asked", 4)]
    assert made.compact()["prompt"].startswith("[RECEIPT v0] +2\n")


def test_a_pass_that_was_asked_for_never_makes_the_prompt_longer():
    made = client("v1 x = 1\nd decision between\nv2 x = 2")
    result = made.compact(force=True)
    assert result["prompt"] == "x = 1\nbetween\nx = 2"
    assert passes(made) == []
    assert result["budget"]["deferred"] == "a pass would free nothing"


def test_without_auto_no_pass_is_made_that_was_not_asked_for():
    made = client(f"{writes(0, 90)}\n{work(0, 5)}", auto=False, commit_when_cold=True)
    result = made.compact(cold=True)
    assert (result["budget"]["level"], result["pruned_ids"]) == ("emergency", [])
    assert made.compact(force=True)["budget"]["usage"] <= 0.4


# restoring


def test_what_is_restored_comes_back_at_the_next_pass_and_stays():
    made = client(work(0, 9))
    sent = made.compact()["prompt"]
    assert made.restore("r1") == ["c1", "r1"]
    assert made.compact()["prompt"] == sent
    assert made.compact(force=True)["budget"]["passes"][1]["restored_ids"] == ["c1", "r1"]
    made.extend(trace(work(10, 18)))
    result = made.compact()
    assert [each["moment"] for each in result["budget"]["passes"]] == ["emergency", "asked", "emergency"]
    assert {"c1", "r1"} & set(result["pruned_ids"]) == set()
    assert made.explain("r1").status == "protected"
    assert result.protected("c1") == "restored"


def test_what_is_in_the_prompt_or_nowhere_cannot_be_restored():
    made = client(writes(0, 3))
    made.compact()
    with pytest.raises(NotPruned):
        made.restore("v0")  # it waits
    with pytest.raises(UnknownReceipt):
        made.restore("nothing")


# retention that ends


@pytest.mark.parametrize(
    ("scope", "ends", "pruned"),
    [
        ("task_end", "end_task", True),
        ("task_end", "end_session", True),
        ("session_end", "end_task", False),
        ("session_end", "end_session", True),
    ],
)
def test_retained_events_are_judged_like_all_others_once_their_scope_has_ended(scope, ends, pruned):
    kept = f"k1 call probe 1 ~{scope}\nk2 result k1 {'word ' * 200}"
    made = client(f"{kept}\n{work(0, 9)}")
    assert {"k1", "k2"} & set(made.compact()["pruned_ids"]) == set()
    getattr(made, ends)()
    made.extend(trace(work(9, 15)))
    assert ({"k1", "k2"} <= set(made.compact()["pruned_ids"])) == pruned


def test_what_comes_after_a_scope_has_ended_is_of_the_next_one():
    made = client(f"v1 x = {TEXT} ~task_end")
    made.end_task()
    made.extend(trace(f"v2 x = {TEXT} ~task_end @2\nv3 x = {TEXT} @3"))
    assert made.compact(force=True)["pruned_ids"] == ["v1"]


def test_work_of_the_task_makes_room_only_after_its_end():
    task = work(0, 4).replace("\nr", " !task\nr")
    made = client(f"{task}\n{work(4, 9)}")
    before = made.compact()
    assert [name for name in before["pruned_ids"] if name[0] == "c"] == ["c4", "c5", "c6"]
    assert dict(before["budget"]["unreachable"]["holds"])["importance=task until the task ends"] > 400
    made.end_task()
    made.extend(trace(work(9, 15)))
    assert {"c0", "c1", "c2", "c3"} <= set(made.compact()["pruned_ids"])


# the last turns


def test_the_last_turns_are_kept_by_the_policy_and_go_when_they_are_no_longer_the_last():
    policy = Policy(counter="chars4", protect_recent=2, budget=Budget(1_000, min_gain=1))
    made = ContextGC(policy)
    turns = [f"u{n} requirement go on {n}\nd{n} decision say {n}\nv{n} x = {TEXT} @{n}" for n in range(4)]
    made.extend(trace("\n".join(turns)))
    result = made.compact(force=True)
    assert result["pruned_ids"] == ["v0", "v1"]
    assert result.protected("v2") == "one of the last 2 turns"
    made.extend(trace("u4 requirement go on 4"))
    assert made.compact(force=True)["pruned_ids"] == ["v0", "v1", "v2"]


# results that come late


def late(**fields: Any) -> dict[str, Any]:
    return {"id": "late", "type": "tool_result", "timestamp": 99, "call_id": "c0", "result": TEXT, **fields}


def test_a_late_result_of_a_call_that_was_cut_goes_with_it():
    made = client(work(0, 9))
    sent = made.compact()["prompt"]
    made.add_event(late())
    result = made.compact()
    assert "late" in result["pruned_ids"]
    assert result["prompt"].startswith(sent)
    assert passes(made) == [("emergency", 18)]
    assert made.get_receipt("late") == {**late(), "pruned": True}


def test_a_late_result_that_is_protected_brings_its_unit_back():
    made = client(work(0, 9))
    assert "c0" in made.compact()["pruned_ids"]
    made.add_event(late(importance="critical"))
    result = made.compact()
    assert {"c0", "r0", "late"} & set(result["pruned_ids"]) == set()
    assert f"RESULT {TEXT}" in result["prompt"]
    assert result["budget"]["passes"][1]["restored_ids"] == ["c0", "r0"]
