"""Replay: a recorded trace under another policy: each prompt, what it costs, and what it lost."""

from .prompts import Prompted, Replay, context_at, prompts, readings, replay

__all__ = ["Prompted", "Replay", "context_at", "prompts", "readings", "replay"]
