"""What a file of the corpus holds, counted from its JSON without any code of ours, by the format's documentation.

`COUNTS[importer](data)` counts records, model calls, tool calls, results, and boundaries of a compaction. Where a
format does not say which messages one model call wrote, each message of the model is one.
"""

from __future__ import annotations

import io
import json
import zipfile

import raw_sessions
from raw_json import Raw, blocks, chat, lines, loaded, total


def openai_chat(data):
    """Of one conversation records are the messages, of rows the rows."""
    try:
        value = loaded(data)
    except ValueError:
        rows = lines(data)
        return total([chat(row["messages"]) for row in rows], len(rows))
    return chat(value if type(value) is list else value["messages"])


def anthropic_messages(data):
    messages = loaded(data)["messages"]
    used = [each for message in messages for each in blocks(message["content"], "tool_use")]
    back = [each for message in messages for each in blocks(message["content"], "tool_result")]
    return Raw(len(messages), sum(each["role"] == "assistant" for each in messages), len(used), len(back))


def anthropic_sessions(data):
    """Every model request of a session has an end of its own."""
    rows = [row for row in lines(data) if row is not None]
    kinds = [row[1].get("type") for row in rows if len(row) > 1 and type(row[1]) is dict]
    answers = kinds.count("span.model_request_end")
    return Raw(len(rows), answers, kinds.count("agent.tool_use"), kinds.count("agent.tool_result"))


def gemini_contents(data):
    contents = loaded(data)["history"]
    parts = [part for content in contents for part in content["parts"]]
    calls, results = (sum(key in part for part in parts) for key in ("functionCall", "functionResponse"))
    return Raw(len(contents), sum(each["role"] != "user" for each in contents), calls, results)


def inspect_ai(data):
    """Records are events and the final messages, as one; also an archive's other members."""
    if data.startswith(b"PK"):
        archive = zipfile.ZipFile(io.BytesIO(data))
        names = [each for each in archive.namelist() if each.startswith("samples/")]
        samples, others = [json.loads(archive.read(each)) for each in names], len(archive.namelist()) - len(names)
    else:
        value = loaded(data)
        samples, others = value.get("samples", [value]), 0
    events = [event for each in samples for event in each.get("events") or each["transcript"]["events"]]
    last = [each for each in samples if each.get("messages")]
    called = chat([message for each in last for message in each["messages"]])
    asked = sum(each["event"] == "model" for each in events)
    return Raw(others + len(events) + len(last), asked, called.tool_calls, called.results)


def tau_bench(data):
    value = loaded(data)
    runs = (
        value["simulations"] if "simulations" in value else [value["simulation_run"]] if type(value) is dict else value
    )
    return total([chat(run["messages"]) for run in runs])


def otlp(data):
    """Spans, of which those of kind LLM are model calls."""
    spans = [
        {each["key"]: each["value"] for each in span["attributes"]}
        for group in loaded(data)
        for resource in group["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    kinds = [span.get("openinference.span.kind", {}).get("stringValue") for span in spans]
    return Raw(len(spans), kinds.count("LLM"), kinds.count("TOOL"), kinds.count("TOOL"))


def langsmith(data):
    """Rows; a run has one that creates it and one that ends it."""
    value = loaded(data)
    rows = value["post"] + value["patch"]
    return Raw(len(rows), len({row["id"] for row in rows}), 0, 0)


def langfuse(data):
    value = loaded(data)
    observations = value["observations"]
    kinds = [each["type"] for each in observations]
    repeated = len(value["trace"]["observations"])
    return Raw(repeated + len(kinds), kinds.count("GENERATION"), kinds.count("TOOL"), kinds.count("TOOL"))


def role_content(data):
    return chat(lines(data))


def of_folder(folder, importer):
    """The sums over the files of a folder."""
    if importer == "opencode":
        return raw_sessions.opencode_storage(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if importer == "cline":
        return total([chat(loaded(path.read_bytes())) for path in files])
    return total([COUNTS[importer](path.read_bytes()) for path in files])


COUNTS = {
    "claude-code": raw_sessions.claude_code,
    "codex": raw_sessions.codex,
    "openai-chat": openai_chat,
    "anthropic-messages": anthropic_messages,
    "anthropic-sessions": anthropic_sessions,
    "copilot-cli": raw_sessions.copilot_cli,
    "pi": raw_sessions.pi,
    "kimi": raw_sessions.kimi,
    "gemini-cli": raw_sessions.gemini_cli,
    "gemini-contents": gemini_contents,
    "aider": raw_sessions.aider,
    "openhands": raw_sessions.openhands,
    "openhands-v1": raw_sessions.openhands_v1,
    "swe-agent": raw_sessions.swe_agent,
    "mini-swe-agent": raw_sessions.mini_swe_agent,
    "inspect-ai": inspect_ai,
    "tau-bench": tau_bench,
    "otlp": otlp,
    "langsmith": langsmith,
    "langfuse": langfuse,
    "role-content": role_content,
    "opencode": raw_sessions.opencode_bus,
}
