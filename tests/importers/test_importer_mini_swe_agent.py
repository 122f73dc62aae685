"""mini-swe-agent: what messages of each generation become, rejections, and what the recorded runs hold."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, check, told, types

from context_gc.errors import TraceError
from context_gc.importers import mini_swe_agent
from context_gc.importers.files.decode import decode
from context_gc.trace import Problem, Usage

FINISH = "To finish, run echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def read_all(data, name="run.traj.json"):
    return mini_swe_agent.read(decode(data if isinstance(data, bytes) else json.dumps(data).encode(), name))


def read(*messages, **more):
    traces = read_all({"info": {"mini_version": "2"}, "messages": list(messages), **more})
    check(traces)
    assert accounted(traces) == len(messages)
    (trace,) = traces
    return trace


def msg(role, content, **extra):
    return {"role": role, "content": content} | ({"extra": extra} if extra else {})


def acts(command, thought="Hm.", **extra):
    return msg("assistant", f"{thought}\n\n```bash\n{command}\n```", **extra)


def calls(*commands, **extra):
    made = [
        {
            "id": f"c{at}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": command})},
        }
        for at, command in enumerate(commands)
    ]
    return msg("assistant", "Hm.", **extra) | {"tool_calls": made}


def answers(name, content, code=0, **extra):
    return {**msg("tool", content, returncode=code, **extra), "tool_call_id": name}


START = (msg("system", "Rules"), msg("user", "Fix it"))


# messages


def test_a_fenced_command_is_a_call_and_the_next_message_its_result():
    trace = read(*START, acts("ls -la"), msg("user", "<returncode>2</returncode>\n<output>\nno</output>"))
    assert told(trace)[2:] == [
        ("decision", "Hm.", []),
        ("tool_call", "bash", []),
        ("tool_result", "<returncode>2</returncode>\n<output>\nno</output>", []),
    ]
    assert trace.events[3]["arguments"] == {"command": "ls -la"}
    assert trace.events[4]["exit_code"] == 2


@pytest.mark.parametrize("fence", ["bash", "mswea_bash_command", "sh"])
def test_the_fences_of_all_generations_are_read(fence):
    trace = read(*START, msg("assistant", f"A\n```{fence}\nmake\n```\nB"))
    assert told(trace)[2:] == [("decision", "A\n\nB", []), ("tool_call", "bash", [])]


@pytest.mark.parametrize("text", ["no command", "```bash\none\n```\n```bash\ntwo\n```"])
def test_a_message_without_exactly_one_command_calls_nothing_and_the_complaint_is_a_notification(text):
    trace = read(*START, msg("assistant", text), msg("user", "Please always provide EXACTLY ONE action"))
    assert told(trace)[2:] == [
        ("decision", text, []),
        ("decision", "Please always provide EXACTLY ONE action", ["notification"]),
    ]


def test_native_calls_hang_side_by_side_and_results_pair_by_id():
    trace = read(*START, calls("a", "b"), answers("c1", "B"), answers("c0", "A", 1, exception_info="broke"))
    assert [event["parent_id"] for event in trace.events if event["type"] == "tool_call"] == ["e3", "e3"]
    results = [event for event in trace.events if event["type"] == "tool_result"]
    assert [(e["call_id"], e["result"], e["exit_code"], e.get("is_error")) for e in results] == [
        ("c1", "B", 0, None),
        ("c0", "A", 1, True),
    ]


def test_responses_items_are_read_as_well():
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "deep"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "c0", "name": "bash", "arguments": '{"command": "ls"}'},
    ]
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3}
    trace = read(
        *START,
        {"object": "response", "model": "gpt-5", "output": items, "usage": usage},
        {"type": "function_call_output", "call_id": "c0", "output": "a.py", "extra": {"returncode": 0}},
    )
    assert told(trace)[2:] == [
        ("decision", "deep", ["thinking"]),
        ("decision", "Hm.", []),
        ("tool_call", "bash", []),
        ("tool_result", "a.py", []),
    ]
    assert trace.usage == [Usage("c0", 6, 3, 4, 0)]
    assert trace.model == "gpt-5"


def test_times_usage_the_model_and_the_directory_are_read():
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
    response = {"model": "m", "usage": usage}
    config = {"environment": {"cwd": "/testbed"}, "model": {"model_name": "deepseek/deepseek-chat"}}
    trace = read(*START, acts("ls", timestamp=1772880000.5, response=response), info={"config": config})
    assert trace.usage == [Usage("a2", 40, 7, 60, 0)]
    assert [event["timestamp"] for event in trace.events] == [0, 0, 1772880000500, 1772880000500]
    assert trace.events[3]["cwd"] == trace.cwd == "/testbed"
    assert trace.model == "deepseek/deepseek-chat"


def test_the_exit_message_is_counted_and_a_blank_one_too():
    trace = read(*START, msg("assistant", "  "), msg("exit", "diff", exit_status="Submitted"))
    assert trace.ignored == {"exit": 1, "blank text": 1}


# people


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Command not executed. The user rejected your command with the following message: use git", "use git"),
        ("Commands not executed. The user rejected your commands with the following message: no", "no"),
        ("Interrupted by user: wait", "wait"),
        ("Interrupted by user: Temporary interruption caught.", ""),
    ],
)
def test_a_rejected_or_interrupted_command_is_given_up_and_the_words_stay(text, words):
    trace = read(*START, acts("rm -rf /"), msg("user", text), acts("ls"))
    abandon = next(event for event in trace.events if event["type"] == "abandon")
    assert abandon["ref_to"] == ["a2"]
    said = [event["content"] for event in trace.events if "interrupt" in event.get("tags", ())]
    assert said == ([words] if words else [])
    assert trace.events[-1]["arguments"] == {"command": "ls"}


def test_a_rejection_with_native_calls_gives_up_all_that_wait():
    unrun = answers("c0", "action was not executed", -1, exception_info="action was not executed")
    rejected = msg("user", "Commands not executed. Switching to human mode", interrupt_type="UserRejection")
    trace = read(*START, calls("a"), unrun, rejected)
    assert told(trace)[-1] == (
        "decision",
        "Commands not executed. Switching to human mode",
        ["notification"],
    )
    trace = read(*START, calls("a", "b"), rejected)
    assert next(event for event in trace.events if event["type"] == "abandon")["ref_to"] == ["c0", "c1"]


def test_commands_and_tasks_of_a_person_are_theirs():
    trace = read(
        *START,
        acts("ls"),
        msg("user", "<returncode>0</returncode>"),
        msg("user", "User command: \n```bash\npwd\n```", actions=[{"command": "pwd"}]),
        msg("user", "<returncode>0</returncode>\n/r", returncode=0, raw_output="/r"),
        msg("user", "The user added a new task: and test it", interrupt_type="UserNewTask"),
    )
    assert told(trace)[5:] == [
        ("requirement", "User command: \n```bash\npwd\n```", ["user", "command"]),
        ("tool_call", "bash", ["user"]),
        ("tool_result", "<returncode>0</returncode>\n/r", []),
        ("requirement", "The user added a new task: and test it", ["user"]),
    ]


def test_a_complaint_about_the_format_answers_no_call():
    trace = read(*START, acts("ls"), msg("user", "Tool call error", interrupt_type="FormatError"))
    assert told(trace)[-1] == ("decision", "Tool call error", ["notification"])


# files


def test_a_bare_list_is_claimed_by_its_words_and_read():
    messages = [msg("system", FINISH), msg("user", "Fix it"), acts("ls"), msg("user", "Observation: a")]
    assert mini_swe_agent.sniff(json.dumps(messages).encode())
    (trace,) = read_all(messages)
    assert types(trace) == {"constraint": 1, "requirement": 1, "decision": 1, "tool_call": 1, "tool_result": 1}
    assert trace.events[1]["origin"] == {"path": "1"}


@pytest.mark.parametrize(
    "value",
    [
        [msg("system", "Rules"), msg("user", "Fix it")],
        {"messages": [msg("user", FINISH)]},
        {"info": {"id": "ses_1"}, "messages": [{"info": {"role": "user"}}]},
        {"info": {"exit_status": "submitted", "submission": ""}, "history": [], "trajectory": []},
        {"info": 5},
    ],
)
def test_files_of_others_are_not_claimed(value):
    assert not mini_swe_agent.sniff(json.dumps(value).encode())


@pytest.mark.parametrize(
    "value",
    [
        {"trajectory_format": "mini-swe-agent-1.2", "messages": []},
        {"info": {"exit_status": "Submitted", "submission": "", "model_stats": {}}, "messages": [msg("user", "x")]},
        {"info": {"config": {"agent_type": "minisweagent.agents.default.DefaultAgent"}}},
    ],
)
def test_its_own_envelopes_are_claimed(value):
    assert mini_swe_agent.sniff(json.dumps(value).encode())


def test_what_is_no_object_is_a_problem():
    trace = read(*START, None)
    assert trace.problems == [Problem(None, "messages/2: null where an object was expected (skipped)")]


def test_a_run_without_messages_is_a_clear_error():
    with pytest.raises(TraceError, match="it holds no message"):
        read_all({"info": {"mini_version": "2"}, "messages": []})
