"""Promises of ContextCompactor that hold for every context: nothing lost, nothing changed, no bound exceeded."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import strategies  # noqa: F401  # loads the Hypothesis profile
from hypothesis import given
from hypothesis import strategies as st

from context_gc.canonical import canonical
from context_gc.context import CompactionResult, ContextCompactor
from context_gc.receipt_store import ReceiptStore
from context_gc.summary.names import Names

TAG = re.compile(r"(?<!\\)\[RECEIPT (obs_[0-9a-f]{12})\]")

CHARACTERS = st.characters()  # surrogates and control characters too
WORDS = st.sampled_from(
    (
        "the", "src/a_module.py", "Error: no", "KeyError: 'x'", "exit code: 1", "$ make all", "\n", "\r", "\x00",
        "\x1b[0m", "[RECEIPT obs_000000000000]", "\\[RECEIPT", "\nThen, ", "Earlier summaries, folded: 7", "\ud83d",
        "\ude00", "foo_bar_baz", "3f2a9bc01", "漢字。", "👩‍💻", "We decided to", "I'll use", "12 passed", "word " * 60,
        "x" * 400, "{", "=",
    )
)  # fmt: skip
TEXTS = st.text(CHARACTERS, max_size=20) | st.lists(WORDS | st.text(CHARACTERS, max_size=5), max_size=30).map(" ".join)
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
JSON = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
KEYS = st.sampled_from(
    "tool name args arguments input output result content stdout exit_code error is_error success role type "
    "tool_use_id tool_calls command message text path id timestamp".split()
)
NAMES = st.sampled_from(("bash", "read_file", "edit", "grep", "tool", "assistant", "tool_result", "decision", "error"))
RECORDS = st.dictionaries(KEYS, NAMES | st.integers(-1, 2) | TEXTS | JSON, max_size=6)
OBSERVATIONS = st.lists(TEXTS | RECORDS | JSON | st.lists(RECORDS, max_size=3), max_size=8)
MEMORY = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)
CONTEXTS = st.fixed_dictionaries(
    {},
    optional={
        "observations": OBSERVATIONS, "compacted_summary": TEXTS, "compaction_count": st.integers(0, 10**20),
        "compression_ratio": JSON, "memory_keys": MEMORY, "plan_contract": JSON, "run_id": TEXTS, "other": JSON,
    },
)  # fmt: skip
SETTINGS = st.fixed_dictionaries(
    {
        "recent_observations": st.integers(0, 4), "memory_keys": MEMORY, "max_summary_length": st.integers(26, 600),
        "enable_semantic_compression": st.booleans(),
    },
)  # fmt: skip


def compactor(settings: dict[str, Any], store: ReceiptStore | None = None, room: int = 0) -> ContextCompactor:
    longest = settings["max_summary_length"] + 107 + room
    return ContextCompactor(**copy.deepcopy(settings), store=store, max_accumulated_length=longest)


def same(one: object, other: object) -> bool:
    """Equal as JSON, byte for byte: NaN is itself, 1 is not 1.0."""
    return canonical(one) == canonical(other)


def told(result: CompactionResult) -> str:
    return canonical([result.context, result.summary, result.pinned, result.tokens_saved, result.compression_ratio])


def recovered(store: ReceiptStore, context: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Canonical texts of (the observations, the folded summaries) behind the receipts that a context leads to."""
    run = context.get("run_id") or ""
    found: list[str] = []
    folded: list[str] = []
    todo, seen = [context["compacted_summary"]], set()
    while todo:
        for receipt_id in TAG.findall(todo.pop()):
            if receipt_id in seen or receipt_id == "obs_000000000000":
                continue
            seen.add(receipt_id)
            receipt, originals = store.get(receipt_id, run), store.recover(receipt_id, run)
            assert receipt.verify(originals)
            if receipt.event_ids == ("compacted_summary",):
                todo += originals
                folded += originals
            else:
                found += map(canonical, originals)
    return found, folded


