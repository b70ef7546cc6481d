"""The statistics of one metric."""

from __future__ import annotations

from msgspec import Struct

from benchwright.stats._intervals import FEWEST, Interval


class ScoreSummary(Struct, frozen=True):
    """The statistics of one metric."""

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
    ci_low: float | None
    """Lower end of the 95 % interval; None: too few rows to give one."""
    ci_high: float | None
    """Upper end of the 95 % interval."""
    min: float
    """Smallest value."""
    max: float
    """Largest value."""
    clusters: int
    """Distinct samples."""
    interval: Interval
    """How the interval was made. `wilson`: Wilson's score interval, for zeros and ones. `bounded`: a score interval for
    other values from 0 to 1. `clustered`: the same for rows with several values. `normal`: for values beyond 0..1.
    `none`: there is no basis for one."""

    @property
    def too_few(self) -> bool:
        """Whether the rows are too few to rely on the interval."""
        return self.clusters < FEWEST
