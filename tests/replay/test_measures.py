"""Each measure on traces whose values can be worked out by reading: one perfect, one broken, one on the border."""

from __future__ import annotations

import pytest
from replayed import Words, Written, calls, result, says, traced, user

from context_gc.replay import replay

# call 1 (before e1) reads a file that the user named, call 2 (before e3) edits what only the result showed,
# call 3 (before e5) talks about it
TRACE = traced(
    user("Raise the timeout in src/app/main.py"),
    calls("read", path="src/app/main.py"),
    result("e1", "TIMEOUT_MS = 2500\nRETRIES = 3"),
    calls("edit", path="src/app/main.py", old_string="TIMEOUT_MS = 2500", new_string="TIMEOUT_MS = 9000"),
    result("e3", "done"),
    says("TIMEOUT_MS is 9000 now."),
)
MASKED = "RESULT (gone)"
STUB = "[RECEIPT e1] +1"


def measured(*prompts, trace=TRACE):
    return replay(trace, Written(*prompts), Words()).measures


# M1 and M2. Call 1 wrote the path; call 2 the path, TIMEOUT_MS, 2500 and 9000, of which 9000 is new;
# call 3 TIMEOUT_MS and 9000, which the edit had said by then. Only e2 supplied TIMEOUT_MS and 2500 to call 2.


def test_the_full_history_holds_all_that_is_used_again():
    told = measured()
    assert (told.recall.kept, told.recall.of) == (6, 6)
    assert (told.sole_source.kept, told.sole_source.of) == (2, 2)
    assert told.lost == []


def test_what_a_masked_result_alone_had_told_is_lost_to_the_call_that_uses_it():
    told = measured({}, {2: MASKED})
    assert (told.recall.kept, told.recall.of) == (4, 6)
    assert (told.sole_source.kept, told.sole_source.of) == (0, 2)
    lost = {(each.measure, each.call, each.what, each.event_id, each.distance) for each in told.lost}
    assert ("M2", 2, "TIMEOUT_MS", "e2", 1) in lost
    assert ("M2", 2, "2500", "e2", 1) in lost


def test_a_shortened_result_keeps_the_identifiers_that_still_stand_in_it():
    told = measured({}, {2: "RESULT TIMEOUT_MS …"})
    assert (told.recall.kept, told.recall.of) == (5, 6)
    assert (told.sole_source.kept, told.sole_source.of) == (1, 2)


def test_what_something_else_still_says_is_not_lost():
    # e2 is gone for call 3 only, and by then the edit itself holds TIMEOUT_MS
    told = measured({}, {}, {2: MASKED})
    assert told.recall.ratio == told.sole_source.ratio == 1.0


# M3


def test_recovery_names_each_event_once_however_much_of_it_is_missed():
    told = measured({}, {2: MASKED})
    assert told.recovered == 1
    assert told.recovered_tokens == len("RESULT TIMEOUT_MS = 2500 RETRIES = 3".split())


def test_nothing_has_to_be_recovered_where_nothing_is_missed():
    assert (measured().recovered, measured().recovered_tokens) == (0, 0)


# M4: the file is touched by the read from call 2 on, by the edit from call 3 on


@pytest.mark.parametrize(
    ("prompts", "kept"),
    [
        pytest.param(({}, {}, {}), 2, id="perfect: both stand"),
        pytest.param(({}, {1: STUB, 2: None}, {1: STUB, 2: None, 3: None, 4: None}), 0, id="broken: stubs say nothing"),
        pytest.param(({}, {1: STUB + " read src/app/main.py", 2: None}, {}), 2, id="border: the stub tells it"),
        pytest.param(
            ({}, {}, {1: STUB + " read src/app/main.py", 2: None, 3: None, 4: None}), 1, id="border: not the last act"
        ),
    ],
)
def test_the_artifact_trail_needs_the_last_act_on_each_path(prompts, kept):
    told = measured(*prompts)
    assert (told.artifacts.kept, told.artifacts.of) == (kept, 2)


def test_of_several_reads_in_a_row_one_is_enough():
    trace = traced(
        user("go"),
        calls("read", path="a.py"),
        result("e1", "x = 1"),
        calls("read", path="a.py"),
        result("e3", "x = 1"),
        says("done"),
    )
    told = measured({}, {}, {3: "[RECEIPT e3] +1", 4: None}, trace=trace)
    assert told.artifacts.ratio == 1.0
    assert measured({}, {}, {1: STUB, 2: None, 3: None, 4: None}, trace=trace).artifacts.ratio == 0.5


# M5: one rule, three calls


@pytest.mark.parametrize(
    ("prompts", "kept"),
    [
        pytest.param(({}, {}, {}), 3, id="perfect"),
        pytest.param(({}, {0: "REQUIREMENT: raise a timeout"}, {0: "REQUIREMENT: raise a timeout"}), 1, id="broken"),
        pytest.param(({}, {0: "REQUIREMENT: Raise the timeout in src/app/main.py (kept)"}, {}), 3, id="border: a mark"),
    ],
)
def test_an_instruction_survives_only_byte_for_byte(prompts, kept):
    told = measured(*prompts)
    assert (told.instructions.kept, told.instructions.of) == (kept, 3)


# M6


