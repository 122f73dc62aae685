"""Session sections: what a run was: its passes, its context, its bus, its policy, and the button that opens it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from ..errors import ContextGCError
from ..render import sendable
from ..run_log import NAME
from ..session import RUNS
from . import session_log, settings
from .diff_data import shown
from .home import PAGES
from .notice import notice
from .say import count, share, signed, tokens
from .session_diff import context_diff
from .session_dirs import own_file, stamp
from .session_html import context_html, events_html, sentence
from .session_log import ContextChange, Log
from .session_opening import open_run, without_control
from .session_receipts import receipts
from .session_runs import Figures
from .session_runs import told as error_told
from .session_table import HEAD, ROW, configured, frame
from .session_view import Inspection, put, state

_MOMENTS = {
    "compact": "low threshold", "emergency": "high threshold", "cold": "cold cache", "asked": "asked for",
    "needed": "result came late",
}  # fmt: skip
_WIDTHS = {
    "pass": 44, "moment": 108, "before": 66, "after": 62, "freed": 62, "pays after (N*)": 110, "cut": 44,
    "of them live": 86, "clipped": 60, "brought back": 94,
}  # fmt: skip
_PAYS = (
    "Before, after and freed are tokens. N*: model calls until a pass has paid for the part of the cache that it made "
    "the provider write anew."
)


def run_told(seen: Inspection) -> None:
    """The run in one sentence, and what is wrong with it."""
    st.html(_answer(seen))
    for problem in (*seen.run.problems, *st.session_state.pop("sessions_fault", ())):
        notice(problem, "error")
    if seen.run.figures is not None:
        _standing(seen.run.figures)


def section(seen: Inspection) -> None:
    """Choose and draw one of the sections; only that one is read. Beside it: the button that opens the run."""
    chosen = state().get("section")
    st.session_state.sessions_section = chosen if chosen in _SECTIONS else next(iter(_SECTIONS))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.segmented_control(
            "Section", list(_SECTIONS), key="sessions_section", label_visibility="collapsed", required=True,
            on_change=lambda: put("section", st.session_state.sessions_section),
        )  # fmt: skip
        st.button(
            "Open this run in the inspector", on_click=_open, args=(seen,), disabled=not seen.run.events,
            help="As the trace that is open, under the policy of this run.",
        )  # fmt: skip
    if st.session_state.pop("sessions_opened", False):
        st.switch_page(PAGES[0][0], query_params=settings.query())
    _SECTIONS[st.session_state.sessions_section](seen)


def _answer(seen: Inspection) -> str:
    run, found = seen.run, seen.run.figures
    if run.events is None:
        return sentence("Run ", (shown(run.run_id),), ": nothing of it can be read.")
    start = ("Run ", (shown(run.run_id),), f": {count(run.events, 'event')}")
    if found is None:
        return sentence(*start, ". Without its saved state nothing more is known of it.")
    clipped = f", {found.clipped:,} clipped" if found.clipped else ""
    made = f", in {count(len(found.passes), 'pass', 'passes')}" if found.budget else ""
    change = f"{tokens(found.before)} → {tokens(found.after)} tokens"
    saved = f"{signed(found.after - found.before)}, {share(abs(found.before - found.after), found.before)}"
    return sentence(*start, f", {found.pruned:,} pruned{clipped}{made}. ", (change,), f" ({saved}). ", _room(found))


def _room(found: Figures) -> str:
    budget = found.budget
    if budget is None:
        return "It has no budget: what is dead goes at once."
    level = {"ok": "below the low threshold", "compact": "at the low threshold", "emergency": "at the high threshold"}
    used = f"{share(budget.tokens, budget.max_tokens)} of its window of {tokens(budget.max_tokens)} are in use"
    source = ", as the provider counted" if budget.reported else ""
    waiting = f"; {tokens(budget.waiting_tokens)} tokens wait for the next pass" if budget.waiting_tokens else ""
    return f"{used}{source}, {level[budget.level]}{waiting}."


def _standing(found: Figures) -> None:
    budget = found.budget
    if budget is None:
        return
    if budget.unreachable is not None:
        notice(f"The target is out of reach: {shown(str(budget.unreachable))}.", "warning")
    if budget.deferred:
        notice(f"No pass was made although one was due: {shown(str(budget.deferred))}.")


def _open(seen: Inspection) -> None:
    try:
        open_run(seen.path, seen.key, seen.run)
        st.session_state.sessions_opened = True
    except ContextGCError as error:
        st.session_state.sessions_fault = (error_told(error, seen.path),)


def _passes(seen: Inspection) -> None:
    found = seen.run.figures
    if found is None:
        notice("The passes are part of the saved state, which cannot be read.")
        return
    if not found.passes:
        why = "None was due so far." if found.budget else "The policy has no budget: what is dead goes at each compact."
        notice(f"This run has made no passes. {why}")
        return
    freed = sum(each.freed for each in found.passes)
    st.html(sentence((count(len(found.passes), "pass", "passes"),), f" freed {tokens(freed)} tokens."))
    rows = found.passes[::-1]
    columns: dict[str, list[Any]] = {
        "pass": [each.number for each in rows],
        "moment": [_MOMENTS.get(each.moment, shown(each.moment)) for each in rows],
        "before": [each.before for each in rows],
        "after": [each.after for each in rows],
        "freed": [each.freed for each in rows],
        "pays after (N*)": [each.pays for each in rows],
        "first changed": [each.first for each in rows],
        "cut": [each.cut for each in rows],
    }
    rare = {
        "of them live": [each.evicted for each in rows],
        "clipped": [each.clipped for each in rows],
        "brought back": [each.restored for each in rows],
    }
    columns |= {name: values for name, values in rare.items() if any(values)}
    st.dataframe(
        frame(columns), hide_index=True, row_height=ROW, height=HEAD + ROW * min(12, len(rows)),
        alt="Passes, the newest first", column_config=configured(columns, _WIDTHS),
    )  # fmt: skip
    st.html(f"<small>{_PAYS}</small>")
    lost = [each for each in rows if each.unreachable and each.moment == "emergency"]
    if lost:
        notice(f"Pass {lost[0].number} did not reach its target: {shown(lost[0].unreachable)}.", "warning")


def _context(seen: Inspection) -> None:
    log = _log(seen)
    if log is None:
        return
    if not log.changes:
        notice(
            "No compaction of a context dict is in the log. ContextCompactor(bus=bus) publishes context.compacted, "
            "with the context before and after."
        )
        return
    changes = log.changes[::-1]
    names = [f"{log.compactions - place} of {log.compactions} · {each.at}" for place, each in enumerate(changes)]
    number = min(state().get("change", 0), len(changes) - 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("‹ earlier", on_click=put, args=("change", number + 1), disabled=number + 1 == len(changes))
        st.session_state.sessions_change = number
        st.selectbox(
            "Compaction", range(len(changes)), format_func=names.__getitem__, key="sessions_change", width=330,
            on_change=lambda: put("change", st.session_state.sessions_change), label_visibility="collapsed",
        )  # fmt: skip
        st.button("later ›", on_click=put, args=("change", number - 1), disabled=number == 0)
        if log.compactions > len(changes):
            st.html(f"<small>The last {len(changes):,} of {log.compactions:,} are kept.</small>")
    _change(changes[number])


def _change(change: ContextChange) -> None:
    found = context_diff(change.before, change.after)
    left = f"{count(found.left, 'observation')} left, {found.kept:,} {'stays' if found.kept == 1 else 'stay'}."
    grew = f" The summary {'grew' if found.added >= 0 else 'shrank'} by {count(abs(found.added), 'character')}. "
    kept = f"{count(found.memory, 'memory key')} {'is as it was' if found.memory == 1 else 'are as they were'}. "
    lost = f"{count(len(found.lost), 'memory key')} of those before gone or changed. "
    st.html(sentence((left,), grew, lost if found.lost else kept, *_figures(change)))
    for warning in _texts(change.told.get("warnings")):
        notice(shown(warning), "warning")
    st.html(context_html(found))


def _figures(change: ContextChange) -> list[str]:
    saved, ratio = change.told.get("tokens_saved"), change.told.get("compression_ratio")
    said = [f"{tokens(saved)} tokens saved"] if type(saved) is int and abs(saved) < 10**15 else []
    said += [f"compression ratio {ratio:.3g}"] if type(ratio) is float and abs(ratio) < 1e9 else []
    return [", ".join(said) + "."] if said else []


def _texts(given: object) -> list[str]:
    return [each for each in given if isinstance(each, str)][:5] if isinstance(given, list) else []


def _bus(seen: Inspection) -> None:
    log = _log(seen)
    if log is None:
        return
    kinds = sorted({event.kind for event in log.events if event.kind})
    kept = [kind for kind in state().get("kinds", ()) if kind in kinds]
    st.session_state.sessions_kinds = kept
    st.multiselect(
        "Types", kinds, key="sessions_kinds", placeholder="All types of events", width=480,
        label_visibility="collapsed", on_change=lambda: put("kinds", tuple(st.session_state.sessions_kinds)),
    )  # fmt: skip
    found = [event for event in log.events if not kept or event.kind in kept]
    what = count(len(found), "event")
    whole = f"{what}, as they came." if len(found) == log.lines else f"The last {what} of {log.lines:,}, as they came."
    if kept:
        whole = f"{what} of {len(log.events):,}, as they came."
    st.html(f"<small>{whole} A line opens its payload. Times are UTC.</small>")
    st.html(events_html(found))


def _policy(seen: Inspection) -> None:
    if seen.run.policy is None:
        notice("The policy of this run cannot be read.")
        return
    differ = without_control(seen.run.policy)
    if differ:
        notice(
            f"The inspector has no control for {', '.join(differ)}: once the run is open, what the controls can say "
            "is in force instead.",
            "warning",
        )
    text = seen.run.policy.to_toml()
    st.download_button("Download policy.toml", sendable(text), "policy.toml", "application/toml", on_click="ignore")
    st.code(sendable(text), language=None, wrap_lines=True)


def _log(seen: Inspection) -> Log | None:
    """What the run's bus carried; None, and said so, when there is no log or it cannot be read."""
    try:
        own_file(seen.path, RUNS, seen.run.run_id, NAME)
        found = _read_log(str(seen.folder), stamp(seen.folder, NAME))
    except ContextGCError as error:
        if error.what != "there is no such file":
            notice(error_told(error, seen.path), "error")
            return None
        notice(f'No bus was recorded with this run: RunLog(bus, "DIR/{RUNS}/{shown(seen.run.run_id)}") does it.')
        return None
    if not found.lines:
        notice("The log is empty: nothing was published while it was open.")
        return None
    return found


@st.cache_resource(max_entries=4, show_spinner="Reading the log…")
def _read_log(folder: str, changed: tuple[int, int]) -> Log:
    return session_log.read(Path(folder))


_SECTIONS = {"Passes": _passes, "Context": _context, "Bus": _bus, "Receipts": receipts, "Policy": _policy}
