"""Script: writes a session event by event, and remembers what is true at its end, so that it can be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from ...canonical import readable
from ...events import Event
from ...render import line
from ..probes import Probe

T = TypeVar("T")

START = 1_772_445_600_000  #: milliseconds
WORDS = (
    "batch border cache change client column count cursor default entry field filter format group handler header"
    " index input item job key label limit line list load lock margin mark member merge mode name node offset order"
    " owner page parent part path period plan point pool price query queue range rate record region retry role route"
    " row rule sample scope score seed shard share size slot source stage state step store stream table target task"
    " token total trace unit user value view weight window worker zone"
).split()


@dataclass(frozen=True, slots=True)
class Scenario:
    """A session that has come so far that a model is about to be called, and what its prompt must hold."""

    domain: str
    size: str
    events: tuple[Event, ...]
    probes: tuple[Probe, ...]

    @property
    def name(self) -> str:
        """Domain and length."""
        return f"{self.domain} {self.size}"


class Script:
    """Appends events to a session. What it draws depends on its name alone, in every Python."""

    def __init__(self, name: str) -> None:
        self.events: list[Event] = []
        self.probes: list[Probe] = []
        self._chance = Random(name)
        self._parent: str | None = None
        self._values: dict[str, list[Any]] = {}
        self._touched: dict[str, list[tuple[str, bool]]] = {}  # path -> how each operation begins, whether it writes
        self._aside: dict[str, str] = {}  # the same of reads on branches that were given up
        self._plans: list[str] = []
        self._outcomes: list[str] = []
        self._undone: list[str] | None = None  # paths that were written on the branch that is open
        self._spans: list[range] = []  # places of branches that were given up

    # chance

    def draw(self, stop: int) -> int:
        """A number from 0 on, below `stop`."""
        return int(self._chance.random() * stop)

    def one(self, of: Sequence[T]) -> T:
        """One of them."""
        return of[self.draw(len(of))]

    def words(self, count: int) -> str:
        """Plain words."""
        return " ".join(self.one(WORDS) for _ in range(count))

    def name(self) -> str:
        """An identifier."""
        return f"{self.one(WORDS)}_{self.one(WORDS)}"

    # events

    def add(self, kind: str, **fields: Any) -> str:
        """One event below the one before; its id."""
        number = len(self.events)
        event = {"id": f"e{number}", "type": kind, "timestamp": START + 9_000 * number, "parent_id": self._parent}
        self.events.append({**event, **fields})
        self._parent = f"e{number}"
        return self._parent

    def system(self, text: str) -> None:
        """What the developer of the agent says."""
        self.add("constraint", content=text, tags=["system"])

    def user(self, text: str) -> None:
        """What the person says."""
        self.add("requirement", content=text, tags=["user"])

    def says(self, text: str) -> str:
        """What the agent says."""
        return self.add("decision", content=text)

    def call(self, tool: str, result: Any, failed: bool = False, **arguments: Any) -> str:
        """A tool call with its result; the call's id."""
        name = self.add("tool_call", tool_name=tool, arguments=arguments)
        told = {"is_error": True} if failed else {}
        self.add("tool_result", call_id=name, result=result if type(result) is str else readable(result), **told)
        return name

    def var(self, key: str, value: Any) -> None:
        """A value that the agent keeps."""
        if self._undone is None:
            self._values.setdefault(key, []).append(value)
        self.add("set_var", key=key, value=value)

    def file(self, tool: str, path: str, result: str, **arguments: Any) -> str:
        """A call about one file, of which the path is the first argument."""
        self.touch(path, f"CALL {tool}({readable({'path': path})[:-1]}", tool != "read_file")
        return self.call(tool, result, path=path, **arguments)

    def touch(self, path: str, operation: str, writes: bool = True) -> None:
        """Note an operation on a file by how its line begins. What a branch wrote is put back when it is given up."""
        if self._undone is None:
            self._touched.setdefault(path, []).append((operation, writes))
        elif writes:
            self._undone.append(path)
        else:
            self._aside.setdefault(path, operation)

    def plan(self, steps: Sequence[str], done: int) -> None:
        """The whole plan anew: `done` steps are, the next one is in progress."""
        states = ["completed" if at < done else "in_progress" if at == done else "pending" for at in range(len(steps))]
        plan = [{"step": step, "status": state} for step, state in zip(steps, states, strict=True)]
        self._plans.append(readable(plan))
        self.call("update_plan", "Plan updated", plan=plan)

    def tests(self, command: str, result: str, outcome: str, failed: bool) -> None:
        """A test run; `outcome` is the line of its result that says how it went."""
        self._outcomes.append(outcome)
        self.call("bash", result, failed=failed, command=command)

    @contextmanager
    def branch(self, idea: str, reason: str) -> Iterator[None]:
        """An approach that is tried and then given up. Files that it wrote are put back afterwards."""
        pivot, first = self._parent, len(self.events)
        start = self.says(idea)
        self._undone = []
        yield
        self.add("error", message=f"This does not work: {reason}", related_to=start)
        self.add("abandon", ref_to=[start], content=reason)
        undone, self._undone, self._parent = sorted(set(self._undone)), None, pivot
        self._spans.append(range(first, len(self.events)))
        self.probes.append(Probe("decision", f"What of “{idea[:60]}”, and why?", (reason,), (idea,)))
        if undone:
            command = f"git checkout -- {' '.join(undone)}"
            for path in undone:
                self.touch(path, line({"type": "tool_call", "tool_name": "bash", "arguments": {"command": command}}))
            self.call("bash", f"Updated {len(undone)} paths from the index", command=command)

    def calls_with_results(self) -> Iterator[tuple[Event, Event]]:
        """Each answered call outside of the branches that were given up."""
        for at, event in enumerate(self.events):
            if event["type"] == "tool_result" and not any(at in span for span in self._spans):
                yield self.events[at - 1], event

    # probes

    def ask(self, kind: str, question: str, *needles: str, outdated: Iterable[str] = ()) -> None:
        """A probe whose answer the writer knows."""
        self.probes.append(Probe(kind, question, needles, tuple(outdated)))

    def decides(self, text: str, question: str) -> None:
        """A decision with its reason, asked for at the end."""
        self.says(text)
        self.ask("decision", question, text)

    def done(self, domain: str, size: str) -> Scenario:
        """The session, with the probes that follow from what was written."""
        for key, values in self._values.items():
            now = f"\n{key} = {values[-1]}\n"
            old = [told for value in values[:-1] if (told := f"\n{key} = {value}\n") != now]
            self.ask("recall", f"What is {key}?", now, outdated=dict.fromkeys(old))
        for path, operations in self._touched.items():
            now = operations[-1][0]
            old = [told for told in dict.fromkeys(told for told, writes in operations if writes) if told != now]
            self.ask("artifact", f"What was last done to {path}?", now, outdated=old)
        for path, operation in self._aside.items():
            if path not in self._touched:
                self.ask("aside", f"What was last done to {path}?", operation)
        if self._plans:
            old = [plan for plan in self._plans if plan != self._plans[-1]]
            self.ask("continuation", "What is the plan, and how far is it?", self._plans[-1], outdated=old)
        if self._outcomes:
            old = [told for told in dict.fromkeys(self._outcomes) if told not in self._outcomes[-1]]
            self.ask("continuation", "How did the last test run end?", self._outcomes[-1], outdated=old)
        return Scenario(domain, size, tuple(self.events), tuple(self.probes))
