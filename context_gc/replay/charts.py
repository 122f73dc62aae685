"""Charts as SVG text, for a report that is one file and is read offline. Colours come from the page's CSS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

WIDTH, HEIGHT = 760, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 12, 40
MOST_POINTS = 1_500  #: of one line; more are thinned out


class Point(NamedTuple):
    """A mark of a scatter plot. `kind` is its CSS class."""

    x: float
    y: float
    label: str
    kind: str


class Line(NamedTuple):
    """A line of a chart, y by x. `kind` is its CSS class."""

    points: Sequence[tuple[float, float]]
    label: str
    kind: str


def scatter(points: Sequence[Point], x_label: str, y_label: str, rules: Iterable[tuple[float, str]] = ()) -> str:
    """Marks with their labels as tooltips; `rules` are horizontal lines (y, label)."""
    marked = list(rules)
    frame = _Frame([p.x for p in points], [p.y for p in points] + [y for y, _ in marked], x_label, y_label, str, str)
    parts = [frame.rule(y, label) for y, label in marked]
    for point in points:
        x, y = frame.place(point.x, point.y)
        told = f"<title>{escape(point.label)}</title>"
        parts.append(f'<circle class="{point.kind}" cx="{x:.1f}" cy="{y:.1f}" r="5" tabindex="0">{told}</circle>')
    return frame.svg(parts)


def lines(
    given: Sequence[Line], x_label: str, y_label: str, rules: Iterable[tuple[float, str]] = (),
    marks: Iterable[tuple[float, str]] = (),
) -> str:  # fmt: skip
    """Lines with a legend; `rules` are horizontal lines (y, label), `marks` vertical ones (x, label)."""
    marked = list(rules)
    xs = [x for line in given for x, _ in line.points]
    ys = [0.0, *(y for line in given for _, y in line.points), *(y for y, _ in marked)]
    frame = _Frame(xs, ys, x_label, y_label, _count, _count)
    parts = [frame.rule(y, label) for y, label in marked]
    parts += [frame.mark(x, label) for x, label in marks]
    for line in given:
        step = ceil(len(line.points) / MOST_POINTS) if line.points else 1
        path = " ".join("{:.1f},{:.1f}".format(*frame.place(x, y)) for x, y in line.points[::step])
        parts.append(f'<polyline class="{line.kind}" points="{path}"><title>{escape(line.label)}</title></polyline>')
    legend = "".join(f'<span class="{line.kind}">{escape(line.label)}</span>' for line in given)
    return f'<figure>{frame.svg(parts)}<figcaption class="legend">{legend}</figcaption></figure>'


class _Frame:
    def __init__(
        self, xs: Sequence[float], ys: Sequence[float], x_label: str, y_label: str,
        x_text: Callable[[float], str], y_text: Callable[[float], str],
    ) -> None:  # fmt: skip
        self._x, self._y = _scale(xs), _scale(ys)
        self._labels = x_label, y_label
        self._texts = x_text, y_text

    def place(self, x: float, y: float) -> tuple[float, float]:
        (x0, x1, _), (y0, y1, _) = self._x, self._y
        across = LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)

    def rule(self, y: float, label: str) -> str:
        _, at = self.place(self._x[0], y)
        text = f'<text class="rule" x="{WIDTH - RIGHT}" y="{at - 4:.1f}" text-anchor="end">{escape(label)}</text>'
        return f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>{text}'

    def mark(self, x: float, label: str) -> str:
        at, _ = self.place(x, self._y[0])
        ends = f'x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"'
        return f'<line class="mark" {ends}><title>{escape(label)}</title></line>'

    def svg(self, parts: Iterable[str]) -> str:
        axes = []
        for value in _ticks(self._y):
            _, y = self.place(self._x[0], value)
            axes.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            text = escape(self._texts[1](value))
            axes.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        for value in _ticks(self._x):
            x, _ = self.place(value, self._y[0])
            text = escape(self._texts[0](value))
            axes.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{text}</text>')
        x_label, y_label = map(escape, self._labels)
        middle = (LEFT + WIDTH - RIGHT) / 2
        axes.append(f'<text class="label" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">{x_label}</text>')
        turned = f'transform="translate(12 {(HEIGHT - BOTTOM) / 2}) rotate(-90)"'
        axes.append(f'<text class="label" {turned} text-anchor="middle">{y_label}</text>')
        title = f"{y_label} by {x_label}"
        inner = "".join([*axes, *parts])
        return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">{inner}</svg>'


def _scale(values: Sequence[float]) -> tuple[float, float, float]:
    """The lowest and the highest value shown, and the step between ticks."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    spread = (high - low) or abs(high) or 1.0
    rough = spread / 5
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return floor(low / step) * step, ceil(high / step + 1e-9) * step, step


def _ticks(scale: tuple[float, float, float]) -> list[float]:
    low, high, step = scale
    return [round(low + step * n, 10) for n in range(round((high - low) / step) + 1)]


def _count(value: float) -> str:
    return f"{value / 1_000:,.0f}k" if abs(value) >= 10_000 else f"{value:,.0f}"
