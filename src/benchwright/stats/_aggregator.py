"""Summarise all metrics of a run while its samples arrive."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, NoReturn

from benchwright.core import MetricSummary, is_share
from benchwright.stats._accumulator import LARGEST, ScoreAccumulator, fit

_NUMBERS = frozenset({bool, int, float})


class Aggregator:
    """One accumulator per metric, created when the metric is first seen.

    Bools count as 0 and 1; texts and None are left out. A metric that only some samples emit (`correct_<category>`)
    is summarised over those that do. Repeats of one sample must arrive one after the other, failed ones included.

    A second table counts failures as wrong: a failed sample is 0.0 in every metric that *all* scored samples emit. Other
    metrics are left out of that table, because the failed sample might not have emitted them.
    A sample without a single number, because its row has no answer, counts neither as scored nor as failed.
    Constants depend on the rows alone: a failed sample counts with its own value in the second table.
    Zero is the worst value only if higher is better; for other metrics the second table has no meaning.

    >>> scores = Aggregator()
    >>> scores.add(0, {"correct": True, "note": "ok"})
    >>> scores.add_failure(1)
    >>> scores.summaries()["correct"].value, scores.summaries_with_failures_as_wrong()["correct"].value
    (1.0, 0.5)
    """

    __slots__ = ("_constants", "_metrics", "_only_failures", "_with_failures", "failed", "scored")

    def __init__(self, constants: Collection[str] = ()) -> None:
        self._constants = frozenset(constants)
        self.scored = 0
        """Samples with at least one number, repeats counted."""
        self.failed = 0
        """Samples that ended without scores, repeats counted."""
        self._metrics: dict[str, ScoreAccumulator] = {}
        # The second set is copied at the first failure, so that runs without failures cost nothing extra.
        self._with_failures: dict[str, ScoreAccumulator] | None = None
        self._only_failures = ScoreAccumulator()

    def add(self, sample_index: int, scores: Mapping[str, object]) -> None:
        """Add the scores of one sample, or of one repeat of it.

        Raises:
            ValueError: a score is NaN, infinite, or at least 1e150; none of the sample's scores is added then.
        """
        for value in scores.values():
            kind = value.__class__
            if kind in _NUMBERS:
                if not -LARGEST < value < LARGEST:  # type: ignore[operator]  # a number, as just found
                    _refuse(scores)
            elif isinstance(value, int | float):  # numpy's float64, an IntEnum
                self.add(sample_index, _plain(scores))
                return
        metrics, failures = self._metrics, self._with_failures is not None
        numbers = False
        for key, value in scores.items():
            if value.__class__ in _NUMBERS:
                numbers = True
                (metrics.get(key) or self._metric(key)).add(value, sample_index)  # type: ignore[arg-type]
                if failures and (counted := self._among_failures(key)) is not None:
                    counted.add(value, sample_index)  # type: ignore[arg-type]
        self.scored += numbers

    def add_failure(self, sample_index: int, constants: Mapping[str, float] | None = None) -> None:
        """Add a sample, or a repeat of it, that ended without scores; `constants` are those of its row."""
        if self._with_failures is None:
            self._with_failures = {key: metric.copy() for key, metric in self._metrics.items()}
        for key, metric in self._with_failures.items():
            if key not in self._constants:
                metric.add(0.0, sample_index)
        for key, value in (constants or {}).items():
            if (counted := self._among_failures(key)) is not None:
                counted.add(value, sample_index)
        if not self.scored:
            self._only_failures.add(0.0, sample_index)
        self.failed += 1

    def add_all(
        self,
        sample_indices: Sequence[int],
        scores: Sequence[Mapping[str, object] | None],
        constants: Sequence[Mapping[str, float] | None] | None = None,
    ) -> None:
        """Add the scores of several samples in order, None for one that failed, and the constants of those that failed. The
        result is that of `add` and `add_failure`, in less time if all samples have the same keys.

        Raises:
            ValueError: as from `add`; the samples before that one are added then.
        """
        columns = _columns(scores)
        if columns is None:
            of_failed = constants or [None] * len(scores)
            for index, given, fixed in zip(sample_indices, scores, of_failed, strict=True):
                if given is None:
                    self.add_failure(index, fixed)
                else:
                    self.add(index, given)
            return
        for key, values in columns.items():
            self._metric(key).extend(values, sample_indices)
            if (counted := self._among_failures(key)) is not None:
                counted.extend(values, sample_indices)
        if columns:
            self.scored += len(scores)

    def summaries(self) -> dict[str, MetricSummary]:
        """Return the statistics of each metric over the samples that emitted it, sorted by name. Failures are left out."""
        return {key: self._metrics[key].summary() for key in sorted(self._metrics)}

    def summaries_with_failures_as_wrong(self) -> dict[str, MetricSummary]:
        """Return the statistics of each metric that every scored sample emitted, sorted by name, with failures as 0.0."""
        metrics = self._metrics if self._with_failures is None else self._with_failures
        complete = [key for key, metric in self._metrics.items() if metric.count == self.scored]
        return {key: metrics[key].summary() for key in sorted(complete)}

    def _metric(self, key: str) -> ScoreAccumulator:
        metric = self._metrics.get(key)
        if metric is None:
            metric = self._metrics[key] = ScoreAccumulator(share=is_share(key))
        return metric

    def _among_failures(self, key: str) -> ScoreAccumulator | None:
        """Return the metric's accumulator that includes failures; None before the first failure, and for a metric that an
        earlier sample did not emit."""
        metrics = self._with_failures
        if metrics is None:
            return None
        metric = metrics.get(key)
        if metric is None and not self.scored:
            fixed = key in self._constants
            metric = metrics[key] = ScoreAccumulator() if fixed else self._only_failures.copy()
        return metric


def _columns(scores: Sequence[Mapping[str, object] | None]) -> dict[str, list[Any]] | None:
    """Return the numbers of each metric in the simple case: no sample failed, all have the same keys, and under a key
    either all or none have a number that can be averaged. None otherwise."""
    try:
        if len(set(map(len, scores))) != 1:  # type: ignore[arg-type]  # None has no length, and is caught
            return None
        columns = {key: list(map(itemgetter(key), scores)) for key in scores[0] or ()}  # type: ignore[arg-type]
    except (KeyError, TypeError):
        return None
    found = {}
    for key, values in columns.items():
        kinds = set(map(type, values))
        if kinds <= _NUMBERS and fit(values):
            found[key] = values
        elif any(issubclass(kind, int | float) for kind in kinds):
            return None
    return found


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
