"""τ-bench and τ²-bench results: each run of a task is one trace, in the order of the file.

τ-bench: a list of {"task_id", "reward", "info", "traj", "trial"}, with `traj` in OpenAI's words. τ²-bench:
{"info", "tasks", "simulations": […]}, one {"simulation_run": …}, or the runs alone. Its policy, which the agent
saw in its system prompt, comes first. What only the simulated user saw (its own tools) never reached the agent
and is ignored by kind. Records are messages. Blind spot: audio and the ticks of full-duplex runs are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import TraceError
from ..trace import Problem, Trace
from .files.document import Document, kind_of
from .provider_messages.events import tell_message, tell_system
from .provider_messages.exchanges import tokens
from .provider_messages.layout import contents
from .provider_messages.shapes import TAU, claimed
from .recording.recorder import Recorder

name = TAU

_KEPT = ("task_id", "trial", "termination_reason", "seed", "domain", "reward")
BY_USER = {"tool": "result of a tool of the user", "user": "call of a tool of the user"}


class _Run(NamedTuple):
    path: str  #: where it stands in the file
    run: dict[str, Any]
    messages: Any
    info: dict[str, Any]  #: of all runs of the file


def sniff(head: bytes) -> bool:
    """Whether the file begins with runs of τ-bench or with what τ²-bench tells of its runs."""
    return claimed(head) == TAU


def read(document: Document) -> list[Trace]:
    """One trace a run. `extra`: task_id, trial, reward and the like.

    `origin` has `path` (the run) and `index` (the message in it). A run without messages gives no trace.

    Raises:
        TraceError: no run has a message.
    """
    found, problems = contents(document)
    traces = [
        _trace(document.name, each, problems)
        for row in found.rows
        for each in _runs(row.value, "" if found.layout == "object" else str(row.line))
    ]
    whole = [trace for trace in traces if trace.events]
    if not whole:
        raise TraceError(document.name, "no run in it has a message", "name a file of finished runs")
    if len(whole) < len(traces):
        problems.append(Problem(None, f"{len(traces) - len(whole)} runs without messages (left out)", 0))
    for trace in traces:
        if not trace.events:
            for kind, count in trace.ignored.items():
                whole[0].ignored[kind] = whole[0].ignored.get(kind, 0) + count
    whole[0].problems = problems
    return whole


def _runs(row: dict[str, Any], path: str) -> Iterator[_Run]:
    info = _dict(row.get("info"))
    if "traj" in row:
        yield _Run(path, row, row["traj"], {})
    elif "simulation_run" in row:
        run = _dict(row["simulation_run"])
        yield _Run("simulation_run", run, run.get("messages"), info)
    elif "simulations" in row:
        runs = row["simulations"]
        for place, run in enumerate(runs if type(runs) is list else ()):
            yield _Run(f"simulations/{place}", _dict(run), _dict(run).get("messages"), info)
    elif "messages" in row:
        yield _Run(path, row, row["messages"], info)


def _trace(source: str, given: _Run, problems: list[Problem]) -> Trace:
    recorder = Recorder(name, source)
    trace, run, info = recorder.trace, given.run, given.info
    world, agent = _dict(info.get("environment_info")), _dict(info.get("agent_info"))
    messages = given.messages
    if type(messages) is not list:
        problems.append(Problem(None, f"run {given.path}: its messages are {kind_of(messages)} (skipped)"))
        messages = []
    if messages and type(world.get("policy")) is str:
        tell_system(recorder, "policy", world["policy"], {"path": "info/environment_info"})
    read = 0
    for place, message in enumerate(messages):
        kind, fault, before = _of_user(message), "", len(recorder.events)
        if not kind:
            fault = _tell(recorder, message, {"path": given.path, "index": place})
        if fault:
            problems.append(Problem(None, f"run {given.path}, message {place}: {fault} (skipped)"))
        elif len(recorder.events) == before:
            recorder.ignore(kind or "blank message")
        else:
            read += 1
            if message.get("role") == "assistant":
                recorder.used(len(recorder.events) - 1, *tokens(message.get("usage")))
    if type(agent.get("llm")) is str:
        trace.model = agent["llm"]
    known = run | {"reward": run.get("reward", _dict(run.get("reward_info")).get("reward"))}
    known |= {"domain": world.get("domain_name")}
    trace.records_read = read
    trace.extra = {key: known[key] for key in _KEPT if _is_plain(known.get(key))}
    task, trial = (trace.extra.get(key) for key in ("task_id", "trial"))
    trace.title = f"run {run.get('id', given.path)}"[:80]
    if task is not None:
        trace.title = f"task {task}" + (f", trial {trial}" if trial is not None else "")
    return recorder.done()


def _tell(recorder: Recorder, message: Any, origin: dict[str, Any]) -> str:
    """Append the events of a message; those of several results in one, where one of τ²-bench holds them so."""
    several = _dict(message).get("tool_messages")
    if type(several) is not list:
        return tell_message(recorder, message, origin)
    faults = [
        tell_message(recorder, each, origin | {"part": part}) for part, each in enumerate(several) if not _of_user(each)
    ]
    return next(filter(None, faults), "")


def _of_user(message: Any) -> str:
    """What a message is counted as that the agent never saw; "" for one that it saw."""
    held = _dict(message)
    calls = held.get("tool_calls")
    if held.get("role") == "user" and type(calls) is list and calls and not held.get("content"):
        return BY_USER["user"]
    return BY_USER["tool"] if held.get("role") == "tool" and held.get("requestor") == "user" else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)
