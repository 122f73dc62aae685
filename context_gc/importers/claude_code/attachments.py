"""Attachments: what the app itself puts before the model, record by record -> who speaks, and the blocks.

What a person typed is theirs, instructions bind the agent, and all else is information, which may be pruned.
The wording that the app puts around them is not in the log: facts without a text stand as JSON. Blind spot:
the model may not have seen an attachment of a kind that is not known here.
"""

from __future__ import annotations

from typing import Any

from ...canonical import readable
from ..files.fields import count, mapping, text

#: what the model is told to do or to keep to
INSTRUCTIONS = frozenset(
    "agent_mention auto_mode auto_mode_exit critical_system_reminder hook_additional_context hook_blocking_error"
    " hook_stopped_continuation invoked_skills mcp_instructions_delta memory_update nested_memory output_style"
    " plan_file_reference plan_mode plan_mode_exit plan_mode_reentry team_context ultra_effort_enter"
    " ultra_effort_exit ultrathink_effort verify_plan_reminder workflow_keyword_request".split()
)
#: what the model is told about files, tasks, tools and budgets
INFORMATION = frozenset(
    "agent_listing_delta async_hook_response batching_reminder_sent budget_usd compact_file_reference date_change"
    " deferred_tools_delta diagnostics directory edited_text_file file hook_success mcp_resource opened_file_in_ide"
    " output_token_usage pdf_reference read_truncation_notice relevant_memories selected_lines_in_ide"
    " silent_turn_reminder skill_discovery skill_listing task_reminder task_status teammate_mailbox todo_reminder"
    " token_usage total_tokens_reminder".split()
)
#: what only the app and its user see
UNSEEN = frozenset(
    "already_read_file autocheckpointing background_task_status command_permissions companion_intro"
    " compaction_reminder current_session_memory dynamic_skill echo_activities edited_image_file goal_status"
    " hook_cancelled hook_deferred_tool hook_error_during_execution hook_non_blocking_error"
    " hook_permission_decision hook_system_message max_turns_reached pen_mode_enter pen_mode_exit"
    " structured_output task_progress teammate_shutdown_batch thinking_reminder todo ultramemory"
    " ultrawork_request".split()
)
TOLD_BY_HOOKS = ("SessionStart", "UserPromptSubmit")  #: what a successful hook of these prints, the model sees
#: who else than a person puts messages into the queue
OTHERS = frozenset(("task-notification", "auto-continuation", "peer", "coordinator", "teammate", "system"))

_NAMES = ("displayPath", "filename", "path", "planFilePath", "uri", "name", "hookName")
_TEXTS = (
    "content", "snippet", "text", "message", "planContent", "prompt", "response", "banner", "addedBlocks",
    "addedLines", "blockingError",
)  # fmt: skip


def attached(attachment: dict[str, Any]) -> tuple[str, list[Any]]:
    """Who speaks (user, other, system, told, opaque), or "" when the model sees nothing of it; and the blocks."""
    what = text(attachment.get("type"))
    if what == "queued_command":  # typed while the agent was at work, or put into the queue by something else
        prompt = attachment.get("prompt")
        blocks = prompt if type(prompt) is list else [{"type": "text", "text": text(prompt)}]
        if attachment.get("isMeta") is True:
            return "system", blocks
        return ("other" if told_by_others(attachment) else "user"), blocks
    if what in UNSEEN or (what == "hook_success" and attachment.get("hookEvent") not in TOLD_BY_HOOKS):
        return "", []
    if what == "file" and mapping(attachment.get("content")).get("type") == "text":
        found = _file(attachment)
        if found:
            return "told", [found]
    if what in INSTRUCTIONS or what in INFORMATION:
        words = _words(what, attachment)
        told = "system" if what in INSTRUCTIONS else "told"
        return (told, [{"type": "text", "text": words}]) if words else ("", [])
    return "opaque", [attachment]


def told_by_others(holder: dict[str, Any]) -> bool:
    """Whether a message says that no person typed it."""
    kind = mapping(holder.get("origin")).get("kind")
    return kind in OTHERS if type(kind) is str else holder.get("commandMode") == "task-notification"


def _file(attachment: dict[str, Any]) -> dict[str, Any]:
    """A file that the user pointed to, as a block of what was read; {} when its text is not there."""
    file = mapping(mapping(attachment.get("content")).get("file"))
    path = text(file.get("filePath")) or text(attachment.get("filename"))
    if not path or not text(file.get("content")):
        return {}
    first, shown, total = (count(file.get(key)) for key in ("startLine", "numLines", "totalLines"))
    whole = first <= 1 and shown == total and attachment.get("truncated") is not True
    span = {} if whole else {"offset": first or 1, "limit": shown or file["content"].count("\n") + 1}
    return {"type": "file_read", "path": path, "text": file["content"], **span}


def _words(what: str, attachment: dict[str, Any]) -> str:
    """The text of an attachment below the name of what it is about; its facts where it has no text."""
    name = next((text(attachment.get(key)) for key in _NAMES if text(attachment.get(key))), "")
    for key in _TEXTS:
        words = _text(attachment.get(key))
        if words.strip():
            about = f"{name}:\n" if name and what != "nested_memory" else ""
            return f"{about}{words}"
    if what in ("hook_success", "async_hook_response"):
        return ""
    facts = {key: value for key, value in attachment.items() if key != "type" and not _is_empty(value)}
    lists = [value for value in attachment.values() if type(value) is list]
    if lists and not any(lists):
        return ""  # a reminder of nothing
    return f"{what} {readable(facts)}" if facts else what


def _text(value: Any) -> str:
    if type(value) is dict:
        return text(value.get("content")) or text(value.get("blockingError"))
    return "\n".join(value) if type(value) is list and all(type(each) is str for each in value) else text(value)


def _is_empty(value: Any) -> bool:
    return value in ("", None) or (type(value) in (list, dict) and not value)
