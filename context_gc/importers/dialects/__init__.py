"""Dialects: chat messages, and payloads of model calls, as anyone writes them -> one form."""
