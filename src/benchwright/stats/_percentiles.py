"""Percentiles of ordered values."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(ordered: Sequence[float], percent: float) -> float:
    """A percentile by linear interpolation between the two nearest ordered values.

    >>> percentile([1.0, 2.0, 4.0], 75)
    3.0
    """
    place = (len(ordered) - 1) * percent / 100
    below = int(place)
    low = ordered[below]
    return low if below + 1 == len(ordered) else low + (place - below) * (ordered[below + 1] - low)
