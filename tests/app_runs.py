"""Run a page of the inspector without a browser; nothing on it may have failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[1]


def run(script: str = "app.py", **query: Any) -> AppTest:
    """A page opened by a link with these query parameters."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    if script != "app.py":
        app.switch_page(script)
    for key, value in query.items():
        app.query_params[key] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    """The page, once it is sure that it shows no traceback."""
    assert not app.exception, [each.message for each in app.exception]
    return app
