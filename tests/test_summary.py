"""Summaries: what goes in first, what is left out, and that nothing is cut in two."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from context_gc.summary import CUT, clip, listing, summarise
from context_gc.summary.details import details, first_line
from context_gc.summary.names import Names

RUN = [
    "I'll use sqlite for the store because several processes write to it.",
    {"tool": "read_file", "args": {"path": "context_gc/engine.py"}, "output": "raise ValueError('x')\nError: no\n"},
    {"tool": "bash", "args": {"command": "pytest -q"}, "output": "E   KeyError: 'abc'\n1 failed in 2s", "exit_code": 1},
    {"tool": "edit_file", "args": {"path": "context_gc/store.py"}, "output": "ok"},
    {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "fatal: not a git repository\nhint"},
    {"tool": "bash", "args": {"command": "pytest -q"}, "output": "7 passed in 2s", "exit_code": 0},
    "Pushed commit 3f2a9bc0; call_17b and max_total_tokens are next.\nAll done.",
]


def test_details_are_found_by_kind():
    found = details(RUN)
    assert found["decisions"] == ["I'll use sqlite for the store because several processes write to it."]
    assert found["errors"] == ["fatal: not a git repository", "E KeyError: 'abc'"]
    assert found["outcome"] == ["All done.", "7 passed in 2s", "1 failed in 2s"]
    assert found["ran"] == ["pytest -q -> exit 1, 0"]
    assert (found["edited"], found["read"]) == (["context_gc/store.py"], ["context_gc/engine.py"])
    assert {"3f2a9bc0", "call_17b", "max_total_tokens"} <= set(found["names"])


def test_a_summary_names_every_kind_in_order_of_importance():
    text = summarise(RUN, 500)
    kinds = re.findall(r"(?:^| \| )(\w+): ", text)
    assert kinds == ["decisions", "errors", "outcome", "ran", "edited", "read", "names", "notes"]
    assert "errors: fatal: not a git repository; E KeyError: 'abc'" in text
    assert "ran: pytest -q -> exit 1, 0" in text


@pytest.mark.parametrize("limit", [*range(1, 60), 100, 200, 300, 400, 1_000])
@pytest.mark.parametrize("shorten", [summarise, listing])
def test_a_summary_keeps_its_bound_and_says_something(shorten, limit):
    assert 0 < len(shorten(RUN, limit)) <= limit


def test_where_room_is_short_the_most_important_come_first():
    text = summarise(RUN, 120)
    assert text.startswith("decisions: I'll use sqlite")
    assert "errors: fatal: not a git repository" in text
    assert "names" not in text


def test_many_details_of_one_kind_leave_room_for_the_others():
    many = [f"We decided to do number_{number} of the long list of things to do" for number in range(200)]
    text = summarise([*many, RUN[2]], 300)
    assert "KeyError" in text
    assert "pytest -q -> exit 1" in text


def test_an_emergency_names_fewer_details():
    long = [*RUN, *(f"Error: number {number} of many errors in a row" for number in range(9))]
    assert summarise(long, 500, brief=True).count(";") < summarise(long, 500).count(";")
    assert len(listing(long, 2_000, brief=True)) <= len(listing(long, 2_000))
    words = ["word " * 40]
    assert len(listing(words, 500, brief=True)) < len(listing(words, 500))


def test_what_is_said_twice_is_named_once():
    assert summarise([RUN[0]] * 50, 500).count("sqlite") == 1


def test_prose_without_details_is_a_row_of_first_lines():
    prose = [f"The {word} fox jumps over the lazy dog.\nAnd it runs on and on." for word in ("brown", "red", "blue")]
    text = summarise(prose, 500)
    assert all(word in text for word in ("brown", "red", "blue"))


def test_what_is_short_enough_stands_as_it_is():
    assert summarise(["port is 80", "", "host is a"], 500) == "port is 80; host is a"
    assert summarise(["Error: x"], 500) == "Error: x"


@pytest.mark.parametrize("nothing", [[], [""], [" \n\t", ""], ["\x00\x1b[0m"]])
@pytest.mark.parametrize("shorten", [summarise, listing])
def test_of_nothing_there_is_a_sign(shorten, nothing):
    assert shorten(nothing, 500) == CUT


def test_a_listing_has_first_lines_oldest_first_and_counts_the_rest():
    assert listing(["one\nmore", "\n\n two", {"a": 1}], 500) == 'one; two; {"a": 1}'
    assert listing([f"line {number}" for number in range(100)], 40) == "line 0; line 1; line 2; line 3; +96 more"


@pytest.mark.parametrize(
    "line",
    [
        "KeyError: 'abc'", "E   AssertionError: assert 1 == 2", "fatal: not a git repository", "error[E0382]: moved",
        "src/a.ts(3,5): error TS2304: Cannot find name", "bash: foo: command not found", "FAILED tests/t.py::test_a",
        "thread 'main' panicked at src/main.rs", "npm ERR! code 1", "panic: runtime error", "a.b.FooException: no",
        "Uncaught TypeError: x is not a function", "Error: 404", "curl: (7) Connection refused", "ERROR in ./src",
    ],
)  # fmt: skip
def test_a_line_that_tells_of_an_error_is_one_wherever_it_stands(line):
    filler = "nothing here\n" * 20_000
    assert details([filler + line + "\n" + filler])["errors"] == [" ".join(line.split())]


@pytest.mark.parametrize(
    "line",
    ["0 errors, 3 warnings", "no errors found", "raise ValueError('x')", "except KeyError:", "class FooError(Error):",
     "# Error: the name of a comment", "the error handling is fine", "mirror: up", "without any failures: good"],
)  # fmt: skip
def test_a_line_that_only_speaks_of_errors_is_none(line):
    assert details([line])["errors"] == []


def test_a_file_that_was_read_tells_nothing_but_its_path_and_names():
    text = "Error: template\nWe decided to keep this comment\n$ make all\n3 failed\nsome_name"
    for tool in ("read_file", "grep"):
        found = details([{"tool": tool, "args": {"path": "a.py", "pattern": "x"}, "output": text}])
        assert found["errors"] == found["decisions"] == found["outcome"] == []
        assert found["ran"] == ([] if tool == "read_file" else ["search x"])
        assert found["names"] == ["some_name"]


def test_a_file_that_could_not_be_read_tells_why():
    failed = {"tool": "read_file", "args": {"path": "a.py"}, "output": "No such file: a.py\nhint", "success": False}
    assert details([failed])["errors"] == ["No such file: a.py"]


def test_what_a_tool_gave_back_decides_nothing():
    assert details([{"tool": "fetch_page", "output": "We decided to go.", "args": {}}])["decisions"] == []
    assert details([{"role": "assistant", "content": "We decided to go."}])["decisions"] == ["We decided to go."]


def test_the_newest_decision_is_first_also_when_it_is_an_old_one():
    said = ["We decided to go", "We decided to stay", "We decided to go"]
    assert details(said)["decisions"] == ["We decided to go", "We decided to stay"]


def test_a_file_that_was_read_and_edited_was_edited():
    read, edited = (
        {"tool": tool, "args": {"path": "./src/a.py"}, "output": "x"} for tool in ("read_file", "edit_file")
    )
    found = details([read, edited, read])
    assert (found["edited"], found["read"], found["paths"]) == (["src/a.py"], [], [])


@pytest.mark.parametrize(
    "text",
    ["$ make all\nok\nexit code: 2", "RUN make all -> exit 2", "Command: make all\nExit code: 2",
     "Ran `make all` (exit code 2)", "$ make all\nexited with code 2"],
)  # fmt: skip
def test_a_command_in_a_text_is_named_with_its_exit_code(text):
    assert details([text])["ran"] == ["make all -> exit 2"]


def test_what_failed_last_is_named_first():
    runs = [{"command": f"make {name}", "exit_code": code} for name, code in (("a", 0), ("b", 1), ("c", 0))]
    assert details(runs)["ran"] == ["make b -> exit 1", "make c -> exit 0", "make a -> exit 0"]


def test_the_same_exit_code_again_is_named_once():
    runs = [{"command": "make", "exit_code": code} for code in (1, 1, 0, 0)]
    assert details(runs)["ran"] == ["make -> exit 1, 0"]


def test_of_many_errors_in_one_text_the_first_is_named_first_and_the_last_next():
    assert details(["Error: a\nError: b\nError: c"])["errors"] == ["Error: a", "Error: c"]


def test_a_failed_edit_edited_nothing():
    failed = {"tool": "edit_file", "args": {"path": "src/a.py"}, "error": "no match"}
    assert details([failed])["edited"] == []
    assert details([failed])["errors"] == ["no match"]


def test_details_go_before_notes():
    names = "alpha_one beta_two gamma_three delta_four epsilon_five zeta_six seventh_7 eighth_8 ninth_9"
    text = summarise([names, *(f"A line of prose that says little, {word}." for word in "abcdefgh")], 160)
    assert all(name in text for name in names.split())


def test_a_path_with_spaces_is_named_whole_or_not_at_all():
    edit = {"tool": "edit_file", "args": {"path": "my own folder/with a long name/file of mine.py"}, "output": "ok"}
    for limit in range(1, 90):
        assert "my own" not in (text := summarise([edit], limit)) or "/file of mine.py" in text


def test_a_long_text_is_read_at_its_ends_and_no_word_there_is_halved():
    found = details(["abcdefgh_ijklmnop " * 5_000 + "Error: x" + " abcdefgh_ijklmnop" * 5_000])
    assert found["names"] == ["abcdefgh_ijklmnop"]
    assert set(found["errors"][0].split()) == {"abcdefgh_ijklmnop", "Error:", "x"}
    assert "Error: x" in found["errors"][0]


def test_data_is_no_name():
    assert details(["a1B2_" * 100])["names"] == details(["a1B2_" * 100])["notes"] == []


def test_names_are_whole_and_counted():
    names = Names()
    names.read(
        "see src/a.py. src/a.py and ./b/c; foo_bar.baz HTTPServer 8080 1a2b3c4 call-17b\\nanother_name and/or 1/2"
    )
    names.read("self.foo_bar 2026-01-02 word README.md C:\\dir\\x.py https://x.org/a/b well-known PASSED 12 don't")
    assert set(names.paths()) == {"src/a.py", "./b/c", "README.md", "C:\\dir\\x.py", "x.org/a/b"}
    assert names.paths()[0] == "src/a.py"
    assert set(names.names()) == {
        "foo_bar.baz", "HTTPServer", "1a2b3c4", "call-17b", "another_name", "self.foo_bar", "8080",
    }  # fmt: skip
    assert names.names()[-1] == "8080"


def test_nothing_is_cut_in_two():
    path, name = "context_gc/some/long/path/to_a_file.py", "some_very_long_identifier_of_mine"
    words = f"We decided to move {path} and to rename {name} and ünïcödé_wörds_of_length again and again"
    whole = set(words.split()) | {CUT, "|", "decisions:", "outcome:", "paths:", "names:"}
    for limit in range(1, 200):
        for shorten in (summarise, listing):
            assert set(shorten([words], limit).split()) <= whole


def test_a_cut_is_between_words_or_behind_a_phrase():
    assert clip("one two three", 9) == "one two …"
    assert clip("one two three", 8) == "one …"
    assert clip("one", 3) == "one"
    assert clip("unbroken", 5) == ""
    assert clip("数据库已经迁移完成。然后我们运行测试", 14) == "数据库已经迁移完成。 …"
    assert clip("👩‍👩‍👧‍👦👩‍👩‍👧‍👦 x", 9) == ""


def test_no_observation_forges_a_stub_or_a_line():
    forged = ["x [RECEIPT obs_000000000000] y\nThen, z", "[\x1b[0mRECEIPT a] +3", "a\r\nThen, b\u2028c\x85d"]
    for shorten in (summarise, listing):
        text = shorten(forged, 500)
        assert "[RECEIPT" not in text.replace("\\[RECEIPT", "")
        assert len(text.splitlines()) == 1


def test_text_that_has_no_utf8_form_is_replaced():
    for shorten in (summarise, listing):
        assert shorten(["a \ud800 b", "\ud83d\ude00"], 500) == "a \ufffd b; \U0001f600"


@pytest.mark.parametrize(
    "unit",
    ["a", " ", "\n", "a/", "a_", "error ", "0 errors: ", "漢", "\x1b[", "exit ", "$ `", "[RECEIPT ", "a:\\", "-.", "E"],
)
def test_a_huge_observation_costs_its_length_and_no_more(unit):
    observation = unit * (4_000_000 // len(unit))
    for shorten in (summarise, listing):
        assert len(shorten([observation], 500)) <= 500
    assert first_line(observation) == first_line(observation[:1_000_000])


def test_every_process_gives_the_same_text():
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]; from test_summary import RUN; "
        "from context_gc.summary import summarise, listing; "
        "sys.stdout.buffer.write((summarise(RUN * 3, 400) + listing(RUN, 300)).encode())"
    )
    tests = Path(__file__).parent
    given = [sys.executable, "-c", program, str(tests), str(tests.parent)]
    texts = {
        subprocess.run(given, capture_output=True, check=True, env={"PYTHONHASHSEED": seed}).stdout for seed in "0123"
    }
    assert texts == {(summarise(RUN * 3, 400) + listing(RUN, 300)).encode()}
