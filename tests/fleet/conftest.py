"""What every test of the fleet needs."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest


@pytest.fixture(autouse=True, scope="module")
def _a_main_module_that_runs_nothing():
    """A process that is spawned runs the main module again: a test of a page may have left the page there."""
    before = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    yield
    sys.modules["__main__"] = before
