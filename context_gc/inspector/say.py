"""Say: figures and words as the inspector writes them; no streamlit."""

from __future__ import annotations


def tokens(count: int) -> str:
    """A count with thousands separators: 184,210."""
    return f"{count:,}"


def signed(change: int) -> str:
    """A change with its sign, a true minus: −4,603, +12, 0."""
    return f"+{change:,}" if change > 0 else f"−{-change:,}" if change else "0"


def brief(change: int) -> str:
    """A change in a few characters: −14.0k, +312, 0."""
    sign = "+" if change > 0 else "−" if change < 0 else ""
    size = abs(change)
    return sign + (f"{size:,}" if size < 1_000 else f"{size / 1_000:.1f}k" if size < 999_950 else f"{size / 1e6:.1f}M")


def share(part: float, whole: float) -> str:
    """A share in per cent with one decimal; 0.0 % of nothing."""
    return f"{100 * part / whole if whole else 0:.1f} %"


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 turn, 96 turns."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def words(stage: str) -> str:
    """A stage's name as people say it: dead branches."""
    return stage.replace("-", " ")
