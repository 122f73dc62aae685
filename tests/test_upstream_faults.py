"""Faults of an existing implementation of the same idea, each shown not to be here: what it got wrong in the prompt.

Left for later parts: the provider middleware (U42) and the prompt cache (U44).
"""

from __future__ import annotations

import itertools

import pytest
from notation import PIVOT, told, trace

from context_gc import (
    ContextGC,
    DuplicateEvent,
    Policy,
    UnknownParent,
    compact_events,
    expand_receipt,
    get_receipt,
    receipt_of,
)


def prompt(text: str, **policy) -> str:
    return compact_events(trace(text), Policy(**policy))["prompt"]


def test_u01_work_below_an_abandon_lives():
    result = compact_events(trace(PIVOT))
    assert result["pruned_ids"] == ["c1", "r1", "z"]
    assert result["prompt"] == (
        "plan\n[RECEIPT c1] +2 A does not scale\nswitch to approach B because A failed\nCALL other({})"
    )


def test_u02_what_comes_after_an_abandon_lives_also_below_its_target():
    late = trace("a decision old\nz abandon a @50 <\nlate decision new @99 <a")
    assert compact_events(late)["pruned_ids"] == ["a", "z"]
    assert compact_events(late)["prompt"] == "[RECEIPT a] +1\nnew"
    client = ContextGC()
    client.extend(late)
    assert client.compact()["prompt"] == "[RECEIPT a] +1\nnew"


def test_u03_an_abandoned_value_never_supersedes_even_when_it_is_protected():
    shown = prompt("x1 rate = 5\nx2 rate = 8 !\nz abandon x2")
    assert shown.split("\n")[:2] == ["rate = 5", "rate = 8 (abandoned by z, kept: critical)"]
    assert "[RECEIPT" not in shown


def test_u03_the_value_that_an_abandoned_one_had_shadowed_comes_back():
    client = ContextGC()
    client.extend(trace("x1 rate = 5\nx2 rate = 8"))
    assert client.compact()["prompt"] == "[RECEIPT x1]\nrate = 8"
    client.extend(trace("z abandon x2 @9 <x2"))
    assert client.compact()["prompt"] == "rate = 5\n[RECEIPT x2] +1"


BRANCHES = "d decision fork\nb1 x = 1 <d\nb2 x = 2 <d"


def test_u04_the_newest_write_wins_across_branches_and_its_receipt_says_so():
    result = compact_events(trace(BRANCHES))
    assert told(result) == ["b1 superseded by b2"]
    assert receipt_of(result["graph"], "b1").because == ("b2",)


def test_u04_in_path_scope_parallel_branches_keep_their_values():
    assert prompt(BRANCHES, override_scope="path") == "fork\nx = 1\nx = 2"
    assert prompt("a x = 1\nb x = 2", override_scope="path") == "[RECEIPT a]\nx = 2"


def test_u05_a_repeated_act_is_no_duplicate():
    text = 'c1 call send_email {"to": "a"}\nr1 result c1 ok\nc2 call send_email {"to": "a"}\nr2 result c2 ok'
    assert compact_events(trace(text))["pruned_ids"] == []
    assert compact_events(trace(text.replace("send_email", "look_up")))["pruned_ids"] == ["c2", "r2"]


READ_AGAIN = """
c1 call read_file {"path": "f"}
r1 result c1 v1
%s
c3 call read_file {"path": "f"}
r3 result c3 v1
"""


@pytest.mark.parametrize(
    "between",
    [
        'c2 call write_file {"path": "f"}\nr2 result c2 ok',
        'c2 call bash {"command": "make"}',
        "m1 run sed -i s/a/b/ f -> 0",
        "e1 edit f",
    ],
)
def test_u06_a_change_is_a_barrier_for_duplicates(between):
    assert compact_events(trace(READ_AGAIN % between))["pruned_ids"] == []


def test_u06_a_change_of_another_file_is_none():
    assert compact_events(trace(READ_AGAIN % "e1 edit g"))["pruned_ids"] == ["c3", "r3"]


def test_u07_the_whole_list_of_results_is_compared():
    text = "c1 call t\nr1 result c1 same\nc2 call t\nrA result c2 DIFFERENT\nrB result c2 same"
    assert compact_events(trace(text))["pruned_ids"] == []
    both = text.replace("r1 result c1 same", "q1 result c1 DIFFERENT\nr1 result c1 same")
    assert compact_events(trace(both))["pruned_ids"] == ["c2", "rA", "rB"]
    turned = text.replace("r1 result c1 same", "r1 result c1 same\nq1 result c1 DIFFERENT")
    assert compact_events(trace(turned))["pruned_ids"] == []


@pytest.mark.parametrize("member", ["a decision rules <c !", "a constraint NEVER drop table <c"])
def test_u08_protection_holds_in_a_cycle(member):
    result = compact_events(trace(f"{member}\nb decision b <a\nc decision c <b"))
    assert sorted(result["pruned_ids"]) == ["b", "c"]
    assert member.split(" ", 2)[2].split(" <")[0] in result["prompt"]
    assert len(result["receipts"]) == 1
    assert result["receipts"][0].startswith("cluster_")


