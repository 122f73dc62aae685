"""Fixtures: made-up traces of any size, the same ones every time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..events import Event

WORDS = (
    "the handler retries when cache misses so we keep old value until test passes and then drop branch because"
    " index was built from stale rows which explains why count differs after each import of orders"
).split()


def chain(size: int) -> Iterator[Event]:
    """Decisions, each below the one before: as deep as it is long, nothing to cut."""
    for n in range(size):
        yield _event(n, "decision", content=_text(n, 8))


def mixed(size: int) -> Iterator[Event]:
    """An agent's run: turns of text, calls with results, edits, commands and variables.

    About a sixth of it is dead: overridden variables, repeated questions, and every 300 events a branch of
    20 that is given up.
    """
    given_up = 0
    for n in range(size):
        step = n % 10
        if n % 300 == 299:
            yield _event(n, "abandon", ref_to=[f"e{given_up}"], content="this approach does not work")
        elif n % 300 == 279:
            given_up = n
            yield _event(n, "decision", content="try another approach: " + _text(n, 12))
        elif step in (0, 5):
            yield _event(n, "decision", content=_text(n, 18))
        elif step in (1, 6):
            yield _event(n, "tool_call", tool_name="lookup", arguments={"query": _text(n // 4 % 4_000, 4)})
        elif step in (2, 7):
            yield _event(n, "tool_result", call_id=f"e{n - 1}", result=_text((n - 1) // 4 % 4_000, 40))
        elif step == 3:
            yield _event(n, "set_var", key=f"state.{n // 10 % 500}", value=n)
        elif step == 4:
            yield _event(n, "file_read", path=f"src/module_{n % 90}.py", text=_text(n, 30))
        elif step == 8:
            yield _event(n, "file_edit", path=f"src/module_{n % 70}.py", diff_hash=f"{n * 2654435761 % 2**32:08x}")
        else:
            yield _event(n, "command_run", command="pytest -q", exit_code=(n % 3 == 0 and 1) or 0)


def three_cycles(size: int) -> Iterator[Event]:
    """Rings of three events, each ring apart from the others."""
    for n in range(size):
        ring = n - n % 3
        last = min(ring + 2, size - 1)
        parent = last if n == ring else n - 1
        event = _event(n, "decision", content=_text(n, 8))
        event["parent_id"] = f"e{parent}" if parent != n else None
        yield event


FIXTURES: Mapping[str, Callable[[int], Iterator[Event]]] = {
    "chain": chain,
    "mixed": mixed,
    "three-cycles": three_cycles,
}


def _event(n: int, kind: str, **fields: object) -> Event:
    return {"id": f"e{n}", "type": kind, "timestamp": n, "parent_id": f"e{n - 1}" if n else None, **fields}


def _text(n: int, words: int) -> str:
    return " ".join([f"{n}", *(WORDS[(n * 7 + i * 3) % len(WORDS)] for i in range(words))])
