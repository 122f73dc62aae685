"""What the events of a Codex session tell of its tool calls, beyond the items that the model sees."""

from __future__ import annotations

from typing import Any

from ..files.fields import mapping

Payload = dict[str, Any]


class Facts:
    """Facts by call id. They stand on the call (`parsed_cmd`, `changed_paths`, `cwd`, `nested_commands`) or, when
    they came before its result, on that (`exit_code`, `is_error`, `agent_id`).

    A command that is still running at the first result ends later: that code is not the result's.
    """

    def __init__(self) -> None:
        self._calls: dict[str, dict[str, Any]] = {}
        self._results: dict[str, dict[str, Any]] = {}
        self._scripts: list[dict[str, Any]] = []  # calls of `exec`, whose JavaScript calls tools, without a result

    def called(self, call_id: str, event: dict[str, Any]) -> None:
        """A call was read."""
        if call_id:
            self._calls[call_id] = event
            self._results.setdefault(call_id, {})
            if event["tool_name"] == "exec":
                self._scripts.append(event)

    def told(self, call_id: str) -> dict[str, Any]:
        """What is known about a result that comes now. It is told once."""
        event = self._calls.get(call_id)
        self._scripts = [script for script in self._scripts if script is not event]
        return self._results.pop(call_id, {})

    def take(self, payload: Payload) -> bool:
        """Read an event; False when it tells nothing about a call that is in the session."""
        kind = payload.get("type")
        call_id = payload.get("call_id")
        if kind == "item_completed":
            payload = mapping(payload.get("item"))
            kind, call_id = _AS_EVENT.get(str(payload.get("type"))), payload.get("id")
        if type(kind) is not str or type(call_id) is not str:
            return False
        about_call, about_result = _facts(kind, payload)
        call, result = self._calls.get(call_id), self._results.get(call_id)
        if call is None:
            return kind == "exec_command_end" and self._nested(payload)
        call.update(about_call)
        if result is not None:
            result.update(about_result)
        return bool(about_call or (result is not None and about_result))

    def _nested(self, payload: Payload) -> bool:
        """A command that a script ran, as far as only one can have run it."""
        if len(self._scripts) != 1 or "command" not in payload:
            return False
        ran = {key: payload[key] for key in ("command", "cwd", "exit_code", "parsed_cmd") if key in payload}
        self._scripts[0].setdefault("nested_commands", []).append(ran)
        return True


#: what the items of newer sessions were called before
_AS_EVENT = {
    "CommandExecution": "exec_command_end",
    "FileChange": "patch_apply_end",
    "McpToolCall": "mcp_tool_call_end",
}


def _facts(kind: str, payload: Payload) -> tuple[Payload, Payload]:
    """What an event tells about a call, and what about its result."""
    about_call: Payload = {}
    about_result: Payload = {}
    if kind == "exec_command_end":
        if type(payload.get("parsed_cmd")) is list:
            about_call["parsed_cmd"] = payload["parsed_cmd"]
        if type(payload.get("cwd")) is str:
            about_call["cwd"] = payload["cwd"]
        if type(payload.get("exit_code")) is int:
            about_result["exit_code"] = payload["exit_code"]
    elif kind == "patch_apply_end":
        if type(payload.get("changes")) is dict:
            about_call["changed_paths"] = list(payload["changes"])
        if payload.get("success") is False or payload.get("status") in ("failed", "declined"):
            about_result["is_error"] = True
    elif kind == "mcp_tool_call_end":
        outcome = mapping(payload.get("result"))
        inner = outcome.get("Ok", outcome)
        if "Err" in outcome or mapping(inner).get("isError") is True:
            about_result["is_error"] = True
    elif kind == "dynamic_tool_call_response" and payload.get("success") is False:
        about_result["is_error"] = True
    elif kind == "collab_agent_spawn_end" and type(payload.get("new_thread_id")) is str:
        about_result["agent_id"] = payload["new_thread_id"]
    return about_call, about_result
