"""The tools of the MCP server, called as its transport calls them; they need no package."""

from __future__ import annotations

import json

from notation import trace
from shelves import SECRET, ask, body, receipts_file, refused, saved

from context_gc import Budget, ContextGC, Policy
from context_gc.mcp_server.server import Answers
from context_gc.mcp_server.shelf import Shelf
from context_gc.mcp_server.tools import MOST

# recover


def test_a_receipt_gives_the_exact_event(tmp_path):
    client = saved(tmp_path)
    found = body(ask(tmp_path, "recover_receipt", receipt_id="v1", form="json"))
    assert json.loads(found) == client.expand_receipt("v1")[0]


def test_a_receipt_gives_the_text_that_stood_in_the_conversation(tmp_path):
    saved(tmp_path)
    assert body(ask(tmp_path, "recover_receipt", receipt_id="v1")) == f"x = {SECRET}"


def test_a_stub_of_several_events_gives_all_of_them(tmp_path):
    client = saved(tmp_path)
    assert "[RECEIPT c2] +1" in client.look()["prompt"]
    assert body(ask(tmp_path, "recover_receipt", receipt_id="c2")).splitlines()[-1] == "RESULT the answer is forty-two"


def test_pages_put_together_are_the_whole(tmp_path):
    text = "".join(f"row {number} é\n" for number in range(9_000))
    saved(tmp_path, story="v1 x = 1\nv2 x = 2")
    client = ContextGC(run_id="long")
    client.extend([{"id": "a", "type": "set_var", "timestamp": 1, "key": "k", "value": text}])
    client.extend([{"id": "b", "type": "set_var", "timestamp": 2, "key": "k", "value": ""}])
    client.compact()
    client.save(tmp_path)
    first = ask(tmp_path, "recover_receipt", receipt_id="a")
    pages = int(first.splitlines()[0].rpartition(" of ")[2])
    assert pages > 4
    parts = [ask(tmp_path, "recover_receipt", receipt_id="a", page=page) for page in range(1, pages + 1)]
    assert all(len(part) <= MOST for part in parts)
    assert "".join(map(body, parts)) == f"k = {text.rstrip()}" or "".join(map(body, parts)) == f"k = {text}"
    assert f"--- more: page 2 of {pages}" in first
    assert "--- more" not in parts[-1]
    beyond = refused(tmp_path, "recover_receipt", receipt_id="a", page=pages + 1)
    assert beyond.endswith(f"(give a page from 1 to {pages})")


def test_the_newest_of_several_runs_with_an_id_answers_and_names_the_others(tmp_path):
    saved(tmp_path, "first", "v1 x = one\nv2 x = 2")
    saved(tmp_path, "second", "v1 x = two\nv2 x = 2")
    newest = ask(tmp_path, "recover_receipt", receipt_id="v1")
    assert (body(newest), "another: first" in newest) == ("x = two", True)
    assert body(ask(tmp_path, "recover_receipt", receipt_id="v1", run="first")) == "x = one"
    assert "there is no run of this name" in refused(tmp_path, "recover_receipt", receipt_id="v1", run="third")


def test_what_is_in_the_prompt_has_no_receipt(tmp_path):
    saved(tmp_path)
    assert "was never pruned" in refused(tmp_path, "recover_receipt", receipt_id="k1")
    assert "there is none with this id in 1 run" in refused(tmp_path, "recover_receipt", receipt_id="nope")


def test_a_receipts_file_alone_is_enough(tmp_path):
    receipts_file(tmp_path / "mine.db")
    assert body(ask(tmp_path / "mine.db", "recover_receipt", receipt_id="v1")) == f"x = {SECRET}"
    assert "superseded" in ask(tmp_path / "mine.db", "explain_event", event_id="v1")


def test_an_odd_id_is_found_by_the_label_that_the_stub_shows(tmp_path):
    client = ContextGC(run_id="odd")
    client.extend([{"id": "an odd id", "type": "set_var", "timestamp": 1, "key": "k", "value": "old"}])
    client.extend([{"id": "b", "type": "set_var", "timestamp": 2, "key": "k", "value": "new"}])
    label = client.compact()["prompt"].partition("[RECEIPT ")[2].partition("]")[0]
    client.save(tmp_path)
    assert body(ask(tmp_path, "recover_receipt", receipt_id=label)) == "k = old"
    assert body(ask(tmp_path / "receipts.db", "recover_receipt", receipt_id=label)) == "k = old"


# kept from then on


