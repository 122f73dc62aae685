"""The diff's rows come from the known edit script; what the component gets is bounded and complete."""

from __future__ import annotations

import json
from typing import Any

import pytest

from context_gc import Compaction, Policy, compact_events
from context_gc.inspector.diff_data import CLIP, DRAWN, FOLD_FROM, answer, clip, page, shown, stretches, whole
from context_gc.inspector.diff_rows import CUT, MARKED, SAME, Diff, diff, first_stages, parts, steps
from context_gc.inspector.say import signed
from context_gc.render import line

Event = dict[str, Any]


def writes(*pairs: str) -> list[Event]:
    """Events from "key=value" texts; "" is a decision that stays."""
    made: list[Event] = []
    for seq, pair in enumerate(pairs):
        key, _, value = pair.partition("=")
        event: Event = (
            {"type": "set_var", "key": key, "value": value} if key else {"type": "decision", "content": f"note {seq}"}
        )
        made.append({"id": f"e{seq}", "timestamp": seq, **event})
    return made


def branch(*contents: str, **critical: bool) -> list[Event]:
    """A chain of decisions below e0 that an abandon gives up; `critical` names those that are protected."""
    made: list[Event] = [{"id": "e0", "type": "decision", "content": "root", "timestamp": 0, "parent_id": None}]
    for seq, content in enumerate(contents, 1):
        extra = {"importance": "critical"} if critical.get(f"e{seq}") else {}
        event = {"id": f"e{seq}", "type": "decision", "content": content, "timestamp": seq, "parent_id": f"e{seq - 1}"}
        made.append(event | extra)
    last = len(made)
    made.append({"id": "out", "type": "abandon", "ref_to": ["e1"], "timestamp": last, "parent_id": f"e{last - 1}"})
    return made


def fates(made: Diff) -> str:
    return "".join({SAME: ".", CUT: "x", MARKED: "m"}[row.fate] for row in made.rows)


def long_trace(size: int) -> Diff:
    """Every tenth event overridden at the end."""
    keys = [f"k{seq}=old" if seq % 10 == 0 else "" for seq in range(size)]
    return diff(compact_events(writes(*keys, *(f"k{seq}=new" for seq in range(0, size, 10)))))


def seqs(items: list[dict[str, Any]]) -> list[int]:
    """The places that items stand for, folds included, in the order in which they are drawn."""
    told: list[int] = []
    for item in items:
        told += seqs(item["rows"]) if "change" in item else range(*item["fold"]) if "fold" in item else [item["seq"]]
    return told


def test_every_event_has_one_row_in_trace_order() -> None:
    result = compact_events(writes("a=1", "", "a=2", "b=1"))
    assert [row.id for row in diff(result).rows] == ["e0", "e1", "e2", "e3"]
    assert fates(diff(result)) == "x..."


@pytest.mark.parametrize("stubs", ["always", "worthwhile", "described", "none"])
def test_impacts_add_up_to_the_change_in_tokens(stubs: str) -> None:
    result = compact_events(writes("a=1", "a=2", "", "b=1", "a=3", "b=" + "long " * 50, "b=2"), Policy(stubs=stubs))
    made = diff(result)
    change = result["tokens_after"] - result["tokens_before"]
    assert change != 0
    assert sum(row.impact for row in made.rows) == sum(each.tokens for each in made.changes) == change


def test_the_right_column_is_the_prompt() -> None:
    overridden = [{**event, "id": f"w{event['id']}"} for event in writes("a=1", "a=2", "", "a=3")]
    result = compact_events([*branch("one", "two", "three", e2=True), *overridden])
    assert len(diff(result).changes) == 4
    assert "\n".join(row.after for row in diff(result).rows if row.after) == result["prompt"]


def test_the_left_column_is_the_full_history() -> None:
    result = compact_events(branch("one", "two", "three", e2=True))
    assert [row.before for row in diff(result).rows] == [line(event) for event in result.events]


def test_a_run_is_one_change_with_its_stub() -> None:
    made = diff(compact_events(writes("a=1", "a=2", "a=3", "", "a=4")))
    assert [(each.start, each.stop, each.fate, each.stub) for each in made.changes] == [(0, 3, CUT, "[RECEIPT e0] +2")]


def test_a_change_tells_each_reason_once_and_how_many_events_it_holds_for() -> None:
    made = diff(compact_events(writes("a=1", "a=2", "b=1", "", "a=3", "b=2")))
    assert made.changes[0].reasons == (("overrides", "superseded by e4", 2), ("overrides", "superseded by e5", 1))


