"""Eviction: what makes room first, what never does, and what the stub still tells of it."""

from __future__ import annotations

from typing import Any

import pytest
from notation import trace
from test_budgeted import client, work

from context_gc import Budget, Compaction, Policy, compact_events

Event = dict[str, Any]
WORDS = "word " * 40  #: 50 tokens


def evicted(text: str | list[Event], **budget: Any) -> Compaction:
    """One pass over a trace that is an emergency for its window."""
    events = trace(text) if isinstance(text, str) else text
    size = compact_events(events, Policy(stages=(), counter="chars4"))["tokens_before"]
    return compact_events(events, Policy(counter="chars4", budget=Budget(**({"max_tokens": size} | budget))))


def out(result: Compaction) -> list[str]:
    """What made room, by the lead of its unit."""
    gone = [name for name in result["pruned_ids"] if result.decision(name).stage == "eviction"]
    return [name for name in gone if result.event(name)["type"] != "tool_result"]


#: one unit of each class, the last to go first
CLASSES = f"""
sum decision {WORDS} #summary
ses decision {WORDS} !session
say decision {WORDS}
did call probe 1
did2 result did {WORDS}
ran run {WORDS} -> 0
see call read_file {{"path": "old.py", "offset": 3}}
see2 result see {WORDS}
grep call grep {{"pattern": "x"}}
grep2 result grep {WORDS}
tmp decision {WORDS} !temporary
think decision {WORDS} #thinking
dbg decision {WORDS} !debug
"""


def test_what_is_least_missed_goes_first_and_within_a_class_the_oldest():
    order: list[str] = []
    for share in range(95, 1, -1):
        fresh = set(
            out(evicted(CLASSES, threshold_low=0.97, threshold_high=0.98, target=share / 100, recent_observations=0))
        )
        assert fresh.issuperset(order)
        order += sorted(fresh - set(order))
    assert order == ["dbg", "tmp", "think", "see", "grep", "did", "ran", "say", "sum", "ses"]


def test_a_unit_goes_whole_with_all_its_results():
    text = f"a call probe 1\nb result a {WORDS}\nc result a {WORDS}\nd decision {WORDS}"
    result = evicted(text, recent_observations=0, target=0.7)
    assert result["pruned_ids"] == ["a", "b", "c"]
    assert result["prompt"].startswith("[RECEIPT a] +2")


def test_a_unit_is_as_old_as_what_was_cut_because_of_it():
    again = f'c2 call probe {{"n": 0}}\nr2 result c2 {"word " * 80}'
    text = f"{work(0, 2)}\n{again}"
    result = evicted(text, recent_observations=0, target=0.5, threshold_low=0.6)
    assert [(each["event_id"], each["reason"]) for each in result["decisions"] if each["event_id"][0] == "c"] == [
        ("c1", "evicted to make room"),
        ("c2", "duplicate of c0"),
    ]


# what never makes room

KEPT = {
    "a requirement": f"k requirement {WORDS}",
    "a constraint": f"k constraint {WORDS}",
    "what the user said": f"k decision {WORDS} #user",
    "what is critical": f"k decision {WORDS} !",
    "what is retained": f"k decision {WORDS} ~session_end",
    "work of the task": f"k decision {WORDS} !task",
    "a call without a result": f"k call probe {{\"q\": \"{WORDS.strip()}\"}}",
    "an abandon": f"k abandon nothing : {WORDS}",
    "an error that nothing has resolved": f"k error {WORDS}",
    "a failed command that nothing has resolved": f"k run make {WORDS} -> 2",
    "a failed call that nothing has resolved": f"k call ask {{\"q\": \"{WORDS.strip()}\"}}\nk2 failed k no such thing",
    "the newest full text of a file being worked on": f"k call read_file {{\"path\": \"a.py\"}}\nk2 result k {WORDS}",
}  # fmt: skip


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_never_evicted(kept):
    result = evicted(f"{kept}\n{work(0, 4)}", target=0.01)
    assert "k" not in result["pruned_ids"]
    assert out(result)
    lost = result["budget"]["unreachable"]
    assert sum(tokens for _, tokens in lost["holds"]) == lost["tokens"] == result["tokens_after"]


