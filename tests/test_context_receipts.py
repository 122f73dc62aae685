"""ContextCompactor with a summarizer, a store and a summary that folds: nothing is lost on the way."""

from __future__ import annotations

import re

import pytest

from context_gc.context import ContextCompactor
from context_gc.context_bus import ContextBus
from context_gc.receipt_store import ReceiptStore
from context_gc.summary.folding import folded, oldest

LONG = [f"Observation {number}: the build of part_{number} went well and took some time" for number in range(10)]
TAG = re.compile(r"\[RECEIPT (obs_[0-9a-f]{12})\]")


@pytest.fixture
def store():
    with ReceiptStore() as opened:
        yield opened


def test_a_summarizer_replaces_the_summary_and_cannot_break_its_bound_or_forge_a_stub():
    told = "  Wrote [RECEIPT obs_000000000000] \ud800 and " + "more words " * 100
    result = ContextCompactor(summarizer=lambda left: told, max_summary_length=60).compact({"observations": LONG})
    assert result.summary == "Wrote \\[RECEIPT obs_000000000000] \ufffd and more words more …"
    assert len(result.summary) <= 60


def test_a_summarizer_is_given_what_leaves():
    seen = []
    ContextCompactor(summarizer=lambda left: seen.extend(left) or "x").compact({"observations": [*LONG, {"a": 1}]})
    assert seen == LONG[:8]


def test_a_summarizer_that_changes_what_it_is_given_changes_no_original(store):
    def clears(left):
        left[0]["a"].clear()
        left.clear()
        return "cleared"

    result = ContextCompactor(summarizer=clears, store=store).compact({"observations": [{"a": [1]}, *LONG]})
    assert store.recover(TAG.findall(result.summary)[0]) == [{"a": [1]}, *LONG[:7]]


def _raises(left):
    raise RuntimeError("model\nis [RECEIPT x] away")


@pytest.mark.parametrize(
    ("summarizer", "says"),
    [
        (_raises, "RuntimeError: model is \\[RECEIPT x] away"), (lambda left: None, "NoneType"),
        (lambda left: "", "blank"), (lambda left: " \n", "blank"), (lambda left: b"x", "bytes"),
    ],
)  # fmt: skip
def test_a_summarizer_that_fails_changes_nothing(store, summarizer, says):
    context = {"observations": LONG, "compaction_count": 2, "memory_keys": {"k": [1]}, "x": [1]}
    result = ContextCompactor(memory_keys={"j": 2}, summarizer=summarizer, store=store).compact(context)
    assert result.context == context
    assert result.context["x"] is not context["x"]
    assert (result.summary, result.tokens_saved, result.compression_ratio) == ("", 0, 0.0)
    assert result.pinned == {"j": 2, "k": [1]}
    assert len(result.warnings) == 1
    assert says in result.warnings[0]
    assert len(store) == 0


def test_an_interrupt_of_the_summarizer_is_the_callers():
    def interrupted(left):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ContextCompactor(summarizer=interrupted).compact({"observations": LONG})


def test_what_leaves_is_behind_the_receipt_that_the_summary_names(store):
    observations = [*LONG, {"tool": "bash", "output": "\ud800\x00\x1b[0m", "exit_code": 1}, "a", "b", "c"]
    result = ContextCompactor(store=store).compact({"observations": observations, "compaction_count": 6})
    (receipt_id,) = TAG.findall(result.summary)
    assert result.summary.endswith(f" [RECEIPT {receipt_id}]")
    assert len(result.summary) <= 500
    receipt = store.get(receipt_id)
    assert store.recover(receipt_id) == observations[:11]
    assert receipt.verify(observations[:11])
    assert (receipt.stage, receipt.reason) == ("summary", "summarised at compaction 7")
    assert receipt.event_ids == tuple(f"observation {number}" for number in range(1, 12))


def test_originals_are_kept_under_the_run_of_the_context(store):
    result = ContextCompactor(store=store).compact({"observations": LONG, "run_id": "r7"})
    (receipt_id,) = TAG.findall(result.summary)
    assert store.recover(receipt_id, "r7") == LONG[:7]


def test_the_same_compaction_twice_is_one_receipt(store):
    made = ContextCompactor(store=store)
    assert made.compact({"observations": LONG}) == made.compact({"observations": LONG})
    assert len(store) == 1
    made.compact({"observations": LONG, "compaction_count": 1})
    assert len(store) == 2


def test_no_receipt_is_made_when_nothing_leaves(store):
    ContextCompactor(store=store).compact({"observations": LONG[:3]})
    assert len(store) == 0


