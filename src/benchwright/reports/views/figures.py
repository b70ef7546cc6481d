"""Which of a run's metrics stands for it in one figure, and whether that figure is a share."""

from __future__ import annotations

from benchwright.core import MetricSummary, RunSummary

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
