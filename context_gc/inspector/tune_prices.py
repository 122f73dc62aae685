"""Tune prices: whose prices count, for how long a cache is bought, and what survives a change."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import streamlit as st

from ..errors import InvalidPolicy
from ..replay.cost import BREAKPOINTS
from ..replay.prices import Prices, models, overrides_of, prices_of
from . import settings
from .notice import notice
from .rows import short
from .settings import FLOOR, HOUR

_OWN = "own_prices"  # of the browser session: model -> fields
_BREAKS = {"": "ideal", FLOOR: "floor"}
FORM = """["my-model"]
input = 3.0         # dollars for a million tokens
output = 15.0
cache_read = 0.3
cache_write = 3.75
cache_write_1h = 6.0
ttl = 300           # seconds
min_prefix = 1024   # tokens"""


def breakpoints() -> str:
    """One of BREAKPOINTS."""
    return BREAKPOINTS[bool(settings.text("breaks"))]


def chosen_prices(model: str) -> Prices | None:
    """The prices that are chosen, else those of a trace's model; None where neither is known."""
    found = _known(settings.text("prices")) or _known(model)
    if found is not None and settings.text("cache") == HOUR and found.cache_write_1h is not None:
        return found.for_an_hour()
    return found


def own_prices() -> Mapping[str, Mapping[str, Any]]:
    """Prices that this browser session uploaded."""
    found: Mapping[str, Mapping[str, Any]] = st.session_state.get(_OWN, {})
    return found


def price_controls(model: str, prices: Prices | None) -> None:
    """The choices, and what they amount to, with its date."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="tune_prices"):
        _chooser(model)
        if prices is not None and _sells_an_hour(model):
            hours = {"": "5 min" if _ttl(model) == 300 else "short", HOUR: "1 h"}
            st.segmented_control(
                "Cache kept for", list(hours), format_func=hours.__getitem__, required=True, width="content",
                **settings.widget("cache", settings.text("cache")),
            )  # fmt: skip
        st.segmented_control(
            "A change leaves cached", list(_BREAKS), format_func=_BREAKS.__getitem__, required=True, width="content",
            help="ideal: all that stands before the first changed byte, which takes a breakpoint there. floor: only "
            "the system prompt and the tools, because agents set breakpoints there and on the last message.",
            **settings.widget("breaks", settings.text("breaks")),
        )  # fmt: skip
        with st.popover("Own prices…"):
            _upload()
    if prices is None:
        known = "The trace names no model" if not model else f"No prices are known for {short(model, 60)}"
        notice(f"{known}: choose a model above whose prices count, or upload your own. Costs are left out until then.")
    else:
        st.html(f"<small>{escape(_told(prices))}</small>")


def _chooser(model: str) -> None:
    own = _known(model)
    detected = f"{short(own.model, 40)} (the trace's model)" if own else "choose a model"
    names = ["", *own_prices(), *models()]
    chosen = settings.text("prices")
    told = {name: short(name, 60) or detected for name in dict.fromkeys(names)}
    st.selectbox(
        "Prices of", list(told), format_func=told.__getitem__, width=280,
        **settings.widget("prices", chosen if chosen in told else ""),
    )  # fmt: skip


def _upload() -> None:
    """Own prices, held for this browser session."""
    st.html("<small>Prices of your own override the table: a TOML file with one table for each model.</small>")
    st.code(FORM, "toml")
    given = st.file_uploader("Prices, TOML", type=["toml"], key="tune_prices_file", max_upload_size=1)
    if given is None:
        return
    if st.session_state.get("own_prices_file") != given.file_id:
        st.session_state.own_prices_file = given.file_id
        st.session_state.own_prices_fault = ""
        try:
            told = overrides_of(given.getvalue(), short(given.name, 60))
            for name in told:
                prices_of(name, told)
            st.session_state[_OWN] = told
            if told:
                settings.put("prices", next(iter(told)))
        except InvalidPolicy as error:
            st.session_state.own_prices_fault = str(error)
        st.rerun()
    if st.session_state.own_prices_fault:
        notice(st.session_state.own_prices_fault, "error")


def _known(model: str) -> Prices | None:
    try:
        return prices_of(model, own_prices()) if model else None
    except InvalidPolicy:
        return None


def _base(model: str) -> Prices | None:
    return _known(settings.text("prices")) or _known(model)


def _sells_an_hour(model: str) -> bool:
    found = _base(model)
    return found is not None and found.cache_write_1h is not None


def _ttl(model: str) -> float:
    found = _base(model)
    return found.ttl if found is not None else 0.0


def _is_changed(prices: Prices) -> bool:
    """Whether figures of the table were overridden."""
    table = prices_of(prices.model)
    return all(prices != each for each in (table, table.for_an_hour() if table.cache_write_1h is not None else table))


def _told(prices: Prices) -> str:
    """What a million tokens cost, and of when the table is."""
    date = f"of {prices.as_of}" if prices.as_of else "of your own"
    if prices.as_of and _is_changed(prices):
        date = f"of your own over those of {prices.as_of}"
    source = f", {prices.source}" if prices.source else ""
    tier = f"; above {prices.tier_from:,} tokens {prices.tier:g} times as much" if prices.tier_from else ""
    return (
        f"Prices {date}{source}: {short(prices.model, 60)}, dollars for a million tokens: input {prices.input:g}, "
        f"cached {prices.cache_read:g}, written to the cache {prices.cache_write:g}, output {prices.output:g}{tier}."
    )
