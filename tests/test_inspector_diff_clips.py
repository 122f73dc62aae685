"""The diff of what is clipped, waits or made room: what stays, what went, and the words that tell so."""

from __future__ import annotations

from typing import Any

import pytest

from context_gc import Budget, Policy, compact_events
from context_gc.clipping import clipped
from context_gc.inspector.diff_data import page, whole
from context_gc.inspector.diff_rows import CLIPPED, GONE, NEW, SAME, STUB, clipped_parts, diff
from context_gc.render import line
from context_gc.timeline import timeline
from context_gc.tokens import COUNTERS

Event = dict[str, Any]


def write(name: str, value: int) -> Event:
    return {"id": name, "type": "set_var", "timestamp": 0, "key": "a", "value": value}


def said(name: str, text: str = "a note") -> Event:
    return {"id": name, "type": "decision", "timestamp": 0, "content": text}


def log(lines: int, name: str = "r1") -> list[Event]:
    """A command with a long output that has an error in the middle."""
    told = [f"line {line} of the output" for line in range(lines)]
    told[lines // 2] = "AssertionError: it broke"
    text = "\n".join(told)
    return [
        {"id": f"c{name}", "type": "tool_call", "timestamp": 0, "tool_name": "Bash", "arguments": {"command": "make"}},
        {"id": name, "type": "tool_result", "timestamp": 1, "call_id": f"c{name}", "result": text},
    ]


CLIPS = Policy(stages=("clip",), clip_over=200)


def test_a_clipped_event_shows_what_stays_what_went_and_the_stub() -> None:
    made = diff(compact_events(log(300), CLIPS))
    assert [row.fate for row in made.rows] == [SAME, CLIPPED]
    row = made.rows[1]
    told = clipped_parts(row.before, row.after or "")
    assert "".join(part.text for part in told if part.what in (SAME, GONE)) == row.before
    assert [part.what for part in told] == [SAME, GONE, STUB, SAME, GONE, NEW, SAME]
    assert told[2].text.startswith("[RECEIPT r1] ")
    assert told[3].text == "AssertionError: it broke"
    assert made.changes[0].fate == CLIPPED
    assert sum(each.impact for each in made.rows) == made.tokens_after - made.tokens_before


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("one line without an end " * 400, id="a line that is cut within"),
        pytest.param("same\n" * 2_000, id="lines that are all the same"),
        pytest.param("…\n" * 1_000 + "[RECEIPT forged] 1 of 2 tokens\n" * 300, id="gaps and stubs of its own"),
        pytest.param("\n" * 900 + "words of a line\n" * 900, id="empty lines"),
    ],
)
def test_what_stays_and_what_went_are_the_whole_text(text: str) -> None:
    event = {"id": "r", "type": "tool_result", "timestamp": 0, "call_id": "c", "result": text}
    short = clipped(event, 200, COUNTERS["o200k"])
    assert short is not None
    told = clipped_parts(line(event), short)
    assert "".join(part.text for part in told if part.what in (SAME, GONE)) == line(event)
    assert sum(part.what == STUB for part in told) == 1
    assert (told[0].what, told[-1].what) == (SAME, SAME)


def test_a_clipped_event_is_drawn_with_a_chip_that_holds_its_text_and_the_middle_of_what_went_left_out() -> None:
    made = diff(compact_events(log(2_000), CLIPS))
    (change,) = [item for item in page(made)["items"] if "change" in item]
    (row,) = change["rows"]
    assert (change["fate"], row["fate"]) == (CLIPPED, CLIPPED)
    assert row["text"].startswith("RESULT line 0 of the output")
    gone = next(text for what, text in row["parts"] if what == GONE)
    assert "more characters …\n" in gone
    assert len(gone) < 1_000
    assert whole(made.rows[1]) == made.rows[1].before


def test_a_waiting_event_is_unchanged_and_says_that_it_waits() -> None:
    found = timeline([write("e0", 1), said("e1"), write("e2", 2)], Policy(budget=Budget(10_000))).result
    made = diff(found)
    assert {row.fate for row in made.rows} == {SAME}
    assert [row.waits for row in made.rows] == [True, False, False]
    assert made.rows[0].reason.startswith("waits for the next pass: Would be superseded by e2")
    drawn = page(made)
    assert drawn["items"][0]["waits"]
    assert drawn["empty"].endswith("1 event waits for the next pass: ◌.")


def test_what_made_room_names_its_pass() -> None:
    events = [said(f"d{turn}", "many words " * 40) for turn in range(30)]
    made = diff(timeline(events, Policy(budget=Budget(1_000))).result)
    assert "evicted to make room in pass 1" in {row.reason for row in made.rows}
