"""The budget engine's promises, checked at each compaction in the life of one client, without its own machinery."""

from __future__ import annotations

import math
from typing import Any

from invariants import canonical, check, must_stay, pairs, slots_of

from context_gc import Budget, Compaction, ContextGC, Pass, Policy
from context_gc.outcomes import failed
from context_gc.render import images, line
from context_gc.semantics import FileEdit, FileRead, semantics
from context_gc.tokens import COUNTERS, IMAGE_TOKENS

Event = dict[str, Any]
Step = tuple[Any, ...]

LONGER, WAITS = "its stub would be longer than it", "it waits for the next pass"
SCOPES = {"end_task": ("task_end",), "end_session": ("task_end", "session_end")}
ACTS = frozenset(
    "file_read file_edit command_run test_run build_run git_diff git_commit artifact_created verification error".split()
)


class Life:
    """A client that is fed a trace in steps; `looks`: it is also asked what changes nothing."""

    def __init__(self, events: list[Event], policy: Policy, looks: bool = True) -> None:
        assert policy.budget is not None
        self.events, self.policy, self.budget, self.looks = events, policy, policy.budget, looks
        self.client = ContextGC(policy)
        self.size = self.sent = 0
        self.result: Compaction | None = None
        self.prompt = ""
        self.cut: set[str] = set()
        self.passes = 0
        self.correction = self.budget.overhead_tokens
        self.restored: set[str] = set()
        self.ended: dict[str, int] = {}

    def play(self, steps: list[Step]) -> list[Compaction]:
        """All steps, then what is left of the trace; gives every result."""
        results = []
        for step in [*steps, ("feed", len(self.events)), ("compact", "")]:
            result = self.step(*step)
            if result is not None:
                results.append(result)
        return results

    def step(self, verb: str, given: Any = None) -> Compaction | None:
        """One step: `feed` and `add` so many events, `compact`, tell `usage`, `restore`, end a scope, or look."""
        if verb in ("feed", "add"):
            self.client.extend(self.events[self.size : self.size + given])
            self.size = min(len(self.events), self.size + given)
            return self.compact("") if verb == "feed" else None
        if verb == "compact":
            return self.compact(given)
        if verb == "usage":
            self.client.record_usage(given)
            if self.result is not None:
                self.correction = given - measured(self.result, self.policy)
            else:
                self.correction = given
        elif verb == "restore" and self.result is not None and self.result["receipts"]:
            names = self.result["receipts"]
            self.restored |= set(self.client.restore(names[given % len(names)]))
        elif verb in SCOPES:
            getattr(self.client, verb)()
            self.ended |= dict.fromkeys(SCOPES[verb], self.size)
        elif verb == "explain" and self.looks and self.size:
            assert self.client.explain(self.events[given % self.size]["id"]).event["id"]
        elif verb == "budget" and self.looks:
            assert self.client.budget is not None
        return None

    def compact(self, how: str) -> Compaction:
        """Compact and check what came of it."""
        before = self.client.budget if self.looks else None
        result = self.client.compact(force=how == "force", cold=how == "cold")
        state = result["budget"]
        made = state["passes"][self.passes :]
        assert len(made) <= 1
        self.check_result(result)
        self.check_state(result, state)
        if made:
            self.check_pass(made[0], result, how)
            if before is not None:
                assert made[0]["tokens_before"] == before.tokens
        elif before is not None:
            assert before.to_dict() | {"deferred": "", "unreachable": None} == state | {
                "deferred": "", "unreachable": None,
            }  # fmt: skip
        self.check_prefix(result, any(each["first_changed"] or each["restored_ids"] for each in made))
        assert self.client.budget.to_dict() == state if self.looks else True
        self.result, self.prompt, self.cut = result, result["prompt"], set(result["pruned_ids"])
        self.passes, self.sent = len(state["passes"]), self.size
        return result

    # checks

    def stays(self, seq: int) -> bool:
        """Whether an event has to be in the prompt, as of now."""
        until = self.events[seq].get("retain_until")
        return must_stay(self.events[seq], until is not None and seq >= self.ended.get(until, 0))

    def check_result(self, result: Compaction) -> None:
        given = self.events[: self.size]
        freed = {each["id"] for seq, each in enumerate(given) if each.get("retain_until") and not self.stays(seq)}
        check(given, result, self.policy, freed=freed)
        for seq, event in enumerate(given):
            assert not self.stays(seq) or result.protected(event["id"]), event["id"]

    def check_prefix(self, result: Compaction, changed: bool) -> None:
        """Between two passes a prompt is a byte extension of the one before."""
        now, cut = set(result["pruned_ids"]), self.cut
        if not changed:
            assert result["prompt"].startswith(self.prompt), (self.prompt, result["prompt"])
            rest = result["prompt"][len(self.prompt) :]
            assert not self.prompt or not rest or rest.startswith("\n")
            assert cut <= now
            new = {event["id"] for event in self.events[self.sent : self.size]}
            assert now - cut <= new
        if not self.passes and not changed and not self.budget.commit_on_arrival:
            lines = [line(event) for event in self.events[: self.size]]
            assert result["prompt"] == "\n".join(text for text in lines if text)

    def check_state(self, result: Compaction, state: dict[str, Any]) -> None:
        tokens = max(0, measured(result, self.policy) + self.correction)
        assert state["tokens"] == tokens
        assert state["correction"] == self.correction
        assert state["max_tokens"] == self.budget.max_tokens
        assert state["usage"] == tokens / self.budget.max_tokens
        assert state["level"] == self.budget.level(tokens)
        waits = [each["event_id"] for each in result["decisions"] if each["kept"] == WAITS]
        assert state["waiting_tokens"] == sum(map(result.tokens, waits))
        given = self.events[: self.size]
        answered = set(pairs(given).values())
        assert state["open_calls"] == sum(e["type"] == "tool_call" and e["id"] not in answered for e in given)

    def check_pass(self, made: dict[str, Any], result: Compaction, how: str) -> None:
        budget, before, after = self.budget, made["tokens_before"], made["tokens_after"]
        level, moment = budget.level(before), made["moment"]
        assert made["number"] == self.passes + 1
        assert made["size"] == self.size
        assert made["gain"] == before - after
        assert after == result["budget"]["tokens"]
        assert Pass.from_dict(made).to_dict() == made
        if moment == "needed":
            assert made["restored_ids"]
        elif moment == "asked":
            assert how == "force"
        else:
            assert budget.auto
            assert how != "force"
            assert moment == ("cold" if moment == "cold" and how == "cold" else level)
        if not made["restored_ids"]:
            assert made["gain"] >= 0
            assert made["gain"] > 0 or made["first_changed"] is None
        if moment == "compact":
            assert made["gain"] >= max(1, budget.gain)
            assert budget.pays(made["kept_after"], made["gain"])
        self.check_target(made, result, level == "emergency" and moment != "cold")
        self.check_changes(made, result)

    def check_target(self, made: dict[str, Any], result: Compaction, evicts: bool) -> None:
        """Down to the target, or it says what holds the space; in an emergency that is all that cannot be spared."""
        budget, lost = self.budget, made["unreachable"]
        assert result["budget"]["unreachable"] == (lost if evicts else None)
        if made["tokens_after"] <= budget.target_tokens:
            assert lost is None
            return
        assert lost is not None
        assert lost["target"] == budget.target_tokens
        assert lost["holds"] == sorted(lost["holds"], key=lambda each: (-each[1], each[0]))
        if made["first_changed"] is not None:
            assert lost["tokens"] == made["tokens_after"]
            assert left_over(self, result) == [] or not evicts
        if self.correction >= 0:
            assert sum(tokens for _, tokens in lost["holds"]) == lost["tokens"]

    def check_changes(self, made: dict[str, Any], result: Compaction) -> None:
        """The record of a pass says what it did."""
        now, old = set(result["pruned_ids"]), {event["id"] for event in self.events[: self.sent]}
        assert set(made["pruned_ids"]) <= now
        assert (now - self.cut) & old <= set(made["pruned_ids"])
        assert self.cut - now <= set(made["restored_ids"])
        assert not now & set(made["restored_ids"])
        assert not set(made["pruned_ids"]) & self.cut
        if made["first_changed"] is None:
            assert (made["pruned_ids"], made["clipped_ids"]) == ([], [])
            assert not any(line(result.event(name)) for name in made["restored_ids"])
        else:
            slots, counter = slots_of(result), COUNTERS[self.policy.counter]
            names = list(slots)
            first = names.index(made["first_changed"])
            kept = "\n".join(text for text in (slots[name] for name in names[:first]) if text is not None)
            assert self.prompt.startswith(kept) or kept.startswith(self.prompt)
            assert made["kept_after"] == sum(tokens_at(result, name, counter) for name in names[first:])
            price = (budget := self.budget).cache_write - budget.cache_read
            calls = max(0.0, price / budget.cache_read * made["kept_after"] / made["gain"]) if made["gain"] > 0 else None
            assert made["break_even"] == calls
        evicted = [name for name in made["pruned_ids"] if result.decision(name).stage == "eviction"]
        assert made["evicted"] == len(evicted)
        if made["first_changed"] is None and len(past := result["budget"]["passes"]) > 1:
            assert {**past[-2], "number": made["number"]} != made, "a pass that frees nothing is repeated"
        assert not evicted or self.budget.level(made["tokens_before"]) == "emergency"
        for name in evicted:
            assert never_evicted(self, result, name) is None, name