@given(CONTEXTS, SETTINGS, st.booleans(), st.booleans())
def test_one_compaction_does_what_is_documented(context, settings, emergency, stored):
    before = copy.deepcopy(context)
    with ReceiptStore() as store:
        made = compactor(settings, store if stored else None)
        result = made.compact(context, emergency)
        again = made.compact(context, emergency)
    assert same(context, before)
    assert told(result) == told(again)
    after, given_ = result.context, context.get("observations", [])
    recent = given_[max(0, len(given_) - made.recent_observations) :]
    left = len(given_) - len(recent)
    assert same(after["observations"], recent)
    assert after["compaction_count"] == context.get("compaction_count", 0) + 1
    assert same(after["memory_keys"], {**settings["memory_keys"], **context.get("memory_keys", {})})
    assert same(result.pinned, after["memory_keys"])
    for key in ("plan_contract", "run_id", "other"):
        assert same(after.get(key), context.get(key))
    assert len(result.summary) <= made.max_summary_length
    assert result.tokens_saved >= 0
    assert result.compression_ratio == after["compression_ratio"] >= 0
    if left:
        assert result.summary
        assert after["compacted_summary"].endswith("\nThen, " + result.summary)
        assert len(after["compacted_summary"]) <= made.max_summary_length + 107
        result.summary.encode()
        assert len(result.summary.splitlines()) == 1
        assert len(TAG.findall(result.summary)) == stored
    else:
        assert (result.summary, result.tokens_saved, result.compression_ratio) == ("", 0, 0.0)
        assert after["compacted_summary"] == context.get("compacted_summary", "")


@given(CONTEXTS, SETTINGS)
def test_the_context_grows_only_where_what_left_is_tiny_and_then_says_so(context, settings):
    made = compactor(settings)
    result = made.compact(context)
    left = context.get("observations", [])[: len(context.get("observations", [])) - len(result.context["observations"])]
    tokens = sum(
        made.estimate_tokens(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)) for each in left
    )
    if not left:
        assert result.warnings == ()
        return
    saved = tokens - made.estimate_tokens("\nThen, " + result.summary)
    assert result.tokens_saved == max(0, saved)
    assert bool(result.warnings) is (saved < 0)
    if tokens >= 14:
        assert saved >= 0


@given(CONTEXTS, SETTINGS, st.lists(OBSERVATIONS, max_size=8), st.integers(0, 2_000))
def test_over_many_rounds_no_observation_is_lost(context, settings, rounds, room):
    everything = list(context.get("observations", []))
    start = context.get("compacted_summary", "")
    with ReceiptStore() as store:
        made = compactor(settings, store, room)
        for new in rounds:
            everything += new
            count = context.get("compaction_count", 0)
            context = {**context, "observations": [*context.get("observations", []), *new]}
            result = made.compact(context, emergency=len(new) % 2 == 1)
            assert result.context["compaction_count"] == count + 1
            if result.summary:
                assert len(result.context["compacted_summary"]) <= made.max_accumulated_length
            context = result.context
        found, folded = recovered(store, {"compacted_summary": "", **context})
        assert sorted(found + [canonical(each) for each in context.get("observations", [])]) == sorted(
            map(canonical, everything)
        )
        assert any(text.startswith(start) for text in [*folded, context.get("compacted_summary", "")])


@given(st.integers(1, 10**12), st.integers(0, 10**12), st.integers(1, 999))
def test_thresholds_are_exact_at_their_boundary(window, tokens, share):
    made = ContextCompactor(threshold_low=share / 1_000, threshold_high=1)
    assert made.should_compact(share * window, 1_000 * window)
    assert not made.should_compact(share * window - 1, 1_000 * window)
    assert made.should_compact(tokens, window) is (tokens / window >= share / 1_000)
    assert made.level(tokens, window) == ("emergency" if tokens >= window else
                                          "compact" if tokens / window >= share / 1_000 else "ok")  # fmt: skip


@given(TEXTS)
def test_tokens_are_a_quarter_of_the_characters_at_least_and_two_sevenths_at_most(text):
    tokens = ContextCompactor.estimate_tokens(text)
    assert tokens in (-(-len(text) // 4), -(-len(text) * 2 // 7))
    assert (tokens == 0) is (text == "")


NAME = st.from_regex(r"[a-z]{3,9}_[a-z]{2,9}", fullmatch=True)
PATH = (
    st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=1, max_size=4).map("/".join).map("{}/x.py".format)
)


@given(st.lists(st.lists(NAME | PATH | st.sampled_from(("and", "decided to", "Error:", "\n")), max_size=40)), st.data())
def test_no_name_is_cut_in_two(words, data):
    texts = [" ".join(each) for each in words]
    settings = {"max_summary_length": data.draw(st.integers(1, 400)), "recent_observations": 0}
    semantic = data.draw(st.booleans())
    summary = (
        ContextCompactor(**settings, enable_semantic_compression=semantic).compact({"observations": texts}).summary
    )
    named, known = Names(), Names()
    named.read(summary)
    for text in texts:
        known.read(text)
    assert set(named.paths()) <= set(known.paths())
    assert set(named.names()) <= set(known.names())
