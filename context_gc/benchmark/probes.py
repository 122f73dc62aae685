"""Probes: questions with a known answer, asked of a prompt byte for byte and without a model.

A probe passes when every needle stands in the prompt, and nothing outdated stands behind the last of them. That an
answer stands in a prompt is an upper bound of its use: a model may still overlook it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: kind -> what it asks
KINDS: Mapping[str, str] = {
    "recall": "facts, constraints and current values",
    "artifact": "each file that was touched, with its last operation",
    "continuation": "what is open: the newest plan, the unresolved error, the pending call, the last test outcome",
    "decision": "what was decided and why, what was given up and why",
    "aside": "facts that hold but stand nowhere else than on a path that was given up",
}
SCORED = ("recall", "artifact", "continuation", "decision")  #: the kinds that a policy must not fail


@dataclass(frozen=True, slots=True)
class Probe:
    """One question. Texts are as they stand in the full history."""

    kind: str
    question: str
    needles: tuple[str, ...]  #: all of them have to stand in the prompt
    outdated: tuple[str, ...] = ()  #: none of them may stand behind the last place of a needle


def passes(probe: Probe, prompt: str) -> bool:
    """Whether a prompt holds the answer, and holds it as what is true now."""
    places = [prompt.rfind(needle) for needle in probe.needles]
    return min(places) >= 0 and all(prompt.rfind(old) < max(places) for old in probe.outdated)


def clutter(probes: Iterable[Probe], prompt: str) -> int:
    """How many probes have something outdated anywhere in the prompt, in its right place or not."""
    return sum(any(old in prompt for old in probe.outdated) for probe in probes)


def score(probes: Iterable[Probe], prompt: str) -> dict[str, tuple[int, int]]:
    """kind -> (passed, asked)."""
    told = dict.fromkeys(KINDS, (0, 0))
    for probe in probes:
        passed, asked = told[probe.kind]
        told[probe.kind] = passed + passes(probe, prompt), asked + 1
    return told
