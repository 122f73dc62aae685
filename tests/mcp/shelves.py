"""Directories for a server, made as users make them."""

from __future__ import annotations

from pathlib import Path

from notation import trace

from context_gc import ContextGC, ReceiptStore
from context_gc.mcp_server.server import Answers
from context_gc.mcp_server.shelf import Shelf

SECRET = "the old value of x"
STORY = f"""
k1 constraint never force-push
v1 x = {SECRET}
c1 call get {{"q": 1}}
r1 result c1 the answer is forty-two
c2 call get {{"q": 1}}
r2 result c2 the answer is forty-two
v2 x = 2
d1 decision done
"""


def saved(directory: Path, run_id: str = "main", story: str = STORY) -> ContextGC:
    """A run in a run directory: v1 was superseded by v2, c2 and r2 repeat c1 and r1."""
    client = ContextGC(run_id=run_id)
    client.extend(trace(story))
    client.compact()
    client.save(directory)
    return client


def receipts_file(path: Path, run_id: str = "main") -> ContextGC:
    """A client that keeps its receipts in a file of that name."""
    client = ContextGC(store=ReceiptStore(path), run_id=run_id)
    client.extend(trace(STORY))
    client.compact()
    return client


def ask(directory, tool, **arguments):
    """The answer of a tool."""
    text, failed = Answers(Shelf(directory))(tool, arguments)
    assert not failed, text
    return text


def refused(directory, tool, **arguments):
    """What a tool says that cannot be done."""
    text, failed = Answers(Shelf(directory))(tool, arguments)
    assert failed, text
    return text


def body(text):
    """What an answer of recover_receipt gives back, without the lines about it."""
    return text.partition("\n---\n")[2].partition("\n--- more")[0]
