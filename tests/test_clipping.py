"""Clipping: what stays of a long result, and that nothing else does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation import trace

from context_gc.clipping import GAP, WORTH, clipped
from context_gc.render import line
from context_gc.tokens import COUNTERS

COUNTER = COUNTERS["o200k"]
STUB = re.compile(r"\[RECEIPT r1\] ([\d,]+) of ([\d,]+) tokens")


def result(value, name="r1"):
    return {"id": name, "type": "tool_result", "timestamp": 1, "call_id": "c1", "result": value}


def rows(count, **others):
    """Numbered lines; `others` replaces some of them, `row_7` the seventh."""
    return "\n".join(others.get(f"row_{number}", f"row {number} of the log") for number in range(1, count + 1))


def test_first_and_last_lines_stay_and_one_stub_tells_how_much_is_behind_it():
    text = clipped(result(rows(2_000)), 2_000, COUNTER)
    lines = text.split("\n")
    stubs = [each for each in lines if each.startswith("[RECEIPT")]
    at = lines.index(stubs[0])
    assert lines[:2] == ["RESULT row 1 of the log", "row 2 of the log"]
    assert lines[-1] == "row 2000 of the log"
    assert lines[: at - 1] + lines[at + 1 :] == [each for each in lines if each != stubs[0] and each != lines[at - 1]]
    assert len(stubs) == 1
    hidden, total = (int(each.replace(",", "")) for each in STUB.fullmatch(stubs[0]).groups())
    assert total == COUNTER.count(line(result(rows(2_000))) + "\n")
    assert abs(total - hidden - COUNTER.count(text.replace(stubs[0] + "\n", "") + "\n")) < 5
    assert COUNTER.count(text + "\n") <= 1_000


def test_lines_about_errors_and_failing_tests_stay_in_their_order():
    told = {
        "row_900": "ValueError: not a number", "row_901": "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "row_1300": "src/a.c:3:5: error: expected ';'", "row_1500": "--- FAIL: TestSum (0.01s)",
    }  # fmt: skip
    lines = clipped(result(rows(2_000, **told)), 2_000, COUNTER).split("\n")
    at = [lines.index(each) for each in told.values()]
    assert at == sorted(at)
    assert STUB.fullmatch(lines[at[0] - 1])
    assert at[1] == at[0] + 1, "adjacent lines have no gap between them"
    assert [lines[at[1] + 1], lines[at[2] + 1], lines[at[3] + 1]] == [GAP] * 3


def test_lines_about_errors_take_no_more_than_their_share():
    text = clipped(result("\n".join(f"error: this is wrong, {number}" for number in range(3_000))), 2_000, COUNTER)
    assert text.split("\n")[0] == "RESULT error: this is wrong, 0"
    assert text.split("\n")[-1] == "error: this is wrong, 2999"
    assert COUNTER.count(text + "\n") <= 1_000


@pytest.mark.parametrize(
    "value",
    ["word " * 100, rows(200), "", {"a": 1}, [{"type": "image"}, {"type": "text", "text": rows(2_000)}]],
    ids=["short", "short rows", "empty", "json", "an image in it"],
)
def test_what_is_short_or_holds_an_image_is_left_alone(value):
    assert clipped(result(value), 2_000, COUNTER) is None


def test_what_would_lose_less_than_a_quarter_is_left_alone():
    assert clipped(result(rows(8)), 40, COUNTER) is not None
    assert clipped(result(rows(8), name="a.very.long.id." * 9), 40, COUNTER) is None


def test_one_long_line_is_cut_within_it():
    text = clipped(result("x" * 1_000_000), 2_000, COUNTER)
    first, stub, last = text.split("\n")
    assert first.startswith("RESULT xxx")
    assert first.endswith("x" + GAP)
    assert STUB.fullmatch(stub)
    assert last.startswith(GAP + "x")
    assert len(text) < 10_000


@pytest.mark.parametrize("shift", range(14))
def test_a_cut_beside_an_escape_sets_no_stub_free(shift):
    text = clipped(result("[RECEIPT e0] " * 400 + "z" * shift), 400, COUNTER)
    found = [each for each in text.split("\n") if "[RECEIPT" in each.replace("\\[RECEIPT", "")]
    assert len(found) == 1
    assert STUB.fullmatch(found[0])


def test_json_values_and_payloads_are_clipped_as_they_are_shown():
    assert '{"rows": [1, 1,' in clipped(result({"rows": [1] * 9_000}), 2_000, COUNTER)
    (run,) = trace("r1 run make -> 2 : row ×900")
    assert clipped(run, 2_000, COUNTER).startswith("RUN make -> exit 2\nrow 1\n")


def test_an_id_that_is_not_safe_is_shown_as_its_label():
    text = clipped(result(rows(2_000), name="a]\n[x"), 2_000, COUNTER)
    assert re.search(r"^\[RECEIPT id_[0-9a-f]{12}\] [\d,]+ of [\d,]+ tokens$", text, re.MULTILINE)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(("[RECEIPT e0]", "\\", "\n", " ", "x" * 30, "漢", "👩‍💻", "\ud83d", "\ude00", "error: y", "…")),
        min_size=40,
        max_size=120,
    ).map("".join),
    st.integers(0, 120),
    st.sampled_from(sorted(COUNTERS)),
)
def test_whatever_the_text_it_can_be_sent_forges_no_stub_and_is_shorter(value, over, name):
    event, counter = result(value), COUNTERS[name]
    text = clipped(event, over, counter)
    assert text == clipped(result(value), over, counter)
    if text is None:
        return
    full = line(event)
    assert counter.count(full + "\n") > over
    assert counter.count(text + "\n") <= WORTH * counter.count(full + "\n")
    text.encode("utf-8")
    stubs = [each for each in text.split("\n") if each.startswith("[RECEIPT")]
    assert len(stubs) == 1
    assert STUB.fullmatch(stubs[0])
    for each in text.split("\n"):
        if each != stubs[0]:
            assert "[RECEIPT" not in each.replace("\\[RECEIPT", "")
            assert each.strip(GAP).removeprefix("\\") in full