def test_a_running_client_keeps_what_was_recovered_from_its_next_pass_on(tmp_path):
    client = saved(tmp_path)
    ask(tmp_path, "recover_receipt", receipt_id="v1")
    assert SECRET not in client.look()["prompt"]
    assert SECRET in client.compact()["prompt"]
    client.save(tmp_path)
    assert SECRET in ContextGC.load(tmp_path).compact()["prompt"]


def test_a_client_that_is_loaded_later_keeps_it_too(tmp_path):
    saved(tmp_path)
    ask(tmp_path, "recover_receipt", receipt_id="v1")
    assert SECRET in ContextGC.load(tmp_path).compact()["prompt"]


def test_a_client_with_a_receipts_file_keeps_it_too(tmp_path):
    client = receipts_file(tmp_path / "mine.db")
    ask(tmp_path / "mine.db", "recover_receipt", receipt_id="v1")
    assert SECRET in client.compact()["prompt"]


def test_under_a_budget_the_next_pass_brings_it_back_and_later_ones_keep_it(tmp_path):
    client = ContextGC(Policy(budget=Budget(400, recent_observations=1)), run_id="tight")
    for number in range(40):
        client.extend(trace(f"c{number} call ask\nr{number} result c{number} {'answer ' * 9}{number}"))
        client.compact()
    client.save(tmp_path)
    name = client.look()["receipts"][0]
    ask(tmp_path, "recover_receipt", receipt_id=name, form="json")
    for number in range(40, 80):
        client.extend(trace(f"c{number} call ask\nr{number} result c{number} {'answer ' * 9}{number}"))
        client.compact()
    assert name not in client.look()["receipts"]


def test_searching_listing_and_explaining_bring_nothing_back(tmp_path):
    client = saved(tmp_path)
    for tool, arguments in (
        ("search_receipts", {"words": "old"}),
        ("list_receipts", {}),
        ("explain_event", {"event_id": "v1"}),
    ):
        ask(tmp_path, tool, **arguments)
    refused(tmp_path, "recover_receipt", receipt_id="v1", page=2)
    assert not (tmp_path / "recovered.jsonl").exists()
    assert SECRET not in client.compact()["prompt"]


def test_a_receipt_is_noted_once(tmp_path):
    saved(tmp_path)
    answers = Answers(Shelf(tmp_path))
    for _ in range(3):
        answers("recover_receipt", {"receipt_id": "v1"})
    assert len((tmp_path / "recovered.jsonl").read_text().splitlines()) == 1


# the others


def test_words_find_what_was_cut_and_nothing_that_stands(tmp_path):
    saved(tmp_path)
    assert ask(tmp_path, "search_receipts", words="old VALUE").splitlines()[1].startswith("v1 | run main | ")
    assert "nothing that was cut" in ask(tmp_path, "search_receipts", words="force-push")


def test_receipts_are_listed_by_the_page(tmp_path):
    saved(tmp_path, story="\n".join(f"v{number} x = {number}" for number in range(131)))
    pages = [ask(tmp_path, "list_receipts", page=page).splitlines() for page in (1, 2, 3)]
    assert [page[0] for page in pages] == [f"130 receipts, page {page} of 3" for page in (1, 2, 3)]
    names = [line.partition(" | ")[0] for page in pages for line in page[1:] if " | " in line]
    assert names == [f"v{number}" for number in range(130)]
    assert "there is no page 4" in refused(tmp_path, "list_receipts", page=4)


def test_an_event_is_explained_whether_cut_or_kept(tmp_path):
    saved(tmp_path)
    assert "Status: pruned" in ask(tmp_path, "explain_event", event_id="v1")
    assert "Status: protected" in ask(tmp_path, "explain_event", event_id="k1")
    assert "no run has an event" in refused(tmp_path, "explain_event", event_id="zz")


def test_the_report_tells_each_run_with_its_stages(tmp_path):
    saved(tmp_path / "a", "one")
    saved(tmp_path / "b", "two")
    text = ask(tmp_path, "context_report")
    assert text.startswith("2 runs, the newest first\n")
    assert {"run a/one: 8 events", "run b/two: 8 events"} <= {line.partition(", ")[0] for line in text.splitlines()}
    assert "  overrides: 1 receipt, " in text


def test_an_empty_directory_says_that_there_is_nothing_yet(tmp_path):
    assert "no runs and no receipts yet" in ask(tmp_path, "context_report")
    assert "in 0 runs" in refused(tmp_path, "recover_receipt", receipt_id="v1")
