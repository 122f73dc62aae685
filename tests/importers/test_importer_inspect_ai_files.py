"""Inspect AI files: archives and how they are told from other zip files, unpacked logs, the corpus, and damage."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections import Counter

import pytest
from importer_checks import (
    CORPUS,
    check,
    claimants,
    cut_and_flipped,
    needs_corpus,
    paired,
    survive,
    with_other_types,
)
from inspect_records import archive, event, log, model, read, result, sample, says, tool, user

from context_gc import TraceError
from context_gc.importers import inspect_ai
from context_gc.importers.files.decode import decode
from context_gc.importers.files.document import HEAD, Document

Q, LOOK, FOUND, DONE = user("q"), says("look", "c1:f"), result("c1", "text"), says("done")
ONE = sample([model(1, [Q], DONE)])


def test_an_archive_gives_its_samples_in_order_with_the_member_as_their_place():
    samples = [sample([model(1, [user(f"q{number}")], DONE)], number=number) for number in (10, 2, 1)]
    traces = read(archive(*samples))
    assert [trace.title for trace in traces] == ["bench 1 epoch 1", "bench 2 epoch 1", "bench 10 epoch 1"]
    assert traces[0].events[0]["origin"] == {"member": "samples/1_epoch_1.json", "path": "events/0", "message": 0}
    assert traces[0].ignored == {"file about the log": 3}


def test_an_archive_that_was_never_finished_is_named_by_its_journal():
    (trace,) = read(archive(ONE, header=False))
    assert trace.title == "bench 1 epoch 1"


def test_damaged_members_are_reported_and_the_others_read():
    extra = [("samples/2_epoch_1.json", '{"id": 2, "epoch": 1, "messages": [{"role": "user", "content": "cut'),
             ("samples/3_epoch_1.json", "nothing"), ("samples/4_epoch_1/sample.json", "{}")]  # fmt: skip
    first, second = read(archive(ONE, extra=extra))
    assert (len(first.events), len(second.events)) == (2, 0)
    texts = [problem.text for problem in first.problems]
    assert "samples/2_epoch_1.json: not JSON: unterminated string" in texts[0]
    assert "samples/3_epoch_1.json: line 1 is not JSON" in texts[1]
    assert texts[2] == "the sample 4_epoch_1 is in chunks (not read)"


def test_members_packed_with_zstd_give_a_hint(monkeypatch):
    if sys.version_info >= (3, 14):
        pytest.skip("this Python unpacks zstd")
    monkeypatch.setitem(sys.modules, "backports", None)
    data = bytearray(archive(ONE, compression=zipfile.ZIP_STORED))
    for sign, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = data.find(sign)
        while place >= 0:
            data[place + at : place + at + 2] = (93).to_bytes(2, "little")
            place = data.find(sign, place + 4)
    with pytest.raises(
        TraceError, match=r"packed with zstd, which Python unpacks from 3.14 on .*context-gc\[inspect-zstd\]"
    ):
        read(bytes(data))


def test_other_archives_are_not_claimed():
    for names in (["a.jsonl"], ["run/samples/1_epoch_1.json"], ["samples/1.json"], ["header.json"]):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as zipped:
            for name in names:
                zipped.writestr(name, "{}")
        assert not inspect_ai.sniff(buffer.getvalue()[:HEAD])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as zipped:
        zipped.writestr("inner.eval", archive(ONE))
    assert not inspect_ai.sniff(buffer.getvalue())
    assert inspect_ai.sniff(archive(ONE)[:60])


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        (json.dumps(log(ONE))[:120], True),
        (json.dumps(ONE), True),
        ('{"events": [{"event": "model", "timestamp": "x"}]}', True),
        ('{"events": [{"event": "party", "timestamp": "x"}]}', False),
        ('{"events": []}', False),
        ('{"eval": {"score": 1}}', False),
        ('{"epoch": 1, "loss": 0.1}', False),
        ("PK", False),
        ("", False),
    ],
)
def test_sniff(head, claimed):
    assert inspect_ai.sniff(head.encode()) is claimed


@pytest.mark.parametrize("status", ["cancelled", None])
def test_a_log_without_samples_is_an_error_that_tells_its_status(status):
    told_of = " (its status is 'cancelled')" if status else ""
    with pytest.raises(TraceError) as caught:
        inspect_ai.read(decode(json.dumps(log(status=status)).encode(), "log.json"))
    assert str(caught.value) == f"log.json: it holds no samples{told_of} (name a log of a run that got so far)"


def test_one_samples_file_alone_is_read():
    (trace,) = read(ONE)
    assert (trace.title, len(trace.events)) == ("1 epoch 1", 2)
    assert trace.events[0]["origin"] == {"path": "events/0", "message": 0}


def test_an_unpacked_log_is_one_group():
    paths = [
        "notes.txt",
        "run/_journal/start.json",
        "run/header.json",
        "run/samples/1_epoch_1.json",
        "run/samples/2_epoch_1.json",
        "other/samples/x.json",
        "samples/0_epoch_1.json",
        "summaries.json",
    ]
    groups = inspect_ai.groups(paths)
    assert groups == [tuple(paths[1:5]), tuple(paths[6:7])]
    contents = {
        "run/header.json": log(),
        "run/samples/1_epoch_1.json": ONE,
        "run/samples/2_epoch_1.json": sample(number=2),
    }
    documents = [Document(path, json.dumps(value).encode()) for path, value in contents.items()]
    traces = inspect_ai.read_group(documents)
    check(traces)
    assert [trace.title for trace in traces] == ["bench 1 epoch 1", "bench 2 epoch 1"]
    assert traces[0].source == "run"


# the corpus, and damage

FOLDER = CORPUS / "inspect_ai"
FILES = {  # events by type, results that answer calls, usage reports; counted by hand from the raw files
    "2025-05-12T20-27-36-04-00_browser.json": (
        {"requirement": 1, "tool_call": 4, "tool_result": 4, "decision": 1},
        4,
        5,
    ),
    "log_formats.eval": ({"constraint": 1, "requirement": 1, "decision": 1}, 0, 1),
    "log_images.json": ({"constraint": 1, "requirement": 2, "decision": 1}, 0, 1),
    "log_images_tc.json": ({"constraint": 1, "requirement": 2, "decision": 1}, 0, 1),
    "log_message_deduplication.eval": ({"requirement": 1, "decision": 6, "tool_call": 5, "tool_result": 5}, 5, 0),
    "log_read_sample.eval": ({"constraint": 1, "requirement": 1, "decision": 1}, 0, 1),
    "legacy_steps.json": ({}, 0, 0),
    "parallel_spans.json": ({}, 0, 0),
}


def raw_samples(name):
    """The samples of a file, by other means."""
    path = FOLDER / name
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as zipped:
            return [json.loads(zipped.read(each)) for each in zipped.namelist() if each.startswith("samples/")]
    value = json.loads(path.read_text("utf-8"))
    return value.get("samples", [value] if "events" in value else [])


@needs_corpus
@pytest.mark.parametrize("name", FILES)
def test_every_file_is_claimed_once_and_says_what_was_counted_by_hand(name):
    types, results, reports = FILES[name]
    document = decode((FOLDER / name).read_bytes(), name)
    assert claimants(document.head) == {"inspect-ai"}
    traces = inspect_ai.read(document)
    check(traces)
    (trace,) = traces
    assert Counter(each["type"] for each in trace.events) == types
    assert (paired(trace), len(trace.usage), len(trace.windows), trace.problems) == (results, reports, 1, [])
    (raw,) = raw_samples(name)
    events = raw["events"] if "events" in raw else raw["transcript"]["events"]
    about = trace.ignored.pop("file about the log", 0)
    records = trace.records_read + sum(trace.ignored.values())
    assert records == len(events) + bool(raw.get("messages"))
    assert about == (5 if name.endswith(".eval") else 0)
    final = [message["content"] for message in raw.get("messages", []) if isinstance(message["content"], str)]
    shown = [each.get("content", each.get("result")) for each in trace.events if each["type"] != "tool_call"]
    assert [text for text in final if text] == [text for text in shown if text in final]


@needs_corpus
def test_the_log_without_samples_and_the_file_without_events():
    name = "2025-05-12T20-28-13-04-00_no-samples.json"
    document = decode((FOLDER / name).read_bytes(), name)
    assert claimants(document.head) == {"inspect-ai"}
    with pytest.raises(TraceError, match="it holds no samples \\(its status is 'cancelled'\\)"):
        inspect_ai.read(document)
    assert claimants(decode((FOLDER / "empty.json").read_bytes(), "empty.json").head) == set()


def damaged_read(data):
    document = decode(data, "damaged")
    inspect_ai.sniff(document.head)
    return inspect_ai.read(document)


SOUND = sample(
    [
        event("span_begin", 0, id="A", type="solver"),
        model(1, [user("attachment://a")], LOOK, span_id="A"),
        tool(2, "c1", result="text", events=[model(2, [Q], DONE)]),
        event("compaction", 3),
        model(4, [], DONE, input_refs=[[0, 2]]),
        event("step", 5, action="begin", type="scorer"),
    ],
    [Q, LOOK, FOUND, DONE],
    attachments={"a": "q"},
    message_pool=[Q, LOOK],
    error_retries=[{}],
)


def test_damaged_files_give_sound_traces_or_our_error():
    for data in [*cut_and_flipped(json.dumps(log(SOUND), indent=1).encode()), *cut_and_flipped(archive(SOUND))]:
        survive(damaged_read, data)
    for copy in with_other_types(log(SOUND), 200):
        survive(damaged_read, json.dumps(copy).encode())
    for copy in with_other_types(SOUND, 50):
        survive(damaged_read, archive(copy) if isinstance(copy, dict) and {"id", "epoch"} <= copy.keys() else b"{}")
