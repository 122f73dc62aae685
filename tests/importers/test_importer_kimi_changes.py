"""Kimi sessions: what a person decides, undo, compaction, and a real file against other counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from importer_checks import CORPUS, check, needs_corpus, tree
from test_importer_kimi import abandons, asks, call, compaction, load, load_all, part, permits, result

from context_gc.importers import kimi
from context_gc.importers.files.decode import decode

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "kimi-undo.jsonl"

# what a person decides


def test_the_word_on_a_plan_follows_its_call():
    trace = load(
        asks("Plan it"),
        permits("approved", "ExitPlanMode", selectedLabel="Approve"),
        call("ExitPlanMode", {}),
        result("Exited plan mode."),
    )
    event = trace.events[-1]
    assert (event["id"], event["content"], event["tags"]) == ("c1:answer", "Running: approved (Approve)", ["answer"])
    assert event["origin"] == {"line": 2}


def test_an_answer_to_a_question_is_a_decision():
    trace = load(call("AskUserQuestion", {"question": "Which?"}), result("The second."))
    assert (trace.events[-1]["content"], trace.events[-1]["tags"]) == ("The second.", ["answer"])


def test_a_refused_call_is_abandoned_with_the_reason():
    trace = load(
        asks("Go"), permits("rejected", feedback="Use rg"), call("Bash", {}), result("Rejected", isError=True),
        asks("And then?"),
    )  # fmt: skip
    assert abandons(trace) == [(["c1"], "Use rg")]
    assert trace.events[-1]["parent_id"] == "c1:abandon"


def test_without_a_reason_the_refusal_itself_is_told_and_its_id_may_come_again():
    trace = load(
        permits("denied"),
        call("Bash", {}),
        result("Denied", isError=True),
        call("Bash", {}),
        result("ok"),
        permits("approved", tool="ExitPlanMode", key="p"),
        call("ExitPlanMode", {}, "p"),
        result("no", "p", isError=True),
    )
    assert abandons(trace) == [(["c1"], "Running: denied")]
    assert trace.events[-1]["content"] == "Running: approved"


def test_a_question_that_failed_has_no_answer():
    trace = load(call("AskUserQuestion", {}), result("timed out", isError=True))
    assert [e["type"] for e in trace.events] == ["tool_call", "tool_result"]


def test_an_approved_call_is_left_alone():
    trace = load(permits("approved"), call("Bash", {}), result("ok"))
    assert abandons(trace) == []
    assert trace.ignored == {"permission.record_approval_result": 1}


def test_a_cancelled_turn_abandons_the_calls_that_were_running():
    trace = load(asks("Go"), call("Bash", {}, "a"), call("Bash", {}, "b"), result("ok", "a"), {"type": "turn.cancel"})
    assert abandons(trace) == [(["b"], "cancelled by the user")]
    assert load(asks("Go"), {"type": "turn.cancel"}).ignored == {"turn.cancel": 1}


# undo, windows, agents


def test_an_undo_takes_back_as_many_turns_as_it_says():
    trace = load(
        asks("one"),
        part("text", "1"),
        asks("two"),
        part("text", "2"),
        {"type": "context.undo", "count": 1},
        asks("three"),
    )
    assert abandons(trace) == [(["e3"], "undone by the user")]
    assert tree(trace)["e3:abandon"] == "e2"


@pytest.mark.parametrize("count", [2, 0, -1, None, "1"])
def test_an_undo_of_turns_that_are_not_there_changes_nothing(count):
    trace = load(asks("one"), {"type": "context.undo", "count": count})
    assert abandons(trace) == []
    assert trace.ignored == {"context.undo": 1}


def test_a_compaction_keeps_the_words_of_the_user_that_it_counts():
    trace = load(
        {"type": "config.update", "systemPrompt": "You are Kimi."},
        *map(asks, ("one", "two", "three", "four")),
        {"type": "full_compaction.begin", "source": "auto"},
        compaction(tokensBefore=900, keptUserMessageCount=3, keptHeadUserMessageCount=1),
        part("text", "On."),
    )
    assert [(w.start, w.opened_by, w.tokens_before) for w in trace.windows] == [(0, "start", None), (5, "auto", 900)]
    assert [e["content"] for e in trace.events[5:]] == ["You are Kimi.", "one", "three", "four", "So far.", "On."]
    assert trace.events[6]["origin"] == {"line": 2}
    assert trace.events[9]["tags"] == ["summary"]


def test_an_old_compaction_that_counts_nothing_keeps_nothing():
    first, second = "As we said.", {"role": "user", "content": []}
    trace = load(asks("one"), compaction(None) | {"summary": first}, compaction(None) | {"summary": second})
    assert [e["content"] for e in trace.events[1:]] == [first, '{"role": "user", "content": []}']


def test_a_cleared_context_is_a_new_window_and_cannot_be_undone():
    trace = load(asks("one"), {"type": "context.clear"}, {"type": "context.undo", "count": 1}, asks("two"))
    assert [(w.start, w.opened_by) for w in trace.windows] == [(0, "start"), (1, "manual")]
    assert abandons(trace) == []


def test_a_new_system_prompt_takes_the_place_of_the_old_one_in_later_windows():
    prompts = ({"type": "config.update", "systemPrompt": text} for text in ("old", "new", "new"))
    trace = load(*prompts, asks("one"), {"type": "context.clear"})
    assert [e["content"] for e in trace.events] == ["old", "new", "one", "new"]


def test_records_of_another_agent_are_a_trace_of_their_own():
    main, other = load_all(asks("one") | {"agentId": "main"}, asks("two") | {"agentId": "agent-1"})
    assert [e["content"] for e in (*main.events, *other.events)] == ["one", "two"]
    assert (other.title, other.extra["agent_id"]) == ("subagent agent-1: two", "agent-1")


# a file from a real run


@needs_corpus
def test_the_real_session_holds_what_an_independent_count_finds():
    """Counted here from the raw lines, and by hand: 19 calls, 8 prompts that are all kept, one compaction."""
    path = CORPUS / "kimi" / "agentsessions-assistant_tools.jsonl"
    (trace,) = kimi.read(decode(path.read_bytes(), path.name))
    check([trace])
    raw = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    loop = [record["event"] for record in raw if "event" in record]
    kinds = Counter(event["type"] for event in loop)
    messages = [record["message"] for record in raw if "message" in record]
    prompts = [m["content"][0]["text"] for m in messages if m["origin"]["kind"] == "user"]
    first, second = (trace.events[window.start : window.stop] for window in trace.windows)
    count = Counter(event["type"] for event in trace.events)
    assert count["tool_call"] == count["tool_result"] == kinds["tool.call"] == kinds["tool.result"] == 19
    assert [e["content"] for e in first if e["type"] == "requirement"] == prompts
    assert [e["content"] for e in second if e["type"] == "requirement"] == prompts
    assert len(prompts) == 8
    parts = [event["part"] for event in loop if event["type"] == "content.part"]
    texts = [part[part["type"]] for part in parts]
    assert [e["content"] for e in first if e["type"] == "decision" and "answer" not in e.get("tags", ())] == texts
    assert [(w.opened_by, w.tokens_before) for w in trace.windows] == [("start", None), ("manual", 15912)]
    assert [usage.output_tokens for usage in trace.usage] == [
        event["usage"]["output"] for event in loop if event["type"] == "step.end"
    ]
    assert trace.records_read == 104
    assert trace.records_read + sum(trace.ignored.values()) == len(raw) == 200
    assert (trace.problems, abandons(trace)) == ([], [])
    assert count == {"constraint": 7, "requirement": 16, "decision": 30, "tool_call": 19, "tool_result": 19}
    assert trace.cwd == "/private/tmp/as-agent-lab/kimi/project"


def test_the_sample_shows_what_it_was_written_for():
    (trace,) = kimi.read(decode(SAMPLE.read_bytes(), SAMPLE.name))
    check([trace])
    assert trace.problems == []
    assert [reason for _, reason in abandons(trace)] == ["undone by the user", "Leave the cache alone."]
    assert [(w.opened_by, w.tokens_before) for w in trace.windows] == [("start", None), ("manual", 6120)]
    second = trace.events[trace.windows[1].start :]
    assert [e["content"][:17] for e in second[1:3]] == ["Stations are list", "Return them sorte"]
    assert [e["content"] for e in trace.events if "answer" in e.get("tags", ())] == [
        "Presenting plan and exiting plan mode: approved (Approve)"
    ]
