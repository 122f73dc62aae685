"""Tune: what the policy of the controls would have cost, saved and lost on this run, and which one to ship."""

from context_gc.inspector.frame import frame
from context_gc.inspector.tune_page import tune

frame("Tune", tune)
