"""What can be said about one metric: the value that leaves this room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """What can be said about one metric."""

    count: int
    """Values seen: samples × repeats that have the metric."""
    mean: float
    """Their mean; exactly k/n when k of n values are 1 and the rest 0."""
    stddev: float
    """Population standard deviation (divided by n)."""
    stderr: float
    """stddev / √n: the documented figure, which takes repeats for independent."""
    sample_stderr: float
    """Standard error of the mean with n-1; with repeats, by samples instead of values. 0.0 for one sample."""
    ci_low: float
    """Lower end of the 95 % interval. For one sample without 0/1 values the interval is just the value."""
    ci_high: float
    """Upper end of the 95 % interval."""
    min: float
    """Smallest value."""
    max: float
    """Largest value."""
    clusters: int
    """Distinct samples."""
    interval: Literal["wilson", "normal", "clustered"]
    """How the interval was made. `wilson`: Wilson's score interval, for 0/1 values (by samples, where the
    equally many repeats of each always agree, or all samples have the same share). `normal`: mean ± t·sample_stderr. `clustered`: the same with
    the standard error by samples, cut to 0..1 for 0/1 values. t is Student's, with clusters - 1 degrees."""
