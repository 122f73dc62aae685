"""The promises of the design as checks over one result, written without the core's own machinery."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterable
from typing import Any

from context_gc import (
    Compaction,
    Counter,
    NotPruned,
    Policy,
    StateGraph,
    compact_events,
    expand_receipt,
    get_receipt,
    receipt_of,
)
from context_gc.render import images, label, line
from context_gc.tokens import COUNTERS, IMAGE_TOKENS

Event = dict[str, Any]
STUB = re.compile(r"\[RECEIPT ([A-Za-z0-9_.:@/+-]{1,200})\](?: \+(\d+))?(?: .*)?")
KEYS = (
    "prompt", "decisions", "receipts", "pruned_ids", "protected_ids", "stubs", "compact_events", "warnings",
    "tokens_before", "tokens_after",
)  # fmt: skip


def values(result: Compaction) -> dict[str, Any]:
    """All that a result says, apart from its graph, as JSON text by key: 1, 1.0 and true differ."""
    return {key: json.dumps(result[key], sort_keys=True) for key in KEYS}


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def stub_ids(prompt: str) -> list[str]:
    """The ids in the stubs of a prompt, in order."""
    return [name for name, _ in stubs_in(prompt)]


def stubs_in(prompt: str) -> list[tuple[str, int]]:
    """(id, how many more) of each stub in a prompt. A line that begins like a stub has to be a whole one."""
    found = []
    for text in prompt.split("\n"):
        if text.startswith("[RECEIPT "):
            match = STUB.fullmatch(text)
            assert match, text
            found.append((match[1], int(match[2] or 0)))
        else:
            assert "[RECEIPT" not in text.replace("\\[RECEIPT", ""), text
    return found


def pairs(events: Iterable[Event]) -> dict[str, str]:
    """Result -> call: by event id wherever the call stands, or by the provider's id, the nearest before it."""
    events = list(events)
    named = {event["id"] for event in events if event["type"] == "tool_call"}
    passed: set[str] = set()
    provided: dict[str, str] = {}
    found = {}
    for event in events:
        if event["type"] == "tool_call":
            passed.add(event["id"])
            provided[event.get("call_id", "")] = event["id"]
        elif event["type"] == "tool_result":
            name = event["call_id"]
            call = name if name in passed else provided.get(name, name if name in named else None)
            if call is not None:
                found[event["id"]] = call
    return found


def units(events: Iterable[Event]) -> dict[str, set[str]]:
    """Event id -> the ids of its unit, itself included."""
    events = list(events)
    found = {event["id"]: {event["id"]} for event in events}
    for result, call in pairs(events).items():
        found[call].add(result)
    for result, call in pairs(events).items():
        found[result] = found[call]
    return found


def must_stay(event: Event, retained: bool = True) -> bool:
    """What the design promises to be in every prompt. `retained`: the scope that it is kept for has not ended."""
    return (
        event["type"] in ("requirement", "constraint")
        or event.get("importance") == "critical"
        or "user" in (event.get("tags") or ())
        or (retained and event.get("retain_until") is not None)
    )


def clipped_ids(result: Compaction) -> list[str]:
    """The events that stand as their first and last lines."""
    return [each["event_id"] for each in result["decisions"] if each["clipped"] and each["kept"] is None]


def check(
    given: list[Event],
    result: Compaction,
    policy: Policy | None = None,
    retained: bool = True,
    freed: Container[str] = (),
) -> None:
    """Every promise that can be checked on one result. `given` are the events as they were passed in.

    `retained`: no scope has ended; `freed`: ids of events whose own scope has.
    """
    policy = policy or Policy()
    originals = {event["id"]: event for event in given}
    check_partition(originals, result)
    check_order(given, result)
    check_units(result)
    check_protected(originals, result, retained, freed)
    check_recovery(originals, result)
    check_witnesses(result)
    check_slots(result, policy)
    if policy.stubs == "none":
        assert stub_ids(result["prompt"]) == [name for name, _ in clip_stubs(result)]
    else:
        check_reachable(originals, result)


