"""In force: the policy that the controls stand for; where they contradict each other, the last one that made sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from ..budget import Budget
from ..errors import InvalidPolicy
from ..policy import Policy
from ..tokens import family_of
from ..windows import window_of
from . import settings
from .settings import AUTO, Value

ASSUMED = 200_000  #: tokens of a window of which nothing is known
MOST = 10_000_000  #: tokens of the largest window that can be asked about


@dataclass(frozen=True, slots=True)
class InForce:
    """What the controls amount to for one trace."""

    policy: Policy
    ended: tuple[str, ...]  #: scopes of `retain_until` that have ended
    limit: int  #: tokens of the model's window
    known: bool  #: whether that is known of the model or was chosen; else it is assumed
    fault: str  #: why the thresholds that are shown are not the ones in force; "" when they are

    @property
    def thresholds(self) -> Budget:
        """The budget; without one the thresholds that the meter and the charts show for comparison."""
        return self.policy.budget or Budget(self.limit)

    @property
    def told(self) -> str:
        """All that the result depends on besides the trace."""
        return self.policy.to_toml() + repr(self.ended)


def in_force(model: str) -> InForce:
    """What the controls of this browser session amount to for a trace of a model."""
    chosen, state, fault = settings.current(), st.session_state, ""
    limit, known = window(chosen, model)
    try:
        found = policy(chosen, model)
    except InvalidPolicy as error:
        last: Budget | None = state.get("budget_in_force")
        found = replace(policy({**chosen, "budget": ""}, model), budget=last or Budget(limit))
        fault = f"{error.what} ({error.todo})"
    state.budget_in_force = found.budget
    return InForce(found, ended(chosen), limit, known, fault)


def window(chosen: Mapping[str, Value], model: str) -> tuple[int, bool]:
    """Tokens of the model's window, as chosen or as it is known; and whether it is either."""
    given = int(str(chosen["limit"]) or 0)
    if given:
        return min(given, MOST), True
    try:
        return window_of(model), True
    except InvalidPolicy:
        return ASSUMED, False


def policy(chosen: Mapping[str, Value], model: str) -> Policy:
    """The policy that the controls stand for. Raises InvalidPolicy when the thresholds contradict each other."""
    counter = str(chosen["counter"])
    return Policy(
        stages=tuple(chosen["stages"]),
        protect_importance=tuple(chosen["importance"]),
        protect_tags=tuple(chosen["tags"]),
        protect_types=tuple(chosen["types"]),
        protect_recent=int(str(chosen["last"])),
        protect_ids=tuple(chosen["pins"]),
        stubs=str(chosen["stubs"]),
        clip_over=int(str(chosen["clip"])),
        counter=family_of(model) if counter == AUTO else counter,
        budget=_budget(chosen, model) if chosen["budget"] else None,
    )


def _budget(chosen: Mapping[str, Value], model: str) -> Budget:
    gain, most = str(chosen["gain"]), str(chosen["most"])
    return Budget(
        max_tokens=window(chosen, model)[0],
        threshold_low=float(str(chosen["low"])),
        threshold_high=float(str(chosen["high"])),
        target=float(str(chosen["target"])),
        recent_observations=int(str(chosen["recent"])),
        min_gain=int(gain) if gain else None,
        max_prompt_tokens=int(most) if most else None,
        commit_on_arrival=bool(chosen["arrival"]),
        commit_when_cold=bool(chosen["cold"]),
    )


def ended(chosen: Mapping[str, Value]) -> tuple[str, ...]:
    """The scopes that have ended: a session's end is its task's end as well."""
    scopes = tuple(chosen["ended"])
    return settings.SCOPES if "session_end" in scopes else scopes
