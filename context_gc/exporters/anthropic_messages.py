"""Anthropic Messages: the last request of each trace, as one object or one row a trace.

A trace of this format gives equal messages, system prompt and request; of any other the messages are valid and
say what was said, as far as the provider can be told (see `context_gc.messages`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..policy import Policy
from ..trace import Trace
from .conversations import write_requests
from .written import Written

name = "anthropic-messages"
holds_many = False


def write(traces: Sequence[Trace], as_lines: bool, policy: Policy | None = None) -> Written:
    """The conversations of any traces, compacted where a policy is given."""
    return write_requests(traces, name, as_lines, policy)