def check_partition(originals: dict[str, Event], result: Compaction) -> None:
    live, cut = [event["id"] for event in result["compact_events"]], result["pruned_ids"]
    assert sorted([*live, *cut]) == sorted(originals)
    for event in result["compact_events"]:
        assert canonical(event) == canonical(originals[event["id"]])
    order = list(result["graph"])
    assert sorted(order) == sorted(originals)
    assert live == [name for name in order if name in set(live)]
    assert cut == [name for name in order if name in set(cut)]
    for key in KEYS:
        json.dumps(result[key])
    result["prompt"].encode("utf-8")


def check_order(given: list[Event], result: Compaction) -> None:
    """Arrival, unless a parent comes behind its child: then parents first wherever there is no cycle."""
    graph: StateGraph = result["graph"]
    place = {name: at for at, name in enumerate(graph)}
    edges = [(edge.source, edge.target) for edge in graph.edges() if edge.kind == "sequence"]
    arrival = {event["id"]: at for at, event in enumerate(given)}
    if all(arrival[source] < arrival[target] for source, target in edges if source != target):
        assert list(graph) == [event["id"] for event in given]
        return
    below = reach(list(place), edges)
    for source, target in edges:
        if source != target and source not in below[target]:
            assert place[source] < place[target]


def reach(ids: list[str], edges: list[tuple[str, str]]) -> dict[str, set[str]]:
    """Everything below each id, itself included, by naive closure."""
    found = {}
    for name in ids:
        seen = {name}
        while more := {target for source, target in edges if source in seen} - seen:
            seen |= more
        found[name] = seen
    return found


def check_units(result: Compaction) -> None:
    """No result without its call and no call without its results, as far as they are in the trace."""
    cut = set(result["pruned_ids"])
    for each, call in pairs(result["graph"].events).items():
        assert (each in cut) == (call in cut), (each, call)


def check_protected(
    originals: dict[str, Event], result: Compaction, retained: bool = True, freed: Container[str] = ()
) -> None:
    cut, slots = set(result["pruned_ids"]), slots_of(result)
    for name, event in originals.items():
        if must_stay(event, retained and name not in freed):
            assert name not in cut, name
            content = event.get("content")
            if event["type"] in ("requirement", "constraint"):
                assert f"{event['type'].upper()}: {content}".replace("[RECEIPT", "\\[RECEIPT") in result["prompt"]
            text = slots[name] or ""
            assert text.startswith(line(event)), name
            assert text in result["prompt"]


def check_reachable(originals: dict[str, Event], result: Compaction) -> None:
    """The stubs in the prompt's own text lead to every event that was cut, and to nothing else."""
    graph, found = result["graph"], {}
    clips = clip_stubs(result)
    shown = [each for each in stubs_in(result["prompt"]) if each not in clips]
    assert len(shown) + len(clips) == len(stubs_in(result["prompt"]))
    for (name, more), each in zip(shown, result["stubs"], strict=True):
        first = graph.decisions[each["event_ids"][0]]
        assert name == (first.cluster or label(first.event_id))
        assert more == len(each["receipts"]) - 1
    for name, _ in shown:
        expanded = expand_receipt(graph, name)
        assert expanded
        found |= {event["id"]: event for event in expanded}
    assert sorted(found) == sorted(result["pruned_ids"])
    for name, event in found.items():
        assert canonical(event) == canonical(originals[name])
    for name, each in zip(clipped_ids(result), clips, strict=True):
        assert each == (label(name), 0)
        assert [canonical(event) for event in expand_receipt(graph, label(name))] == [canonical(originals[name])]


def clip_stubs(result: Compaction) -> list[tuple[str, int]]:
    """The stubs inside the texts of clipped events, in order."""
    slots = slots_of(result)
    return [each for name in clipped_ids(result) for each in stubs_in(slots[name] or "")]


