"""Following: keeps a page with the file that is still being written, and with the reader who looks at it.

A reader who stands at the end goes on with it. Whoever looks at something older is left alone: then it is
only told how much is new.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, Protocol

import streamlit as st

from ..turns import turn_numbers
from . import settings, traces
from .formats import chosen
from .launch import FOLLOW
from .live import Live, live
from .notice import notice
from .say import count
from .settings import OFF, ON
from .traces import Opened

_HELD, _SHOWN, _TAIL, _FRESH, _ANEW = "live_held", "live_shown", "live_tail", "live_fresh", "live_anew"
_PRESSED = "live_pressed"
AWAY = "live_away"  #: session key: whether the graph's view was moved from the end
JUMP = "live_jump"  #: session key: how often the reader asked for the end


@dataclass(frozen=True, slots=True)
class _Tail:
    """Where a followed trace ended when it was shown last."""

    place: str
    begun: int
    events: int
    windows: int
    turn: int
    last: str


class _Ended(Protocol):
    @property
    def is_at_end(self) -> bool: ...


def is_followed(key: str) -> bool:
    """Whether the file behind a key is followed in this browser session."""
    return key.startswith("open/") and (settings.text("follow") or (ON if os.environ.get(FOLLOW) else OFF)) == ON


def look(key: str) -> Opened:
    """The file behind a key; one that is followed as it stands now, or as it stood when it was paused.

    Raises a ContextGCError as `traces.opened` does.
    """
    if not is_followed(key):
        return traces.opened(key, chosen())
    followed, held = _live(key), st.session_state.get(_HELD)
    if held and held[:2] == (key, chosen()):
        paused: Opened = held[2]
        return paused
    st.session_state[_SHOWN] = key, chosen(), followed.poll()
    return followed.current()


def keep_up(key: str, opened: Opened) -> None:
    """Take the reader along with what is new, or leave them where they are."""
    state, part = st.session_state, min(int(settings.text("part")), len(opened.traces) - 1)
    trace, begun = opened.traces[part], _live(key).begun
    last = trace.windows[-1]
    turns = turn_numbers(trace.events[last.start : last.stop])
    name = trace.events[-1]["id"] if trace.events else ""
    now = _Tail(f"{key}/{chosen()}/{part}", begun, len(trace.events), len(trace.windows), max(turns, default=0), name)
    before: _Tail | None = state.get(_TAIL)
    state[_TAIL] = now
    if before is None or before.place != now.place:
        state[_FRESH] = 0
    elif before.begun != now.begun:
        state[_FRESH] = 0
        state[_ANEW] = f"The file was {_live(key).anew}: it has been read anew from its start."
        settings.current().update({key: settings.DEFAULTS[key] for key in ("window", "turns", "event", "line", "call")})
    elif now != before:
        _go_on(before, now) if _is_at_end(before) else _stay(before, now)


def is_at_end(key: str) -> bool:
    """Whether the reader of a followed file stands at its end."""
    return bool(is_followed(key) and _TAIL in st.session_state and _is_at_end(st.session_state[_TAIL]))


def live_view(inspected: _Ended) -> dict[str, Any]:
    """What the graph and the diff need to know of a followed file."""
    return {"tail": inspected.is_at_end, "jump": st.session_state.get(JUMP, 0)}


def to_end() -> None:
    """Go to the end, and with it from now on. For callbacks."""
    settings.current().update({key: settings.DEFAULTS[key] for key in ("window", "turns", "event", "line", "call")})
    st.session_state[_FRESH], st.session_state[AWAY] = 0, False
    st.session_state[JUMP] = st.session_state.get(JUMP, 0) + 1


def follow_mark(key: str) -> None:
    """Whether the file is followed and how fresh it is; or how it could be."""
    if is_followed(key):
        st.fragment(_mark, run_every=1)(key)
        return
    is_sample = not key.startswith("open/")
    told = (
        "Only a file that was named at start can be followed: this one is a copy in memory or a sample, which nobody "
        "writes to. Start with: context-gc inspect --follow FILE"
    )
    st.button(
        "Follow", key="follow", disabled=is_sample, on_click=settings.put, args=("follow", ON),
        help=told if is_sample else "Keep up with the file while it is being written.",
    )  # fmt: skip


def announced() -> None:
    """What happened to the followed file, until it is dismissed."""
    if told := st.session_state.get(_ANEW):
        with st.container(horizontal=True, vertical_alignment="center", key="anew"):
            notice(told, "warning")
            st.button("Dismiss", key="dismiss_anew", on_click=st.session_state.pop, args=(_ANEW,))


def _live(key: str) -> Live:
    return live(traces.source(key), chosen())


def _is_at_end(tail: _Tail) -> bool:
    is_there = settings.text("window") in ("", str(tail.windows)) and settings.text("event") in ("", tail.last)
    is_drawn = settings.text("turns") == "" or settings.text("turns").endswith(f"-{tail.turn}")
    page = st.session_state.get("page")
    looks_elsewhere = st.session_state.get(AWAY, False) and page == "Graph"
    is_away = looks_elsewhere or (settings.text("call") != "" and page == "Replay")
    return is_there and is_drawn and not is_away


def _go_on(before: _Tail, now: _Tail) -> None:
    chosen_now = settings.current()
    if chosen_now["event"]:
        chosen_now["event"] = now.last
    if now.windows != before.windows:
        chosen_now["window"] = chosen_now["turns"] = ""
    elif chosen_now["turns"]:
        chosen_now["turns"] = f"{settings.text('turns').partition('-')[0]}-{now.turn}"
    st.session_state[_FRESH] = 0


def _stay(before: _Tail, now: _Tail) -> None:
    if settings.text("window") == "" and now.windows != before.windows:
        settings.current()["window"] = str(before.windows)
    st.session_state[_FRESH] = st.session_state.get(_FRESH, 0) + max(0, now.events - before.events)


def _mark(key: str) -> None:
    """The mark, every second: it has the page drawn anew when the file changed."""
    followed, state = _live(key), st.session_state
    held: tuple[str, str, Opened] | None = state.get(_HELD)
    version, is_paused = followed.poll(), bool(held and held[:2] == (key, chosen()))
    if state.pop(_PRESSED, False) or (not is_paused and state.get(_SHOWN) != (key, chosen(), version)):
        st.rerun()
    fresh = _waiting(held[2], followed) if held and is_paused else state.get(_FRESH, 0)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content", key="live"):
        word = "paused" if is_paused else "following"
        waits = f" · {escape(_brief(followed.told))}" if followed.told and followed.opened else ""
        st.html(
            f'<span class="cg-live {word}" role="status" title="{escape(followed.told)}"><i></i>'
            f"{word} · {_ago(time.time() - followed.changed)}{waits}</span>",
            width="content",
        )
        if fresh:
            st.button(f"{count(fresh, 'new event')} ↓", key="live_end", on_click=_press, args=(_resume_at_end,))
        told, act = ("Resume", _resume) if is_paused else ("Pause", partial(_pause, key, followed))
        st.button(told, key="live_pause", on_click=_press, args=(act,))
        newer = traces.newest_key()
        if newer and newer != key and os.environ.get(FOLLOW):
            go = partial(settings.put, "trace", newer)
            st.button("A newer trace has begun", key="live_newer", on_click=_press, args=(go,))


def _press(act: Callable[[], None]) -> None:
    """What a button of the mark does; the whole page is drawn anew for it."""
    act()
    st.session_state[_PRESSED] = True


def _pause(key: str, followed: Live) -> None:
    if followed.opened is not None:
        st.session_state[_HELD] = key, chosen(), followed.opened


def _resume() -> None:
    st.session_state.pop(_HELD, None)


def _resume_at_end() -> None:
    _resume()
    to_end()


def _waiting(shown: Opened, followed: Live) -> int:
    """Events that came since the pause."""
    part = min(int(settings.text("part")), len(shown.traces) - 1)
    now = followed.opened.traces if followed.opened else ()
    size = len(now[part].events) if part < len(now) else 0
    return max(0, size - len(shown.traces[part].events))


def _ago(seconds: float) -> str:
    whole = max(0, int(seconds))
    if whole < 2:
        return "just now"
    if whole < 120:
        return f"{whole} s ago"
    return f"{whole // 60} min ago" if whole < 7_200 else f"{whole // 3_600} h ago"


def _brief(told: str) -> str:
    return told if len(told) <= 60 else told[:59].rstrip() + "…"
