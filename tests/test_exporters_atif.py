"""ATIF: what is written is valid, and reading it gives the same texts, calls, pairs, times, windows and usage."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from context_gc import ContextGCError, Trace, Usage, Window, load_trace, load_traces
from context_gc.exporters import atif
from context_gc.importers.files.decode import decode
from context_gc.load import read_document
from context_gc.messages.dialect import opened

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
FILES = sorted(path for folder in (CORPUS, ROOT / "sample_traces") for path in folder.rglob("*") if path.is_file())
SAID = ("requirement", "constraint", "decision")
NATIVE = ("native events (their lines stay)", "structured results (their JSON stays)")


def name_of(path):
    return path.relative_to(CORPUS if path.is_relative_to(CORPUS) else ROOT).as_posix()


def event(name, kind="decision", at=1000, **more):
    fields = {"content": name} if kind in SAID else {}
    return {"id": name, "type": kind, "timestamp": at, "parent_id": None, **fields, **more}


def call(name, at=1000, arguments=None, **more):
    given = {} if arguments is None else arguments
    return event(name, "tool_call", at, tool_name="bash", arguments=given, **more)


def result(name, of, at=1000, value="ok", **more):
    return event(name, "tool_result", at, call_id=of, result=value, **more)


def trace(*events, **more):
    made = Trace(list(events), "pi", "x")
    made.windows = [Window(0, len(events))]
    for key, value in more.items():
        setattr(made, key, value)
    return made


def steps(made):
    return json.loads(atif.write([made], False).text)["steps"]


def back(*traces):
    written = atif.write(traces, False)
    return read_document(decode(written.text.encode("utf-8", "backslashreplace"), "x.json"))


def facts(made):
    calls = {each["id"]: each for each in made.events if each["type"] == "tool_call"}
    texts = [(e["content"], e["timestamp"]) for e in made.events if e["type"] in SAID and e["content"].strip()]
    asked = [
        (e["tool_name"], json.dumps(opened(e["arguments"]), sort_keys=True), e["timestamp"]) for e in calls.values()
    ]
    results = [
        (calls.get(e["call_id"], {}).get("tool_name"), seen(e["result"]), e.get("is_error", False), e["timestamp"])
        for e in made.events
        if e["type"] == "tool_result"
    ]
    usage = [(each.input_tokens, each.output_tokens, each.cache_read, each.cache_write) for each in made.usage]
    return [*map(Counter, (texts, asked, results, usage)), [(each.opened_by) for each in made.windows[1:]]]


def seen(value):
    return json.dumps([each.get("text") for each in value]) if isinstance(value, list) else value


# all traces


@pytest.mark.parametrize("path", FILES, ids=map(name_of, FILES))
def test_a_real_trace_is_the_same_after_a_stay_in_atif(path):
    try:
        traces = [each for each in load_traces(path) if each.events]
    except ContextGCError:
        pytest.skip("no trace can be read from it")
    for family in atif.families(traces):
        written = atif.write(family, False)
        found = read_document(decode(written.text.encode("utf-8", "backslashreplace"), "x.json"))
        assert [each.problems for each in found] == [[] for _ in family]
        if not any(kind in written.lost for kind in NATIVE):
            assert list(map(facts, found)) == list(map(facts, family))


@pytest.mark.parametrize("path", FILES, ids=map(name_of, FILES))
def test_the_package_atif_takes_what_is_written(path):
    models = pytest.importorskip("atif", reason="the package atif is not installed")
    try:
        traces = [each for each in load_traces(path) if each.events]
    except ContextGCError:
        pytest.skip("no trace can be read from it")
    for line in atif.write(traces, True).text.splitlines():
        models.Trajectory.model_validate_json(line)


# one trace


def test_a_step_is_what_one_model_call_thinks_says_and_calls_with_the_results():
    thinks = event("hm", tags=["thinking"])
    (step,) = steps(trace(thinks, event("I look."), call("c1"), call("c2"), result("r2", "c2"), result("r1", "c1")))
    assert (step["reasoning_content"], step["message"], step["source"]) == ("hm", "I look.", "agent")
    assert [each["tool_call_id"] for each in step["tool_calls"]] == ["c1", "c2"]
    assert [each["source_call_id"] for each in step["observation"]["results"]] == ["c2", "c1"]
    assert step["timestamp"] == "1970-01-01T00:00:01.000Z"


def test_two_texts_of_a_step_stay_two():
    assert [each["content"] for each in back(trace(event("one"), event("two")))[0].events] == ["one", "two"]


def test_what_comes_after_a_result_and_thinking_after_text_begin_a_step():
    made = steps(trace(event("a"), call("c"), result("r", "c"), event("b"), event("hm", tags=["thinking"])))
    assert [each["message"] for each in made] == ["a", "b", ""]


def test_times_that_are_not_the_steps_are_kept():
    made = trace(event("a", at=1000), call("c", at=1500), result("r", "c", at=2750), event("b", at=3000))
    assert [each["timestamp"] for each in back(made)[0].events] == [1000, 1500, 2750, 3000]


def test_without_times_there_are_none():
    assert "timestamp" not in steps(trace(event("a", at=0)))[0]


def test_a_late_result_stands_with_its_call():
    made = steps(trace(call("c"), event("wait", "requirement"), result("r", "c", at=9000)))
    assert made[0]["observation"]["results"] == [
        {"source_call_id": "c", "content": "ok", "extra": {"timestamp": "1970-01-01T00:00:09.000Z"}}
    ]


@pytest.mark.parametrize("given", ["*** Begin Patch", '{"path": "a"}', {"path": "a"}, [1], 3, ""], ids=str)
def test_arguments_of_any_kind_are_an_object_and_come_back(given):
    made = trace(call("c", arguments=given))
    assert isinstance(steps(made)[0]["tool_calls"][0]["arguments"], dict)
    found = back(made)[0].events[0]["arguments"]
    assert found == (json.loads(given) if given == '{"path": "a"}' else given)


def test_an_error_and_an_exit_code_are_kept():
    found = back(trace(call("c"), result("r", "c", is_error=True, exit_code=3)))[0].events[1]
    assert (found["is_error"], found["exit_code"]) == (True, 3)


def test_what_was_carried_into_a_window_is_copied_context_and_is_not_repeated_again():
    events = [event("task", "requirement"), event("a"), event("task:2", "requirement", repeats="task"), event("b")]
    made = trace(*events, windows=[Window(0, 2), Window(2, 4, "manual", 900)])
    (found,) = back(made)
    assert [each["content"] for each in found.events] == ["task", "a", "task:2", "b"]
    assert found.windows == made.windows
    assert [each.get("is_copied_context") for each in steps(made)] == [None, None, None, True, None]


def test_a_system_prompt_that_speaks_of_compaction_opens_no_window():
    made = trace(event("After context compaction, read NOTES.", "constraint"), event("go", "requirement"))
    assert back(made)[0].windows == [Window(0, 2)]


def test_usage_is_the_steps_and_summed_and_comes_back():
    made = trace(event("a"), event("go", "requirement"), event("b"), usage=[Usage("a", 5, 2, 100, 7), Usage("b", 1, 1)])
    value = json.loads(atif.write([made], False).text)
    assert value["steps"][0]["metrics"]["prompt_tokens"] == 112
    assert value["final_metrics"] == {
        "total_prompt_tokens": 113,
        "total_completion_tokens": 3,
        "total_cached_tokens": 100,
    }
    assert [(each.input_tokens, each.cache_read, each.cache_write) for each in back(made)[0].usage] == [
        (5, 100, 7),
        (1, 0, 0),
    ]


def test_a_subagent_is_embedded_and_named_by_the_result_that_waited_for_it():
    main = trace(call("c"), result("r", "c", agent_id="a1"))
    value = json.loads(atif.write([main, trace(event("x"), extra={"agent_id": "a1"})], False).text)
    assert [each["trajectory_id"] for each in value["subagent_trajectories"]] == ["a1"]
    (found,) = value["steps"][0]["observation"]["results"]
    assert found["subagent_trajectory_ref"] == [{"trajectory_id": "a1"}]


def test_an_image_is_kept_with_its_data():
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    made = trace(event("[image image/png]", "requirement", tags=["user", "image"], block=block))
    assert steps(made)[0]["message"] == [
        {"type": "image", "source": {"media_type": "image/png", "path": "data:image/png;base64,AAAA"}}
    ]
    assert back(made)[0].events[0]["content"] == "[image image/png]"


def test_what_atif_cannot_hold_is_counted():
    native = {"id": "n", "type": "set_var", "timestamp": 1, "key": "k", "value": 1}
    abandon = {"id": "z", "type": "abandon", "timestamp": 1, "ref_to": ["n"]}
    lost = atif.write([trace(native, abandon, event("hm", tags=["thinking"], signature="S"))], False).lost
    assert sorted(lost.values()) == [1, 1, 1]


def test_a_trace_without_events_is_refused():
    with pytest.raises(ContextGCError, match="a trace without events is no trajectory"):
        atif.write([trace()], False)


def test_a_sample_of_the_format_itself_loses_nothing():
    sample = load_trace(ROOT / "sample_traces" / "atif-lost-offset.json")
    written = atif.write([sample], False)
    assert written.lost == {}
    assert facts(back(sample)[0]) == facts(sample)
