"""Distributions of values: percentiles by linear interpolation, spread with n − 1, sums without rounding error."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any, ClassVar

from msgspec import Struct

from benchwright.core import JsonObject
from benchwright.perf._columns import compute as pc
from benchwright.stats import percentile

PERCENTILES = (1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9)


def percentile_key(percent: float) -> str:
    """
    >>> percentile_key(50.0), percentile_key(99.9)
    ('p50', 'p99.9')
    """
    return f"p{percent:g}"


_LEAST = {"p99": 100, "p99.9": 1000}
"""The fewest values for a percentile; with fewer, it lies between the two largest and tells no more than they do."""


class Distribution(Struct, frozen=True, kw_only=True):
    """The distribution of one metric, rounded as in files."""

    names: ClassVar[tuple[str, ...]] = ("n", "mean", "std", "min", *map(percentile_key, PERCENTILES), "max")
    """Names of the figures of a distribution in files, in order."""

    n: int
    mean: float
    std: float | None
    """Standard deviation with n − 1; None for a single value."""
    min: float
    max: float
    percentiles: dict[str, float]
    """`p1` to `p99.9`."""
    mean_ci95: tuple[float, float] | None = None
    """95 % interval of the mean; None: too few values."""
    p99_ci95: tuple[float, float] | None = None
    """95 % interval of the 99th percentile."""

    def to_json(self) -> JsonObject:
        """`{n, mean, std, min, p1 … p99.9, max, mean_ci95, p99_ci95}`."""
        return {
            **self.figures(),
            "mean_ci95": None if self.mean_ci95 is None else list(self.mean_ci95),
            "p99_ci95": None if self.p99_ci95 is None else list(self.p99_ci95),
        }

    def shown(self, key: str) -> float | None:
        """A mean, an extreme or a percentile, if there are enough values to show it."""
        return self.figures()[key] if Distribution.enough(self.n, key) else None

    def figures(self) -> dict[str, float | None]:
        """The figures by the names in `Distribution.names`."""
        known = self.percentiles
        return {name: known[name] if name in known else getattr(self, name) for name in Distribution.names}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Distribution:
        """Read the form of `to_json`."""
        names = [percentile_key(percent) for percent in PERCENTILES]
        return cls(
            n=stored["n"],
            mean=stored["mean"],
            std=stored["std"],
            min=stored["min"],
            max=stored["max"],
            percentiles={name: stored[name] for name in names},
            mean_ci95=None if stored.get("mean_ci95") is None else tuple(stored["mean_ci95"]),
            p99_ci95=None if stored.get("p99_ci95") is None else tuple(stored["p99_ci95"]),
        )

    @staticmethod
    def enough(count: int, key: str) -> bool:
        """Whether there are enough values for a figure of a distribution to be shown.

        >>> Distribution.enough(99, "p99"), Distribution.enough(99, "p50"), Distribution.enough(100, "p99")
        (False, True, True)
        """
        return count >= _LEAST.get(key, 1)


def numbers(values: Any) -> Sequence[float]:
    """A view of the memory of an Arrow array of doubles without nulls, without an object for each value."""
    import pyarrow as pa

    data = values.cast(pa.float64())
    if not len(data):
        return ()
    view = memoryview(data.buffers()[1]).cast("B")
    return view[8 * data.offset : 8 * (data.offset + len(data))].cast("d")


def mean_of(values: Any) -> float:
    """The mean of a non-empty Arrow array; the sum is exact before it is divided."""
    return fsum(numbers(values)) / len(values)


def describe(
    values: Any,
    ordered: Sequence[float],
    scale: float,
    digits: int,
    mean_ci: tuple[float, float] | None = None,
    p99_ci: tuple[float, float] | None = None,
) -> Distribution:
    """The distribution of a non-empty Arrow array without nulls; `ordered` are the sorted values."""

    def shown(value: float) -> float:
        return round(value * scale, digits)

    def interval(given: tuple[float, float] | None) -> tuple[float, float] | None:
        ends = None if given is None else (shown(given[0]), shown(given[1]))
        return None if ends is None or ends[0] == ends[1] else ends  # zero width does not mean certainty

    return Distribution(
        n=len(values),
        mean=shown(mean_of(values)),
        std=shown(pc.stddev(values, ddof=1).as_py()) if len(values) > 1 else None,
        min=shown(ordered[0]),
        max=shown(ordered[-1]),
        percentiles={percentile_key(percent): shown(percentile(ordered, percent)) for percent in PERCENTILES},
        mean_ci95=interval(mean_ci),
        p99_ci95=interval(p99_ci),
    )