def measured(result: Compaction, policy: Policy) -> int:
    """Tokens of the prompt, counted slot by slot."""
    counter = COUNTERS[policy.counter]
    return sum(tokens_at(result, name, counter) for name in slots_of(result))


def tokens_at(result: Compaction, name: str, counter: Any) -> int:
    text = result.layout.slot(result["graph"].seq(name))
    pictures = 0 if name in result["pruned_ids"] else images(result.event(name))
    return (counter.count(text + "\n") if text else 0) + pictures * IMAGE_TOKENS


def never_evicted(life: Life, result: Compaction, name: str) -> str | None:
    """Why an event must not make room; None when it may."""
    given = life.events[: life.size]
    calls = pairs(given)
    lead = calls.get(name, name)
    unit = [seq for seq, event in enumerate(given) if calls.get(event["id"], event["id"]) == lead]
    event = next(given[seq] for seq in unit if given[seq]["id"] == lead)
    if any(life.stays(seq) or given[seq]["id"] in life.restored for seq in unit):
        return "protected"
    if event["type"] == "abandon":
        return "abandon"
    if event["type"] == "tool_call" and len(unit) == 1:
        return "open call"
    if event.get("importance") == "task" and unit[0] >= life.ended.get("task_end", 0):
        return "task"
    if unit[0] >= first_recent(life, result, share=0.25):
        return "recent"
    if event["type"] == "error" and event.get("related_to") is None:
        newer = any(each.get("related_to") == name for each in given)
        return None if newer else "unresolved"
    return None