def test_an_observation_forges_no_receipt(store):
    forged = "see [RECEIPT obs_000000000000] for more"
    summary = ContextCompactor(store=store).compact({"observations": [forged, *LONG]}).summary
    assert len(re.findall(r"(?<!\\)\[RECEIPT", summary)) == 1


def test_a_store_that_fails_loses_nothing(store):
    store.close()
    context = {"observations": LONG, "x": [1]}
    result = ContextCompactor(store=store).compact(context)
    assert result.context == context
    assert result.tokens_saved == 0
    assert result.warnings[0].startswith("the receipt store failed: ")


def test_the_accumulated_summary_folds_its_oldest_entries_into_one_line():
    made = ContextCompactor(max_summary_length=100, max_accumulated_length=400)
    context = {"compacted_summary": "What was here before."}
    for _ in range(30):
        result = made.compact({**context, "observations": LONG})
        context = result.context
        assert len(context["compacted_summary"]) <= 400
        assert context["compacted_summary"].endswith("\nThen, " + result.summary)
    first, *entries = context["compacted_summary"].split("\nThen, ")
    assert first == f"Earlier summaries, folded: {31 - len(entries)}"


def test_folding_leaves_room_so_that_not_every_compaction_folds():
    made = ContextCompactor(max_summary_length=100, max_accumulated_length=2_000)
    context, folds = {}, 0
    for _ in range(100):
        before = context.get("compacted_summary", "")
        context = made.compact({**context, "observations": LONG}).context
        folds += not context["compacted_summary"].startswith(before)
    assert 0 < folds < 20


def test_everything_can_be_reached_from_the_context_however_often_it_folded(store):
    made = ContextCompactor(max_summary_length=60, max_accumulated_length=200, store=store)
    context, given = {"compacted_summary": "Before all."}, []
    for number in range(40):
        new = [f"{number} {text}" for text in LONG[:4]]
        given += new
        context = made.compact({**context, "observations": [*context.get("observations", []), *new]}).context
    found, texts, todo, seen = set(), [], [context["compacted_summary"]], set()
    while todo:
        for receipt_id in set(TAG.findall(todo.pop())) - seen:
            seen.add(receipt_id)
            if store.get(receipt_id).event_ids == ("compacted_summary",):
                todo += store.recover(receipt_id)
                texts += store.recover(receipt_id)
            else:
                found.update(store.recover(receipt_id))
    assert found | set(context["observations"]) == set(given)
    assert any(text.startswith("Before all.") for text in texts)


def test_the_default_bound_is_20_summaries_and_at_least_1000_characters():
    for length, bound in ((100, 2_000), (10, 1_000)):
        context, longest = {}, 0
        for _ in range(150):
            context = ContextCompactor(max_summary_length=length).compact({**context, "observations": LONG}).context
            longest = max(longest, len(context["compacted_summary"]))
        assert bound - 200 < longest <= bound


def test_what_folds_is_the_beginning_up_to_an_entry():
    text = "start" + "".join(f"\nThen, entry {number}" for number in range(100))
    assert oldest(text, 100, len(text) + 100) == ""
    gone = oldest(text, 100, len(text) + 99)
    assert text.startswith(gone)
    assert text[len(gone) :].startswith("\nThen, entry ")
    assert oldest(text, 100, 200) == text


def test_a_folded_line_counts_what_it_folds_and_names_receipts_that_fit():
    tags = [f"[RECEIPT obs_{number:012x}]" for number in range(3)]
    entries = "".join(f"\nThen, x {tag}" for tag in tags)
    assert folded(entries, "", 1_000) == f"Earlier summaries, folded: 3 {tags[2]} {tags[1]} {tags[0]}"
    assert folded(entries, tags[0], 82) == f"Earlier summaries, folded: 3 {tags[0]} {tags[2]}"
    again = folded(folded(entries, "", 1_000) + "\nThen, y \\" + tags[1].replace("1", "9"), "", 100)
    assert again == f"Earlier summaries, folded: 4 {tags[0]} {tags[1]}"


def test_a_bus_is_told_of_each_compaction_with_the_context_before_and_after():
    bus, told = ContextBus(), []
    bus.subscribe("context.compacted", told.append)
    context = {"observations": ["one thing", "another thing", "a third", "a fourth"], "run_id": "r"}
    result = ContextCompactor(bus=bus).compact(context)
    (data,) = told
    assert (data["before"], data["after"], data["summary"]) == (context, result.context, result.summary)
    assert data["after"] is not result.context


def test_a_handler_that_fails_does_not_lose_the_result():
    bus = ContextBus()
    bus.subscribe("*", lambda data: 1 / 0)
    result = ContextCompactor(bus=bus).compact({"observations": list("abcdef")})
    assert result.context["compaction_count"] == 1
    assert "a handler of the bus failed" in result.warnings[-1]
