"""Aider: who speaks, what aider tells, what `/undo`, `/drop` and `/clear` take back, sessions of one file."""

from __future__ import annotations

from pathlib import Path

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    needs_corpus,
    told,
    tree,
    types,
)

from context_gc.errors import TraceError
from context_gc.importers import aider
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "aider-undo.md"
BEGIN = "\n# aider chat started at 2026-03-07 14:02:11\n\n"
BLOCK = "a.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```"


def read_all(data):
    return aider.read(decode(data if isinstance(data, bytes) else data.encode(), ".aider.chat.history.md"))


def read(*runs):
    """The trace of one session; records are its header and the runs."""
    traces = read_all(BEGIN + "".join(runs))
    check(traces)
    assert accounted(traces) == 1 + len(runs)
    (trace,) = traces
    return trace


def user(*lines):
    return "\n" + "  \n".join(f"#### {line}" for line in lines) + "  \n"


def bot(words):
    return f"\n{words}\n\n"


def told_by_aider(*lines):
    return "".join(f"> {line}".rstrip() + "  \n" for line in lines)


def only(trace, kind):
    return [event for event in trace.events if event["type"] == kind]


# who speaks


def test_the_three_speakers_of_a_session():
    trace = read(
        told_by_aider("Aider v0.86.1", "Main model: claude-sonnet-4 with diff edit format", "Git working dir: /app"),
        user("Fix it", "and test it"),
        bot("Like this:\n\nFirst."),
        told_by_aider("Run shell command? (Y)es/(N)o [Yes]: y"),
    )
    assert told(trace) == [
        ("decision", "Aider v0.86.1", ["environment"]),
        ("requirement", "Fix it\nand test it", ["user"]),
        ("decision", "Like this:\n\nFirst.", []),
        ("decision", "Run shell command? (Y)es/(N)o [Yes]: y", ["environment"]),
    ]
    assert trace.ignored == {"session header": 1}
    assert (trace.title, trace.model, trace.cwd) == ("Fix it and test it", "claude-sonnet-4", "/app")
    assert [event["origin"] for event in trace.events] == [{"line": 4}, {"line": 8}, {"line": 11}, {"line": 15}]
    assert {event["timestamp"] for event in trace.events} == {1772892131000}


def test_a_code_block_may_hold_what_looks_like_other_speakers():
    answer = "See:\n```md\n#### Title\n> quote\n```\n# Heading\nEnd."
    trace = read(user("Go"), bot(answer), user("Next"))
    assert [event["content"] for event in trace.events] == ["Go", answer, "Next"]


def test_a_code_block_that_was_cut_ends_where_the_user_types_again():
    trace = read(user("Go"), bot("```python\nx = 1"), told_by_aider("^C again to exit"), user("Next"))
    assert [kind for kind, _, _ in told(trace)] == ["requirement", "decision", "decision", "requirement"]


def test_commands_are_counted_and_the_words_of_those_that_ask_are_kept():
    trace = read(
        user("/add a.py"),
        user("/ask why?"),
        bot("Because."),
        user("/run make"),
        bot("Hm."),
        user("<blank>"),
        bot("Hm."),
    )
    assert [event["content"] for event in trace.events] == ["/ask why?", "Because.", "Hm.", "Hm."]
    assert trace.events[0]["tags"] == ["user", "command"]
    assert trace.ignored == {"session header": 1, "command": 3}


# what aider tells


def test_added_files_edits_and_commits_are_what_they_say():
    trace = read(
        told_by_aider("Added a.py to the chat", "Added CONVENTIONS.md to read-only files."),
        user("Go"),
        bot(BLOCK),
        told_by_aider("Applied edit to a.py", "Commit 1a2b3c4 fix: y", "Commit 5d6e7f8"),
    )
    assert [(event["type"], event.get("path", event.get("message"))) for event in trace.events] == [
        ("file_read", "a.py"),
        ("file_read", "CONVENTIONS.md"),
        ("requirement", None),
        ("decision", None),
        ("file_edit", "a.py"),
        ("git_commit", "fix: y"),
        ("git_commit", "Commit 5d6e7f8"),
    ]
    assert trace.events[5]["commit_hash"] == "1a2b3c4"
    assert trace.events[4]["origin"] == {"line": 18}


def test_the_hash_of_an_edit_is_that_of_its_own_blocks():
    other = BLOCK.replace("a.py", "b.py").replace("x", "z")
    first = read(user("Go"), bot(BLOCK + "\n\n" + other), told_by_aider("Applied edit to a.py", "Applied edit to b.py"))
    second = read(user("Go"), bot(other + "\nThen\n" + BLOCK), told_by_aider("Applied edit to a.py"))
    hashes = [event["diff_hash"] for event in only(first, "file_edit")]
    assert hashes[0] != hashes[1]
    assert only(second, "file_edit")[0]["diff_hash"] == hashes[0]


