"""Event graph: the two-way component. Clicks and keys select an event; a selection made elsewhere is shown.

vis-network comes from the pyvis wheel and is sent once, by a component of its own; the selection travels
in a third, so that a click never sends the graph again.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import streamlit as st

from .graph_data import GraphData
from .palette import DARK, KINDS, LIGHT, MARKS, PRUNED, RECEIPT, STATUSES, Paint

_HERE = files(__package__)
_VIS = files("pyvis").joinpath("templates/lib/vis-9.1.2/vis-network.min.js")  # Apache-2.0 OR MIT

_library = st.components.v2.component("cg_vis", js=_VIS.read_text("utf-8") + "\n;export default function () {}")
_graph = st.components.v2.component(
    "cg_graph",
    html=(
        '<div class="host" tabindex="0" role="application" aria-label="Event graph. Left and right arrows move between'
        ' events, n and p between pruned ones, plus and minus zoom."><div class="canvas"></div>'
        '<div class="empty">No event matches. Clear the search or the filters.</div>'
        '<div class="tools"><button class="out" title="Zoom out (−)">−</button><button class="in" title="Zoom in (+)">+'
        '</button><button class="read" title="Readable size (0)">1:1</button>'
        '<button class="fit" title="All that is drawn">all</button></div>'
        '<div class="live" aria-live="polite"></div></div><div class="legend"></div>'
    ),
    css=(_HERE / "event_graph.css").read_text("utf-8"),
    js=(_HERE / "event_graph.js").read_text("utf-8"),
)
_selection = st.components.v2.component(
    "cg_selection",
    js="""
export default function ({ data }) {
  (globalThis.__contextWanted ??= {})[data.gid] = data.id;  // the graph may not be there yet: leave a note
  const state = globalThis.__contextGraphs?.[data.gid];
  if (!state || state.selected === data.id || !state.fitted) return;
  state.selected = data.id != null && state.nodes.get(data.id) ? data.id : null;
  const at = state.selected == null ? null : state.nodes.get(data.id);
  if (at) {
    const { x, y } = state.net.canvasToDOM({ x: at.x, y: at.y });
    const out = x < 110 || x > state.host.clientWidth - 70 || y < 25 || y > state.host.clientHeight - 25;
    if (out) state.net.moveTo({ position: { x: at.x, y: state.net.getViewPosition().y } });
  }
  state.host.dataset.selected = state.selected ?? '';
  state.net.redraw();
}""",
)


def event_graph(
    graph: GraphData, *, key: str, version: str, scope: str, selected: int | None, height: int,
    live: dict[str, Any] | None, on_away: Callable[[bool], None], on_picked: Callable[[int], None],
) -> None:  # fmt: skip
    """Draw the graph. `version` changes with the data, `scope` when the view should begin anew.

    `live` is for a file that grows: whether the view goes on with the end (`tail`), and a number that changes
    when it is to go there (`jump`). `on_away` hears whether the view was moved away from the end.
    """

    def picked() -> None:
        place = st.session_state[key]["picked"]
        if isinstance(place, int):
            on_picked(place)

    def moved() -> None:
        on_away(st.session_state[key]["away"] is True)

    data: dict[str, Any] = {
        "gid": key, "version": version, "scope": scope, "height": height, "nodes": graph.nodes, "edges": graph.edges,
        "options": graph.options, "lanes": graph.lanes, "turns": graph.turns, "regions": graph.regions,
        "order": graph.order, "looks": LOOKS, "lines": LINES, "colors": COLORS, "legend": LEGEND,
        "live": live,
    }  # fmt: skip
    _graph(key=key, data=data, on_picked_change=picked, on_away_change=moved)
    with st.container(key=f"{key}_unseen"):  # these two draw nothing
        _library(key=f"{key}-vis", height=1)
        _selection(key=f"{key}-selection", data={"gid": key, "id": selected}, height=1)


def _look(paint: Paint, status: str, dark: bool) -> dict[str, Any]:
    own = PRUNED if status == "pruned" else paint
    fill, text = (own.dark_fill, own.dark_text) if dark else (own.light_fill, own.light_text)
    frame = (DARK if dark else LIGHT)["text"]
    bordered = status in ("pruned", "protected", "waiting", "kept") or paint.border > 1
    width = 3 if status == "protected" else 2 if status in ("kept", "waiting") else paint.border
    border = text if status == "pruned" or paint is RECEIPT else frame if bordered else fill
    dashes = {"pruned": [4, 3], "waiting": [1.5, 3.5]}.get(status)
    return {"fill": fill, "text": text if paint is not RECEIPT else frame, "border": border, "width": width,
            "radius": paint.radius, "dashes": dashes}  # fmt: skip


def _looks(dark: bool) -> dict[str, dict[str, Any]]:
    looks = {f"{kind} {status}": _look(paint, status, dark) for kind, paint in KINDS.items() for status in STATUSES}
    return {**looks, "receipt": _look(RECEIPT, "", dark)}


def _lines(dark: bool) -> dict[str, dict[str, Any]]:
    colors, receipt = DARK if dark else LIGHT, RECEIPT.dark_text if dark else RECEIPT.light_text
    plain = {"color": colors["line"], "opacity": 0.8, "width": 1, "arrow": False, "curved": False, "dotted": False}
    return {
        "sequence": plain,
        "answers": {**plain, "width": 0.5},
        "supersedes": {**plain, "color": colors["supersedes"], "opacity": 1, "width": 2, "arrow": True, "curved": True},
        "abandons": {**plain, "color": colors["abandons"], "opacity": 1, "width": 2, "arrow": True, "curved": True},
        "relates": {**plain, "color": colors["text"], "dotted": True},
        "stands for": {**plain, "color": receipt, "opacity": 0.55},
    }


#: status, its mark and what is said of it under the graph
LEGEND = [
    (status, MARKS[status], STATUSES[status].partition(":")[0], STATUSES[status].partition(": ")[2])
    for status in ("pruned", "clipped", "waiting", "protected", "kept")
] + [("receipt", "◆", "receipt", "stands in the prompt for what was pruned")]
LOOKS = {"light": _looks(False), "dark": _looks(True)}
LINES = {"light": _lines(False), "dark": _lines(True)}
COLORS = {"light": {**LIGHT, "page": "#FFFFFF"}, "dark": {**DARK, "page": "#111827"}}
