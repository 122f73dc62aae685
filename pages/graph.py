"""Graph: every event of a window, what became of it and why."""

from context_gc.inspector.frame import frame

inspected = frame("Graph")
