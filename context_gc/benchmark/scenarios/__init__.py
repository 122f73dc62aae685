"""Scenarios: made-up sessions of three kinds of agent in three lengths, each with probes; the same ones every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .coding import coding
from .research import research
from .script import Scenario, Script
from .support import support

SIZES: Mapping[str, int] = {"short": 25, "medium": 120, "long": 520}  #: events, about
WRITERS: Mapping[str, Callable[[Script, int], None]] = {"coding": coding, "research": research, "support": support}


def scenario(domain: str, size: str) -> Scenario:
    """One session. Raises KeyError for a domain or size that there is not."""
    script = Script(f"{domain} {size}")
    WRITERS[domain](script, SIZES[size])
    return script.done(domain, size)


def scenarios() -> list[Scenario]:
    """All nine, by domain and then by length."""
    return [scenario(domain, size) for domain in WRITERS for size in SIZES]


__all__ = ["SIZES", "WRITERS", "Scenario", "Script", "scenario", "scenarios"]
