"""Token reports in the form of litellm: of one model call, or running totals of a whole session."""

from __future__ import annotations

from typing import Any

from .recorder import Recorder

Tokens = tuple[int, int, int, int]  #: plain input, output, read from the cache, written to it

_NONE = (0, 0, 0, 0)


def of_call(report: Any) -> Tokens:
    """What was used by one call; zeros where the report says nothing. Prompt counts include cached tokens there."""
    if type(report) is not dict:
        return _NONE
    details: dict[str, Any] = next((report[key] for key in _DETAILS if type(report.get(key)) is dict), {})
    read = _count(report, "cache_read_input_tokens", "prompt_cache_hit_tokens") or _count(details, "cached_tokens")
    written = _count(report, "cache_creation_input_tokens") or _count(details, "cache_creation_tokens")
    prompt = _count(report, "prompt_tokens", "input_tokens")
    return max(prompt - read - written, 0), _count(report, "completion_tokens", "output_tokens"), read, written


class RunningTotals:
    """Turns totals that grow from report to report into what each model call used."""

    def __init__(self) -> None:
        self._last = _NONE  # prompt, output, read, written

    def take(self, totals: Any) -> Tokens:
        """What the call before this report used; zeros when there was none, or when it was several calls at once.

        `per_turn_token`, the size of the last call, tells one from several.
        """
        if type(totals) is not dict:
            return _NONE
        keys = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
        now = tuple(_count(totals, key) for key in keys)
        prompt, output, read, written = (new - old for new, old in zip(now, self._last, strict=True))
        self._last = now[0], now[1], now[2], now[3]
        if min(prompt, output, read, written) < 0 or prompt + output != _count(totals, "per_turn_token"):
            return _NONE
        return max(prompt - read - written, 0), output, read, written


class Laid:
    """Lays what a response used on the last of its events."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._held: tuple[str, int, Tokens] | None = None  # response, its last event so far, what it used

    def lay(self, response: str, place: int, used: Tokens) -> bool:
        """An event of a response; False when it is a further one, and what was used is known already."""
        if self._held and response and self._held[0] == response:
            self._held = response, place, self._held[2]
            return False
        self.settle()
        self._held = response, place, used
        return True

    def settle(self) -> None:
        """No more events of that response come."""
        if self._held:
            self._recorder.used(self._held[1], *self._held[2])
        self._held = None


_DETAILS = ("prompt_tokens_details", "input_tokens_details")


def _count(holder: dict[str, Any], *keys: str) -> int:
    values = (holder.get(key) for key in keys)
    return next((value for value in values if type(value) is int and value > 0), 0)