def check_recovery(originals: dict[str, Event], result: Compaction) -> None:
    graph, cut = result["graph"], {*result["pruned_ids"], *clipped_ids(result)}
    for name, original in originals.items():
        asked = label(name)  # in a trace that has both, `id_…` means the event whose label it is
        if name not in cut:
            try:
                get_receipt(graph, asked)
            except NotPruned:
                continue
            raise AssertionError(f"{name} is live and has a receipt")
        assert get_receipt(graph, asked) == {**original, "pruned": True}
        receipt = receipt_of(graph, asked)
        assert name in receipt.event_ids
        assert receipt.sha256 == tuple(
            hashlib.sha256(canonical(originals[each])).hexdigest() for each in receipt.event_ids
        )
        assert receipt.verify([originals[each] for each in receipt.event_ids])
        changed = {**original, "timestamp": original["timestamp"] + 1}
        assert not receipt.verify([changed if each == name else originals[each] for each in receipt.event_ids])
    out = [name for name in graph if name in cut]
    assert result["receipts"] == list(dict.fromkeys(receipt_of(graph, label(name)).id for name in out))


def check_witnesses(result: Compaction) -> None:
    """What makes a cut safe is in the prompt, stands in it as part of a cluster, or made room later."""
    by_id = {decision["event_id"]: decision for decision in result["decisions"]}
    cut = set(result["pruned_ids"])
    assert cut == {name for name, each in by_id.items() if each["kept"] is None and not each["clipped"]}
    for name, decision in by_id.items():
        assert decision["reason"]
        assert name not in decision["because"]
        if decision["stage"] in ("overrides", "duplicates"):
            assert len(decision["because"]) == 1
            witness = by_id.get(decision["because"][0])
            assert decision["because"][0] not in cut or witness["cluster"] or witness["stage"] == "eviction"
        assert (decision["stage"] == "cycles") == (decision["cluster"] is not None) or decision["kept"]


def check_slots(result: Compaction, policy: Policy) -> None:
    """The prompt is its slots, each event stands in it at most once, and tokens are those of its text."""
    slots, counter = slots_of(result), COUNTERS[policy.counter]
    events = {event["id"]: event for event in result["graph"].events}
    assert "\n".join(text for text in slots.values() if text is not None) == result["prompt"]
    cut = set(result["pruned_ids"])
    live = [name for name in slots if name not in cut]
    pictures = sum(images(events[name]) for name in live) * IMAGE_TOKENS
    texts = sum(counter.count(text + "\n") for text in slots.values() if text)
    assert result["tokens_after"] == texts + pictures
    full = compact_events(result["graph"], Policy(stages=(), counter=policy.counter))
    assert result["tokens_before"] == full["tokens_before"] == full["tokens_after"]
    clipped = set(clipped_ids(result))
    for name in live:
        text = line(events[name])
        if name in clipped:
            check_clip(text, slots[name] or "", counter)
            continue
        assert (slots[name] or "").startswith(text)
        rest = (slots[name] or "")[len(text) :].strip()
        assert rest == "" or re.fullmatch(r"\(abandoned by \S+, kept: .*\)", rest), rest


def check_clip(text: str, shown: str, counter: Counter) -> None:
    """A clipped event is shorter, and shows stretches of its own text in their order around one stub."""
    assert counter.count(shown) < counter.count(text)
    at, parts = 0, shown.split("\n")
    assert sum(part.startswith("[RECEIPT ") for part in parts) == 1
    for part in parts:
        if part != "…" and not part.startswith("[RECEIPT "):
            bare = part.removeprefix("…").removeprefix("\\")
            found = {text.find(each.removesuffix(end), at) for each in (part, bare) for end in ("", "…")} - {-1}
            assert found, (text, shown)
            at = min(found) + len(bare.removesuffix("…"))


def slots_of(result: Compaction) -> dict[str, str | None]:
    """What stands in the prompt at the place of each event."""
    prompt = result.layout
    return {name: prompt.slot(seq) for seq, name in enumerate(result["graph"])}
