"""context-gc: cut exactly what is dead in an agent's context, and leave a receipt for everything that was cut."""

from .compaction import Compaction
from .compactor import ContextGC, compact_events
from .decision import Decision
from .errors import (
    AmbiguousFormat,
    ContextGCError,
    DuplicateEvent,
    InvalidEvent,
    InvalidPolicy,
    NotPruned,
    TraceError,
    UnknownFormat,
    UnknownParent,
    UnknownReceipt,
)
from .events import EVENT_TYPES, validate_event
from .explain import Explanation
from .graph import Edge, StateGraph
from .load import load_trace, load_traces
from .middleware import ContextGCMiddleware
from .policy import Policy
from .receipts import Receipt, expand_receipt, get_receipt, receipt_of
from .tokens import Counter
from .trace import Problem, Trace, Usage, Window

__all__ = [
    "EVENT_TYPES",
    "AmbiguousFormat",
    "Compaction",
    "ContextGC",
    "ContextGCError",
    "ContextGCMiddleware",
    "Counter",
    "Decision",
    "DuplicateEvent",
    "Edge",
    "Explanation",
    "InvalidEvent",
    "InvalidPolicy",
    "NotPruned",
    "Policy",
    "Problem",
    "Receipt",
    "StateGraph",
    "Trace",
    "TraceError",
    "UnknownFormat",
    "UnknownParent",
    "UnknownReceipt",
    "Usage",
    "Window",
    "compact_events",
    "expand_receipt",
    "get_receipt",
    "load_trace",
    "load_traces",
    "receipt_of",
    "validate_event",
]
