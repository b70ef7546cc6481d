"""Draws charts as inline SVG, so that a page needs no library and no network. A small script shows values on hover."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import Literal, TypeAlias

import orjson
from msgspec import Struct

Point: TypeAlias = tuple[float, float]


class Axis(Struct, frozen=True):
    """The range and title of an axis."""

    low: float
    high: float
    title: str = ""
    log: bool = False
    percent: bool = False

    def place(self, value: float) -> float:
        """The position of a value, from 0 to 1."""
        if self.log:
            low, high = log10(self.low), log10(self.high)
            return (log10(max(value, self.low)) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 5) -> list[float]:
        """Round values within the range."""
        if self.log:
            return _log_ticks(self.low, self.high, most)
        span = self.high - self.low
        rough = span / most
        unit = 10.0 ** floor(log10(rough))
        step = next(unit * nice for nice in (1, 2, 2.5, 5, 10) if unit * nice >= rough)
        first = ceil(self.low / step - 1e-9)
        return [step * each for each in range(first, floor(self.high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [digit * 10.0**power for power in decades for digit in digits]
        found = [tick for tick in found if low * 0.999 <= tick <= high * 1.001]
        if len(found) <= most + 1:
            return found
    return found[:: ceil(len(found) / most)]


def axis_for(values: Sequence[float], title: str, *, zero: bool = True, log: bool = False) -> Axis:
    """An axis that contains the values, with some space above."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if log and low > 0 and high > low:
        return Axis(low * 0.97, high * 1.03, title, log=True)
    if not zero and high - low < 1e-3 * abs(
        high
    ):  # equal but for the noise of the clock, which needs no axis of its own
        zero = True
    low = min(0.0, low) if zero else low - 0.04 * (high - low)
    room = (high - low) or abs(high) or 1.0
    return Axis(low, high + 0.06 * room, title)


def tick_text(value: float) -> str:
    """A round value in few characters.

    >>> tick_text(0.25), tick_text(20.0), tick_text(25000.0), tick_text(3e6)
    ('0.25', '20', '25k', '3M')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.6g}{letter}"
    return f"{value:.6g}"


class Series(Struct, frozen=True):
    """One curve."""

    name: str
    points: tuple[Point, ...]
    colour: int = 0
    """Index of a colour of the page."""
    kind: Literal["line", "step", "area", "dots"] = "line"
    dashed: bool = False
    labels: tuple[str, ...] = ()
    """Texts next to dots."""


class Tip(Struct, frozen=True):
    """The text shown near a place of a chart."""

    at: float
    """Its value on the axis along which the nearest tip is searched."""
    text: str


class Chart(Struct, frozen=True, kw_only=True):
    """A chart with its axes."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    tips: tuple[Tip, ...] = ()
    along: Literal["x", "y"] = "x"
    """The axis along which tips are searched."""
    wide: bool = False
    note: str = ""
    marks: tuple[tuple[float, str], ...] = ()
    """Vertical lines with texts."""
    limits: tuple[tuple[float, str], ...] = ()
    """Limits with texts, as lines across the axis that they are on: vertical if tips are searched along y. Those beyond the axis are
    left out."""
    legend: bool = True

    @property
    def svg(self) -> str:
        """The drawing; every text in it is escaped."""
        return _Drawing(self).text()

    @property
    def hover(self) -> str:
        """The data for the script, as JSON that is safe in an HTML attribute."""
        drawing = _Drawing(self)
        place = drawing.px if self.along == "x" else drawing.py
        points = [[round(place(tip.at), 1), tip.text] for tip in self.tips]
        return orjson.dumps({"along": self.along, "points": points}).decode()


