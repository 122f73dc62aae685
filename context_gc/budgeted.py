"""Budgeted: compaction under a budget. What is found dead waits, and is committed in passes.

Between two passes every prompt is a byte extension of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .budget import Budget
from .compaction import Live
from .engine import Engine
from .eviction import EVICTION
from .passes import BudgetState, BudgetUnreachable, Pass
from .plan import Plan
from .stages import SweepStage
from .verdicts import Verdict, Verdicts

Announce = Callable[[str, dict[str, Any]], None]


class Budgeted(Live):
    """The book holds what was committed; marks of the engine that are not, stand in it as waiting."""

    def __init__(self, engine: Engine, budget: Budget, announce: Announce | None = None) -> None:
        super().__init__(engine, Verdicts())
        self.budget = budget
        self.passes: list[Pass] = []
        self.evicted: dict[int, Verdict] = {}  #: what passes have taken out although it is not dead
        self.correction = budget.overhead_tokens  #: what is added to the estimate
        self.reported = False
        self.sent = 0  #: events that were part of the last prompt
        self.sent_tokens = 0  #: the estimate of that prompt
        self.unreachable: BudgetUnreachable | None = None
        self.deferred = ""
        self._announce = announce or (lambda _, __: None)
        self._settled: frozenset[int] = frozenset()
        self._seen = 0
        self._waiting = 0
        self._returns = False  # something came whose unit was cut and has to come back
        self.failed: tuple[str, int] | None = None  #: moment of a pass that failed, tokens it could not free
        self._stages = engine.stages
        self._sweeps = {at for at, stage in enumerate(engine.stages) if isinstance(stage, SweepStage)}
        self._evicts = len(engine.stages)

    # the prompt of now

    def advance(self, force: bool = False, cold: bool = False) -> None:
        """Take in new events, make a pass if one is due, and hold the prompt as sent."""
        self.look()
        if (moment := self._due(force, cold)) is not None:
            self._pass(moment)
        self.sent, self.sent_tokens = self.engine.taken, self.prompt.tokens_after
        self.prompt.sent = self.sent

    def look(self) -> None:
        """Take in new events without a pass, and without holding the prompt as sent."""
        self.engine.advance()
        log = self.engine.verdicts.log
        for seq in sorted({*(seq for seq, _ in log[self._seen :]), *range(self.sent, self.engine.taken)}):
            self._note(seq)
        self._seen = len(log)
        self._follow()
        if self.budget.commit_on_arrival:
            self._arrive()
        self.render()

    @property
    def tokens(self) -> int:
        """Tokens of the prompt: the estimate, corrected."""
        return max(0, self.prompt.tokens_after + self.correction)

    @property
    def state(self) -> BudgetState:
        """How the window stands."""
        tokens, budget = self.tokens, self.budget
        return BudgetState(
            budget.level(tokens), tokens, budget.max_tokens, tokens / budget.max_tokens, self._waiting, self.correction,
            self.reported, self.engine.view.units.open_count, self.deferred, tuple(self.passes), self.unreachable,
        )  # fmt: skip

    @property
    def settled(self) -> frozenset[int]:
        """Places that stand in full although they are cut, as they were weighed when they were sent."""
        if self._settled != self.prompt.shown:
            self._settled = frozenset(self.prompt.shown)
        return self._settled

    @property
    def stage_names(self) -> tuple[str, ...]:
        """The names behind `Verdict.stage`."""
        return (*(stage.name for stage in self._stages), EVICTION.name)

    def resume(
        self, book: Mapping[int, Verdict], evicted: Mapping[int, Verdict], shown: Iterable[int], **rest: Any
    ) -> None:
        """Go on from what was saved; `rest` are attributes of these names."""
        self.book.become(book)
        self.evicted = dict(evicted)
        for name, value in rest.items():
            setattr(self, name, value)
        self._waiting = sum(self.meter.line(seq) for seq, each in book.items() if each.waiting and each.kept is None)
        self.engine.advance()
        self.prompt.shown.update(shown)
        self.prompt.sent = self.sent
        self.look()

    def record_usage(self, tokens: int) -> None:
        """The provider's count of the last prompt: from now on the estimate counts only what came after it."""
        self.correction, self.reported = tokens - self.sent_tokens, True

    # marking

    def _note(self, seq: int) -> None:
        """Follow the engine's verdict, as one that waits; what was committed and sent stands until the next pass."""
        held, verdict = self.book.get(seq), self.engine.verdicts.get(seq)
        if seq >= self.sent:
            self.evicted.pop(seq, None)
        elif held is not None and not held.waiting and (held.kept is None or self._is_sweep(held)):
            return
        if verdict is not None and (verdict.kept is None or self._is_sweep(verdict)):
            verdict = verdict._replace(waiting=True)
        self._record(seq, verdict)

    def _is_sweep(self, verdict: Verdict) -> bool:
        return verdict.stage in self._sweeps

    def _record(self, seq: int, verdict: Verdict | None) -> None:
        before = self.book.get(seq)
        if before == verdict:
            return
        for each, sign in ((before, -1), (verdict, 1)):
            if each is not None and each.waiting and each.kept is None:
                self._waiting += sign * self.meter.line(seq)
        self.book.record(seq, verdict)

    def _follow(self) -> None:
        """What comes after another half of its unit was cut goes with it.

        Where it is protected, or the unit is in the prompt in part, a pass has to bring the unit back.
        """
        self._returns = False
        units = self.engine.view.units
        for seq in range(self.sent, self.engine.taken):
            others = [place for place in units.members(units.lead(seq)) if place < self.sent]
            cut = [place for place in others if (verdict := self.book.get(place)) is not None and verdict.cut]
            if not cut:
                continue
            if len(cut) < len(others) or self.engine.protected(seq) is not None:
                self._returns = self._returns or not self.prompt.shown.issuperset(cut)
            else:
                verdict = self.book[cut[0]]
                self._commit(seq, verdict._replace(witness=seq if verdict.witness == cut[0] else verdict.witness))

    def _arrive(self) -> None:
        """Commit what is dead or clipped the moment it enters: whole units that no prompt has shown yet."""
        verdicts, units = self.engine.verdicts, self.engine.view.units
        for lead in dict.fromkeys(map(units.lead, range(self.sent, self.engine.taken))):
            members = units.members(lead)
            found = [(seq, verdict) for seq in members if (verdict := verdicts.get(seq)) is not None]
            if min(members) < self.sent or any(verdict.kept is not None for _, verdict in found):
                continue
            for seq, verdict in found:
                if verdict.clipped or self._stands(lead, verdict):
                    self._commit(seq, verdict)

    def _stands(self, lead: int, verdict: Verdict) -> bool:
        """Whether the event at the end of the chain of witnesses is another one, and in the prompt."""
        seq, seen = verdict.witness, {lead}
        while self.engine.view.units.lead(seq) not in seen and not self._is_sweep(verdict):
            seen.add(self.engine.view.units.lead(seq))
            after = self.engine.verdicts.get(seq)
            if after is None or not after.cut:
                held = self.book.get(seq)
                return held is None or not held.cut
            seq, verdict = after.witness, after
        return False

    def _commit(self, seq: int, verdict: Verdict) -> None:
        before = self.book.get(seq - 1)
        seam = seq == self.sent and not verdict.clipped and before is not None and before.cut
        verdict = verdict._replace(seam=seam)
        if verdict.stage == self._evicts:
            self.evicted[seq] = verdict
        self._record(seq, verdict)

    # passes

    def _due(self, force: bool, cold: bool) -> str | None:
        budget, tokens = self.budget, self.tokens
        level = budget.level(tokens)
        if level == "ok":
            self.failed, self.unreachable, self.deferred = None, None, ""
        if force or self._returns:
            return "asked" if force else "needed"
        if not budget.auto:
            return None
        if level == "emergency" and self._is_worth_it(tokens):
            return "emergency"
        left = self.failed[1] if self.failed is not None and self.failed[0] == "compact" else 0
        if level == "compact" and self._waiting >= max(1, budget.gain) + left:
            return "compact"
        return "cold" if cold and budget.commit_when_cold and self._waiting else None

    def _is_worth_it(self, tokens: int) -> bool:
        """Not again what could not free enough, until enough has come that can be freed."""
        if self.failed is None or self.failed[0] != "emergency":
            return True
        more = self._waiting + self._plan().evictable - self.failed[1]
        return more >= max(1, self.budget.gain) or (tokens > self.budget.max_tokens and more > 0)

    def _pass(self, moment: str) -> None:
        before = self.tokens
        self._announce("compaction.started", {"level": self.budget.level(before), "tokens": before, "reason": moment})
        plan = self._plan()
        evicts = self.budget.level(max(before, plan.tokens) if plan.brings_back else before) == "emergency"
        if evicts:
            plan.evict()
        done = plan.told(moment, len(self.passes) + 1)
        if self._is_accepted(done):
            self._adopt(plan)
            self.failed = None
        elif moment == "emergency":
            done = done.undone()
            if self.passes and self.failed is not None and not self.passes[-1].gain:  # told already
                self.failed = "emergency", self._waiting + self._plan().evictable
                return
        else:
            self.failed = (moment, self._waiting) if moment == "compact" else self.failed
            self.unreachable = done.unreachable if evicts else self.unreachable
            return
        self.passes.append(done)
        self.deferred = ""
        self.unreachable = done.unreachable if evicts else None
        if self.unreachable is not None:
            self.failed = "emergency", self._waiting + self._plan().evictable
        if done.first_changed is not None:
            told = {"pass": done.to_dict(), "pruned_ids": list(done.pruned_ids)}
            tokens = {"tokens_before": done.tokens_before, "tokens_after": done.tokens_after}
            self._announce("compaction.committed", told | tokens)

    def _plan(self) -> Plan:
        return Plan(self, self.budget, self.correction, self.evicted)

    def _is_accepted(self, done: Pass) -> bool:
        """Never a pass that makes the prompt longer, unless it brings back what was asked for."""
        budget = self.budget
        if done.moment in ("asked", "needed", "cold"):
            self.deferred = "a pass would free nothing"
            return done.gain > 0 or (done.moment != "cold" and bool(done.restored_ids))
        if done.moment == "emergency":
            rescues = done.tokens_after <= budget.target_tokens or done.tokens_before > budget.max_tokens
            return done.gain >= max(1, budget.gain) or (done.gain > 0 and rescues)
        if done.gain < max(1, budget.gain):
            self.deferred = f"a pass would free {done.gain:,} tokens, less than min_gain {budget.gain:,}"
        elif not budget.pays(done.kept_after, done.gain):
            calls = "never" if done.break_even is None else f"after {done.break_even:.0f} calls"
            self.deferred = f"a pass would pay {calls}, and {budget.expected_calls} are expected"
        else:
            return True
        return False

    def _adopt(self, plan: Plan) -> None:
        self.evicted = plan.evicted
        self.book.become(plan.verdicts)
        self._waiting = 0
        self.follow(plan.prompt)


def live_of(engine: Engine, announce: Announce | None = None) -> Live:
    """What keeps the prompt of an engine: at once, or in passes where the policy has a budget."""
    budget = engine.policy.budget
    return Live(engine) if budget is None else Budgeted(engine, budget, announce)
