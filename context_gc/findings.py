"""Findings: what one stage says about which event, and what rests on what."""

from __future__ import annotations


class Findings:
    """One stage's findings by place. Counts them by unit, and the events that serve as witness."""

    def __init__(self) -> None:
        self.witness: dict[int, int] = {}  #: place -> place of the event that makes cutting it safe
        self.units: dict[int, int] = {}  #: lead -> findings in its unit
        self.needed: dict[int, int] = {}  #: witness -> findings that rest on it

    def __contains__(self, seq: int) -> bool:
        return seq in self.witness

    def add(self, seq: int, witness: int, lead: int) -> None:
        """Note a finding about an event that has none."""
        self.witness[seq] = witness
        self.units[lead] = self.units.get(lead, 0) + 1
        if witness != seq:
            self.needed[witness] = self.needed.get(witness, 0) + 1

    def remove(self, seq: int, lead: int) -> int:
        """Take a finding back; gives its witness."""
        witness = self.witness.pop(seq)
        self.units[lead] -= 1
        if not self.units[lead]:
            del self.units[lead]
        if witness != seq:
            self.needed[witness] -= 1
        return witness

    def join(self, seq: int, lead: int) -> None:
        """An event that was its own unit is now part of another one."""
        if seq in self.units:
            self.units[lead] = self.units.get(lead, 0) + self.units.pop(seq)
