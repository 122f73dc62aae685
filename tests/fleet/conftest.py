"""What every test of the fleet needs."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest


@pytest.fixture(autouse=True)
def _a_main_module_that_runs_nothing(monkeypatch):
    """A process that is spawned runs the main module again: a test of a page may have left the page there."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