class _Drawing:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.width, self.height = (1000, 300) if chart.wide else (480, 280)
        self.left, self.right, self.top, self.bottom = (76, 14, 18, 52) if chart.wide else (64, 14, 18, 48)

    def px(self, value: float) -> float:
        return self.left + self.chart.x.place(value) * (self.width - self.left - self.right)

    def py(self, value: float) -> float:
        return self.height - self.bottom - self.chart.y.place(value) * (self.height - self.top - self.bottom)

    def text(self) -> str:
        chart = self.chart
        parts = [
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(chart.title)}">',
            *self._grid(),
            *self._marks(),
            *(part for series in chart.series for part in self._series(series)),
            *self._limits(),
            f'<line class="guide" x1="{self.left}" x2="{self.left}" y1="{self.top}" y2="{self.height - self.bottom}" hidden=""/>'
            if chart.along == "x"
            else f'<line class="guide" x1="{self.left}" x2="{self.width - self.right}" y1="{self.top}" y2="{self.top}" hidden=""/>',
            "</svg>",
        ]
        return "".join(parts)

    def _grid(self) -> list[str]:
        chart, right, floor_y = self.chart, self.width - self.right, self.height - self.bottom
        found = []
        for tick in chart.y.ticks():
            y = self.py(tick)
            label = f"{tick_text(tick)} %" if chart.y.percent else tick_text(tick)
            found.append(f'<line class="grid" x1="{self.left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            found.append(f'<text x="{self.left - 8}" y="{y:.1f}" dy=".35em" text-anchor="end">{label}</text>')
        for tick in chart.x.ticks(8 if chart.wide else 5):
            x = self.px(tick)
            found.append(f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{floor_y}" y2="{floor_y + 4}"/>')
            found.append(
                f'<text class="below" x="{x:.1f}" y="{floor_y + 18}" text-anchor="middle">{tick_text(tick)}</text>'
            )
        middle = (self.left + right) / 2
        found.append(f'<line class="base" x1="{self.left}" x2="{right}" y1="{floor_y}" y2="{floor_y}"/>')
        found.append(
            f'<text class="axis" x="{middle:.0f}" y="{self.height - 8}" text-anchor="middle">{escape(chart.x.title)}</text>'
        )
        return found

    def _marks(self) -> list[str]:
        found: list[str] = []
        free = 0.0  # where the last text ends, by a rough width of letters
        for value, text in self.chart.marks:
            x = self.px(value)
            found.append(
                f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{self.top}" y2="{self.height - self.bottom}"/>'
            )
            if x >= free and x + 8 * len(text) < self.width:
                found.append(f'<text class="axis" x="{x + 4:.1f}" y="{self.top - 5}">{escape(text)}</text>')
                free = x + 8 * len(text) + 8
        return found

    def _limits(self) -> list[str]:
        found: list[str] = []
        left, right, top, floor_y = self.left, self.width - self.right, self.top, self.height - self.bottom
        axis = self.chart.x if self.chart.along == "y" else self.chart.y
        for value, text in self.chart.limits:
            if not axis.low <= value <= axis.high:
                continue
            if self.chart.along == "y":
                x = self.px(value)
                side, at = ("end", x - 5) if x > (left + right) / 2 else ("start", x + 5)
                found.append(f'<line class="limit" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{floor_y}"/>')
                found.append(
                    f'<text class="limit" x="{at:.1f}" y="{floor_y - 8}" text-anchor="{side}">{escape(text)}</text>'
                )
            else:
                y = self.py(value)
                found.append(f'<line class="limit" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
                found.append(
                    f'<text class="limit" x="{right - 4}" y="{y - 5:.1f}" text-anchor="end">{escape(text)}</text>'
                )
        return found

    def _series(self, series: Series) -> list[str]:
        if not series.points:
            return []
        places = [(self.px(x), self.py(y)) for x, y in series.points]
        style = f"s{series.colour % 8}{' dashed' if series.dashed else ''}"
        if series.kind == "dots":
            return self._dots(series, places, style)
        path = _path(places, step=series.kind in ("step", "area"))
        if series.kind == "area":
            base = self.py(max(0.0, self.chart.y.low))
            closed = f"{path}V{base:.1f}H{places[0][0]:.1f}Z"
            return [f'<path class="area {style}" d="{closed}"/>']
        return [f'<path class="curve {style}" d="{path}"/>']

    def _dots(self, series: Series, places: Sequence[Point], style: str) -> list[str]:
        found = [f'<path class="curve {style}" d="{_path(places)}"/>']
        taken: Point | None = None
        for place, (x, y) in enumerate(places):
            found.append(f'<circle class="dot {style}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
            crowded = taken is not None and abs(x - taken[0]) < 26 and abs(y - taken[1]) < 18
            if place < len(series.labels) and not crowded:
                label = escape(series.labels[place])
                found.append(
                    f'<text class="label" text-anchor="end" x="{x - 5:.1f}" y="{y - 8:.1f}">{label}</text>'
                )
                taken = (x, y)
        return found


def _path(places: Sequence[Point], *, step: bool = False) -> str:
    """The path through points. Neighbours less than half a unit apart are merged."""
    parts = [f"M{places[0][0]:.1f} {places[0][1]:.1f}"]
    last = places[0]
    for x, y in places[1:]:
        if abs(x - last[0]) < 0.5 and abs(y - last[1]) < 0.5:
            continue
        parts.append(f"H{x:.1f}V{y:.1f}" if step else f"L{x:.1f} {y:.1f}")
        last = (x, y)
    return "".join(parts)
