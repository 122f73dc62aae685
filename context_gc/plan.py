"""Plan: one pass in the making. Works out what it would commit and what the prompt would be; changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .budget import Budget
from .compaction import Live
from .eviction import Candidate, Eviction
from .ledger import Ledger
from .passes import BudgetUnreachable, Pass, finite
from .prompt import Prompt
from .verdicts import Verdict

STUB_TOKENS = 8  #: about what a stub costs


class Plan:
    """All that the engine has found, and what earlier passes have evicted and nothing protects.

    `correction` is what the prompt's estimate lacks, in tokens.
    """

    def __init__(self, live: Live, budget: Budget, correction: int, evicted: Mapping[int, Verdict]) -> None:
        self._live, self._budget, self._correction = live, budget, correction
        self._engine, self._eviction_stage = live.engine, len(live.engine.stages)
        self.verdicts: dict[int, Verdict] = dict(live.engine.verdicts)
        units = self._engine.view.units
        for seq, verdict in evicted.items():
            known, unit = self.verdicts.get(seq), units.members(units.lead(seq))
            whole = verdict.clipped or all(place in evicted and not evicted[place].clipped for place in unit)
            if (known is None or not known.cut) and whole and self._engine.protected(seq) is None:
                self.verdicts[seq] = verdict._replace(seam=False)
        self._prompt: Prompt | None = None

    @property
    def prompt(self) -> Prompt:
        """The prompt as it would be."""
        if self._prompt is None:
            self._prompt = self._live.blank(Ledger(self._engine, self.verdicts))
            self._prompt.update(self._engine.taken, (), self.verdicts)
        return self._prompt

    @property
    def tokens(self) -> int:
        """Tokens of the prompt as it would be, corrected."""
        return max(0, self.prompt.tokens_after + self._correction)

    @property
    def evicted(self) -> dict[int, Verdict]:
        """What would be out, or shortened, although it is not dead."""
        return {seq: each for seq, each in self.verdicts.items() if each.stage == self._eviction_stage}

    @property
    def evictable(self) -> int:
        """Tokens of all that could still be evicted."""
        return sum(each.tokens for each in self._candidates() if not each.clip)

    @property
    def brings_back(self) -> bool:
        """Whether events would be in the prompt again that are out."""
        return not _out(self._live.book, self._live.prompt) <= _out(self.verdicts, self.prompt)

    def evict(self) -> None:
        """Take out what can be spared, in its order, until the prompt is down to the target."""
        waiting, at = self._candidates(), 0
        while at < len(waiting) and (excess := self.tokens - self._budget.target_tokens) > 0:
            while at < len(waiting) and excess > 0:
                excess -= self._take_out(waiting[at])
                at += 1
            self._prompt = None

    def _take_out(self, each: Candidate) -> int:
        freed = each.tokens
        if not each.clip and any(
            (known := self.verdicts.get(seq)) is not None and known.clipped for seq in each.places
        ):
            freed = sum(self.prompt.tokens(seq) for seq in each.places)  # it was shortened before
        for seq in each.places:
            self.verdicts[seq] = Verdict(self._eviction_stage, seq, clipped=each.clip)
        beside = (self.verdicts.get(seq) for seq in (each.places[0] - 1, each.places[-1] + 1))
        joins = any(known is not None and known.cut for known in beside)
        return freed - (0 if each.clip or joins else STUB_TOKENS)

    def _eviction(self) -> Eviction:
        recent = self._budget.recent_observations
        return Eviction(self._engine, self._live.meter, self.verdicts, self._budget.window, recent)

    def _candidates(self) -> list[Candidate]:
        return self._eviction().candidates(self._engine.policy.clip_over)

    def told(self, moment: str, number: int) -> Pass:
        """The pass, were it committed."""
        old, new, size = self._live.prompt, self.prompt, self._engine.taken
        before = max(0, old.tokens_after + self._correction)
        first = next((seq for seq in range(size) if old.slot(seq) != new.slot(seq)), size)
        kept = sum(new.tokens(seq) for seq in range(first, size))
        was, cut = _out(self._live.book, old), _out(self.verdicts, new)
        short = _short(self.verdicts).difference(_short(self._live.book))
        fresh = sorted(cut - was)
        return Pass(
            number=number,
            moment=moment,
            size=size,
            tokens_before=before,
            tokens_after=self.tokens,
            pruned_ids=self._ids(fresh),
            clipped_ids=self._ids(sorted(short)),
            evicted=sum(self.verdicts[seq].stage == self._eviction_stage for seq in fresh),
            restored_ids=self._ids(sorted(was - cut)),
            first_changed=self._engine.graph.events[first]["id"] if first < size else None,
            kept_after=kept,
            break_even=finite(self._budget.break_even(kept, before - self.tokens)),
            unreachable=self._unreachable(),
        )

    def _ids(self, places: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._engine.graph.events[seq]["id"] for seq in places)

    def _unreachable(self) -> BudgetUnreachable | None:
        target = self._budget.target_tokens
        if self.tokens <= target:
            return None
        holds = self._eviction().holds() | ({"overhead": self._correction} if self._correction > 0 else {})
        rest = self.tokens - sum(holds.values())
        if rest > 0:
            holds["stubs, and what only an emergency evicts"] = rest
        ordered = sorted(holds.items(), key=lambda each: (-each[1], each[0]))
        return BudgetUnreachable(self.tokens, target, tuple(each for each in ordered if each[1]))


def _out(verdicts: Mapping[int, Verdict], prompt: Prompt) -> set[int]:
    return {seq for seq, each in verdicts.items() if each.cut and seq not in prompt.shown}


def _short(verdicts: Mapping[int, Verdict]) -> set[int]:
    return {seq for seq, each in verdicts.items() if each.clipped and each.held is None}
