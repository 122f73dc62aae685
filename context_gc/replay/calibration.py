"""Calibration: how the estimate of a prompt and the provider's count of it belong together, where a trace has both."""

from __future__ import annotations

from dataclasses import dataclass

from .prompts import Replay

FEWEST = 5  #: reported calls below which nothing is fitted


@dataclass(frozen=True, slots=True)
class Calibration:
    """The provider's count is `scale` times the estimate, and `overhead` tokens that are in no event."""

    scale: float = 1.0
    overhead: float = 0.0
    calls: int = 0  #: reported calls that it was fitted to; 0 for none
    median_error: float | None = None  #: of one call's prompt, in 0..1
    p95_error: float | None = None

    def tokens(self, estimate: float) -> float:
        """What the provider would count for a prompt, system prompt and tool definitions included."""
        return max(0.0, self.scale * estimate + self.overhead)


def calibrate(full: Replay) -> Calibration:
    """Least squares over the calls of a replay of the full history that the provider reported.

    With fewer than five reports, or prompts that are all alike, nothing is fitted.
    """
    pairs = [
        (each.full, usage.input_tokens + usage.cache_read + usage.cache_write)
        for each in full.calls
        if (usage := each.call.usage) is not None and usage.input_tokens + usage.cache_read + usage.cache_write
    ]
    if len(pairs) < FEWEST:
        return Calibration()
    mean = sum(estimate for estimate, _ in pairs) / len(pairs), sum(true for _, true in pairs) / len(pairs)
    spread = sum((estimate - mean[0]) ** 2 for estimate, _ in pairs)
    if not spread:
        return Calibration()
    scale = sum((estimate - mean[0]) * (true - mean[1]) for estimate, true in pairs) / spread
    if scale <= 0:
        return Calibration()
    overhead = mean[1] - scale * mean[0]
    if overhead < 0:  # no prompt is shorter than its events
        squares = sum(estimate**2 for estimate, _ in pairs)
        scale, overhead = sum(estimate * true for estimate, true in pairs) / squares, 0.0
    fitted = Calibration(scale, overhead, len(pairs))
    errors = sorted(abs(fitted.tokens(estimate) - true) / true for estimate, true in pairs)
    at95 = errors[min(len(errors) - 1, int(0.95 * len(errors)))]
    return Calibration(fitted.scale, fitted.overhead, fitted.calls, errors[len(errors) // 2], at95)
