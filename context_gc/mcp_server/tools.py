"""Tools: what an agent can ask a shelf, with the arguments that each tool takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ContextGCError
from .answers import A_PAGE, explained, listed, recover, search
from .arguments import LONGEST_ID, LONGEST_QUERY, Number, Parameters, Text, checked
from .overview import report
from .pages import PAGE, bounded, sendable, shortened
from .shelf import Shelf

MOST = 2 * PAGE  #: characters of an answer

_LAST = 1_000_000
_RUN = Text("only of this run; context_report names them", 2 * LONGEST_ID, "")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what it is called, what it takes, and what it does with a shelf."""

    name: str
    title: str
    about: str
    parameters: Parameters
    answer: Callable[..., str]


def call(shelf: Shelf, name: str, given: Mapping[str, Any]) -> str:
    """The answer of a tool. Raises ContextGCError for an unknown tool, wrong arguments or an unknown id."""
    for tool in TOOLS:
        if tool.name == name:
            return bounded(sendable(tool.answer(shelf, **checked(name, tool.parameters, given))), MOST)
    names = ", ".join(tool.name for tool in TOOLS)
    raise ContextGCError("tools/call", f"{shortened(name, 80)!r} is no tool", f"there are {names}")


TOOLS = (
    Tool(
        "recover_receipt",
        "Recover what was cut",
        "Give back in full what a [RECEIPT id] line in the conversation stands for. It is kept from now on.",
        {
            "receipt_id": Text("the id in [RECEIPT id], or one that search_receipts found", LONGEST_ID),
            "page": Number("which page of 20,000 characters", _LAST),
            "run": _RUN,
            "form": Text("text: as it stood in the conversation; json: the exact record", 4, "text"),
        },
        recover,
    ),
    Tool(
        "search_receipts",
        "Search what was cut",
        "Find by words what is no longer in the conversation: file contents, outputs, errors, earlier messages.",
        {
            "words": Text("words that must all be in it", LONGEST_QUERY),
            "limit": Number("how many at most", A_PAGE, 10),
            "run": _RUN,
        },
        search,
    ),
    Tool(
        "explain_event",
        "Explain an event",
        "Tell why an event or receipt was cut, is protected, or is kept.",
        {"event_id": Text("the id of an event or receipt", LONGEST_ID), "run": _RUN},
        explained,
    ),
    Tool(
        "list_receipts",
        "List what was cut",
        "List what was cut, why and how many tokens it has, 50 receipts a page.",
        {"page": Number("which page", _LAST), "run": _RUN},
        listed,
    ),
    Tool(
        "context_report",
        "Report on the context",
        "Tell how large the conversation's history is, what was cut by which rule, and how full the window is.",
        {},
        report,
    ),
)
