"""The budget engine's promises, checked at each compaction in the life of one client, without its own machinery."""

from __future__ import annotations

from typing import Any

from eviction_oracle import left_over, never_evicted
from invariants import canonical, check, clipped_ids, must_stay, pairs, slots_of

from context_gc import Compaction, ContextGC, Pass, Policy
from context_gc.render import images, line
from context_gc.tokens import COUNTERS, IMAGE_TOKENS

Event = dict[str, Any]
Step = tuple[Any, ...]

WAITS = "it waits for the next pass"
SCOPES = {"end_task": ("task_end",), "end_session": ("task_end", "session_end")}


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
        for step in whole(self.events, steps):
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
        assert not self.looks or self.client.budget == before
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
        assert moment != "asked" or how == "force"
        if moment not in ("needed", "asked"):
            assert budget.auto
            assert how != "force"
            assert moment == ("cold" if moment == "cold" and how == "cold" else level)
        if not made["restored_ids"]:
            assert made["gain"] >= 0
            assert made["gain"] > 0 or made["first_changed"] is None
        if moment == "compact":
            assert made["gain"] >= max(1, budget.gain)
            assert budget.pays(made["kept_after"], made["gain"])
        self.check_target(made, result, level == "emergency")
        self.check_changes(made, result)

    def check_target(self, made: dict[str, Any], result: Compaction, evicts: bool) -> None:
        """Down to the target, or it says what holds the space; in an emergency that is all that cannot be spared."""
        budget, lost = self.budget, made["unreachable"]
        evicts = evicts or result["budget"]["unreachable"] is not None  # what came back was too much
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
        if made["first_changed"] is not None:
            assert not self.restored & {*now, *clipped_ids(result)}
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
            calls = (
                max(0.0, price / budget.cache_read * made["kept_after"] / made["gain"]) if made["gain"] > 0 else None
            )
            assert made["break_even"] == calls
        evicted = [name for name in made["pruned_ids"] if result.decision(name).stage == "eviction"]
        assert made["evicted"] == len(evicted)
        if made["first_changed"] is None and len(past := result["budget"]["passes"]) > 1:
            assert {**past[-2], "number": made["number"]} != made, "a pass that frees nothing is repeated"
        evicted = [name for name in evicted if not self.was_evicted(name)]
        came_back = made["restored_ids"] or any(result.decision(name).stage == "eviction" for name in self.cut & now)
        assert not evicted or came_back or self.budget.level(made["tokens_before"]) == "emergency"
        if self.budget.level(made["tokens_before"]) == "emergency":  # else the oracle does not know what came back
            for name in evicted:
                assert never_evicted(self, result, name) is None, name

    def was_evicted(self, name: str) -> bool:
        """Whether it had made room before; it may have stood in full, as its stub would have been longer."""
        known = self.result is not None and self.result["graph"].decisions.get(name)
        return bool(known) and known.stage == "eviction"


def measured(result: Compaction, policy: Policy) -> int:
    """Tokens of the prompt, counted slot by slot."""
    counter = COUNTERS[policy.counter]
    return sum(tokens_at(result, name, counter) for name in slots_of(result))


def tokens_at(result: Compaction, name: str, counter: Any) -> int:
    text = result.layout.slot(result["graph"].seq(name))
    pictures = 0 if name in result["pruned_ids"] else images(result.event(name))
    return (counter.count(text + "\n") if text else 0) + pictures * IMAGE_TOKENS


def whole(events: list[Event], steps: list[Step]) -> list[Step]:
    """These steps, and those that take in what they leave of a trace, in a few parts."""
    left = len(events) - sum(step[1] for step in steps if step[0] in ("feed", "add"))
    parts = [("feed", -(-left // 4))] * 4 if left > 0 else []
    return [*steps, *parts, ("compact", "")]


def told(result: Compaction) -> dict[str, bytes]:
    """All that a result says, apart from its graph."""
    return {key: canonical(result[key]) for key in result if key != "graph"}
