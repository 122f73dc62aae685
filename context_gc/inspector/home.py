"""Home: the folder that holds app.py, pages/ and sample_traces/, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

#: (script below the home folder, title); the order of the links in the sidebar, which leaves out what is not there
PAGES = (
    ("app.py", "Overview"),
    ("pages/graph.py", "Graph"),
    ("pages/diff.py", "Diff"),
    ("pages/receipts.py", "Receipts"),
    ("pages/replay.py", "Replay"),
    ("pages/tune.py", "Tune"),
    ("pages/compare.py", "Compare"),
    ("pages/sessions.py", "Sessions"),
)

_INSIDE = Path(__file__).parent / "site"
HOME = _INSIDE if _INSIDE.is_dir() else Path(__file__).parents[2]
SAMPLES = HOME / "sample_traces"