@pytest.mark.parametrize("kept", ["k constraint never push", "k requirement fix it", "k decision said the user #user"])
def test_u09_what_the_user_asked_for_outlives_an_abandoned_branch(kept):
    result = compact_events(trace(f"a decision try\n{kept}\nz abandon a"))
    assert "a" in result["pruned_ids"]
    assert "k" not in result["pruned_ids"]
    assert kept.split(" ", 2)[2].removesuffix(" #user") in result["prompt"]


def test_u10_payload_is_rendered_and_counted():
    events = trace("f read a.py\nm run make -> 2")
    events[0]["content"] = "def f(): return 41 + 1\n" * 30
    events[1] |= {"stdout": "building " * 40, "stderr": "no rule to make target"}
    result = compact_events(events)
    for text in ("READ a.py\ndef f(): return 41 + 1", "RUN make -> exit 2\nbuilding ", "no rule to make target"):
        assert text in result["prompt"]
    assert result["tokens_before"] > 300
    assert result["tokens_before"] > 10 * compact_events(trace("f read a.py\nm run make -> 2"))["tokens_before"]


def test_u11_equal_timestamps_keep_the_order_of_arrival():
    assert prompt("b decision first @1\na decision second @1 <") == "first\nsecond"
    calls = 'z call t {"n": 1} @1\na result z one @1\ny call t {"n": 2} @1\nb result y two @1'
    assert prompt(calls) == 'CALL t({"n": 1})\nRESULT one\nCALL t({"n": 2})\nRESULT two'


def test_u12_the_last_of_equally_old_values_wins_in_every_order():
    writes = trace("a x = 1 @5 <\nb x = 2 @5 <\nc x = 3 @5 <")
    for order in itertools.permutations(writes):
        assert compact_events(order)["compact_events"] == [order[-1]]
    chain = trace("a x = 1 @5\nb x = 2 @5\nc x = 3 @5")
    assert {compact_events(order)["prompt"] for order in itertools.permutations(chain)} == {"[RECEIPT a] +1\nx = 3"}


def test_u13_an_id_is_given_once():
    client = ContextGC()
    client.extend(trace("a decision first"))
    with pytest.raises(DuplicateEvent, match="'a'"):
        client.extend(trace("a decision second"))
    assert client.compact()["prompt"] == "first"


def test_u14_a_repeated_id_builds_no_cycle():
    with pytest.raises(DuplicateEvent):
        compact_events(trace("a decision a\nb decision b\na decision a <b"))


def test_u15_no_event_is_its_own_parent():
    client = ContextGC()
    with pytest.raises(UnknownParent, match="its own parent"):
        client.extend(trace("a decision a <a"))
    assert client.compact()["compact_events"] == []
    result = compact_events(trace("a decision a <a"))
    assert result["prompt"] == "a"
    assert "own parent" in result["warnings"][0]


def test_u16_a_result_goes_with_its_abandoned_call():
    assert prompt("d decision d\nc call t <d\nr result c ok <d\nz abandon c") == "d\n[RECEIPT c] +2"


def test_u17_a_call_goes_with_its_abandoned_result():
    assert prompt("c call t\nr result c ok\nz abandon r") == "[RECEIPT c] +2"


@pytest.mark.parametrize(("call", "result"), [("!", ""), ("", "!")])
def test_u17_protection_of_one_half_protects_both(call, result):
    text = f"c1 call t\nr1 result c1 ok\nc2 call t {call}\nr2 result c2 ok {result}"
    assert compact_events(trace(text.replace("  ", " ")))["pruned_ids"] == []


@pytest.mark.parametrize("call_id", ["nowhere", "d", "later"])
def test_u18_an_orphan_result_is_named_in_the_warnings(call_id):
    result = compact_events(trace(f"d decision d\nr result {call_id} ok\nlater decision e"))
    assert result["warnings"] == ["'r' answers no call in the trace"]
    assert "RESULT ok" in result["prompt"]


def test_u19_an_abandoned_root_leaves_a_receipt():
    assert prompt("b decision b\nc decision c\nz abandon b") == "[RECEIPT b] +2"


def test_u20_every_event_of_a_cut_run_is_reached_from_its_stub():
    result = compact_events(trace("root decision root\nb decision b\nc decision c\nd decision d\nz abandon b"))
    assert result["prompt"] == "root\n[RECEIPT b] +3"
    assert [event["id"] for event in expand_receipt(result["graph"], "b")] == ["b", "c", "d", "z"]


def test_u21_the_receipt_of_a_cycle_gives_its_members_back():
    events = trace("a decision a <c\nb decision b\nc decision c")
    result = compact_events(events)
    (name,) = result["receipts"]
    assert result["prompt"] == f"[RECEIPT {name}]"
    assert expand_receipt(result["graph"], name) == events
    assert get_receipt(result["graph"], name)["members"] == ["a", "b", "c"]


def test_u22_a_stub_stands_where_its_event_stood():
    assert prompt("a x = 1\nd decision between\nb x = 2") == "[RECEIPT a]\nbetween\nx = 2"


def test_u23_an_abandoned_value_that_is_kept_does_not_look_current():
    shown = prompt("d decision d\na x = 1 !\nz abandon d")
    assert "x = 1 (abandoned by z, kept: critical)" in shown


def test_u24_the_reason_for_abandoning_is_told():
    assert prompt("d decision d\nz abandon d : too slow") == "[RECEIPT d] +1 too slow"
    assert prompt("d decision d !\nz abandon d : too slow").split("\n")[-1] == "too slow"
