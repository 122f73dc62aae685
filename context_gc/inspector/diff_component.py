"""The diff component: markup, style and script that never change, and two calls that give them data.

What it is drawn from and what changes with each click travel apart, so that a click resends no text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from .component_files import source, swatches

_HTML = """
<div class="diff" data-mode="side">
  <nav class="side" aria-label="Changes"><h2>Changes <span class="count"></span></h2><div class="rail"></div></nav>
  <section class="main" aria-label="Diff of full history and prompt">
    <div class="head">
      <span class="before"></span>
      <span class="right">
        <span class="after"></span><span class="delta"></span>
        <span class="step">
          <button type="button" class="previous" title="key p" aria-label="Previous change">‹ previous</button>
          <button type="button" class="next" title="key n" aria-label="Next change">next ›</button>
        </span>
      </span>
    </div>
    <div class="box" tabindex="0" role="region" aria-label="Events; n and p go to the next and previous change">
      <div class="items"></div>
    </div>
    <div class="said" aria-live="polite"></div>
  </section>
</div>
"""
_REPLY = """
const all = (globalThis.__contextGcDiff ??= { views: {}, replies: {} });
export default function ({ data }) {
  all.replies[data.gid] = data;  // the order of mounting is not guaranteed: leave a note
  all.views[data.gid]?.reply(data);
}
"""

_diff = st.components.v2.component(
    "context_gc_diff",
    html=_HTML,
    css=source("diff_view.css") + swatches(),
    js=source("elements.js") + source("diff_draw.js") + source("diff_view.js"),
)
_reply = st.components.v2.component("context_gc_diff_reply", js=_REPLY)


def diff_component(
    data: dict[str, Any], *, key: str, on_picked: Callable[[], None], on_graph: Callable[[], None]
) -> Any:
    """Draw `diff_data.page` under the version it has. The result's `asked` and `graph` last for one run."""
    return _diff(
        key=key,
        data={"gid": key} | data,
        height="content",
        on_picked_change=on_picked,
        on_graph_change=on_graph,
        on_asked_change=lambda: None,
    )


def diff_reply(*, key: str, version: str, mode: str, selected: int | None, answer: dict[str, Any] | None) -> None:
    """Tell the component what is selected, how to show it, and the answer to what it asked."""
    told = {"gid": key, "version": version, "mode": mode, "selected": selected, "answer": answer}
    _reply(key=f"{key}-reply", data=told, height=1)
