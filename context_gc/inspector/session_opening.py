"""Session opening: a run of a run directory as the trace that is open, under its own policy."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from ..errors import InvalidPolicy, TraceError
from ..policy import Policy
from ..render import sendable
from ..session import RUNS, TRACE
from . import in_force, settings, traces
from .in_force import MOST
from .session_dirs import own_file
from .session_runs import Run
from .settings import DEFAULTS, ON, Value


def open_run(directory: Path, key: str, run: Run) -> None:
    """Make a run the open trace, with its policy, what was restored and what has ended. For callbacks.

    Raises:
        SessionError, TraceError: the trace cannot be read, or holds no events.
    """
    file = own_file(directory, RUNS, run.run_id, TRACE)
    if not file.stat().st_size:
        raise TraceError(f"{RUNS}/{run.run_id}/{TRACE}", "the run has no events yet", "open it once it has")
    name = f"{'' if key == '.' else key + '/'}{RUNS}/{run.run_id}/{TRACE}"
    known = {choice.key for choice in traces.choices()}
    try:
        trace = f"open/{name}" if f"open/{name}" in known else traces.upload(name, file.read_bytes())
    except OSError as error:
        raise TraceError(name, f"it cannot be read: {error.strerror}", "check the folder") from error
    settings.put("trace", trace)
    for setting in ("part", "window", "event", "turns"):
        settings.put(setting, DEFAULTS[setting])
    if run.policy is not None:
        settings.reset_policy()
        for setting, value in chosen(run.policy).items():
            settings.put(setting, value)
        pins = (*run.policy.protect_ids, *run.pinned)
        settings.put("pins", tuple(dict.fromkeys(name for name in pins if name == sendable(name))))
    settings.put("ended", tuple(scope for scope in settings.SCOPES if scope in run.ended))


def chosen(policy: Policy) -> dict[str, Value]:
    """The settings that stand for a policy, as far as there are controls for it."""
    budget = policy.budget
    told: dict[str, Value] = {
        "stages": policy.stages,
        "importance": policy.protect_importance,
        "tags": tuple(tag for tag in policy.protect_tags if tag == sendable(tag)),
        "types": policy.protect_types,
        "last": _number(policy.protect_recent),
        "pins": tuple(name for name in policy.protect_ids if name == sendable(name)),
        "stubs": policy.stubs,
        "counter": policy.counter,
        "budget": "",
    }
    if budget is None:
        return told
    shares = {"low": budget.threshold_low, "high": budget.threshold_high, "target": budget.target}
    return told | {
        "budget": ON,
        "limit": _number(budget.max_tokens),
        "recent": _number(budget.recent_observations),
        "gain": "" if budget.min_gain is None else _number(budget.min_gain),
        "arrival": ON if budget.commit_on_arrival else "",
        "cold": ON if budget.commit_when_cold else "",
        **{name: str(max(0.01, share)) for name, share in shares.items()},
    }


def without_control(policy: Policy) -> tuple[str, ...]:
    """The fields of a policy that are other than what the controls amount to once its run is open."""
    try:
        found = in_force.policy({**DEFAULTS, **chosen(policy)}, "")
    except InvalidPolicy:  # shares below what the sliders reach
        return ("budget",)
    names = [each.name for each in fields(policy) if each.name != "budget"]
    differ = [name for name in names if getattr(policy, name) != getattr(found, name)]
    if policy.budget is not None and found.budget is not None:
        parts = [each.name for each in fields(policy.budget)]
        differ += [f"budget.{name}" for name in parts if getattr(policy.budget, name) != getattr(found.budget, name)]
    return tuple(differ)


def _number(value: int) -> str:
    return str(min(value, MOST))
