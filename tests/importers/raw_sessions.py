"""What a coding agent's session holds, counted from its JSON. A docstring tells what was no plain count."""

from __future__ import annotations

import re
from itertools import pairwise

from raw_json import Raw, blocks, lines, loaded

ANSWERS = ("_output", "_result")  #: how the kinds of Codex items end that answer a call


def claude_code(data):
    """A model call is a message id; blocks count once, however often a resume copied their line."""
    records = lines(data)
    answers, calls, results = set(), set(), set()
    for number, record in enumerate(records):
        message = record.get("message") if type(record) is dict else None
        kind = record.get("type") if type(record) is dict else ""
        calls |= {number} if kind == "tool_use" else set()  # of old versions, lines of their own
        results |= {number} if kind == "tool_result" else set()
        if type(message) is not dict or kind not in ("user", "assistant"):
            continue
        content = message.get("content")
        calls |= {each.get("id", number) for each in blocks(content, "tool_use")}
        results |= {each.get("tool_use_id", number) for each in blocks(content, "tool_result")}
        if kind == "assistant" and content:
            answers.add(message.get("id", number))
    compacted = sum(type(record) is dict and record.get("subtype") == "compact_boundary" for record in records)
    return Raw(len(records), len(answers), len(calls), len(results), compacted)


def codex(data):
    """A model call is a run of items that the model wrote."""
    records = lines(data)
    calls = results = answers = 0
    wrote = False
    for record in records:
        item = record.get("payload", record) if type(record) is dict else {}
        kind = item.get("type", "")
        if record is None or record.get("type") in ("event_msg", "session_meta", "turn_context", "compacted"):
            continue
        is_call = kind.endswith("_call") and kind != "ghost_snapshot"
        is_answer = is_call or kind == "reasoning" or item.get("role") == "assistant"
        calls += is_call
        results += kind.endswith(ANSWERS)
        answers += is_answer and not wrote
        wrote = is_answer or (wrote and not (kind.endswith(ANSWERS) or item.get("role")))
    compacted = sum(record["type"] == "compacted" for record in records if record and "type" in record)
    return Raw(len(records), answers, calls, results, compacted)


def copilot_cli(data):
    records = lines(data)
    kinds = [record and record["type"] for record in records]
    answers = kinds.count("assistant.message") + kinds.count("assistantresponse")  # of today, of 2025
    return Raw(len(records), answers, kinds.count("tool.execution_start"), kinds.count("tool.execution_complete"))


def pi(data):
    records = lines(data)
    said = [record["message"] for record in records if type(record) is dict and record["type"] == "message"]
    answers = [each for each in said if each["role"] == "assistant"]
    calls = sum(len(blocks(each["content"], "toolCall")) for each in answers)
    compacted = sum(type(record) is dict and record["type"] == "compaction" for record in records)
    return Raw(len(records), len(answers), calls, sum(each["role"] == "toolResult" for each in said), compacted)


def kimi(data):
    records = lines(data)
    events = [record["event"] for record in records if record["type"] == "context.append_loop_event"]
    kinds = [event["type"] for event in events]
    steps = {event["stepUuid"] for event in events if event["type"] in ("content.part", "tool.call")}
    compacted = sum(record["type"] == "context.apply_compaction" for record in records)
    return Raw(len(records), len(steps), kinds.count("tool.call"), kinds.count("tool.result"), compacted)


def gemini_cli(data):
    """Of JSONL the newest line of an id is the message; lines are the records."""
    try:
        said = loaded(data)["messages"]
        records = len(said)
    except (ValueError, KeyError):
        rows = lines(data)
        records = len(rows)
        said = list({row["id"]: row for row in rows if "id" in row and "type" in row}.values())
    answers = [each for each in said if each["type"] in ("gemini", "model")]
    calls = [call for each in answers for call in each.get("toolCalls") or []]
    return Raw(records, len(answers), len(calls), sum(bool(call.get("result")) for call in calls))


