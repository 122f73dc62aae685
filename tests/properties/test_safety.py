"""No cut of any stage loses anything: by a checker that knows only the text of the events, over every real trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from notation import trace
from properties.safety import unsafe
from properties.test_corpus import FILES, every_file, windows

from context_gc import Policy, compact_events, load_traces
from context_gc.policy import KNOWN_STAGES

POLICY = Policy(stages=tuple(name for name in KNOWN_STAGES if name != "clip"))
SAMPLES = sorted(path for path in (Path(__file__).parents[2] / "sample_traces").rglob("*") if path.is_file())
needs_files = pytest.mark.skipif(not FILES, reason="the corpus of real traces is not beside the checkout")

OLD = "r1 result c1 1\tone⏎2\ttwo⏎3\tthree⏎4\tfour"
READ = f'c1 call read {{"path": "a.py"}}\n{OLD}'


def cuts(events):
    """What a compaction of these events cut: id -> stage."""
    decisions = compact_events(events, POLICY)["decisions"]
    return {each["event_id"]: each["stage"] for each in decisions if each["kept"] is None and not each["clipped"]}


@needs_files
@every_file
def test_no_cut_of_a_real_trace_loses_anything(path):
    for events in windows(path):
        assert unsafe(events, cuts(events)) == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_no_cut_of_a_sample_loses_anything(path):
    if path.suffix == ".md" and "aider" not in path.name:
        pytest.skip("no trace")
    for loaded in load_traces(path):
        for window in loaded.windows:
            events = loaded.events[window.start : window.stop]
            assert unsafe(events, cuts(events)) == []


@needs_files
def test_the_real_traces_have_cuts_of_the_stages_that_are_checked():
    found = {stage for path in FILES if path.parent.name in ("swe_agent", "pi") for stage in stages_in(path)}
    assert found >= {"stale-reads", "superseded-status", "repeated-failures"}


def stages_in(path):
    return {stage for events in windows(path) for stage in cuts(events).values()}


PLANTED = {
    "a read behind which nothing stands": (READ, "c1 r1", "stale-reads"),
    "a read before a partial edit": (
        READ + '\nc2 call edit {"path": "a.py", "oldText": "two", "newText": "2"}\nr2 result c2 ok',
        "c1 r1", "stale-reads",
    ),
    "a read before a smaller one": (
        READ + '\nc2 call read {"path": "a.py", "offset": 1, "limit": 2}\nr2 result c2 1\tone⏎2\ttwo',
        "c1 r1", "stale-reads",
    ),
    "a read before one of another file": (
        READ + '\nc2 call read {"path": "b.py"}\n' + OLD.replace("r1 result c1", "r2 result c2"),
        "c1 r1", "stale-reads",
    ),
    "a read before a write that failed": (
        READ + '\nc2 call Write {"path": "a.py", "content": "new"}\nr2 failed c2 not allowed',
        "c1 r1", "stale-reads",
    ),
    "a read before a notice": (
        READ + '\nc2 call read {"path": "a.py"}\nr2 result c2 File unchanged since last read.',
        "c1 r1", "stale-reads",
    ),
    "a read before one that was cut short": (
        READ + '\nc2 call read {"path": "a.py"}\nr2 result c2 one⏎[2 more lines in file. Use offset=2 to continue]',
        "c1 r1", "stale-reads",
    ),
    "a read and the read that replaced it": (
        READ + '\nc2 call read {"path": "a.py"}\n' + OLD.replace("r1 result c1", "r2 result c2"),
        "c1 r1 c2 r2", "stale-reads",
    ),
    "an edit that only a read shows": (
        'c1 call edit {"path": "a.py", "oldText": "x", "newText": "y"}\nr1 result c1 ok\n'
        'c2 call read {"path": "a.py"}\nr2 result c2 y',
        "c1 r1", "stale-reads",
    ),
    "an edit whose text no later one quotes": (
        'c1 call edit {"path": "a.py", "oldText": "x", "newText": "y⏎z"}\nr1 result c1 ok\n'
        'c2 call edit {"path": "a.py", "oldText": "y", "newText": "w"}\nr2 result c2 ok',
        "c1 r1", "stale-reads",
    ),
    "an answer without its call": (READ + "\n" + READ.replace("1 ", "2 "), "r1", "stale-reads"),
    "a duplicate with another answer": (
        'c1 call get {"q": 1}\nr1 result c1 one\nc2 call get {"q": 1}\nr2 result c2 two', "c1 r1", "duplicates",
    ),
    "a duplicate of another question": (
        'c1 call get {"q": 1}\nr1 result c1 one\nc2 call get {"q": 2}\nr2 result c2 one', "c1 r1", "duplicates",
    ),
    "the newest list": (
        'c1 call TodoWrite {"todos": [1]}\nr1 result c1 ok\nc2 call TodoWrite {"todos": [2]}\nr2 result c2 ok',
        "c2 r2", "superseded-status",
    ),
    "a list before one that was refused": (
        'c1 call TodoWrite {"todos": [1]}\nr1 result c1 ok\nc2 call TodoWrite {"todos": [2]}\nr2 failed c2 no',
        "c1 r1", "superseded-status",
    ),
    "a block before one of another kind": (
        "d1 decision # Time⏎9:00 #environment\nd2 decision # Files⏎a #environment", "d1", "superseded-status",
    ),
    "a check before one that said something else": (
        'c1 call bash {"command": "make"}\nr1 result c1 warning\nc2 call bash {"command": "make"}\nr2 result c2 fine',
        "c1 r1", "superseded-status",
    ),
    "a success": (
        'c1 call bash {"command": "make"}\nr1 result c1 ok\nc2 call bash {"command": "make"}\nr2 result c2 ok',
        "c1 r1", "repeated-failures",
    ),
    "a failure before the success of another call": (
        'c1 call bash {"command": "make"}\nr1 failed c1 no\nc2 call bash {"command": "make x"}\nr2 result c2 ok',
        "c1 r1", "repeated-failures",
    ),
    "the last failure of a row": (
        "\n".join(f'c{n} call bash {{"command": "make"}}\nr{n} failed c{n} no' for n in (1, 2, 3)),
        "c3 r3", "repeated-failures",
    ),
    "a failed edit before one of another place": (
        'c1 call edit {"path": "a.py", "oldText": "x", "newText": "y"}\nr1 failed c1 not found\n'
        'c2 call edit {"path": "a.py", "oldText": "p", "newText": "q"}\nr2 result c2 ok',
        "c1 r1", "repeated-failures",
    ),
    "a step beside the branch that was given up": (
        "d1 decision a\nd2 decision b <d1\nd3 decision c <d1\nz abandon d2 <d2", "d3", "dead-branches",
    ),
    "the newest value": ("v1 x = 1\nv2 x = 2", "v2", "overrides"),
}  # fmt: skip


@pytest.mark.parametrize("title", PLANTED)
def test_the_checker_finds_what_a_planted_cut_loses(title):
    text, names, stage = PLANTED[title]
    assert unsafe(trace(text), dict.fromkeys(names.split(), stage)) != []


SOUND = {
    "a read before a whole one": (
        READ + '\nc2 call read {"path": "./a.py"}\n' + OLD.replace("r1 result c1", "r2 result c2"),
        "c1 r1", "stale-reads",
    ),
    "a read before a whole write": (
        READ + '\nc2 call Write {"path": "a.py", "content": "new"}\nr2 result c2 ok', "c1 r1", "stale-reads",
    ),
    "an edit that a later one quotes": (
        'c1 call edit {"path": "a.py", "oldText": "x", "newText": "y⏎z"}\nr1 result c1 ok\n'
        'c2 call edit {"path": "a.py", "oldText": "y⏎z", "newText": "w"}\nr2 result c2 ok',
        "c1 r1", "stale-reads",
    ),
    "the failure in the middle": (
        "\n".join(f'c{n} call bash {{"command": "make"}}\nr{n} failed c{n} no' for n in (1, 2, 3)),
        "c2 r2", "repeated-failures",
    ),
    "the older list": (
        'c1 call TodoWrite {"todos": [1]}\nr1 result c1 ok\nc2 call TodoWrite {"todos": [2]}\nr2 result c2 ok',
        "c1 r1", "superseded-status",
    ),
    "the branch that was given up": ("d1 decision a\nd2 decision b <d1\nz abandon d1 <d2", "d1 d2 z", "dead-branches"),
}  # fmt: skip


@pytest.mark.parametrize("title", SOUND)
def test_a_sound_cut_is_left_alone_by_the_checker(title):
    text, names, stage = SOUND[title]
    assert unsafe(trace(text), dict.fromkeys(names.split(), stage)) == []