def test_a_change_names_the_place_of_its_witness() -> None:
    made = diff(compact_events(writes("a=1", "", "a=2")))
    assert (made.changes[0].witness, made.rows[0].witness) == (2, 2)


def test_a_protected_event_of_an_abandoned_branch_is_a_marked_line() -> None:
    made = diff(compact_events(branch("one", "two", "three", e2=True)))
    assert fates(made) == ".xmx."
    marked = made.rows[2]
    assert marked.after == "two (abandoned by out, kept: critical)"
    assert (made.changes[1].fate, made.changes[1].tokens) == (MARKED, marked.impact)
    assert marked.impact > 0


def test_a_protected_event_without_a_mark_is_left_alone_but_tells_what_was_found() -> None:
    events = writes("a=1", "a=2")
    events[0]["importance"] = "critical"
    made = diff(compact_events(events))
    assert (fates(made), made.changes) == ("..", ())
    assert made.rows[0].reason == "kept (importance=critical): Would be superseded by e1"


def test_an_event_whose_stub_would_be_longer_is_left_alone() -> None:
    made = diff(compact_events(writes("a=1", "a=2"), Policy(stubs="worthwhile")))
    assert (fates(made), made.changes, made.rows[0].after) == ("..", (), "a = 1")


def test_without_stubs_nothing_comes_for_what_is_cut() -> None:
    made = diff(compact_events(writes("a=1", "a=2"), Policy(stubs="none")))
    assert (made.rows[0].fate, made.rows[0].after, made.changes[0].stub) == (CUT, None, "")


def test_a_trace_in_which_nothing_is_dead_has_no_changes() -> None:
    made = diff(compact_events(writes("a=1", "b=1", "")))
    assert (made.changes, made.tokens_before) == ((), made.tokens_after)


def test_the_first_stages_cut_less_than_all_of_them() -> None:
    policy = Policy()
    events = [*branch("one", "two"), *[{**event, "id": f"w{event['id']}"} for event in writes("a=1", "a=2")]]
    cut = [compact_events(events, first_stages(policy, count))["pruned_ids"] for count in range(len(steps(policy)) + 1)]
    assert (cut[0], cut[1], cut[2]) == ([], ["e1", "e2", "out"], ["e1", "e2", "out", "we0"])


def test_steps_are_those_of_the_policy_in_the_order_in_which_they_run() -> None:
    assert steps(Policy(stages=("cycles", "overrides"))) == ("overrides", "cycles")


def test_a_marked_line_is_split_into_what_stayed_and_what_is_new() -> None:
    assert parts("keep this", "keep this (abandoned)") == (("same", "keep this"), ("new", " (abandoned)"))


@pytest.mark.parametrize(
    ("old", "new"), [("a b c", "a x c"), ("", "new"), ("same", "same"), ("é\ud800 b", "é\ud800 c")]
)
def test_parts_give_both_texts_back(old: str, new: str) -> None:
    told = parts(old, new)
    assert "".join(part.text for part in told if part.what != "new") == old
    assert "".join(part.text for part in told if part.what != "gone") == new


def test_only_the_changed_middle_is_compared() -> None:
    same = "word " * 50_000
    assert [part.what for part in parts(same + "old" + same, same + "new" + same)] == ["same", "gone", "new", "same"]


def test_change_at_finds_the_change_of_each_cut_event_and_of_no_other() -> None:
    made = diff(compact_events(writes("a=1", "", "a=2", "a=3", "", "a=4")))
    assert [made.change_at(seq) for seq in range(6)] == [0, None, 1, 1, None, None]


# what the component is given


@pytest.mark.parametrize("focus", [None, 0, 55, 109])
def test_stretches_hold_every_place_once_and_never_fold_the_focus(focus: int | None) -> None:
    made = long_trace(100)
    told = list(stretches(made, 0, len(made.rows), focus))
    assert [seq for part in told for seq in range(part.start, part.stop)] == list(range(len(made.rows)))
    assert all(not part.folded for part in told if focus is not None and part.start <= focus < part.stop)


def test_long_unchanged_stretches_are_folded_and_short_ones_are_not() -> None:
    made = diff(compact_events(writes("a=1", *[""] * 40, "a=2", "", "a=3")))
    folds = [(part.start, part.stop) for part in stretches(made, 0, len(made.rows)) if part.folded]
    assert folds == [(4, 38)]


def test_a_history_in_which_nothing_changed_is_drawn_from_its_beginning() -> None:
    items = page(diff(compact_events(writes(*[""] * (DRAWN + 50)))))["items"]
    assert [item.get("seq") for item in items[:2]] == [0, 1]
    assert items[-1]["label"] == "… 50 unchanged events"


