"""Which of a run's metrics stands for it in one figure, whether that figure is a share, and which intervals are rough."""

from __future__ import annotations

from benchwright.core import MetricSummary, RunSummary
from benchwright.stats import FEWEST

_USUAL = ("accuracy", "correct", "acc", "normalised_exact", "exact_match", "score")
"""What people look for first, where the benchmark does not say."""


def headline_of(summary: RunSummary) -> str | None:
    """The benchmark's own, else one of the usual names, else the first; None without metrics."""
    metrics = summary.metrics
    for name in (summary.headline, *_USUAL):
        if name is not None and name in metrics:
            return name
    return next(iter(metrics), None)


def is_share(metric: MetricSummary) -> bool:
    """Whether all values lie from 0 to 1, so that a mean can be told in percent."""
    return metric.min >= 0.0 and metric.max <= 1.0


def too_few_notes(summary: RunSummary) -> list[str]:
    """What to say next to intervals of too few rows: nothing, or one note, which names the metrics if others have enough."""
    few = [name for name, metric in summary.metrics.items() if metric.too_few]
    if not few:
        return []
    which = "" if len(few) == len(summary.metrics) else f" of {', '.join(few)}"
    return [f"fewer than {FEWEST} rows: too few to rely on the 95 % intervals{which}"]
