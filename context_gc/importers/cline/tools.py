"""Tools that Cline and Roo have their models call by tags in the text -> calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..dialects.messages import Part

TOOLS = frozenset(
    "access_mcp_resource act_mode_respond apply_diff apply_patch ask_followup_question attempt_completion"
    " browser_action codebase_search condense execute_command fetch_instructions generate_image insert_content"
    " list_code_definition_names list_files load_mcp_documentation new_rule new_task plan_mode_respond read_file"
    " replace_in_file report_bug run_slash_command search_and_replace search_files summarize_task switch_mode"
    " update_todo_list use_mcp_tool use_skill web_fetch web_search write_to_file".split()
)
_OPEN = re.compile(rf"<({'|'.join(sorted(TOOLS))}|thinking)>")
_FIELD = re.compile(r"<(\w{1,64})>")
_LONG = ("content", "diff")  #: fields whose text may hold tags of its own


def split_tools(text: str) -> Iterator[Part]:
    """The text before, between and behind the calls, the calls, and thinking in tags. A call that is cut stays text."""
    at = start = 0
    while opened := _OPEN.search(text, at):
        tool, close = opened[1], f"</{opened[1]}>"
        end = text.find(close, opened.end())
        while end >= 0 and any(_is_open(text, field, opened.end(), end) for field in _LONG):
            end = text.find(close, end + 1)
        if end < 0:
            at = opened.end()
            continue
        if text[start : opened.start()].strip():
            yield Part("text", text[start : opened.start()].strip())
        body = text[opened.end() : end]
        if tool == "thinking":
            yield Part("thinking", body.strip())
        else:
            yield Part("call", _arguments(tool, body), tool)
        at = start = end + len(close)
    if text[start:].strip():
        yield Part("text", text[start:].strip() if start else text)


def _arguments(tool: str, body: str) -> dict[str, Any]:
    found = _fields(body)
    inner = found.get("args")
    if tool == "read_file" and type(inner) is str:  # Roo: one or several files in <args>
        files = [_fields(each) for each in re.findall(r"<file>(.*?)</file>", inner, re.DOTALL)]
        if files:
            return files[0] if len(files) == 1 else {"files": files}
    return found


def _fields(body: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    at = 0
    while opened := _FIELD.search(body, at):
        name, close = opened[1], f"</{opened[1]}>"
        end = body.rfind(close, opened.end()) if name in _LONG else body.find(close, opened.end())
        if end < 0:
            at = opened.end()
            continue
        value = body[opened.end() : end]
        found[name] = value.strip("\n") if name in _LONG else value.strip()
        at = end + len(close)
    return found


def _is_open(text: str, field: str, start: int, end: int) -> bool:
    """Whether a field begins and does not end between two places."""
    return text.find(f"<{field}>", start, end) >= 0 > text.find(f"</{field}>", start, end)
