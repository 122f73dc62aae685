"""Which format of provider messages a file is of, judged in one place, so that never two of them claim it.

Other formats (of agents and of loggers) hold such messages too: what bears a mark of theirs is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from .blocks import SUMMARIES, text_of
from .events import ANSWERING, VOICES
from .exchanges import Exchange, exchange
from .items import is_item
from .layout import Contents, opening
from .stream import is_stream_event

CHAT, ANTHROPIC, RESPONSES = "openai-chat", "anthropic-messages", "openai-responses"
PLAIN, TAU = "role-content", "tau-bench"

MESSAGE_FIELDS = ("messages", "conversations")
ITEM_FIELDS = ("input",)
#: fields that only records of other formats have beside a role: anywhere, in lists of messages, in whole files
_FOREIGN = frozenset("parts lc kwargs additional_kwargs message_type payload record_type git function extra".split())
_FOREIGN_LISTS = frozenset(("ts", "modelInfo", "metrics", "conversationHistoryIndex"))
_FOREIGN_FILES = frozenset(
    "trajectory_format trajectory history simulations simulation_run run_type dotted_order schema_version sessionId"
    " projectHash resourceSpans observations traj".split()
)
_OF_MINI_SWE_AGENT = frozenset(("model_stats", "exit_status", "mini_version"))  # fields of its `info`
#: text that Cline and mini-swe-agent put into bare lists of messages
_FOREIGN_TEXT = re.compile(
    r"<environment_details>|^<task>|^\[[a-z_]+ for '[^\n]*\] Result:|mswea_bash_command|<returncode>"
    r"|COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT",
    re.MULTILINE,
)
_ANTHROPIC_BLOCKS = frozenset(("thinking", "redacted_thinking", "document", "search_result", "compaction"))
_ANTHROPIC_FIELDS = frozenset(("anthropic_version", "anthropic_beta", "stop_sequences"))
_SSE = re.compile(r'\s*(?:event: ?message_start|data: ?\{"type": ?"message_start")')


@lru_cache(maxsize=1)
def claimed(head: bytes) -> str:
    """The name of the format that a file beginning so is of; "" for none of these. Never raises."""
    found = opening(head)
    rows = [row.value for row in found.rows]
    if found.layout == "none":
        return ANTHROPIC if _SSE.match(head[:200].decode("utf-8", "replace")) else ""
    if is_tau(found):
        return TAU
    if found.layout != "object":
        if sum(map(is_stream_event, rows)) * 2 > len(rows):
            return ANTHROPIC
        if any(is_item(row) for row in rows):
            return "" if _is_foreign(rows) else RESPONSES
        if sum(map(is_message, rows)) * 2 >= len(rows) > 0:
            return _of_messages(found, rows)
    return next((name for row in rows[:20] if (name := _of_row(row))), "")


def is_message(record: Mapping[str, Any]) -> bool:
    """Whether an object looks like a message of OpenAI Chat Completions or Anthropic."""
    role = record.get("role")
    return type(role) is str and (role in VOICES or role in ANSWERING) and not any(f in record for f in MESSAGE_FIELDS)


def is_summary(message: Any) -> bool:
    """Whether a message begins with the summary that a compaction left."""
    if type(message) is not dict or message.get("role") != "user":
        return False
    return text_of(message.get("content")).lstrip().startswith(SUMMARIES)


def is_tau(found: Contents) -> bool:
    """Whether rows are runs of τ-bench, or an object holds runs of τ²-bench."""
    for row in found.rows[:20]:
        value = row.value
        if "traj" in value and "task_id" in value:
            return True
        run, info = value.get("simulation_run"), value.get("info")
        if found.layout == "object" and type(run) is dict and "messages" in run:
            return True
        if "simulations" in value and ("tasks" in value or type(info) is dict):
            return True
        if type(info) is dict and "agent_info" in info and "environment_info" in info:
            return True
        if "messages" in value and "task_id" in value and "reward_info" in value:
            return True
    return False


def _of_messages(found: Contents, rows: Sequence[dict[str, Any]]) -> str:
    """What rows that are messages themselves are: a list is one of a provider's, lines are plain messages."""
    if _is_foreign(rows):
        return ""
    if found.layout == "lines":
        return PLAIN
    if any(not _FOREIGN_LISTS.isdisjoint(row) for row in rows):
        return ""
    return "" if _is_of_agent(rows) else provider(rows, {})


def _of_row(row: dict[str, Any]) -> str:
    if _is_foreign_file(row):
        return ""
    made = exchange(0, row, ITEM_FIELDS)
    if made is not None and _is_of_responses(made, row):
        return RESPONSES
    made = exchange(0, row, MESSAGE_FIELDS)
    messages = [each for each in (*made.own, *made.answers) if type(each) is dict] if made is not None else []
    if made is None or sum(map(is_message, messages)) * 2 < len(messages) or any("parts" in each for each in messages):
        return ""
    return provider(messages[:50], made.request) if messages else ""


def _is_of_responses(made: Exchange, row: dict[str, Any]) -> bool:
    if any(type(each) is dict and is_item(each) for each in (*made.own, *made.answers)):
        return True
    told = {"previous_response_id", "instructions", "max_output_tokens"} & made.request.keys()
    listed = type(made.request.get("model")) is str and made.request.get("input", "") is None
    asked = listed and bool(made.own) and all(type(each) is dict and is_message(each) for each in made.own)
    return row.get("object") == "response" or bool(told) or asked


def provider(messages: Sequence[dict[str, Any]], request: Mapping[str, Any]) -> str:
    """OpenAI or Anthropic, by what only one of them has; a conversation without any such mark counts as OpenAI's."""
    if any(
        message.get("role") in ("system", "developer", *ANSWERING)
        or not {"tool_calls", "function_call", "tool_call_id"}.isdisjoint(message)
        for message in messages
    ):
        return CHAT
    if isinstance(request.get("system"), str | list) or not _ANTHROPIC_FIELDS.isdisjoint(request):
        return ANTHROPIC
    tools = request.get("tools")
    if type(tools) is list and any(type(tool) is dict and "input_schema" in tool for tool in tools):
        return ANTHROPIC
    return ANTHROPIC if any(map(_is_anthropic, messages)) else CHAT


def _is_anthropic(message: dict[str, Any]) -> bool:
    if message.get("type") == "message" and "stop_reason" in message:
        return True
    content = message.get("content")
    for block in content if type(content) is list else ():
        kind = block.get("type") if type(block) is dict else None
        if type(kind) is str and (kind in _ANTHROPIC_BLOCKS or kind.endswith(("tool_use", "tool_result"))):
            return True
        if kind == "image" and type(block.get("source")) is dict:
            return True
    return False


def _is_foreign(rows: Sequence[Mapping[str, Any]]) -> bool:
    return any(not _FOREIGN.isdisjoint(row) for row in rows)


def _is_of_agent(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a bare list of messages is one of an agent that writes its own words into it."""
    return any(_FOREIGN_TEXT.search(text_of(message.get("content"))) for message in messages[:20])


def _is_foreign_file(row: dict[str, Any]) -> bool:
    """Whether an object that may hold messages is the file of an agent or of a benchmark."""
    info, held = row.get("info"), row.get("messages")
    if not _FOREIGN_FILES.isdisjoint(row) or ("epoch" in row and "target" in row):
        return True
    if type(info) is dict and not _OF_MINI_SWE_AGENT.isdisjoint(info):
        return True
    of_roo = type(row.get("version")) is int and type(held) is list
    return of_roo and _is_of_agent([each for each in held or () if type(each) is dict])
