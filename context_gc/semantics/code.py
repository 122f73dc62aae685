"""Code: what a Python cell with file skills, or a script that calls tools, does, where it is one call."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from .facts import FileEdit, FileRead, Search

_LONGEST = 100_000  # characters of a cell that is looked at
_READS = frozenset("open_file goto_line scroll_up scroll_down".split())
_EDITS = frozenset(
    "create_file edit_file edit_file_by_replace edit_file_by_line insert_content_at_line append_file".split()
)
_SEARCHES = frozenset("search_dir search_file find_file".split())
_NAMES = {
    "edit_file_by_replace": ("file_name", "to_replace", "new_content"),
    "insert_content_at_line": ("file_name", "line_number", "content"),
    "append_file": ("file_name", "content"),
}  #: what arguments are called that are given by their place
_NESTED = re.compile(r"\btools\s*\.\s*(\w+)\s*\(\s*")


def skill(code: str) -> tuple[str, dict[str, Any]] | None:
    """The name and the arguments of the one call of a file skill that a cell consists of, else None."""
    if len(code) > _LONGEST or "\0" in code or not code.lstrip().startswith(_STARTS):
        return None
    try:
        body = ast.parse(code.strip()).body
        call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        names = ("file_name", *_NAMES.get(call.func.id, ("",))[1:])
        given = {name: ast.literal_eval(value) for name, value in zip(names, call.args, strict=False)}
        given |= {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return call.func.id, given


def of_cell(code: str) -> FileRead | FileEdit | Search | None:
    """What a cell does by a skill. Reads state nothing: what they show is known from their answer alone."""
    found = skill(code)
    if found is None:
        return None
    name, given = found
    path = given.get("file_name", given.get("filename"))
    if name in _EDITS and type(path) is str and path:
        return FileEdit(path)
    if name in _SEARCHES:
        return Search(code.strip())
    return None


def shows(code: str) -> bool:
    """Whether a cell is one call of a skill that shows a window of a file: a read, or an edit."""
    found = skill(code)
    return found is not None and found[0] in _READS | _EDITS


def nested(script: str) -> tuple[str, dict[str, Any]] | None:
    """The one tool call in a script such as `await tools.exec_command({"cmd": "ls"})`; None for several or none.

    Arguments have to be written as JSON, or as one string.
    """
    calls = list(_NESTED.finditer(script[:_LONGEST]))
    if len(calls) != 1:
        return None
    rest = _quoted_keys(script[calls[0].end() :])
    try:
        given, end = json.JSONDecoder().raw_decode(rest)
    except (ValueError, RecursionError):
        return None
    if not rest[end:].lstrip(" \n,").startswith(")"):
        return None
    if type(given) is str:
        given = {"input": given}
    return (calls[0][1], given) if type(given) is dict else None


def _quoted_keys(script: str) -> str:
    """JavaScript keys without quotes, `{cmd: "ls"}`, as JSON has them."""
    return re.sub(r'("(?:[^"\\]|\\.)*")|([{,]\s*)([A-Za-z_]\w*)(\s*:)', _quoted, script)


def _quoted(found: re.Match[str]) -> str:
    return found[1] or f'{found[2]}"{found[3]}"{found[4]}'


_STARTS = tuple(f"{name}(" for name in sorted(_READS | _EDITS | _SEARCHES))
