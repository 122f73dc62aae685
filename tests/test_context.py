"""ContextCompactor: each line of its contract, and what it does where things go wrong."""

from __future__ import annotations

import copy
import re
import reprlib
import threading
from dataclasses import FrozenInstanceError, fields
from datetime import datetime

import pytest

from context_gc.context import CompactionResult, ContextCompactor
from context_gc.errors import InvalidContext, InvalidPolicy
from context_gc.receipt_store import ReceiptStore

HUGE = 10**5_000  # more than Python prints in decimal
LONG = [f"Observation {number}: the build of part_{number} went well and took some time" for number in range(10)]


@pytest.fixture
def store():
    with ReceiptStore() as opened:
        yield opened


# when


def test_the_defaults_are_the_documented_ones():
    made = ContextCompactor()
    assert (made.recent_observations, made.memory_keys, made.max_summary_length) == (3, {}, 500)
    assert (made.threshold_low, made.threshold_high, made.enable_semantic_compression) == (0.75, 0.92, True)
    assert [each.name for each in fields(CompactionResult)][:5] == [
        "context", "summary", "pinned", "tokens_saved", "compression_ratio",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tokens", "window", "level"),
    [
        (149_999, 200_000, "ok"), (150_000, 200_000, "compact"), (183_999, 200_000, "compact"),
        (184_000, 200_000, "emergency"), (0, 1, "ok"), (5, 1, "emergency"), (10**400, 1, "emergency"),
        (3, 4, "compact"), (23, 25, "emergency"),
    ],
)  # fmt: skip
def test_levels_are_exact_at_their_boundaries(tokens, window, level):
    made = ContextCompactor()
    assert made.level(tokens, window) == level
    assert made.should_compact(tokens, window) is (level != "ok")


def test_the_window_is_200_000_tokens_when_none_is_given():
    assert ContextCompactor().should_compact(150_000)
    assert not ContextCompactor().should_compact(149_999)
    assert ContextCompactor().level(184_000) == "emergency"


@pytest.mark.parametrize("share", range(1, 100))
def test_a_share_in_percent_is_reached_by_that_many_of_a_hundred(share):
    made = ContextCompactor(threshold_low=share / 100, threshold_high=1)
    for factor in (1, 3, 7, 2_000):
        assert made.should_compact(share * factor, 100 * factor)
        assert not made.should_compact(share * factor - 1, 100 * factor)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 0.9), (-0.1, 0.9), (0.5, 1.1), (0.9, 0.9), (0.92, 0.75), (True, 0.9), (0.5, True), (float("nan"), 0.9),
     (0.5, float("nan")), (0.5, float("inf")), ("0.5", 0.9), (None, 0.9), (HUGE, 0.9)],
    ids=lambda value: reprlib.repr(value) if value != HUGE else "huge",
)  # fmt: skip
def test_bad_thresholds_are_refused_with_both_named(low, high):
    with pytest.raises(InvalidPolicy, match=r"threshold_low is .+ and threshold_high is .+") as caught:
        ContextCompactor(threshold_low=low, threshold_high=high)
    assert isinstance(caught.value, ValueError)
    changed = ContextCompactor()
    changed.threshold_low, changed.threshold_high = low, high
    for use in (lambda: changed.should_compact(1), lambda: changed.level(1), lambda: changed.compact({})):
        with pytest.raises(InvalidPolicy):
            use()


@pytest.mark.parametrize(("tokens", "window"), [(-1, 10), (5, 0), (5, -1), (True, 10), (5, True), (1.0, 10), ("5", 10)])
def test_bad_counts_are_refused_with_both_named(tokens, window):
    for ask in (ContextCompactor().should_compact, ContextCompactor().level):
        with pytest.raises(InvalidPolicy, match=rf"token_count is {tokens!r} and max_tokens is {window!r}"):
            ask(tokens, window)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"recent_observations": -1}, "-1"), ({"recent_observations": True}, "True"),
        ({"recent_observations": 1.5}, "1.5"), ({"max_summary_length": 0}, "0"), ({"max_summary_length": True}, "True"),
        ({"memory_keys": None}, "NoneType"), ({"summarizer": "x"}, "str"),
        ({"max_accumulated_length": 606}, "606 with max_summary_length 500"),
        ({"max_accumulated_length": True}, "True"),
    ],
)  # fmt: skip
def test_other_bad_fields_are_refused_by_name(given, says):
    with pytest.raises(InvalidPolicy, match=next(iter(given))) as caught:
        ContextCompactor(**given)
    assert says in str(caught.value)


