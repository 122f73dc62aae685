"""Savings: what each stage alone adds to what a policy saves on one window, on or off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ..policy import Policy
from ..stages import STAGES


def savings(total: Callable[[Policy], int], policy: Policy) -> Mapping[str, int]:
    """Stage name -> tokens it takes away, given all other stages as the policy has them.

    `total` gives the tokens of the prompt under a policy. For a stage that is on: how much more the prompt
    would have without it. For one that is off: how much less with it. The figures do not add up: two stages
    may find the same event. They are told without the budget, which decides when something goes and evicts
    more where less was found dead.
    """
    policy = replace(policy, budget=None, stubs=policy.stub_style)
    base, saved = total(policy), {}
    for stage in STAGES:
        on = stage.name in policy.stages
        chosen = tuple(each.name for each in STAGES if (each.name in policy.stages) != (each is stage))
        after = total(replace(policy, stages=chosen))
        saved[stage.name] = after - base if on else base - after
    return saved
