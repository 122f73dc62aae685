"""Middleware: compaction between an agent and its model, with receipts as a tool that the model can call."""

from __future__ import annotations

from .answers import AnswerStream, Metrics, ModelAnswer, ToolCall
from .anthropic_calls import call_anthropic_with_compaction
from .openai_calls import call_openai_with_compaction
from .receipt_tool import RECEIPT_TOOL, answer_receipt_call, receipt_tool
from .wrapped import ContextGCMiddleware

__all__ = [
    "RECEIPT_TOOL",
    "AnswerStream",
    "ContextGCMiddleware",
    "Metrics",
    "ModelAnswer",
    "ToolCall",
    "answer_receipt_call",
    "call_anthropic_with_compaction",
    "call_openai_with_compaction",
    "receipt_tool",
]
