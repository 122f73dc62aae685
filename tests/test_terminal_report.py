"""The report on the terminal: it fits, its figures are those of the compaction, and no trace can steer a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from notation import trace as events

from context_gc import Policy, compact_events
from context_gc.cli import main
from context_gc.errors import TraceError
from context_gc.load import load_traces
from context_gc.terminal_report import cells, cut, padded, report
from context_gc.trace import Problem, Trace, Usage, Window

ROOT = Path(__file__).parents[1]
SAMPLES = sorted(path for path in (ROOT / "sample_traces").iterdir() if path.is_file())
CORPUS = ROOT.parent / "shared" / "corpus"
REAL = sorted(path for path in CORPUS.rglob("*") if path.is_file()) if CORPUS.is_dir() else []
EVIL = "\x1b[31m\u202e[bold red]x[/]\r\x07\x9b2J\u2066[/nope]"
WIDTHS = (40, 80, 200)


def lines(trace, width=80, chosen=None):
    return ["".join(text for text, _ in line) for line in report(trace, Policy(), width, chosen)]


def told(text, width=80, **facts):
    found = events(text)
    return lines(Trace(found, "native", "t", windows=[Window(0, len(found))], **facts), width)


STORY = 'c1 call get {"q": 1}\nr1 result c1 the answer\nc2 call get {"q": 1}\nr2 result c2 the answer\nd1 decision done'


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_report_on_a_sample_fits(path, width):
    for trace in load_traces(path):
        for line in lines(trace, width):
            assert cells(line) <= width
            assert line.isprintable()


@pytest.mark.skipif(not REAL, reason="the corpus of real traces is not beside the checkout")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_the_report_on_a_real_trace_fits(path, capsys):
    try:
        traces = load_traces(path)
    except TraceError:
        assert main(["report", str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
        return
    for trace in traces[:3]:
        for width in WIDTHS:
            for line in lines(trace, width):
                assert cells(line) <= width
                assert line.isprintable()


def test_the_sentence_and_the_figures_are_those_of_the_compaction():
    result = compact_events(events(STORY))
    text = "\n".join(told(STORY))
    dead = sum(result.tokens(name) for name in result["pruned_ids"])
    assert f"3 turns, {result['tokens_before']} tokens. {dead} of them" in text
    assert f"duplicates: {dead} tokens (" in text
    assert "Largest dead" in text


def test_what_has_nothing_to_tell_is_left_out():
    text = "\n".join(told("d1 decision done"))
    assert "None of them are dead" in text
    for title in ("Dead, by stage", "Largest dead", "Context windows", "Provider's report", "Problems", "░"):
        assert title not in text


def test_bars_are_as_long_as_their_tokens():
    found = told(f"d1 decision {'word ' * 400}\nc1 call get\nr1 result c1 {'word ' * 200}")
    bars = [line.count("█") for line in found[found.index("Tokens by type") :] if "█" in line]
    assert bars[0] > 40
    assert abs(bars[1] - bars[0] / 2) <= 1


def test_the_providers_report_stands_beside_the_estimate():
    usage = [Usage("d1", 1_000, 50, 8_000, 500)]
    text = " ".join(told(STORY, 200, usage=usage))
    assert "9,500 prompt tokens at the last call" in text
    assert "8,000 (84.2 %) read from the cache and 500 written to it; 50 tokens out." in text


def test_every_window_is_told_and_one_in_detail():
    found = events(STORY)
    windows = [Window(0, 4), Window(4, 5, "auto", 9_000)]
    trace = Trace(found, "native", "t", windows=windows)
    text = "\n".join(lines(trace, 120))
    assert "context window 2 of 2" in text
    assert "opened by compaction (auto); 9,000 reported before it" in text
    assert "Dead, by stage" not in text
    assert "Dead, by stage" in "\n".join(lines(trace, 120, 1))


def test_problems_are_told_up_to_ten():
    problems = [Problem(number, f"broken {number} (left out)") for number in range(1, 15)]
    text = "\n".join(told(STORY, problems=problems))
    assert "line 10: broken 10 (left out)" in text
    assert ("line 11" in text, "and 4 more" in text) == (False, True)


def test_an_empty_trace_is_told():
    assert "0 turns, 0 tokens" in "\n".join(lines(Trace([], "native", "t", windows=[Window(0, 0)])))


@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_of_a_trace_steers_the_terminal(width):
    found = [
        {"id": f"a{EVIL}", "type": "set_var", "timestamp": 1, "key": EVIL, "value": EVIL},
        {"id": f"b{EVIL}", "type": "set_var", "timestamp": 2, "key": EVIL, "value": EVIL * 40},
        {"id": "c", "type": "tool_call", "timestamp": 3, "tool_name": EVIL * 9, "arguments": {EVIL: EVIL}},
    ]
    problems = [Problem(None, EVIL * 30)]
    trace = Trace(found, "native", EVIL, [*problems], [Window(0, 3)], title=EVIL, model=EVIL)
    for line in lines(trace, width):
        assert line.isprintable()
        assert cells(line) <= width


@pytest.mark.parametrize("text", ["", "abc", "漢字かな", "e\u0301a", "👩‍💻", "ab漢"])
@pytest.mark.parametrize("size", range(1, 9))
def test_padding_and_cutting_count_columns(text, size):
    assert cells(padded(text, size)) == size
    assert cells(cut(text, size)) <= size
    assert cut(text, 99) == text


def test_wide_characters_take_two_columns_and_marks_none():
    assert [cells(text) for text in ("abc", "漢字", "e\u0301", "a\u200b")] == [3, 4, 1, 1]
