"""Counting: a counter that counts each text once, however many compactions of a trace ask for it."""

from __future__ import annotations

import streamlit as st

from ..tokens import COUNTERS, Counter

KEPT = 500_000  #: texts whose count is remembered; beyond that it starts anew


class Remembering:
    """A counter over another one. It keeps a hash and the length of a text, never the text."""

    def __init__(self, counter: Counter) -> None:
        self.name = counter.name
        self._counter = counter
        self._known: dict[tuple[int, int], int] = {}

    def count(self, text: str) -> int:
        """Tokens of a text."""
        key = hash(text), len(text)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= KEPT:
                self._known = {}
            found = self._known[key] = self._counter.count(text)
        return found


@st.cache_resource(max_entries=12, show_spinner=False)
def counter_of(place: str, name: str) -> Remembering:
    """The counter with this name that is shared by all compactions of one trace."""
    return Remembering(COUNTERS[name])