def test_a_summary_that_has_no_room_for_a_receipt_is_refused(store):
    with pytest.raises(InvalidPolicy, match="receipt"):
        ContextCompactor(max_summary_length=25, store=store)
    left = ContextCompactor(max_summary_length=26, store=store).compact({"observations": LONG})
    assert re.fullmatch(r"\[RECEIPT obs_[0-9a-f]{12}\]", left.summary)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("word wo", 2), ("word wor", 3), ("x=f(a);y", 2), ("x=f(a);yz", 3), ("word " * 70, 100),
     ("\ud800" * 7, 2), ("漢" * 7, 2)],
)  # fmt: skip
def test_tokens_are_estimated_by_the_documented_formula(text, tokens):
    assert ContextCompactor().estimate_tokens(text) == tokens


def test_code_is_counted_by_4_and_prose_by_3_and_a_half():
    code = 'def main(argv: list[str]) -> int:\n    return run(argv[1:]) or {"code": 0}["code"]\n'
    prose = 'He said: "Well, the build (at last) is green; shall we go on?" And so they did, all day long.\n'
    assert ContextCompactor.estimate_tokens(code) == -(-len(code) // 4)
    assert ContextCompactor.estimate_tokens(prose) == -(-len(prose) * 2 // 7)
    assert ContextCompactor.estimate_tokens("x" * 38 + "==") == 10
    assert ContextCompactor.estimate_tokens("x" * 40 + "==") == 12
    with pytest.raises(InvalidContext, match="bytes"):
        ContextCompactor.estimate_tokens(b"x")


# what


def test_the_documented_operations():
    context = {"observations": LONG, "compacted_summary": "Before.", "compaction_count": 4, "run_id": "r"}
    result = ContextCompactor().compact(context)
    after = result.context
    assert after["observations"] == LONG[-3:]
    assert after["compacted_summary"] == "Before.\nThen, " + result.summary
    assert after["compaction_count"] == 5
    assert after["compression_ratio"] == result.compression_ratio
    assert 0 < len(result.summary) <= 500
    assert result.warnings == ()


def test_tokens_saved_and_ratio_are_what_they_say():
    made = ContextCompactor(max_summary_length=100)
    result = made.compact({"observations": LONG})
    left = sum(map(made.estimate_tokens, LONG[:-3]))
    assert result.tokens_saved == left - made.estimate_tokens("\nThen, " + result.summary) > 0
    assert result.compression_ratio == made.estimate_tokens(result.summary) / result.tokens_saved


@pytest.mark.parametrize("observations", [None, [], ["a"], ["a", "b", "c"], "absent"])
def test_with_nothing_to_summarise_the_count_goes_up_and_the_rest_stays(observations):
    context = {"compacted_summary": "S", "compression_ratio": 0.7}
    if observations != "absent":
        context["observations"] = observations
    result = ContextCompactor(memory_keys={"k": 1}).compact(context)
    kept = observations if isinstance(observations, list) else []
    assert result == CompactionResult(
        {"compacted_summary": "S", "compression_ratio": 0.0, "observations": kept, "compaction_count": 1,
         "memory_keys": {"k": 1}}, "", {"k": 1}, 0, 0.0,
    )  # fmt: skip


def test_no_recent_observations_means_none():
    result = ContextCompactor(recent_observations=0).compact({"observations": ["alpha", "beta"]})
    assert result.context["observations"] == []
    assert "alpha" in result.summary
    assert "beta" in result.summary


def test_memory_keys_are_copied_verbatim_and_the_contexts_own_win():
    own, given = {"a": [1], "b": "old"}, {"b": ["new"], "c": None}
    result = ContextCompactor(memory_keys=own).compact({"memory_keys": given})
    assert result.pinned == result.context["memory_keys"] == {"a": [1], "b": ["new"], "c": None}
    result.pinned["a"].append(2)
    result.context["memory_keys"]["b"].append(2)
    assert (own, given) == ({"a": [1], "b": "old"}, {"b": ["new"], "c": None})
    assert result.context["memory_keys"]["a"] == [1]


def test_every_other_key_is_untouched_whatever_it_holds():
    lock = threading.Lock()
    context = {"plan_contract": {"steps": [1]}, "project_instructions": "Never.", "run_id": "r", 7: (1, [2]),
               "at": datetime(2026, 1, 2), "lock": [lock, []], "observations": LONG}  # fmt: skip
    after = ContextCompactor().compact(context).context
    for key in ("plan_contract", "project_instructions", "run_id", 7, "at", "lock"):
        assert after[key] == context[key]
        assert type(after[key]) is type(context[key])
    assert list(after)[: len(context)] == list(context)
    assert after["plan_contract"]["steps"] is not context["plan_contract"]["steps"]
    assert after["lock"][1] is not context["lock"][1]
    assert after["lock"][0] is lock


def test_a_context_of_any_depth_and_with_rings_is_copied():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    ring: dict[str, object] = {}
    ring["self"] = ring
    after = ContextCompactor().compact({"deep": deep, "ring": ring, "observations": [*LONG, deep]}).context
    assert after["ring"]["self"] is after["ring"] is not ring
    assert after["deep"] is not deep


def test_what_was_given_is_not_changed():
    context = {"observations": [*LONG, {"a": [1]}], "memory_keys": {"k": [1]}, "x": {"y": []}}
    before = copy.deepcopy(context)
    result = ContextCompactor(summarizer=lambda left: left.clear() or "cleared").compact(context)
    result.context["observations"][-1]["a"].append(2)
    result.context["x"]["y"].append(2)
    assert context == before


def test_a_result_never_changes():
    with pytest.raises(FrozenInstanceError):
        ContextCompactor().compact({}).summary = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ([], "a list"), (None, "NoneType"), ({"observations": "text"}, "observations is a str"),
        ({"observations": ("a",)}, "observations is a tuple"), ({"observations": {}}, "observations is a dict"),
        ({"observations": ["a", datetime(2026, 1, 1)]}, r"observations\[1\] is or holds a datetime"),
        ({"observations": [{"a": {1}}]}, r"observations\[0\] is or holds a set"),
        ({"compaction_count": -1}, "compaction_count is a negative number"), ({"compaction_count": True}, "True"),
        ({"compaction_count": 1.0}, "1.0"), ({"compaction_count": "1"}, "a str"),
        ({"compacted_summary": ["x"]}, "compacted_summary is a list"), ({"memory_keys": []}, "memory_keys is a list"),
    ],
)  # fmt: skip
def test_a_key_of_a_wrong_type_is_an_error_that_names_it(context, says):
    with pytest.raises(InvalidContext, match=says):
        ContextCompactor().compact(context)


