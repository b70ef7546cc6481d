"""The timeline of a load test's page: one line for each request."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from msgspec import Struct

from benchwright.reports.html.charts import Axis, tick_text
from benchwright.results import ChartLine

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 1000, 76, 14, 8, 52
_PARTS = ("wait", "prefill", "decode", "lost")


class Timeline(Struct, frozen=True):
    """Lines of requests on one axis."""

    title: str
    note: str
    lines: tuple[ChartLine, ...]
    x: Axis

    @property
    def svg(self) -> str:
        """The drawing."""
        return _svg(self.lines, self.x)

    @property
    def hover(self) -> str:
        """The texts that the script shows next to the nearest line."""
        row = _row_height(len(self.lines))
        points = [[round(_TOP + (place + 0.5) * row, 1), _tip(line)] for place, line in enumerate(self.lines)]
        return orjson.dumps({"along": "y", "points": points}).decode()


def timeline_axis(lines: Sequence[ChartLine]) -> Axis:
    """From the first plan or send to the last end."""
    start = min(line.sent if line.planned is None else min(line.planned, line.sent) for line in lines)
    return Axis(start, max(max(line.ended for line in lines), start + 1e-6), "seconds of the test")


def _svg(lines: Sequence[ChartLine], x: Axis) -> str:
    """Draw each request in parts: waiting in the client (grey), until the first token, and until the end. Failed requests
    are red."""
    row = _row_height(len(lines))
    height = _TOP + len(lines) * row + _BOTTOM
    paths: dict[str, list[str]] = {part: [] for part in _PARTS}
    for place, line in enumerate(lines):
        y = f"{_TOP + (place + 0.5) * row:.1f}"
        for part, start, end in _parts(line):
            a, b = _px(x, start), _px(x, end)
            if b - a >= 0.2 or part != "wait":
                paths[part].append(f"M{a:.1f} {y}H{max(b, a + 0.8):.1f}")
    floor_y = height - _BOTTOM
    found = [f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="timeline of requests">']
    for tick in x.ticks(8):
        at = _px(x, tick)
        found.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{floor_y:.1f}"/>')
        found.append(
            f'<text class="below" x="{at:.1f}" y="{floor_y + 18:.1f}" text-anchor="middle">{tick_text(tick)}</text>'
        )
    stroke = max(0.8, min(6.0, 0.7 * row))
    found += [
        f'<path class="{part}" stroke-width="{stroke:.1f}" d="{"".join(paths[part])}"/>'
        for part in _PARTS
        if paths[part]
    ]
    found.append(
        f'<text class="axis" x="{_WIDTH / 2:.0f}" y="{height - 8:.0f}" text-anchor="middle">{x.title}</text>'
    )
    found.append(f'<line class="guide" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="0" y2="0" hidden=""/></svg>')
    return "".join(found)


def _tip(line: ChartLine) -> str:
    texts = [f"request {line.number}, {line.label}" + ("" if line.phase == "measured" else f", {line.phase}")]
    texts.append(f"sent at {line.sent:,.3f} s")
    if line.planned is not None and line.sent - line.planned >= 0.0005:
        texts.append(f"waited {1000 * (line.sent - line.planned):,.1f} ms in the client")
    if line.outcome != "ok":
        texts.append(f"{line.outcome} after {1000 * (line.ended - line.sent):,.1f} ms")
        return "\n".join(texts)
    if line.first_token is not None:
        texts.append(f"first token after {1000 * (line.first_token - line.sent):,.1f} ms")
    texts.append(f"end after {1000 * (line.ended - line.sent):,.1f} ms")
    return "\n".join(texts)


def _parts(line: ChartLine) -> list[tuple[str, float, float]]:
    found = []
    if line.planned is not None and line.planned < line.sent:
        found.append(("wait", line.planned, line.sent))
    if line.outcome != "ok":
        return [*found, ("lost", line.sent, line.ended)]
    if line.first_token is None:
        return [*found, ("decode", line.sent, line.ended)]
    return [*found, ("prefill", line.sent, line.first_token), ("decode", line.first_token, line.ended)]


def _row_height(lines: int) -> float:
    return max(1.9, min(14.0, 420 / max(1, lines)))


def _px(x: Axis, value: float) -> float:
    return _LEFT + max(0.0, min(1.0, x.place(value))) * (_WIDTH - _LEFT - _RIGHT)
