"""Reading: counts of what a trace holds and of what became of a file's records."""

from __future__ import annotations

from context_gc import Problem, Trace, Window
from context_gc.reading import report, summary


def event(name, kind="decision", **more):
    fields = {"content": name} if kind in ("decision", "requirement") else {}
    return {"id": name, "type": kind, "timestamp": 1, "parent_id": None, **fields, **more}


def called(name, **more):
    return event(name, "tool_call", tool_name="bash", arguments={}, **more)


def answered(name, of, **more):
    return event(name, "tool_result", call_id=of, result="ok", **more)


def trace(*events, **more):
    return Trace(list(events), "native", windows=[Window(0, len(events))], **more)


def test_calls_are_told_with_and_without_results_and_results_without_calls():
    told = report(trace(called("a"), answered("ra", "a"), called("b"), answered("rc", "c")))
    assert (told["tool_calls"], told["answered"], told["open_calls"]) == (2, 1, 1)
    assert (told["results"], told["orphan_results"]) == (2, 1)


def test_a_model_call_is_counted_once_however_much_it_says():
    events = [event("go", "requirement"), event("hm"), called("a"), called("b"), answered("ra", "a"), event("ok")]
    assert report(trace(*events))["model_calls"] == 2
    assert report(trace(event("go", "requirement")))["model_calls"] == 0


def test_what_a_window_repeats_is_an_event_but_no_further_call():
    events = [called("a"), answered("ra", "a"), called("a:2", repeats="a"), answered("ra:2", "a:2", repeats="ra")]
    told = report(trace(*events))
    assert (told["events"], told["tool_calls"], told["results"], told["model_calls"]) == (4, 1, 1, 1)


def test_records_of_all_traces_are_added_up():
    first = trace(
        event("a"), records_read=2, ignored={"progress": 3}, problems=[Problem(1, "x"), Problem(None, "y", 0)]
    )
    second = trace(event("b"), records_read=1, ignored={"progress": 1, "summary": 1})
    assert summary([first, second]) == {
        "records_read": 3,
        "ignored": {"progress": 4, "summary": 1},
        "records_reported": 1,
        "problems": 2,
    }