def test_a_long_run_of_cut_events_is_folded_after_its_beginning() -> None:
    items = page(diff(compact_events(writes(*["a=1"] * 50, "b=1"))))["items"]
    assert [row.get("label") for row in items[0]["rows"]][-1] == "… 37 more removed events"


def test_a_page_and_its_opened_folds_show_every_event() -> None:
    made = long_trace(2_000)
    assert len(made.rows) > DRAWN
    items = page(made)["items"]
    assert seqs(items) == list(range(len(made.rows)))
    assert any(item.get("label", "").startswith("… ") and "changes" in item["label"] for item in items)
    seen: list[int] = []
    while items:
        item = items.pop(0)
        if "fold" in item:
            start, stop = item["fold"]
            opened = answer(made, start, stop)["items"]
            assert seqs(opened) == list(range(start, stop))
            assert "fold" not in opened[0]
            items[:0] = opened
        elif "change" in item:
            items[:0] = item["rows"]
        else:
            seen.append(item["seq"])
    assert seen == list(range(len(made.rows)))


def test_an_answer_about_an_event_draws_it() -> None:
    made = long_trace(9_000)
    told = answer(made, 1_000, len(made.rows), focus=8_005)["items"]
    assert seqs(told) == list(range(1_000, len(made.rows)))
    drawn = {item["seq"] for item in told if "seq" in item} | {
        row.get("seq") for item in told for row in item.get("rows", ())
    }
    assert 8_005 in drawn


def test_a_page_stays_small_however_long_the_texts_are() -> None:
    events = [
        {"id": f"e{seq}", "type": "set_var", "key": "k", "value": "x" * 50_000, "timestamp": seq} for seq in range(400)
    ]
    data = page(diff(compact_events(events)))
    assert len(json.dumps(data)) < 100_000
    assert data["items"][0]["rows"][0]["more"] == 50_004 - CLIP


def test_opened_text_is_whole() -> None:
    events = writes("a=" + "y" * 5_000, "a=2")
    assert whole(diff(compact_events(events)).rows[0]) == "a = " + "y" * 5_000


def test_a_mark_behind_a_long_text_is_not_clipped_away() -> None:
    data = page(diff(compact_events(branch("one", "long " * 1_000 + "end", e2=True))))
    marked = next(item for item in data["items"] if item["fate"] == MARKED)["rows"][0]
    assert marked["parts"][-1] == ("new", " (abandoned by out, kept: critical)")
    assert "more characters" in marked["parts"][0][1]


@pytest.mark.parametrize("text", ["short", "x" * CLIP, "x" * (CLIP + 50), "a\n" * 9 + "end"])
def test_a_text_that_is_hardly_longer_is_left_alone(text: str) -> None:
    assert clip(text) == (text, 0)


def test_a_clip_counts_what_it_leaves_out() -> None:
    text = "line\n" * 500
    clipped = clip(text)
    assert clipped.more == len(text) - len(clipped.text) > 0
    assert text.startswith(clipped.text)


def test_lone_surrogates_and_markup_travel_as_plain_text() -> None:
    events = writes("a=<img src=x>", "a=2")
    events[0]["id"] = '\ud800"><script>'
    row = page(diff(compact_events(events)))["items"][0]["rows"][0]
    assert (row["text"], row["id"]) == ("a = <img src=x>", '\\ud800"><script>')
    json.dumps(row).encode("ascii")


def test_numbers_of_events_are_those_of_the_whole_trace() -> None:
    result: Compaction = compact_events(writes("a=1", "", "a=2"))
    row = page(diff(result, first=227))["items"][0]["rows"][0]
    assert (row["number"], row["witnessed"]) == ("#227", "#229")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\u202eb", "a\\u202eb"),
        ("a\x1b[31m", "a\\u001b[31m"),
        ("\udfff", "\\udfff"),
        ("tab\tline\n é 語 🙂", "tab\tline\n é 語 🙂"),
    ],
)
def test_characters_that_hide_or_turn_text_are_seen_and_all_others_are_left_alone(text: str, seen: str) -> None:
    assert shown(text) == seen


@pytest.mark.parametrize(("tokens", "text"), [(0, "0"), (1_234, "+1,234"), (-98_765, "−98,765")])
def test_changes_have_a_sign_and_separators(tokens: int, text: str) -> None:
    assert signed(tokens) == text


def test_a_stretch_that_leaves_too_little_to_fold_is_left_alone() -> None:
    made = diff(compact_events(writes("a=1", *[""] * (FOLD_FROM + 5), "a=2", "b=1", "a=3")))
    assert not any(part.folded for part in stretches(made, 0, len(made.rows)))