def aider(data):
    """Headings begin a session, `#### ` is the user, `> ` is aider, and other text the model."""
    kinds = []
    for line in data.decode().splitlines():
        if line.strip():
            head = re.match(r"# aider chat started|####|>", line)
            kinds.append(head[0] if head else "answer")
    runs = [kind for before, kind in zip(["", *kinds], kinds, strict=False) if kind != before or kind[0] == "#" == kind]
    return Raw(len(runs), runs.count("answer"), 0, 0)


def opencode_bus(data):
    """Rows; of a part the newest state counts. An answer is what ends with a `step-finish`."""
    rows = lines(data)
    parts = {}
    for row in rows:
        told = row[1].get("event", {}) if type(row[1]) is dict else {}
        if told.get("type") == "message.part.updated":
            part = told["properties"]["part"]
            parts[part["id"]] = part
    kinds = [part["type"] for part in parts.values()]
    done = sum(p["type"] == "tool" and p["state"]["status"] in ("completed", "error") for p in parts.values())
    return Raw(len(rows), kinds.count("step-start"), kinds.count("tool"), done)


def opencode_storage(folder):
    """Files; parts of a message are an answer's where its role is the assistant's."""
    files = {path: loaded(path.read_bytes()) for path in folder.rglob("*.json")}
    messages = [value for path, value in files.items() if "message" in path.parts]
    tools = [value for value in files.values() if value.get("type") == "tool"]
    answers = sum(each["role"] == "assistant" for each in messages)
    done = sum(each["state"]["status"] not in ("pending", "running") for each in tools)
    return Raw(len(files), answers, len(tools), done)


def openhands(data):
    """Actions of the agent are calls, but for messages, thoughts and the end; observations of them are results."""
    try:
        rows = [loaded(data)]
    except ValueError:
        rows = [row["history"] for row in lines(data)]
    rows = [[each for pair in row for each in (pair if type(pair) is list else [pair])] for row in rows]
    for row in rows:
        row[0].setdefault("source", "user")  # whom a resolver's rows leave out
    events = [each for row in rows for each in row]
    acts = [each["action"] for each in events if "action" in each and each.get("source", "agent") == "agent"]
    seen = [each["observation"] for each in events if "observation" in each]
    calls = sum(act not in ("message", "finish", "think") for act in acts)
    return Raw(len(events), len(acts), calls, sum(each != "null" for each in seen))


def openhands_v1(data):
    """Events; actions of one answer have its `llm_response_id`."""
    events = lines(data)
    kinds = [each["kind"] for each in events]
    answers = {each["llm_response_id"] for each in events if each["kind"] == "ActionEvent"}
    said = sum(each["kind"] == "MessageEvent" and each["source"] == "agent" for each in events)
    calls, results = kinds.count("ActionEvent"), kinds.count("ObservationEvent") + kinds.count("AgentErrorEvent")
    return Raw(len(events), len(answers) + said, calls, results)


def swe_agent(data):
    """Records are entries of both lists; a model call is an answer that is no demonstration's."""
    value = loaded(data)
    history, steps = value["history"], value.get("trajectory") or []
    answers = [each for each in history if each["role"] == "assistant" and not each.get("is_demo")]
    own = [each["role"] for each in history if not each.get("is_demo")]
    shown = sum(pair in (("assistant", "user"), ("assistant", "tool")) for pair in pairwise(own))
    unseen = len(steps) == len(answers) > shown  # the last observation stands in the steps alone
    return Raw(len(history) + len(steps), len(answers), len(answers), shown + unseen)


def mini_swe_agent(data):
    """Each answer is one call, of a fenced command or of a tool; what follows it is its result."""
    value = loaded(data)
    messages = value if type(value) is list else value["messages"]
    roles = [each["role"] for each in messages]
    answers = roles.count("assistant")
    called = [len(each["tool_calls"]) for each in messages if each.get("tool_calls")]
    following = sum(pair == ("assistant", "user") for pair in pairwise(roles))
    return Raw(len(messages), answers, sum(called) or answers, roles.count("tool") or following)
