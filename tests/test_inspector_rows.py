"""The view model: turns, kinds, statuses, savings and sentences say what the core decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from context_gc import Budget, Policy, Trace, Window, compact_events
from context_gc.inspector.palette import DARK, KINDS, LIGHT, PRUNED, RECEIPT, kind_of
from context_gc.inspector.rows import Row, rows, short
from context_gc.inspector.savings import savings
from context_gc.inspector.say import brief, share, signed
from context_gc.inspector.summary import answer, growth, largest_gone, slices
from context_gc.stages import STAGES
from context_gc.timeline import timeline


def event(name: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "type": kind,
        "timestamp": int("".join(filter(str.isdigit, name)) or 0),
        "parent_id": None,
        **fields,
    }


def said(name: str, text: str = "I will look", **fields: Any) -> dict[str, Any]:
    return event(name, "decision", content=text, **fields)


def call(name: str, tool: str = "grep", arguments: Any = None, **fields: Any) -> dict[str, Any]:
    return event(name, "tool_call", tool_name=tool, arguments=arguments or {"pattern": "x"}, **fields)


def result(name: str, of: str, text: str = "nothing found", **fields: Any) -> dict[str, Any]:
    return event(name, "tool_result", call_id=of, result=text, **fields)


STORY = [
    event("u1", "requirement", content="Fix the total"),
    event("v2", "set_var", key="port", value=8000),
    call("c3", "grep", {"pattern": "total"}),
    result("r4", "c3", "cart.py:3: total " * 20),
    event("v5", "set_var", key="port", value=9000),
    call("c6", "grep", {"pattern": "total"}),
    result("r7", "c6", "cart.py:3: total " * 20),
    said("d8", "Done", importance="critical"),
]


def told(events: list[dict[str, Any]], policy: Policy | None = None) -> dict[str, Row]:
    found = rows(Trace(events, "native"), Window(0, len(events)), compact_events(events, policy))
    return {row.id: row for row in found}


def test_statuses_are_those_of_the_core() -> None:
    found = told(STORY)
    assert {name: row.status for name, row in found.items()} == {
        "u1": "protected", "v2": "pruned", "c3": "live", "r4": "live", "v5": "live", "c6": "pruned", "r7": "pruned",
        "d8": "protected",
    }  # fmt: skip


def test_a_pruned_row_names_stage_reason_witness_and_receipt() -> None:
    row = told(STORY)["v2"]
    assert (row.stage, row.because, row.receipt_id) == ("overrides", ("v5",), "v2")
    assert "v5" in row.reason


def test_a_protected_row_tells_what_would_have_happened() -> None:
    row = told([event("v1", "set_var", key="a", value=1, tags=["pin"]), event("v2", "set_var", key="a", value=2)],
               Policy(protect_tags=("pin",)))["v1"]  # fmt: skip
    assert (row.status, row.protected, row.receipt_id) == ("protected", "tag=pin", "")
    assert "superseded by v2" in row.would


LONG = "\n".join(f"{line}: some words of line {line}" for line in range(200))


def lived(events: list[dict[str, Any]], policy: Policy) -> dict[str, Row]:
    found = rows(Trace(events, "native"), Window(0, len(events)), timeline(events, policy).result)
    return {row.id: row for row in found}


def reads(turns: int, text: str = "short text", files: int = 99) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for turn in range(turns):
        read = call(f"c{turn}", "Read", {"file_path": f"f{turn % files}"})
        made += [read, result(f"r{turn}", f"c{turn}", f"{text} {turn}")]
    return made


def test_a_clipped_row_has_a_receipt_and_stands_in_part() -> None:
    row = told(reads(1, LONG), Policy(stages=("clip",), clip_over=200))["r0"]
    assert (row.status, row.stage, row.receipt_id, row.passed) == ("clipped", "clip", "r0", 0)
    assert row.has_receipt
    assert not row.is_cut
    assert 0 < row.gone == -row.impact < row.tokens


def test_a_waiting_row_tells_what_was_found_and_has_no_receipt() -> None:
    found = lived(reads(4, files=2), Policy(stages=("stale-reads",), budget=Budget(10_000)))
    assert (found["r0"].status, found["r0"].receipt_id, found["r0"].gone) == ("waiting", "", 0)
    assert found["r0"].why.startswith("Would be superseded by ")
    assert found["r3"].status == "live"


def test_an_evicted_row_names_its_pass() -> None:
    found = lived(reads(30, "many words of a long text " * 20), Policy(budget=Budget(2_000)))
    evicted = [row for row in found.values() if row.is_evicted]
    assert {row.reason for row in evicted} >= {"evicted to make room in pass 1", "evicted to make room in pass 2"}
    assert all(row.reason.endswith(f"in pass {row.passed}") and row.has_receipt for row in evicted)


def test_a_result_that_was_clipped_to_make_room_says_so() -> None:
    found = lived([*reads(1, LONG), *reads(30)[4:]], Policy(clip_over=200, budget=Budget(1_800)))
    assert found["r0"].passed > 0
    assert found["r0"].reason == f"clipped to make room in pass {found['r0'].passed}"
    assert (found["r0"].status, found["r0"].is_evicted) == ("clipped", True)


def test_figures_add_up_to_the_compaction() -> None:
    outcome = compact_events(STORY)
    found = told(STORY).values()
    assert sum(row.tokens for row in found) == outcome["tokens_before"]
    assert sum(row.tokens + row.impact for row in found) == outcome["tokens_after"]


def test_results_bear_the_tool_and_the_path_of_their_call() -> None:
    found = told([call("c1", "Read", {"file_path": "src/app.py"}), result("r2", "c1")])
    assert (found["r2"].tool, found["r2"].path, found["r2"].label) == ("Read", "src/app.py", "→ Read app.py")


def test_numbers_are_places_in_the_whole_trace() -> None:
    events = STORY[:3]
    found = rows(Trace(events, "native"), Window(1, 3), compact_events(events[1:3]))
    assert [(row.seq, row.number) for row in found] == [(0, 2), (1, 3)]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (event("e", "requirement", content="x"), "user"),
        (event("e", "constraint", content="x"), "system"),
        (said("e"), "decision"),
        (said("e", tags=["thinking"]), "thinking"),
        (call("e"), "call"),
        (call("e", "TodoWrite", {"todos": []}), "state"),
        (result("e", "c"), "result"),
        (result("e", "c", is_error=True), "error"),
        (event("e", "command_run", command="ls", exit_code=0), "call"),
        (event("e", "command_run", command="ls", exit_code=1), "error"),
        (event("e", "verification", content="x", passed=False), "error"),
        (event("e", "set_var", key="a", value=1), "state"),
    ],
)
def test_kinds(given: dict[str, Any], kind: str) -> None:
    assert kind_of(given) == kind


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("paint", [*KINDS.values(), PRUNED, RECEIPT], ids=[*KINDS, "pruned", "receipt"])
def test_text_on_every_fill_reaches_contrast_aa(paint: Any) -> None:
    assert contrast(paint.light_fill, paint.light_text) >= 4.5
    assert contrast(paint.dark_fill, paint.dark_text) >= 4.5


@pytest.mark.parametrize(("colours", "page"), [(LIGHT, "#FFFFFF"), (DARK, "#111827")])
def test_accent_and_text_reach_contrast_aa_on_the_page(colours: dict[str, str], page: str) -> None:
    assert contrast(colours["accent"], page) >= 4.5
    assert contrast(colours["text"], page) >= 4.5


def test_savings_of_each_stage_are_the_difference_that_switching_it_makes() -> None:
    policy = Policy(stages=("overrides", "cycles"))
    outcome = compact_events(STORY, policy)
    saved = savings(lambda other: compact_events(STORY, other)["tokens_after"], policy)
    assert set(saved) == {stage.name for stage in STAGES}
    without = compact_events(STORY, Policy(stages=("cycles",)))["tokens_after"]
    with_more = compact_events(STORY, Policy(stages=("overrides", "duplicates", "cycles")))["tokens_after"]
    assert saved["overrides"] == without - outcome["tokens_after"]
    assert saved["duplicates"] == outcome["tokens_after"] - with_more > 0


def test_savings_are_told_without_the_budget() -> None:
    asked: list[Policy] = []
    savings(lambda other: asked.append(other) or 0, Policy(budget=Budget(1_000)))  # type: ignore[func-returns-value]
    assert all(each.budget is None and each.stubs == "worthwhile" for each in asked)
    assert len(set(asked)) == len(STAGES) + 1


def test_the_answer_tells_size_share_and_stage() -> None:
    found = list(told(STORY).values())
    outcome = compact_events(STORY)
    text = answer(found, 5, outcome["tokens_before"], outcome["tokens_after"])
    assert text.startswith(f"5 turns, {outcome['tokens_before']} tokens. ")
    assert "in duplicates" in text
    assert text.endswith("Everything can be recovered.")


def test_the_answer_says_when_nothing_is_dead() -> None:
    assert "None of them are dead" in answer(list(told(STORY[:3]).values()), 1, 40, 40)


def test_the_answer_tells_what_was_live_and_what_waits() -> None:
    events, policy = reads(30, "many words of a long text " * 20, 14), Policy(stages=("stale-reads",))
    found = list(lived(events, replace(policy, budget=Budget(1_000))).values())
    text = answer(found, 30, sum(row.tokens for row in found), 0)
    dead = sum(row.gone for row in found if row.has_receipt and not row.is_evicted)
    assert f"{dead:,} of them (" in text
    assert f"{sum(row.gone for row in found) - dead:,} (" in text
    assert "were live and made room. " in text
    waits = list(lived(reads(4, files=2), replace(policy, budget=Budget(10_000))).values())
    assert answer(waits, 4, 100, 100).startswith("4 turns, 100 tokens. Nothing is cut yet; ")


def test_slices_keep_the_sum_and_fold_what_is_small() -> None:
    found = list(told(STORY).values())
    parts = slices(found, "type", most=3)
    assert len(parts) == 3
    assert sum(part.whole for part in parts) == sum(row.tokens for row in found)
    assert sum(part.gone for part in parts) == sum(row.tokens for row in found if row.is_cut)


def test_largest_gone_items_hold_no_live_ones() -> None:
    found = largest_gone(list(told(STORY).values()), 2)
    assert [row.id for row in found] == ["r7", "c6"]


def test_growth_ends_at_the_totals() -> None:
    outcome = compact_events(STORY)
    last = growth(list(told(STORY).values()))[-1]
    assert last[1:] == (outcome["tokens_before"], outcome["tokens_after"])


def test_figures_have_signs_and_separators() -> None:
    assert [signed(change) for change in (-4603, 0, 12)] == ["−4,603", "0", "+12"]
    assert [brief(change) for change in (-14_049, 0, 312, 2_500_000)] == ["−14.0k", "0", "+312", "+2.5M"]
    assert [share(1, 8), share(1, 0)] == ["12.5 %", "0.0 %"]


def test_short_text_has_no_line_breaks_and_no_direction_marks() -> None:
    assert short("a\nb\u202ec\x00 d" * 40, 12) == "a b c da b…"
