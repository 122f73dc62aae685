"""Whatever a trace holds, every page draws it: odd figures, odd text, odd shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from context_gc import Trace, Window, compact_events
from context_gc.inspector.detail import indented
from context_gc.inspector.home import PAGES
from context_gc.inspector.receipt_table import jsonl, receipts
from context_gc.inspector.rows import rows

ROOT = Path(__file__).parents[1]
LONE = "\ud83e"  # half of a pair, as a cut in the middle of an emoji leaves it


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def event(name: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "type": kind, "timestamp": 1, "parent_id": None, **fields}


ODD: dict[str, list[dict[str, Any]]] = {
    "a far future": [event("a", "decision", content="x") | {"timestamp": 2**63 - 1}],
    "no text at all": [event("a", "abandon", ref_to=[])],
    "half a character": [
        event(f"a{LONE}", "set_var", key=f"k{LONE}", value=LONE, tags=[LONE]),
        event("b", "tool_call", tool_name=f"t{LONE}", arguments={LONE: LONE}),
        event(f"c{LONE}", "set_var", key=f"k{LONE}", value=1),
    ],
    "a long id": [event("n" * 5_000, "set_var", key="k", value=1), event("b", "set_var", key="k", value=2)],
    "control characters": [
        event("a\n\x00\u202e", "set_var", key="\x1b", value="\x00"),
        event("b", "set_var", key="\x1b", value=1),
    ],
    "a very large number": [event("a", "set_var", key="k", value=10**400), event("b", "set_var", key="k", value=1e308)],
    "an empty path": [
        event("a", "tool_call", tool_name="Read", arguments={"file_path": ""}),
        event("b", "file_read", path="/"),
    ],
    "a deep value": [
        event("a", "set_var", key="k", value=nested(900)),
        event("b", "set_var", key="k", value=nested(900)),
    ],
    "a ring": [
        event("a", "decision", content="x") | {"parent_id": "b"},
        event("b", "decision", content="y") | {"parent_id": "a"},
    ],
}


@pytest.fixture(autouse=True)
def fresh() -> None:
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()


@pytest.mark.parametrize("limit", ["", "20"], ids=["at once", "under a budget"])
@pytest.mark.parametrize("script", [script for script, title in PAGES if title != "Sessions"])
@pytest.mark.parametrize("odd", ODD)
def test_every_page_draws_it(
    odd: str, script: str, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(ODD[odd]), "utf-8")
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(path))
    for selected in ("", *(each["id"] for each in ODD[odd])):
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
        if script != "app.py":
            app.switch_page(script)
        if limit:
            app.query_params.update({"budget": "on", "limit": limit, "gain": "0"})
        if selected and LONE not in selected:
            app.query_params["event"] = selected
        app.run()
        if LONE in selected:
            app.session_state.settings |= {"event": selected, "pins": (selected,)}
            app.run()
        assert not app.exception, [each.message for each in app.exception]


def test_what_is_nested_too_deeply_for_an_encoder_is_shown_and_exported_all_the_same() -> None:
    events = [event("a", "set_var", key="k", value=nested(5_000)), event("b", "set_var", key="k", value=1)]
    result = compact_events(events)
    assert indented(events[0]).count("[") == 5_001
    trace = Trace(events, "native", windows=[Window(0, 2)])
    exported = jsonl(receipts(rows(trace, trace.windows[0], result), events), result)
    assert exported.isascii()
    assert exported.count("[" * 5_001) == 1
