"""context-gc: cut exactly what is dead in an agent's context, and leave a receipt for everything that was cut."""

from .budget import Budget
from .compact_messages import CompactedMessages, MessagesClient, compact_messages
from .compaction import Compaction
from .compactor import ContextGC, compact_events
from .context import CompactionResult, ContextCompactor
from .context_bus import ContextBus
from .context_pack import ContextPack
from .decision import Decision
from .errors import (
    AmbiguousFormat,
    ContextGCError,
    DuplicateEvent,
    InvalidContext,
    InvalidEvent,
    InvalidMessages,
    InvalidPolicy,
    MissingExtra,
    NotPruned,
    PackError,
    SessionError,
    StoreError,
    TraceError,
    UnknownFormat,
    UnknownParent,
    UnknownReceipt,
)
from .events import EVENT_TYPES, validate_event
from .explain import Explanation
from .graph import Edge, StateGraph
from .load import load_trace, load_traces
from .middleware import (
    AnswerStream,
    ContextGCMiddleware,
    Metrics,
    ModelAnswer,
    ToolCall,
    answer_receipt_call,
    call_anthropic_with_compaction,
    call_openai_with_compaction,
    receipt_tool,
)
from .passes import BudgetState, BudgetUnreachable, Pass
from .policy import Policy
from .receipt_store import ReceiptStore
from .receipts import Receipt, expand_receipt, get_receipt, receipt_of
from .run_log import RunLog
from .session import Session
from .timeline import Timeline, timeline
from .tokens import Counter
from .trace import Problem, Trace, Usage, Window

__all__ = [
    "EVENT_TYPES",
    "AmbiguousFormat",
    "AnswerStream",
    "Budget",
    "BudgetState",
    "BudgetUnreachable",
    "CompactedMessages",
    "Compaction",
    "CompactionResult",
    "ContextBus",
    "ContextCompactor",
    "ContextGC",
    "ContextGCError",
    "ContextGCMiddleware",
    "ContextPack",
    "Counter",
    "Decision",
    "DuplicateEvent",
    "Edge",
    "Explanation",
    "InvalidContext",
    "InvalidEvent",
    "InvalidMessages",
    "InvalidPolicy",
    "MessagesClient",
    "Metrics",
    "MissingExtra",
    "ModelAnswer",
    "NotPruned",
    "PackError",
    "Pass",
    "Policy",
    "Problem",
    "Receipt",
    "ReceiptStore",
    "RunLog",
    "Session",
    "SessionError",
    "StateGraph",
    "StoreError",
    "Timeline",
    "ToolCall",
    "Trace",
    "TraceError",
    "UnknownFormat",
    "UnknownParent",
    "UnknownReceipt",
    "Usage",
    "Window",
    "answer_receipt_call",
    "call_anthropic_with_compaction",
    "call_openai_with_compaction",
    "compact_events",
    "compact_messages",
    "expand_receipt",
    "get_receipt",
    "load_trace",
    "load_traces",
    "receipt_of",
    "receipt_tool",
    "timeline",
    "validate_event",
]
