"""Replay: a recorded trace under another policy: each prompt, what it costs, what it lost, and what to ship."""

from .advice import Advice, recommend
from .calibration import calibrate
from .cost import bill, paybacks
from .grid import cells
from .prices import prices_of
from .prompts import Prompted, Replay, context_at, prompts, readings, replay
from .sweep import Row, prepare, sweep

__all__ = [
    "Advice", "Prompted", "Replay", "Row", "bill", "calibrate", "cells", "context_at", "paybacks", "prepare",
    "prices_of", "prompts", "readings", "recommend", "replay", "sweep",
]  # fmt: skip
