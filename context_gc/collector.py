"""The cyclic garbage collector, paused while many long-lived objects are made: none of them is garbage."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_at_work = 0  # in all threads
_was_enabled = False  # before the first of them began


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause it until the last that paused it is done, in whatever thread; one that was off before stays off.

    Blind spot: whoever else switches it meanwhile is overruled at the end.
    """
    global _at_work, _was_enabled
    with _lock:
        if not _at_work:
            _was_enabled = gc.isenabled()
            gc.disable()
        _at_work += 1
    try:
        yield
    finally:
        with _lock:
            _at_work -= 1
            if not _at_work and _was_enabled:
                if not gc.get_freeze_count():
                    gc.freeze()  # what was made counts as old, so that the next collection does not walk it
                    gc.unfreeze()
                gc.enable()
