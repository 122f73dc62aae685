"""What the components of the inspector are made of: files of this package, and the colours of the kinds of events."""

from __future__ import annotations

from importlib.resources import files

from .palette import KINDS


def source(name: str) -> str:
    """A file of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")


def swatches() -> str:
    """The colours of the kinds of events."""
    rule = ".kind.{} {{ background: light-dark({}, {}); }}"
    return "\n".join(rule.format(kind, paint.light_fill, paint.dark_fill) for kind, paint in KINDS.items())
