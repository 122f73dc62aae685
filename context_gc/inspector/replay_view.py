"""Replay view: the player over all model calls of the trace, under the policy in force."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import streamlit as st

from ..errors import TraceError
from ..replay.prices import Prices
from ..replay.prompts import TTL
from . import settings
from .counting import counter_of
from .frame import Inspected, select
from .notice import notice
from .replay_component import replay_component, replay_reply
from .replay_data import answer, costs, film
from .replay_steps import Steps, steps
from .tune_prices import breakpoints, chosen_prices

KEY = "replay"
EMPTY = (
    "Nothing was written by a model in it. Open the log of an agent's run at the left, or look at the events on the "
    "graph page."
)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A replay with the data that draws it; shared between sessions, never changed."""

    steps: Steps
    film: dict[str, Any]


def replay_view(inspected: Inspected) -> None:
    """Draw the player; where the trace has no model call it says so."""
    told = of_file(inspected)
    prices = chosen_prices(inspected.trace.model)
    version = f"{told}/{digest(inspected.policy.to_toml() + repr((prices, breakpoints())))}"
    drawn = _drawn(version, inspected, prices)
    if isinstance(drawn, str):
        notice(drawn, "warning")
        return
    found = drawn.steps
    place = f"{inspected.place.rpartition('/')[0]}/{version.rpartition('/')[2]}"
    asked = replay_component(
        drawn.film | {"version": version, "live": inspected.is_followed, "place": place},
        key=KEY,
        on_call=_stand,
        on_picked=lambda: _pick(found, inspected),
    ).asked
    end = settings.text("call") == ""
    call = len(found.steps) if end else max(1, min(int(settings.text("call")), len(found.steps)))
    chosen = found.find(settings.text("event")) if settings.text("event") else None
    replay_reply(key=KEY, version=version, call=call, end=end, selected=chosen, answer=_answered(found, version, asked))


def digest(told: str) -> str:
    """A short digest of a text, for keys."""
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def of_file(inspected: Inspected) -> str:
    """Stands for the trace as it is now, all windows of it."""
    return inspected.where.rpartition("/")[0]


def _stand() -> None:
    call = st.session_state[KEY]["call"]
    if isinstance(call, int) and 0 <= call < 10**9:
        settings.put("call", str(call) if call else "")


def _pick(found: Steps, inspected: Inspected) -> None:
    """Select an event, in the window that it stands in, on every page."""
    told = st.session_state[KEY]["picked"]
    if not (isinstance(told, list) and len(told) == 2 and all(isinstance(part, int) for part in told)):
        return
    window, seq = told
    if 0 <= window < len(found.stretches) and 0 <= seq < len(found.stretches[window].events):
        select_in(inspected, window, found.stretches[window].events[seq]["id"])


def select_in(inspected: Inspected, window: int, event_id: str) -> None:
    """Select an event of a window, which is shown from now on. For callbacks."""
    if inspected.trace.windows[window] is not inspected.window:
        settings.put("window", str(window + 1) if window + 1 < len(inspected.trace.windows) else "")
    select(event_id)


def _answered(found: Steps, version: str, asked: Any) -> dict[str, Any] | None:
    """The whole of a text that the player has only the beginning of."""
    if not isinstance(asked, dict) or asked.get("version") != version:
        return None
    numbers = [asked.get(name) for name in ("window", "place", "call")]
    if not all(isinstance(each, int) for each in numbers):
        return None
    window, place, call = map(int, numbers)  # type: ignore[arg-type]
    text = answer(found, window, place, call)
    return (
        None
        if text is None
        else {"key": asked.get("key"), "version": version, "text": text, "place": place, "call": call}
    )


@st.cache_resource(max_entries=8, show_spinner="Replaying this trace")
def _drawn(version: str, _inspected: Inspected, _prices: Prices | None) -> _Drawn | str:
    counter = counter_of(_inspected.place, _inspected.policy.counter)
    try:
        found = steps(_inspected.trace, _inspected.policy, counter, _prices.ttl if _prices else TTL)
    except TraceError as error:
        return f"{error.what[:1].upper()}{error.what[1:]}. {EMPTY}"
    return _Drawn(found, film(found, _inspected.trace, costs(found, _prices, _inspected.trace.model, breakpoints())))