def test_a_level_is_not_taken_for_an_emergency():
    with pytest.raises(InvalidPolicy, match="emergency is 'ok'"):
        ContextCompactor().compact({}, "ok")  # type: ignore[arg-type]


def test_an_emergency_names_fewer_details_and_touches_nothing_protected():
    observations = [f"Error: number {number} of many errors" for number in range(20)] + LONG
    context = {"observations": observations, "memory_keys": {"k": 1}}
    usual, urgent = ContextCompactor().compact(context), ContextCompactor().compact(context, emergency=True)
    assert len(urgent.summary) < len(usual.summary)
    assert urgent.context["observations"] == usual.context["observations"]
    assert urgent.pinned == usual.pinned
    assert urgent.tokens_saved > usual.tokens_saved


def test_without_semantic_compression_the_summary_is_a_listing():
    result = ContextCompactor(enable_semantic_compression=False).compact({"observations": ["a\nx", "b\ny", *LONG[:3]]})
    assert result.summary == "a; b"


def test_a_context_that_could_only_grow_says_by_how_much():
    result = ContextCompactor().compact({"observations": ["a", "b", "c", "d"]})
    assert (result.summary, result.tokens_saved, result.compression_ratio) == ("a", 0, 0.0)
    assert result.warnings == ("the summary takes 2 more tokens than what it stands for",)
