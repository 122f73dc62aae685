"""The cyclic collector is paused while files are read and traces compacted, and is afterwards what it was before."""

from __future__ import annotations

import gc
import io
import threading

import pytest

from context_gc import TraceError, compact_events, load_traces
from context_gc.collector import collector_paused

ONE = b'{"id": "e1", "type": "decision", "timestamp": 1, "parent_id": null, "content": "a"}'


class Watched(io.BytesIO):
    """A stream that notes whether the collector runs while it is read."""

    def read(self, size=-1):
        self.collects = gc.isenabled()
        return super().read(size)


@pytest.fixture(params=[True, False])
def was_enabled(request):
    (gc.enable if request.param else gc.disable)()
    yield request.param
    gc.enable()


def test_it_rests_while_a_file_is_read(was_enabled):
    stream = Watched(ONE)
    load_traces(stream)
    assert (stream.collects, gc.isenabled()) == (False, was_enabled)


def test_it_is_what_it_was_after_an_error(was_enabled):
    with pytest.raises(TraceError):
        load_traces(b"")
    assert gc.isenabled() is was_enabled


def test_it_is_what_it_was_after_a_compaction(was_enabled):
    compact_events([])
    assert gc.isenabled() is was_enabled


def test_it_rests_until_the_last_of_all_threads_is_done(was_enabled):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with collector_paused():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with collector_paused():
        thread.start()
        assert entered.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled() is was_enabled


def test_what_an_application_froze_stays_frozen():
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        load_traces(ONE)
        assert gc.get_freeze_count() >= before > 0
    finally:
        gc.unfreeze()