@pytest.mark.parametrize(
    ("line", "usage"),
    [
        ("Tokens: 512 sent, 30 received.", (512, 30, 0, 0)),
        ("Tokens: 4.1k sent, 1.2k received. Cost: $0.01 message, $0.02 session.", (4100, 1200, 0, 0)),
        ("Tokens: 12k sent, 2.0k cache write, 8.0k cache hit, 1M received.", (2000, 1_000_000, 8000, 2000)),
    ],
)
def test_token_counts_are_those_of_the_answer_before(line, usage):
    trace = read(user("Go"), bot("Hm."), told_by_aider(line))
    assert trace.usage == [Usage("e2", *usage)]
    assert trace.ignored == {"session header": 1, "report": 1}


def test_token_counts_without_an_answer_are_left_out():
    assert read(user("Go"), told_by_aider("Tokens: 5 sent, 3 received.")).usage == []


# what is taken back


def test_undo_gives_up_the_answer_and_its_edits_and_nothing_else():
    trace = read(
        user("Go"),
        bot(BLOCK),
        told_by_aider("Applied edit to a.py", "Commit 1a2b3c4 fix: y"),
        user("/ask is it right?"),
        bot("No."),
        user("/undo"),
        told_by_aider("Removed: 1a2b3c4 fix: y", "Now at:  0000000 start"),
        user("Otherwise"),
    )
    (abandon,) = only(trace, "abandon")
    assert (abandon["ref_to"], abandon["content"]) == (["e2"], "Removed: 1a2b3c4 fix: y")
    parents = tree(trace)
    assert (parents["e3"], parents["e4"], parents["e5"], parents["e6"]) == ("e2", "e3", "e1", "e5")


def test_an_undo_that_undid_nothing_gives_up_nothing():
    trace = read(
        user("Go"),
        bot(BLOCK),
        told_by_aider("Commit 1a2b3c4 fix: y"),
        user("/undo"),
        told_by_aider("The last commit was not made by aider in this chat session.", "Removed: 9999999 other"),
    )
    assert only(trace, "abandon") == []


def test_a_dropped_file_is_given_up_alone():
    trace = read(
        user("Hi"),
        told_by_aider("Added a.py to the chat", "Added b.py to the chat"),
        bot("Hm."),
        told_by_aider("Removed a.py from the chat", "Removed c.py from the chat"),
        bot("On."),
    )
    (abandon,) = only(trace, "abandon")
    assert abandon["ref_to"] == ["e2"]
    assert [name for name, parent in tree(trace).items() if parent == "e2"] == []


@pytest.mark.parametrize("line", ["All chat history cleared.", "All files dropped and chat history cleared."])
def test_a_cleared_history_opens_a_window(line):
    trace = read(user("Go"), bot("Hm."), user("/clear"), told_by_aider(line), user("Next"), bot("On."))
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 2, "start"), (2, 4, "manual")]
    assert trace.ignored == {"session header": 1, "command": 1}


# files


def test_each_session_with_messages_is_a_trace():
    banner = told_by_aider("Aider v0.86.1")
    traces = read_all(BEGIN + user("One") + BEGIN + banner + BEGIN + user("Two") + bot("Hm."))
    check(traces)
    assert [trace.title for trace in traces] == ["One", "Two"]
    assert traces[0].ignored == {"session header": 1, "session without messages": 2}
    assert accounted(traces) == 7


def test_a_file_in_which_nobody_speaks_is_a_clear_error():
    with pytest.raises(TraceError, match="nobody says anything in it"):
        read_all(BEGIN + told_by_aider("Aider v0.86.1"))


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        (BEGIN, True),
        ("#### /add a.py\n", True),
        ("> Applied edit to a.py\n", True),
        ("> Tokens: 4.1k sent, 512 received.\n", True),
        ("# Notes\n\n#### Title\n\n> a quote\n", False),
        ('{"a": "\\n> Applied edit to a.py"}', False),
        ("#### /address book\n", False),
    ],
)
def test_markdown_is_claimed_by_the_lines_that_aider_writes(text, claimed):
    assert aider.sniff(text.encode()) is claimed


# the only history in the corpus was written as a fixture; counted by hand


@needs_corpus
def test_the_recorded_history_holds_what_was_counted():
    data = (CORPUS / "aider" / "cass.aider.chat.history.md").read_bytes()
    document = decode(data, "cass.aider.chat.history.md")
    assert claimants(document.head) == {"aider"}
    traces = aider.read(document)
    check(traces)
    (trace,) = traces
    assert told(trace) == [
        ("decision", "/add src/main.rs", ["environment"]),
        ("decision", "Added src/main.rs to the chat.", []),
        ("decision", "Please refactor.", ["environment"]),
        ("decision", "Sure, here is the code.", []),
    ]
    assert trace.ignored == {"command": 1}
    assert (accounted(traces), trace.problems, len(trace.windows)) == (5, [], 1)
    blocks = [block for block in data.decode().split("\n\n") if block.strip()]
    assert accounted(traces) == len(blocks)


def test_types_of_the_sample_are_all_that_the_format_has():
    assert set(types(read_all(SAMPLE.read_bytes())[0])) == {
        "decision",
        "requirement",
        "file_read",
        "file_edit",
        "git_commit",
        "abandon",
    }