def test_what_the_policy_protects_never_makes_room():
    events = trace(f"{work(0, 6)}\nd decision {WORDS} #keep")
    rules = {"protect_tags": ("keep",), "protect_ids": ("r1",), "protect_tools": ("nothing",), "counter": "chars4"}
    result = compact_events(events, Policy(**rules, budget=Budget(600, recent_observations=0, target=0.01)))
    assert out(result) == ["c0", "c2", "c3", "c4", "c5"]
    tools = {**rules, "protect_tools": ("pro*",)}
    result = compact_events(events, Policy(**tools, budget=Budget(600, recent_observations=0, target=0.01)))
    assert out(result) == []


def test_a_failure_that_was_repaired_makes_room_like_all_else():
    text = f"k run make {WORDS} -> 2\nm run make {WORDS} -> 0\n{work(0, 4)}"
    assert out(evicted(text, target=0.01))[:2] == ["k", "m"]


def test_the_last_observations_stay_and_what_came_after_the_first_of_them():
    text = f"{work(0, 20, size=20)}\nd decision {WORDS}\n{work(20, 21, size=20)}"
    for recent, left in ((0, []), (1, ["c20"]), (2, ["c19", "d", "c20"]), (3, ["c18", "c19", "d", "c20"])):
        result = evicted(text, recent_observations=recent, target=0.01)
        names = [event["id"] for event in result["compact_events"] if event["type"] != "tool_result"]
        assert names == left


def test_the_last_observations_hold_a_quarter_of_the_window_at_most_the_last_one_aside():
    result = evicted(work(0, 6), recent_observations=6, target=0.01)
    assert [event["id"] for event in result["compact_events"]] == ["c5", "r5"]
    huge = evicted(f"{work(0, 1)}\n{work(1, 2, size=600)}", target=0.01)
    assert [event["id"] for event in huge["compact_events"]] == ["c1", "r1"]


def read(name: str, path: str, **span: int) -> list[Event]:
    call, result = trace(f"{name} call read_file 1\n{name}r result {name} {name} {WORDS}")
    return [{**call, "arguments": {"path": path, **span}}, result]


def test_the_newest_full_text_of_the_files_touched_last_stays():
    paths = ["a.py", "b.py", "c.py", "d.py", "e.py", "f.py"]
    events = [each for number, path in enumerate(paths) for each in read(f"k{number}", path)]
    events += read("again", "f.py") + read("part", "e.py", offset=3, limit=2) + trace(work(0, 12))
    result = evicted(events, target=0.01)
    stays = [event["id"] for event in result["compact_events"] if event["type"] == "tool_call"]
    assert stays == ["k1", "k2", "k3", "k4", "again", "c9", "c10", "c11"]


def test_a_long_old_result_is_clipped_before_anything_goes_whole():
    lines = "\n".join(f"line {number} of a long result" for number in range(1_200))
    events = trace(f"{work(0, 8)}\nc20 call probe 20\nr20 result c20 LONG\n{work(21, 24)}")
    events = [{**each, "result": lines} if each["id"] == "r20" else each for each in events]
    result = evicted(events, target=0.6)
    (done,) = result["budget"]["passes"]
    assert (done["clipped_ids"], done["pruned_ids"], done["evicted"]) == (["r20"], [], 0)
    assert "[RECEIPT r20] " in result["prompt"]
    assert result.impact("r20") < -4_000
    assert result.decision("r20").reason == "evicted to make room"
    tight = evicted(events, target=0.05)
    assert tight["budget"]["passes"][0]["clipped_ids"] == []
    assert "r20" in tight["pruned_ids"]


def test_a_stub_still_tells_what_was_done_in_what_made_room():
    text = (
        f'a run make all {WORDS} -> 0\nb call grep {{"pattern": "x"}}\nbr result b {WORDS}\nv port = 8000\n{work(0, 4)}'
    )
    result = evicted(text, target=0.01, recent_observations=0)
    first = result["prompt"].split("\n")[0]
    assert first.startswith("[RECEIPT a] +")
    assert "ran make all" in first
    assert "port = 8000" in first


def test_what_is_shorter_than_its_stub_stands_as_it_is():
    made = client(f"d decision ok !debug\nu requirement between\n{work(0, 9)}")
    result = made.compact()
    assert result["prompt"].startswith("ok\nREQUIREMENT: between\n[RECEIPT c0]")
    assert "d" not in result["pruned_ids"]
    assert result.decision("d").kept == "its stub would be longer than it"
