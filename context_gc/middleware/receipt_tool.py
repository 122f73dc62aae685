"""The tool by which a model gets back what a stub stands for, and how its calls are answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..compactor import ContextGC
from ..errors import NotPruned, UnknownReceipt
from ..render import line

RECEIPT_TOOL = "recover_receipt"  #: its name
A_PAGE = 20_000  #: characters of an answer at most; under a budget no more than a tenth of the window
_CHARACTERS = 3  # of a token, at least

_ABOUT = (
    "Parts of this conversation were cut to save space. Each stands as a line like [RECEIPT id] or [RECEIPT id] +8."
    " This gives back the original text that such a line stands for. Use it when you need what was there, instead"
    " of repeating the call."
)
_SCHEMA = {
    "type": "object",
    "properties": {
        "receipt_id": {"type": "string", "description": "the id in the line, without brackets"},
        "offset": {"type": "integer", "description": "where to go on in a long original, in characters; default 0"},
    },
    "required": ["receipt_id"],
}


def receipt_tool(format: str) -> dict[str, Any]:
    """The tool's definition for "openai-chat", "openai-responses" or "anthropic-messages"."""
    told = {"name": RECEIPT_TOOL, "description": _ABOUT}
    if format == "anthropic-messages":
        return {**told, "input_schema": _SCHEMA}
    if format == "openai-responses":
        return {"type": "function", **told, "parameters": _SCHEMA, "strict": False}
    return {"type": "function", "function": {**told, "parameters": _SCHEMA}}


def answer_receipt_call(client: ContextGC, arguments: Mapping[str, Any] | None) -> tuple[str, bool]:
    """(what the model is told, whether it is an error). Never raises for what a model may write."""
    given = arguments or {}
    name, offset = given.get("receipt_id"), given.get("offset", 0)
    if type(name) is not str or not name:
        return "receipt_id is missing: give the id in a line such as [RECEIPT id]", True
    name = name.strip().removeprefix("[").removeprefix("RECEIPT ").partition("]")[0]
    if type(offset) is not int or offset < 0:
        return "offset has to be a whole number from 0 on", True
    try:
        events = client.expand_receipt(name)
    except NotPruned:
        return "this was not cut: it is in the conversation", False
    except UnknownReceipt:
        return f"there is no receipt {name[:80]!r}: give an id from a line such as [RECEIPT id]", True
    text = "\n".join(filter(None, map(line, events)))
    budget = client.policy.budget
    end = offset + (A_PAGE if budget is None else max(min(A_PAGE, budget.max_tokens * _CHARACTERS // 10), 1))
    if offset and offset >= len(text):
        return f"the original has {len(text):,} characters: give a smaller offset", True
    if end < len(text):
        return f"{text[offset:end]}\n({len(text) - end:,} more characters: call again with offset {end})", False
    return text[offset:], False
