"""All metrics of a run, summarised while the samples stream by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from benchwright.stats._accumulator import LARGEST, ScoreAccumulator
from benchwright.stats._summary import ScoreSummary

_NUMBERS = frozenset({bool, int, float})


class Aggregator:
    """One accumulator per metric, made when the metric is first seen.

    Bools count as 0 and 1; texts and None are left out. A metric that only some samples emit (`correct_<category>`)
    is summarised over those that do. Repeats of one sample must arrive one after the other, failed ones included.

    Failures as wrong: a failed sample counts as 0.0 in every metric that *all* scored samples emit. The other
    metrics are left out of that table, because nobody knows whether the failed sample would have emitted them.
    Zero is the worst value only where higher is better; for other metrics the second table means nothing.

    >>> scores = Aggregator()
    >>> scores.add(0, {"correct": True, "note": "ok"})
    >>> scores.add_failure(1)
    >>> scores.summaries()["correct"].mean, scores.summaries_with_failures_as_wrong()["correct"].mean
    (1.0, 0.5)
    """

    __slots__ = ("_metrics", "_only_failures", "_with_failures", "failed", "scored")

    def __init__(self) -> None:
        self.scored = 0
        """Samples with scores, repeats counted."""
        self.failed = 0
        """Samples without, repeats counted."""
        self._metrics: dict[str, ScoreAccumulator] = {}
        # The second set begins as a copy at the first failure, so that runs without failures pay nothing.
        self._with_failures: dict[str, ScoreAccumulator] | None = None
        self._only_failures = ScoreAccumulator()

    def add(self, sample_index: int, scores: Mapping[str, object]) -> None:
        """The scores of one sample (of one repeat of it).

        Raises:
            ValueError: a score is NaN, infinite or 1e150 and more; then none of the sample's scores was added.
        """
        for value in scores.values():
            kind = value.__class__
            if kind in _NUMBERS:
                if not -LARGEST < value < LARGEST:  # type: ignore[operator]  # a number, as just found
                    _refuse(scores)
            elif isinstance(value, int | float):  # numpy's float64, an IntEnum
                self.add(sample_index, _plain(scores))
                return
        beside_failures = self._with_failures
        if beside_failures is not None:
            self._add_beside_failures(beside_failures, sample_index, scores)
        metrics = self._metrics
        for key, value in scores.items():
            if value.__class__ in _NUMBERS:
                metric = metrics.get(key)
                if metric is None:
                    metric = metrics[key] = ScoreAccumulator()
                metric.add(value, sample_index)  # type: ignore[arg-type]
        self.scored += 1

    def add_failure(self, sample_index: int) -> None:
        """A sample (a repeat of it) that ended without scores."""
        if self._with_failures is None:
            self._with_failures = {key: metric.copy() for key, metric in self._metrics.items()}
        for metric in self._with_failures.values():
            metric.add(0.0, sample_index)
        if not self.scored:
            self._only_failures.add(0.0, sample_index)
        self.failed += 1

    def summaries(self) -> dict[str, ScoreSummary]:
        """Per metric, sorted by name: statistics over the samples that emitted it. Failures are left out."""
        return {key: self._metrics[key].summary() for key in sorted(self._metrics)}

    def summaries_with_failures_as_wrong(self) -> dict[str, ScoreSummary]:
        """Per metric that every scored sample emitted, sorted by name: failed samples count as 0.0."""
        metrics = self._metrics if self._with_failures is None else self._with_failures
        complete = [key for key, metric in self._metrics.items() if metric.count == self.scored]
        return {key: metrics[key].summary() for key in sorted(complete)}

    def _add_beside_failures(
        self, metrics: dict[str, ScoreAccumulator], sample_index: int, scores: Mapping[str, object]
    ) -> None:
        for key, value in scores.items():
            if value.__class__ not in _NUMBERS:
                continue
            metric = metrics.get(key)
            if metric is None:
                if self.scored:
                    continue  # an earlier sample did not emit it: not a metric of all samples
                metric = metrics[key] = self._only_failures.copy()
            metric.add(value, sample_index)  # type: ignore[arg-type]


def _plain(scores: Mapping[str, object]) -> dict[str, object]:
    return {key: float(value) if isinstance(value, int | float) else value for key, value in scores.items()}


def _refuse(scores: Mapping[str, object]) -> NoReturn:
    for key, value in scores.items():
        if isinstance(value, int | float) and not -LARGEST < value < LARGEST:
            raise ValueError(
                f"score {key!r} is {value!r}, which cannot be averaged; expected a finite number below {LARGEST:g}, "
                "or None for no score"
            )
    raise AssertionError("all scores are finite")
