"""Tune replay: one trace, all its windows, under the policy in force; kept for every page and browser session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st

from ..policy import Policy
from ..replay.baselines import FULL
from ..replay.calibration import Calibration, calibrate
from ..replay.cost import bill
from ..replay.prices import Prices
from ..replay.prompts import TTL, Replay, readings, replay
from ..replay.reading import Reading
from ..replay.sweep import Prepared
from ..tokens import Counter
from ..trace import Trace
from . import settings
from .counting import counter_of
from .formats import chosen
from .frame import Begun
from .tune_data import Lost, lost, places


@dataclass(frozen=True, slots=True)
class Ground:
    """What all replays of one trace share. Never changed."""

    readings: Sequence[Reading]
    counter: Counter
    full: Replay  #: the full history
    fit: Calibration
    places: Mapping[str, tuple[str, int]]  #: event id -> (window, number)
    key: str


@dataclass(frozen=True, slots=True)
class Lived:
    """A trace as it would have been lived under one policy."""

    done: Replay
    lost: tuple[Lost, ...]
    key: str


def scope(begun: Begun) -> str:
    """Stands for the begun trace with all its windows."""
    return f"{begun.opened.sha256}/{chosen()}/{settings.text('part')}"


def ground(begun: Begun, prices: Prices | None) -> Ground:
    """Raises TraceError for a trace without model calls."""
    counter, ttl = begun.policy.counter, prices.ttl if prices else TTL
    key = f"{scope(begun)}/{counter}/{ttl}"
    return _ground(key, begun.trace, scope(begun), counter_of(f"tune/{scope(begun)}", counter), ttl)


def lived(found: Ground, policy: Policy, prices: Prices | None) -> Lived:
    """The trace under a policy. The same policy is replayed once, whatever it is priced at."""
    told = sha256(policy.to_toml().encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return _lived(f"{found.key}/{told}", found, policy, prices.ttl if prices else TTL)


def prepared(found: Ground, prices: Prices) -> Prepared:
    """The ground as sweeps and reports take it."""
    ideal, floor = (bill(found.full, prices, how, found.fit) for how in ("ideal", "floor"))
    full = ideal.prompts, floor.prompts, ideal.total
    return Prepared(list(found.readings), found.counter, prices, found.fit, full)


@st.cache_resource(max_entries=8, show_spinner="Reading this trace's model calls")
def _ground(key: str, _trace: Trace, _scope: str, _counter: Counter, _ttl: float) -> Ground:
    shared = _read(_scope, _trace)
    full = replay(shared, FULL, _counter, _ttl)
    return Ground(shared, _counter, full, calibrate(full), places(_trace), key)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(scope: str, _trace: Trace) -> list[Reading]:
    return readings(_trace)


@st.cache_resource(max_entries=24, show_spinner=False)
def _lived(key: str, _ground: Ground, _policy: Policy, _ttl: float) -> Lived:
    done = replay(_ground.readings, _policy, _ground.counter, _ttl)
    return Lived(done, lost(done.measures.lost), key)
