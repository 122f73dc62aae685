"""JSON and JSONL as Python reads them, for counts that share no code with the importers."""

from __future__ import annotations

import json
from typing import NamedTuple


class Raw(NamedTuple):
    records: int
    model_calls: int
    tool_calls: int
    results: int
    boundaries: int = 0


def lines(data):
    """The JSON values of JSONL, None for damage: the rest of its line."""
    found, decoder = [], json.JSONDecoder()
    for line in data.decode("utf-8-sig", "replace").split("\n"):
        line = line.strip()
        while line:
            try:
                value, end = decoder.raw_decode(line)
            except ValueError:
                value, end = None, len(line)
            found.append(value)
            line = line[end:].lstrip()
    return found


def loaded(data):
    return json.loads(data.decode("utf-8-sig"))


def blocks(value, kind):
    return [each for each in value if type(each) is dict and each.get("type") == kind] if type(value) is list else []


def chat(messages):
    """Messages in OpenAI's words: (messages, of the model, calls, results)."""
    calls = sum(len(each.get("tool_calls") or []) for each in messages)
    roles = [each.get("role", each.get("type")) for each in messages]
    return Raw(len(messages), roles.count("assistant"), calls, roles.count("tool"))


def total(found, records=None):
    summed = [sum(each) for each in zip(*found, strict=True)]
    return Raw(*summed) if records is None else Raw(records, *summed[1:])
