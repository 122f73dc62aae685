"""Graph data: which events are drawn, where they stand, and what joins them, as plain data for the component.

Time runs to the right, each kind of event has a lane. Ids of nodes are places in the window, so no text
of the trace is ever an id; the diamond of a receipt has the negative place of the run's first event, less one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

from pyvis.network import Network

from ..compaction import Compaction
from .palette import KINDS, MARKS
from .rows import Row, short
from .say import brief, count, tokens, words

COMFORTABLE = 600  #: nodes that are drawn unless more are asked for
HARD_CAP = 2_000  #: nodes that are ever drawn
PITCH = 66  #: height of a lane, in the graph's units (px at scale 1)
STEP, APART = 40, 134  #: least distance of two neighbours, and of two in one lane
FEW = 20  #: edges that are drawn dotted, at most
FAN = 12  #: edges from one receipt to what it stands for, at most; its label has the whole number
LINE = 16  #: characters of a line in a node
RECEIPTS = "receipts"

OPTIONS = {
    "physics": {"enabled": False},
    "layout": {"improvedLayout": False},
    "interaction": {
        "hideEdgesOnDrag": True, "hideEdgesOnZoom": True, "dragNodes": False, "hover": False, "multiselect": False,
        "selectConnectedEdges": False, "tooltipDelay": 250, "zoomView": False, "keyboard": False,
    },
    "nodes": {
        "widthConstraint": {"minimum": 44, "maximum": 150}, "margin": 5, "labelHighlightBold": False, "chosen": False,
        "font": {"size": 12}, "shapeProperties": {"borderRadius": 2},
    },
    "edges": {"smooth": False, "chosen": False, "selectionWidth": 0},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GraphData:
    """What the component draws. `hidden` says how many events of the choice are not drawn."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    options: dict[str, Any]
    lanes: list[tuple[str, int]]  #: name and y of each lane
    turns: list[tuple[int, int]]  #: number and x of each turn
    regions: list[dict[str, Any]]  #: abandoned stretches: x from, x to, caption
    hidden: int = 0
    order: list[int] = field(default_factory=list)  #: ids of the events drawn, in trace order


def choose(rows: Sequence[Row], turns: str, selected: Row | None) -> tuple[tuple[int, int], list[Row]]:
    """The turns to draw, and their rows; `turns` is "12-40", or "" for as many as are comfortable.

    Then they are those around the selected event, or else the last ones.
    """
    if not rows:
        return (1, 1), []
    last = rows[-1].turn
    first, _, end = turns.partition("-")
    if first.isdigit() and end.isdigit() and 1 <= int(first) <= int(end):
        span, most = (min(int(first), last), min(int(end), last)), HARD_CAP
    else:
        span, most = _comfortable(rows, selected), COMFORTABLE
    return span, _around([row for row in rows if span[0] <= row.turn <= span[1]], selected, most)