def left_over(life: Life, result: Compaction) -> list[str]:
    """What stands in the prompt although nothing could have spared it."""
    given, found = life.events[: life.size], []
    calls = pairs(given)
    recent = first_recent(life, result, share=math.inf)
    cut = set(result["pruned_ids"])
    for seq, event in enumerate(given):
        name = event["id"]
        if calls.get(name, name) != name or name in cut or seq >= recent or event["type"] == "abandon":
            continue
        decision = result.decision(name)
        results = [each for each in given if calls.get(each["id"]) == name]
        free = (
            result.protected(name) is None
            and not (decision is not None and decision.stage == "eviction")  # its stub would be longer than it
            and not (decision is not None and decision.kept is not None)
            and not (event["type"] == "tool_call" and not results)
            and not isinstance(semantics(event), FileRead | FileEdit)
            and event.get("importance") != "task"
            and event["type"] != "error"
            and not failed(event, results)
        )
        if free and any(map(line, [event, *results])):
            found.append(name)
    return found


def first_recent(life: Life, result: Compaction, share: float) -> int:
    """The place from which on everything is recent: observations that no stage found dead, from the last back."""
    given = life.events[: life.size]
    calls, gone = pairs(given), life.cut.intersection(result["pruned_ids"])
    first, held, number = life.size, 0, 0
    for seq in range(life.size - 1, -1, -1):
        event, name = given[seq], given[seq]["id"]
        decision = result.decision(name)
        dead = decision is not None and decision.stage != "eviction" and decision.kept in (None, LONGER)
        out = dead or name in gone
        if out or calls.get(name, name) != name or (event["type"] not in ACTS and name not in calls.values()):
            continue
        number += 1
        held += sum(result.tokens(each["id"]) for each in given if calls.get(each["id"], each["id"]) == name)
        if number > life.budget.recent_observations or (number > 1 and held > share * life.budget.window):
            break
        first = seq
    return first


def told(result: Compaction) -> dict[str, bytes]:
    """All that a result says, apart from its graph."""
    return {key: canonical(result[key]) for key in result if key != "graph"}
