"""The player component: markup, style and script that never change, and two calls that give them data.

The replay and what changes with each click travel apart, so that a click resends no text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from .component_files import source, swatches

PLOT = '<svg></svg><div class="tip" hidden></div>'
_HTML = f"""
<div class="replay" role="group" tabindex="-1" aria-label="Replay of the model calls">
  <div class="plot" role="slider" tabindex="0" aria-label="Model call">{PLOT}</div>
  <div class="bar" role="toolbar" aria-label="Steps">
    <button type="button" class="first" title="First call (Home)" aria-label="First call">|‹</button>
    <button type="button" class="back" title="Call before (←)" aria-label="Call before">‹</button>
    <button type="button" class="play" title="Space" aria-pressed="false">Play</button>
    <button type="button" class="on" title="Next call (→)" aria-label="Next call">›</button>
    <button type="button" class="last" title="Last call (End)" aria-label="Last call">›|</button>
    <select class="speed" aria-label="Calls a second">
      <option value="1">1 call/s</option><option value="3" selected>3 calls/s</option>
      <option value="10">10 calls/s</option>
    </select>
    <label>call <input class="number" type="number" min="1" aria-label="Number of the call"></label>
    <span class="of"></span>
    <button type="button" class="pass-back" title="Pass before (p)">‹ pass</button>
    <button type="button" class="pass-on" title="Next pass (n)">pass ›</button>
    <span class="space"></span>
    <span class="legend"><span><i class="full"></i>full history</span><span><i></i>sent</span>
      <span><i class="pass"></i>pass</span><span><i class="cold"></i>cache was cold</span></span>
    <button type="button" class="copy">Copy prompt</button>
  </div>
  <div class="facts"></div>
  <div class="notes"><span class="told"></span><span class="cold"></span><span class="where"></span>
    <span class="priced"></span></div>
  <div class="said" aria-live="polite"></div>
  <div class="body">
    <nav class="rail" tabindex="0" aria-label="What changed at this call"></nav>
    <div class="box" tabindex="0" role="region" aria-label="The prompt of this call"><div class="items"></div></div>
  </div>
</div>
"""
_REPLY = """
const all = (globalThis.__contextGcReplay ??= { views: {}, replies: {} });
export default function ({ data }) {
  all.replies[data.gid] = data;  // the order of mounting is not guaranteed: leave a note
  if (all.views[data.gid]?.data) all.views[data.gid].reply(data);
}
"""

_player = st.components.v2.component(
    "context_gc_replay",
    html=_HTML,
    css=source("replay_player.css") + source("replay_plot.css") + swatches(),
    js="".join(
        map(
            source,
            (
                "replay_prompts.js",
                "elements.js",
                "replay_draw.js",
                "replay_plot.js",
                "replay_list.js",
                "replay_player.js",
            ),
        )
    ),
)
_reply = st.components.v2.component("context_gc_replay_reply", js=_REPLY)


def replay_component(
    data: dict[str, Any], *, key: str, on_call: Callable[[], None], on_picked: Callable[[], None]
) -> Any:
    """Draw `replay_data.film` under the version it has. The result's `asked` lasts for one run."""
    return _player(
        key=key,
        data={"gid": key} | data,
        height="content",
        on_call_change=on_call,
        on_picked_change=on_picked,
        on_asked_change=lambda: None,
    )


def replay_reply(
    *, key: str, version: str, call: int, end: bool, selected: tuple[int, int] | None, answer: dict[str, Any] | None
) -> None:
    """Tell the player which call to show, what is selected, and the answer to what it asked."""
    told = {"gid": key, "version": version, "call": call, "end": end, "selected": selected, "answer": answer}
    _reply(key=f"{key}-reply", data=told, height=1)
