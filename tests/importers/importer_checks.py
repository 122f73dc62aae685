"""What holds for the traces of any importer, damage that a file may have, and who claims a file."""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from context_gc import importers
from context_gc.errors import ContextGCError
from context_gc.events import validate_event
from context_gc.importers.files.decode import decode

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real traces is not beside the checkout")

VALUES = (None, True, -1, 2.5, "", "x", "<state_snapshot>", [], [None], [1, "a"], {}, {"type": []}, {"id": {}})


def check(traces):
    """Valid, unique, parents and targets before and in the same window, windows without gaps, records counted.

    Native events are as they were given: parents and targets may be missing, and they have no origin.
    """
    for trace in traces:
        stops = [0]
        for window in trace.windows:
            assert window.start == stops[-1] <= window.stop
            stops.append(window.stop)
            seen = set()
            for event in trace.events[window.start : window.stop]:
                validate_event(event)
                if trace.format != "native":
                    assert event["parent_id"] in seen or event["parent_id"] is None
                    assert set(event.get("ref_to", ())) <= seen
                    assert type(event["origin"]) is dict
                seen.add(event["id"])
        assert stops[-1] == len(trace.events)
        names = {event["id"] for event in trace.events}
        assert len(names) == len(trace.events)
        assert {usage.event_id for usage in trace.usage} <= names
        assert json.loads(json.dumps(trace.events)) == trace.events
        assert trace.records_read >= 0
        assert min(trace.ignored.values(), default=1) > 0
    assert any(trace.events for trace in traces) or not any(trace.records_read for trace in traces)


def own(trace):
    """The events that records gave, without those that a new window repeats."""
    return [event for event in trace.events if "repeats" not in event]


def types(trace):
    return dict(Counter(event["type"] for event in own(trace)))


def told(trace):
    """Type, text (or tool, or result) and tags of each event."""
    keys = ("content", "tool_name", "result", "command")
    return [(e["type"], next(e[key] for key in keys if key in e), e.get("tags", [])) for e in trace.events]


def tree(trace):
    return {event["id"]: event["parent_id"] for event in trace.events}


def paired(trace):
    """How many results answer a call of the trace."""
    calls = {event["id"] for event in own(trace) if event["type"] == "tool_call"}
    return sum(event["call_id"] in calls for event in own(trace) if event["type"] == "tool_result")


def accounted(traces):
    """How many records are read, ignored by kind, or reported."""
    read = sum(trace.records_read + sum(trace.ignored.values()) for trace in traces)
    return read + sum(problem.records for trace in traces for problem in trace.problems)


def claimants(head):
    """The names of all formats that claim a file, of those whose module can be imported."""
    found = set()
    for module in pkgutil.iter_modules(importers.__path__):
        with suppress(ImportError):
            loaded = importlib.import_module(f"{importers.__name__}.{module.name}")
            if hasattr(loaded, "sniff") and hasattr(loaded, "name") and loaded.sniff(head):
                found.add(loaded.name)
    return found


def survive(read, data):
    """Read damaged data: sound traces, or an error of ours."""
    try:
        traces = read(bytes(data))
    except ContextGCError:
        return
    check(traces)


def cut_and_flipped(data, times=20):
    """The data cut at random bytes, and with bytes flipped."""
    chance = random.Random(len(data))
    for _ in range(times):
        yield data[: chance.randrange(1, len(data))]
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 5, 40))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        yield bytes(damaged)


def with_other_types(value, times=60):
    """Copies of a JSON value, each with one value anywhere in it replaced by one of another type."""
    chance = random.Random(len(json.dumps(value)))
    for _ in range(times):
        copy = json.loads(json.dumps(value))
        holder, key = [copy], 0
        while True:
            inner = holder[key]
            if not inner or not isinstance(inner, dict | list) or chance.random() < 0.15:
                break
            holder, key = inner, chance.choice([*inner] if isinstance(inner, dict) else range(len(inner)))
        holder[key] = chance.choice(VALUES)
        yield copy


def check_sample(importer, path):
    """A sample is claimed by its own format alone, and read without problems."""
    document = decode(path.read_bytes(), path.name)
    assert claimants(document.head) == {importer.name}
    (trace,) = importer.read(document)
    check([trace])
    assert trace.problems == []
