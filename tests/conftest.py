"""Fixtures that several test files share."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.fixture
def written(tmp_path):
    """Write events as a native JSONL file; gives its path."""

    def write(events: list[Any]) -> str:
        path = tmp_path / "trace.jsonl"
        path.write_text("\n".join(map(json.dumps, events)), "utf-8")
        return str(path)

    return write
