"""Compare choice: what the policy in force is compared with, as the settings and so a link have it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from ..errors import ContextGCError, InvalidPolicy
from ..policy import Policy
from ..trace import Trace
from . import settings, traces
from .frame import Inspected
from .in_force import policy as in_force_for
from .notice import notice
from .rows import short

FULL, DEFAULTS, OWN = "full", "defaults", "own"
NAMES = {FULL: "full history", DEFAULTS: "the documented defaults", OWN: "the other policy"}
_MODES = {"policies": "Two policies", "runs": "Two runs"}
_FAULT = "compare_fault"  # session key: what is wrong with the last policy file


@dataclass(frozen=True, slots=True)
class Rival:
    """What the policy in force on the open trace is compared with. `name` is ours: no trace text."""

    name: str
    trace: Trace
    policy: Policy
    told: str  #: stands for the trace and how it was read; "" for the open one

    @property
    def is_run(self) -> bool:
        """Whether it is another run, under the same controls."""
        return self.told != ""


def rival(inspected: Inspected) -> Rival:
    """The other policy, or the other run. Raises a ContextGCError that says what is wrong and what to do."""
    key = settings.text("other")
    if not key:
        name, policy = _policy(settings.text("against"))
        return Rival(name, inspected.trace, replace(policy, counter=inspected.policy.counter), "")
    opened = traces.opened(key)
    part = min(int(settings.text("agent")), len(opened.traces) - 1)
    trace = opened.traces[part]
    policy = in_force_for({**settings.current(), "pins": ()}, trace.model)
    return Rival("the other run", trace, policy, f"{opened.sha256}/{part}")


def brief(policy: Policy) -> str:
    """A policy as TOML without what it shares with the defaults: short enough for a link."""
    known = set(Policy().to_toml().splitlines())
    head, _, budget = policy.to_toml().partition("\n[budget]\n")
    kept = [line for line in head.splitlines() if line not in known]
    return "\n".join([*kept, *(["[budget]", *budget.splitlines()] if budget else [])]) or 'stubs = "always"'


def controls(inspected: Inspected) -> None:
    """The toolbar: two policies or two runs, and which."""
    runs = settings.text("other") != ""
    st.session_state.compare_mode = "runs" if runs else "policies"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_bar"):
        st.segmented_control(
            "Compare", list(_MODES), format_func=_MODES.__getitem__, key="compare_mode", required=True, width="content",
            on_change=_switch, args=(inspected,),
        )  # fmt: skip
        if runs:
            _run_picker()
        else:
            _policy_picker()
    if fault := st.session_state.get(_FAULT):
        notice(fault, "error")


def _policy(told: str) -> tuple[str, Policy]:
    if told in ("", FULL):
        return NAMES[FULL], Policy(stages=())
    if told == DEFAULTS:
        return NAMES[DEFAULTS], Policy()
    return NAMES[OWN], Policy.from_toml(told, "the policy to compare with")


def _policy_picker() -> None:
    told = settings.text("against") or FULL
    own = told not in NAMES
    st.session_state.compare_against = OWN if own else told
    options = [FULL, DEFAULTS, OWN] if own else [FULL, DEFAULTS]
    st.selectbox(
        "The policy of the controls against", options, format_func=lambda key: NAMES[key], key="compare_against",
        on_change=_against, width=280,
    )  # fmt: skip
    with st.popover("Policy file…"):
        st.file_uploader(
            "A policy, TOML", type=["toml"], key="compare_toml", on_change=_upload, max_upload_size=1,
            help="As “Export policy” at the left writes it. It becomes part of the link.",
        )  # fmt: skip
        st.html("<small>Or keep the policy of the controls as it is now, change the controls, and compare.</small>")
        st.button("Keep the policy in force", on_click=_keep)


def _run_picker() -> None:
    key = settings.text("other")
    told = {choice.key: short(choice.name, 60) for choice in traces.choices()}
    tied = settings.widget("other", key if key in told else None)
    st.selectbox(
        "The open run against", list(told), None, told.__getitem__, placeholder="Choose a run", width=380, **tied
    )  # fmt: skip
    found = _agents(key)
    if len(found) > 1:
        tied = settings.widget("agent", str(min(int(settings.text("agent")), len(found) - 1)))
        titles = {str(at): f"{at + 1}: {short(title, 60)}" for at, title in enumerate(found)}
        st.selectbox("Agent", list(titles), format_func=titles.__getitem__, width=280, **tied)


def _agents(key: str) -> list[str]:
    try:
        return [trace.title for trace in traces.opened(key).traces]
    except ContextGCError:
        return []


def _switch(inspected: Inspected) -> None:
    """Between policies and runs; the other run is at first another agent of the same file, or another file."""
    mode, here = st.session_state.compare_mode, settings.text("trace") or traces.default()
    st.session_state.pop(_FAULT, None)
    if mode != "runs":
        settings.put("other", "")
        return
    part, count = int(settings.text("part")), len(inspected.opened.traces)
    others = [choice.key for choice in traces.choices() if choice.key != here]
    settings.put("other", here if count > 1 or not others else others[0])
    settings.put("agent", str((part + 1) % count) if count > 1 else "0")


def _against() -> None:
    value = st.session_state.compare_against
    if value in (FULL, DEFAULTS):
        settings.put("against", value)
    st.session_state.pop(_FAULT, None)


def _upload() -> None:
    file = st.session_state.compare_toml
    if file is None:
        return
    st.session_state.pop(_FAULT, None)
    try:
        settings.put("against", brief(Policy.from_toml(file.getvalue().decode("utf-8-sig"), file.name)))
    except UnicodeDecodeError:
        st.session_state[_FAULT] = f"{file.name}: not UTF-8 text (choose a policy that “Export policy” wrote)"
    except InvalidPolicy as error:
        st.session_state[_FAULT] = str(error)


def _keep() -> None:
    st.session_state.pop(_FAULT, None)
    settings.put("against", brief(in_force_for(settings.current(), "")))
