"""Overview: where the tokens of a trace go, and which of them are dead."""

from context_gc.inspector.frame import frame

inspected = frame("Overview")
