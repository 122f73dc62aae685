"""Grading: every method on every scenario: tokens, probes, time, and whether two processes make the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import median
from time import perf_counter

from .methods import COUNTER, Way, ways
from .peers import PEERS
from .probes import KINDS, clutter, score
from .scenarios import SIZES, WRITERS, Scenario, scenario

RUNS = 5  #: of which the median time counts


@dataclass(frozen=True, slots=True)
class Grade:
    """One method on one scenario, or on several of one length added up."""

    method: str
    scenario: str
    before: int  #: tokens of the full history
    after: int  #: tokens of the prompt
    scores: dict[str, tuple[int, int]]  #: kind -> (passed, asked)
    clutter: int  #: probes with something outdated anywhere in the prompt
    seconds: float  #: median
    loads: float  #: the median time to parse the same events from JSON
    same: bool | None  #: whether two processes made the same bytes; None: not looked at

    @property
    def reduction(self) -> float:
        """In 0..1; negative for a prompt that grew."""
        return 1 - self.after / self.before


def installed() -> list[Way]:
    """Our methods, the baselines, and the peers that are here."""
    return [*ways(), *(Way(each.name, each.prompt) for each in PEERS if each.version is not None)]


def missing() -> list[str]:
    """What was not run, each with its reason."""
    return [f"{each.name}: the package {each.package} is not installed" for each in PEERS if each.version is None]


def grades(
    sizes: Sequence[str] = tuple(SIZES), runs: int = RUNS, processes: bool = True, told: Callable[[str], None] = print
) -> list[Grade]:
    """A grade for each scenario and method; `told` hears of each scenario that is done."""
    same = _same(sizes) if processes else {}
    found: list[Grade] = []
    for size in sizes:
        for domain in WRITERS:
            each = scenario(domain, size)
            found += _graded(each, runs, same)
            told(each.name)
    return found


def _graded(each: Scenario, runs: int, same: dict[str, bool]) -> Iterator[Grade]:
    text = json.dumps(each.events)
    loads = _time(lambda: json.loads(text), runs)[0]
    before = 0
    for way in installed():
        seconds, prompt = _time(lambda way=way: way.prompt(each.events), runs)  # type: ignore[misc]
        after = COUNTER.count(prompt)
        before = before or after
        yield Grade(
            way.name, each.name, before, after, score(each.probes, prompt), clutter(each.probes, prompt),
            seconds, loads, same.get(f"{each.name}: {way.name}"),
        )  # fmt: skip


def summed(found: Sequence[Grade], size: str) -> list[Grade]:
    """The scenarios of one length added up, one grade for each method."""
    of_size = [each for each in found if each.scenario.endswith(f" {size}")]
    rows = []
    for name in dict.fromkeys(each.method for each in of_size):
        parts = [each for each in of_size if each.method == name]
        scores = {
            kind: (sum(each.scores[kind][0] for each in parts), sum(each.scores[kind][1] for each in parts))
            for kind in KINDS
        }
        known = [each.same for each in parts if each.same is not None]
        rows.append(
            Grade(
                name,
                size,
                sum(each.before for each in parts),
                sum(each.after for each in parts),
                scores,
                sum(each.clutter for each in parts),
                sum(each.seconds for each in parts),
                sum(each.loads for each in parts),
                all(known) if known else None,
            )
        )
    return rows


def table(found: Sequence[Grade]) -> list[str]:
    """Markdown, one row a grade."""
    heads = [
        "method",
        "tokens before",
        "after",
        "reduction",
        *KINDS,
        "outdated shown",
        "ms",
        "× json.loads",
        "same bytes",
    ]
    rows = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 2) + "---|"]
    for each in found:
        scores = " | ".join(_score(*each.scores[kind]) for kind in KINDS)
        same = {None: "not looked at", True: "yes", False: "**no**"}[each.same]
        rows.append(
            f"| {each.method} | {each.before:,} | {each.after:,} | {100 * each.reduction:.1f} % | {scores}"
            f" | {each.clutter} | {1_000 * each.seconds:.1f} | {each.seconds / each.loads:.1f} | {same} |"
        )
    return rows


def _score(passed: int, asked: int) -> str:
    return f"{100 * passed / asked:.0f} % ({passed}/{asked})" if asked else "none asked"


def digests(sizes: Sequence[str]) -> dict[str, str]:
    """The sha256 of every prompt."""
    found = {}
    for size in sizes:
        for domain in WRITERS:
            each = scenario(domain, size)
            for way in installed():
                prompt = way.prompt(each.events)
                found[f"{each.name}: {way.name}"] = sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
    return found


def _same(sizes: Sequence[str]) -> dict[str, bool]:
    """Whether two processes with different hash seeds make the same bytes."""
    first, second = (_digests_elsewhere(sizes, seed) for seed in ("1", "2"))
    return {name: second.get(name) == found for name, found in first.items()}


def _digests_elsewhere(sizes: Sequence[str], seed: str) -> dict[str, str]:
    command = [sys.executable, "-m", "context_gc.benchmark.grading", *sizes]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
    )
    found: dict[str, str] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _time(make: Callable[[], str], runs: int) -> tuple[float, str]:
    took = []
    made = ""
    for _ in range(runs):
        start = perf_counter()
        made = make()
        took.append(perf_counter() - start)
    return median(took), made


if __name__ == "__main__":
    print(json.dumps(digests(sys.argv[1:])))