def _around(rows: list[Row], selected: Row | None, most: int) -> list[Row]:
    """At most so many rows: those around the selected one, or else the last ones."""
    middle = selected.seq - rows[0].seq if selected and rows[0].seq <= selected.seq <= rows[-1].seq else len(rows)
    start = max(0, min(middle - most // 2, len(rows) - most))
    return rows[start : start + most]


def _comfortable(rows: Sequence[Row], selected: Row | None) -> tuple[int, int]:
    if len(rows) <= COMFORTABLE:
        return 1, rows[-1].turn
    near = _around(list(rows), selected, COMFORTABLE)
    first, last = near[0], near[-1].turn
    is_cut = first.seq > 0 and rows[first.seq - 1].turn == first.turn
    return min(first.turn + is_cut, last), last


def matching(rows: Iterable[Row], find: str = "", show: Sequence[str] = (), kinds: Sequence[str] = ()) -> list[Row]:
    """The rows that hold the text (any case; in id, text, tool, path, reason) and have the status and kind."""
    needle = find.casefold().strip()
    chosen = (row for row in rows if (not show or row.status in show) and (not kinds or row.kind in kinds))
    return [row for row in chosen if not needle or _holds(row, needle)]


def _holds(row: Row, needle: str) -> bool:
    parts = (row.text, row.id, row.tool, row.path, row.reason, row.type, row.kind)
    return any(needle in part.casefold() for part in parts)


def graph_data(rows: Sequence[Row], all_rows: Sequence[Row], result: Compaction) -> GraphData:
    """Nodes and edges for some rows of a window; `all_rows` is the whole window, which sets the lanes."""
    drawn = list(rows[:HARD_CAP])
    used = {row.kind for row in all_rows}
    lanes = {kind: PITCH * place for place, kind in enumerate(kind for kind in KINDS if kind in used)}
    where = _positions(drawn, lanes)
    net = Network(directed=True)
    net.options = OPTIONS
    for row in drawn:
        x, y = where[row.seq]
        net.add_node(row.seq, _label(row), shape=KINDS[row.kind].shape, x=x, y=y, title=_title(row), look=_look(row))
    heads = _receipts(net, drawn, all_rows, result, where, PITCH * len(lanes))
    for source, target, kind in [*_edges(all_rows, result, where), *heads]:
        net.add_edge(source, target, kind=kind)
    nodes, edges, _, _, _, options = net.get_network_data()
    for edge in edges:
        edge["id"] = f"{edge['from']} {edge['to']} {edge['kind']}"
    named = [*lanes.items(), *([(RECEIPTS, PITCH * len(lanes))] if heads else [])]
    order, hidden = [row.seq for row in drawn], len(rows) - len(drawn)
    regions = _regions(drawn, all_rows, where)
    return GraphData(nodes, edges, json.loads(options), named, _turns(drawn, where), regions, hidden, order)


def _positions(drawn: Sequence[Row], lanes: dict[str, int]) -> dict[int, tuple[int, int]]:
    """x grows with every event, by as little as keeps neighbours in one lane apart."""
    where: dict[int, tuple[int, int]] = {}
    last: dict[str, int] = {}
    x, turn = -STEP, 0
    for row in drawn:
        x = max(x + STEP + (10 if row.turn != turn else 0), last.get(row.kind, -APART) + APART)
        last[row.kind], turn = x, row.turn
        where[row.seq] = x, lanes[row.kind]
    return where


def _label(row: Row) -> str:
    """At most two lines: for a call and its results the tool and what it was about."""
    mark = f"{MARKS[row.status]} " if row.status in ("pruned", "clipped", "waiting") else ""
    mark += "! " if row.kind == "error" else ""
    text = mark + (row.label or row.type)
    if row.tool:
        head, _, rest = row.label.removeprefix("→ ").partition(" ")
        arrow = "→ " if row.type == "tool_result" else ""
        return "\n".join(short(part, LINE) for part in (f"{mark}{arrow}{head}", rest) if part)
    return "\n".join(wrap(text, LINE, max_lines=2, placeholder="…", break_on_hyphens=False))


def _title(row: Row) -> str:
    """The tooltip: plain text, set as text by the component."""
    told = f"#{row.number} {row.type} · turn {row.turn} · {tokens(row.tokens)} tokens\n{MARKS[row.status]} {row.status}"
    return f"{told}{': ' + short(row.why, 120) if row.why else ''}\n{short(row.text, 200)}"


def _look(row: Row) -> str:
    """The name of a look: the kind, and the status where it shows."""
    return f"{row.kind} {row.status}"


def _receipts(
    net: Network, drawn: Sequence[Row], all_rows: Sequence[Row], result: Compaction,
    where: dict[int, tuple[int, int]], lane: int,
) -> list[tuple[int, int, str]]:  # fmt: skip
    """A diamond for each receipt in the prompt that stands for a drawn event; gives its edges."""
    prompt, joined, last = result.layout, [], -APART
    for start, end in prompt.runs:
        members = [seq for seq in range(start, end + 1) if seq in where]
        if not members or start in prompt.shown:
            continue
        x = last = max(where[members[0]][0], last + APART)
        net_change = sum(all_rows[seq].impact for seq in range(start, end + 1))
        cluster = all_rows[start].receipt_id != all_rows[start].id
        what = "cluster" if cluster else words(all_rows[start].stage)
        label = f"{count(end - start + 1, 'event')}\n{brief(net_change)}"
        title = f"receipt of {count(end - start + 1, 'event')}: {what}\n{short(prompt.slot(start) or '', 200)}"
        net.add_node(-1 - start, label, shape="diamond", x=x, y=lane, title=title, look="receipt", size=11)
        joined += [(-1 - start, seq, "stands for") for seq in members[:FAN]]
    return joined


def _edges(
    all_rows: Sequence[Row], result: Compaction, where: dict[int, tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    """The edges between drawn events; an answer needs no sequence edge beside it, relations only when few."""
    seqs = {row.id: row.seq for row in all_rows}
    found: dict[tuple[int, int], str] = {}
    relates = []
    for edge in result["graph"].edges():
        ends = seqs[edge.source], seqs[edge.target]
        if ends[0] not in where or ends[1] not in where:
            continue
        if edge.kind == "relates":
            relates.append((*ends, edge.kind))
        elif edge.kind != "sequence" or ends not in found:
            found[ends] = edge.kind
    for (source, target), kind in found.items():
        yield source, target, kind
    if len(relates) <= FEW:
        yield from relates


def _turns(drawn: Sequence[Row], where: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
    found: dict[int, int] = {}
    for row in drawn:
        found.setdefault(row.turn, where[row.seq][0])
    return list(found.items())


def _regions(drawn: Sequence[Row], all_rows: Sequence[Row], where: dict[int, tuple[int, int]]) -> list[dict[str, Any]]:
    """Stretches of neighbours that one abandon gave up, with its reason as the caption."""
    texts = {row.id: row.text for row in all_rows if row.type == "abandon"}
    regions: list[dict[str, Any]] = []
    before, by = -2, ""
    for row in drawn:
        abandon = row.because[0] if row.stage == "dead-branches" and row.because else ""
        if row.type == "abandon" and row.stage == "dead-branches":
            abandon = row.id
        if abandon:
            x = where[row.seq][0]
            if abandon == by and row.seq == before + 1:
                regions[-1]["to"] = max(x, regions[-1]["to"])
            else:
                regions.append({"from": x, "to": x, "caption": short(f"abandoned: {texts.get(abandon, '')}", 60)})
        before, by = row.seq, abandon
    return regions
