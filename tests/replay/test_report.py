"""The report is one page without anything from outside, and what a trace says in it is text."""

from __future__ import annotations

import re
from dataclasses import replace as changed
from html.parser import HTMLParser

import pytest
from replayed import calls, result, says, traced, user

from context_gc.replay.advice import recommend
from context_gc.replay.baselines import BASELINES
from context_gc.replay.charts import Line, Point, lines, scatter
from context_gc.replay.grid import cells
from context_gc.replay.report import report
from context_gc.replay.sweep import prepare, sweep

EVIL = "<script>alert(1)</script>"


def session():
    """A run that reads one file after the other, and whose tool, paths and ids are hostile."""
    events = [user("Read all of it.")]
    for turn in range(12):
        read = calls(EVIL, path=f"src/{EVIL}_{turn}.py")
        events += [
            {**read, "id": f"{EVIL}{turn}"},
            result(f"{EVIL}{turn}", f"VALUE_{turn}_{EVIL} = {turn}_000\n" * 40, id=f"r{turn}"),
        ]
    events.append(says(f"VALUE_0_{EVIL} and VALUE_3_x are 0_000."))
    parent = None
    for event in events:
        event["parent_id"], event["id"] = parent, event.get("id") or f"e{len(str(parent))}x{events.index(event)}"
        parent = event["id"]
    return changed(traced(*events), model="claude-sonnet-4-5", title=EVIL)


@pytest.fixture(scope="module")
def page():
    prepared = prepare(session())
    grid = cells({"max_prompt_tokens": [1_000, 50_000], "min_gain": [200], "max_tokens": [80_000]})
    rows = sweep([prepared], [*BASELINES, *grid], processes=1)
    return report(rows, recommend(rows), [(EVIL, prepared)])


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.links += [value for key, value in attrs if key in ("src", "href", "action")]


def test_nothing_in_it_comes_from_outside(page):
    tags = Tags()
    tags.feed(page)
    assert tags.links == []
    assert tags.found.isdisjoint({"script", "link", "img", "iframe", "object"})
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import", page)


def test_what_a_trace_says_is_escaped(page):
    assert EVIL not in page
    assert "&lt;script&gt;" in page


def test_it_tells_what_to_ship_and_what_it_rests_on(page):
    for told in ("of the full history", "claude-sonnet-4-5", "What each condition costs", "[budget]", "held fixed"):
        assert told in page


def test_without_a_policy_that_meets_the_conditions_it_says_so():
    rows = sweep([session()], [*BASELINES], processes=1)
    told = report(rows, recommend(rows), [("a", prepare(session()))])
    assert "No policy meets the conditions" in told
    assert "Did each pass pay?" not in told


def test_a_chart_of_one_point_or_of_none_is_a_chart():
    assert scatter([Point(1, 1, "a", "good")], "x", "y").count("<circle") == 1
    assert "<circle" not in scatter([], "x", "y")
    assert "<polyline" in lines([Line([(1, 0)], "a", "full")], "x", "y")


def test_a_chart_places_values_where_its_ticks_say():
    drawn = scatter([Point(0, 0, "low", "a"), Point(10, 100, "high", "b")], "x", "y")
    (low, high) = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)
    ticks = dict(re.findall(r'y="([\d.]+)" text-anchor="end">([\d.]+)<', drawn))
    assert float(low[0]) < float(high[0])
    assert float(low[1]) > float(high[1])
    assert {"0.0", "100.0"} <= set(ticks.values())


def test_long_lines_are_thinned_out():
    drawn = lines([Line([(n, n) for n in range(10_000)], "a", "full")], "x", "y")
    assert 1_000 < drawn.count(",") < 2_000
