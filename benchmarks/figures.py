"""A measured figure, what it is held against, and whether it is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report."""

    name: str
    """What was measured."""
    ours: str
    """benchwright's side, with its unit."""
    other: str
    """The other side, with its name and unit; empty when there is none."""
    value: float
    """What is judged: a ratio, a share or an amount."""
    unit: str
    """Unit of `value` and of `wanted`."""
    wanted: float | None = None
    """The figure to meet; None: for information."""
    at_least: bool = True
    """Whether `value` must be at least or at most `wanted`."""
    note: str = ""
    """What a reader must know to trust the figure: rows, repeats, spread."""

    @property
    def verdict(self) -> str:
        """PASS, MISS, or nothing for information."""
        if self.wanted is None:
            return ""
        met = self.value >= self.wanted if self.at_least else self.value <= self.wanted
        return "PASS" if met else "MISS"

    @property
    def target(self) -> str:
        """The figure to meet, in words."""
        if self.wanted is None:
            return ""
        return f"{'≥' if self.at_least else '≤'} {self.wanted:g} {self.unit}"


@dataclass(frozen=True, slots=True)
class Series:
    """The same measurement, repeated."""

    values: tuple[float, ...]
    """In the order they were taken."""

    @property
    def middle(self) -> float:
        """The median: one disturbed round does not move it."""
        return median(self.values)

    @property
    def spread(self) -> str:
        """Smallest and largest, for the reader."""
        return f"{shown(min(self.values))}…{shown(max(self.values))}"


def series(values: Sequence[float]) -> Series:
    """A series of at least one value."""
    return Series(tuple(values))


def shown(value: float) -> str:
    """A number with about three significant digits."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
