"""The same bytes in every process: hash seeds, and so the order of sets, change nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

PROGRAM = """
import hashlib, json, random
from context_gc import ContextGC, Policy, StateGraph, compact_events

chance = random.Random(5)
events, ids = [], []
for number in range(300):
    kinds = ["set_var"] * 3 + ["tool_call"] * 3 + ["tool_result"] * 4
    kind = chance.choice([*kinds, "decision", "abandon", "requirement"])
    event = {"id": f"e{number} x" if number % 29 == 0 else f"e{number}", "type": kind, "timestamp": number // 3}
    event["parent_id"] = chance.choice(ids[-3:]) if ids else None
    calls = [each["id"] for each in events if each["type"] == "tool_call"][-2:] or ["none"]
    event |= {
        "set_var": {"key": chance.choice("abcdefgh"), "value": {"z": number % 5, "a": [1, None]}},
        "tool_call": {"tool_name": "get", "arguments": {"q": number % 2, "a": 1}},
        "tool_result": {"call_id": chance.choice(calls), "result": "ok"},
        "decision": {"content": f"text {number}", "tags": ["t2", "t1"]},
        "abandon": {"ref_to": [chance.choice(ids[-3:] or ["none"]) for _ in range(2)], "content": f"why {number}"},
        "requirement": {"content": f"must {number}"},
    }[kind]
    if number % 17 == 0:
        event["importance"] = "critical"
    events.append(event)
    ids.append(event["id"])

client = ContextGC()
client.extend(events)
ring = StateGraph()
for event in chance.sample(events, len(events)):
    ring.add_node(event)
parents = {event["id"]: event["parent_id"] for event in events}
for number in range(40, 300, 20):
    ring.add_edge(ids[number], parents[parents[ids[number]]])
results = [compact_events(events, Policy(stubs=style)) for style in ("always", "worthwhile", "described")]
results += [client.compact(), compact_events(chance.sample(events, len(events))), compact_events(ring)]
assert {each["stage"] for each in results[-1]["decisions"]} == {"dead-branches", "overrides", "duplicates", "cycles"}
for result in results:
    assert result["pruned_ids"]
    text = result["prompt"] + json.dumps({key: result[key] for key in result if key != "graph"})
    text += repr(list(result["graph"].edges())) + repr(list(result["graph"].decisions))
    print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_three_hash_seeds_give_the_same_bytes():
    outputs = set()
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
    lines = outputs.pop().split()
    assert len(lines) == 6
    assert lines[0] == lines[3]
