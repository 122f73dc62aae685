"""Edits: what compaction changes in the prompt, known from the decisions; no text is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .compaction import Compaction
from .render import line


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of the prompt: kept (sign " "), cut ("-"), put in its place ("+"), or a gap ("@")."""

    sign: str
    text: str
    event_id: str


def edit_script(result: Compaction, context: int | None = None) -> Iterator[Edit]:
    """From the full history to the prompt, in trace order. `context`: how many kept events to show around
    a change (default: all); what is left out is a gap that counts them."""
    waiting: list[Edit] = []
    after = 0 if context is not None else len(result.events)
    for edit in _whole_script(result):
        if edit.sign != " ":
            yield from _with_gap(waiting, context)
            waiting, after = [], context if context is not None else after
            yield edit
        elif after > 0:
            after -= 1
            yield edit
        else:
            waiting.append(edit)
    if waiting:
        yield from _with_gap(waiting, 0)


def _whole_script(result: Compaction) -> Iterator[Edit]:
    prompt = result.layout
    for seq, event in enumerate(result.events):
        name, before, now = event["id"], line(event), prompt.slot(seq)
        if now == before or (now is None and not before):
            if before:
                yield Edit(" ", before, name)
            continue
        if before:
            yield Edit("-", before, name)
        if now is not None:
            yield Edit("+", now, name)


def _with_gap(waiting: list[Edit], context: int | None) -> Iterator[Edit]:
    shown = waiting[len(waiting) - context :] if context else []
    hidden = len(waiting) - len(shown)
    if hidden:
        yield Edit("@", f"@ {hidden:,} unchanged event{'s' if hidden != 1 else ''} @@", waiting[0].event_id)
    yield from shown
