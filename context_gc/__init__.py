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
from .policy import Policy
from .receipts import Receipt, expand_receipt, get_receipt, receipt_of