@pytest.mark.parametrize(
    ("prompts", "faults"),
    [
        pytest.param(({}, {}, {}), {}, id="perfect"),
        pytest.param(({}, {1: None}, {}), {"a result without its call": 1}, id="broken: an orphan"),
        pytest.param(({}, {2: None}, {2: None}), {"a call whose result is gone": 2}, id="broken: twice"),
        pytest.param(({}, {1: STUB, 2: None}, {1: STUB, 2: None}), {}, id="border: the whole unit, behind a stub"),
        pytest.param(({}, {2: MASKED}, {}), {}, id="border: a placeholder answers the call"),
    ],
)
def test_integrity_counts_halves_of_units(prompts, faults):
    assert dict(measured(*prompts).faults) == faults


def test_a_call_that_waits_for_its_result_is_no_fault():
    waiting = traced(user("go"), calls("ask", what="x"), says("meanwhile"))
    assert not measured(trace=waiting).faults


# M7. In words e0 has 6, e1 3 (CALL, "src/…"}) and its key), e2 7: prompts of 6, then 6 + e1 + e2.


def test_prompts_that_only_grow_are_stable():
    told = measured()
    assert (told.extending.kept, told.extending.of) == (2, 2)
    assert told.stability == 1.0


def test_a_change_leaves_what_stands_before_it():
    told = measured({}, {}, {2: MASKED})
    before = replay(TRACE, Written(), Words()).calls[1]
    assert (told.extending.kept, told.extending.of) == (1, 2)
    unchanged = before.tokens - Words().count("RESULT TIMEOUT_MS = 2500 RETRIES = 3")
    assert told.stability == pytest.approx((1 + unchanged / before.tokens) / 2)


def test_the_border_of_stability_is_the_last_event():
    told = measured({}, {2: MASKED}, {2: MASKED})
    assert told.stability == 1.0  # it never stood there in full


# M9: the edit quotes TIMEOUT_MS = 2500


@pytest.mark.parametrize(
    ("prompts", "kept"),
    [
        pytest.param(({}, {}), 1, id="perfect"),
        pytest.param(({}, {2: "RESULT TIMEOUT_MS is 2500"}), 0, id="broken: not in these bytes"),
        pytest.param(({}, {2: "RESULT TIMEOUT_MS = 2500\n[RECEIPT e2] 1 line"}), 1, id="border: shortened around it"),
    ],
)
def test_an_edit_can_quote_what_stands_byte_for_byte(prompts, kept):
    told = measured(*prompts)
    assert (told.quotes.kept, told.quotes.of) == (kept, 1)


def test_line_numbers_that_a_reading_tool_adds_are_no_part_of_a_quote():
    numbered = traced(
        user("go"),
        calls("read", path="a.py"),
        result("e1", "     1→def load():\n     2→    return 1"),
        calls("edit", path="a.py", old_string="def load():\n    return 1", new_string="pass"),
    )
    assert (measured(trace=numbered).quotes.kept, measured(trace=numbered).quotes.of) == (1, 1)


def test_a_quote_that_never_stood_anywhere_is_not_asked_for():
    invented = traced(user("go"), calls("edit", path="a.py", old_string="def other():", new_string="pass"))
    assert measured(trace=invented).quotes.of == 0


def test_a_patch_quotes_its_context_and_what_it_takes_out():
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n def load():\n-    return 1\n+    return 2\n*** End Patch"
    patched = traced(
        user("go"),
        calls("read", path="a.py"),
        result("e1", "def load():\n    return 1"),
        calls("apply_patch", input=patch),
    )
    assert (measured(trace=patched).quotes.kept, measured(trace=patched).quotes.of) == (1, 1)
    assert measured({}, {2: MASKED}, trace=patched).quotes.kept == 0


# re-reads, stale tokens, stubs


def test_a_read_again_without_a_change_asks_for_the_first_result():
    again = traced(
        user("go"),
        calls("read", path="a.py"),
        result("e1", "x = 1"),
        calls("read", path="a.py"),
        result("e3", "x = 1"),
    )
    assert (measured(trace=again).rereads.kept, measured(trace=again).rereads.of) == (1, 1)
    assert (measured({}, {2: MASKED}, trace=again).rereads.kept) == 0


def test_a_read_after_an_edit_is_no_repetition():
    changed = traced(
        user("go"),
        calls("read", path="a.py"),
        result("e1", "x = 1"),
        calls("edit", path="a.py", old_string="x = 1", new_string="x = 2"),
        result("e3", "done"),
        calls("read", path="a.py"),
    )
    assert measured(trace=changed).rereads.of == 0


def test_a_read_is_stale_from_the_write_on():
    told = measured()
    read = sum(map(Words().count, ('CALL read({"path": "src/app/main.py"})', "RESULT TIMEOUT_MS = 2500 RETRIES = 3")))
    assert told.stale_tokens == read  # in the prompt of call 3 alone


def test_the_tokens_of_stubs_are_counted_while_they_stand():
    told = measured({}, {1: STUB, 2: None}, {1: STUB, 2: None})
    assert told.stub_tokens == 2 * len(STUB.split())


def test_measures_of_several_traces_add_up():
    once, twice = measured({}, {2: MASKED}), measured({}, {2: MASKED})
    twice += measured()
    assert twice.recall.of == 2 * once.recall.of
    assert twice.recall.kept == once.recall.kept + 6
    assert len(twice.lost) == len(once.lost)
