"""Plain statistics for users' code: `Statistics` of numbers, `Classification` of yes-or-no decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum, sqrt

from benchwright.stats._intervals import t_quantile


class Statistics:
    """Means, spreads and intervals of a list of numbers. An empty list raises `ValueError`."""

    @staticmethod
    def accuracy(correct: int, total: int) -> float:
        """Share of correct answers; 0 if the total is 0.

        >>> Statistics.accuracy(3, 4), Statistics.accuracy(0, 0)
        (0.75, 0.0)
        """
        return correct / total if total else 0.0

    @staticmethod
    def mean(vals: Sequence[float]) -> float:
        """Arithmetic mean.

        >>> Statistics.mean([1, 2, 4.5])
        2.5
        """
        _some("mean", vals)
        return fsum(vals) / len(vals)

    @staticmethod
    def clipped_mean(vals: Sequence[float], min_max: tuple[float, float] = (0, 1)) -> float:
        """Mean of the values after each is clipped to the range `min_max`.

        >>> Statistics.clipped_mean([-3, 0.5, 7])
        0.5
        """
        _some("clipped_mean", vals)
        low, high = min_max
        if low >= high:
            raise ValueError(f"clipped_mean: the bounds are {low} and {high}; expected the lower one first")
        return fsum(min(max(value, low), high) for value in vals) / len(vals)

    @staticmethod
    def variance(vals: Sequence[float], *, sample: bool = False) -> float:
        """Population variance; with `sample`, the sample variance (n - 1), which is 0 for one value.

        >>> Statistics.variance([1, 2, 3, 4]), round(Statistics.variance([1, 2, 3, 4], sample=True), 4)
        (1.25, 1.6667)
        """
        mean = Statistics.mean(vals)
        if sample and len(vals) == 1:
            return 0.0
        return fsum((value - mean) ** 2 for value in vals) / (len(vals) - sample)

    @staticmethod
    def stddev(vals: Sequence[float], *, sample: bool = False) -> float:
        """Square root of the variance."""
        return sqrt(Statistics.variance(vals, sample=sample))

    @staticmethod
    def confidence_interval(vals: Sequence[float], *, confidence: float = 0.95) -> tuple[float, float]:
        """Interval of the mean by Student's t with n - 1 degrees of freedom; (mean, mean) for one value.

        >>> low, high = Statistics.confidence_interval([2, 4, 6])
        >>> round(low, 4), round(high, 4)
        (-0.9683, 8.9683)
        """
        mean = Statistics.mean(vals)
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is {confidence}; expected a share between 0 and 1, such as 0.95")
        if len(vals) == 1:
            return mean, mean
        half = t_quantile(len(vals) - 1, confidence) * sqrt(
            Statistics.variance(vals, sample=True) / len(vals)
        )
        return mean - half, mean + half


class Classification:
    """Figures of yes-or-no decisions; true values come first, predictions second. A figure is 0 if it would divide
    by zero."""

    @staticmethod
    def precision(y_true: Sequence[bool], y_pred: Sequence[bool]) -> float:
        """Share of the predicted positives that are true.

        >>> Classification.precision([True, True, False, False], [True, False, True, False])
        0.5
        """
        both, predicted, _, _ = _counts(y_true, y_pred)
        return _share(both, predicted)

    @staticmethod
    def recall(y_true: Sequence[bool], y_pred: Sequence[bool]) -> float:
        """Share of the true cases that were predicted true.

        >>> round(Classification.recall([True, True, True, False], [True, True, False, False]), 4)
        0.6667
        """
        both, _, true, _ = _counts(y_true, y_pred)
        return _share(both, true)

    @staticmethod
    def specificity(y_true: Sequence[bool], y_pred: Sequence[bool]) -> float:
        """Share of the false cases that were predicted false.

        >>> Classification.specificity([True, False, False], [True, False, True])
        0.5
        """
        both, predicted, true, total = _counts(y_true, y_pred)
        return _share(total - predicted - true + both, total - true)

    @staticmethod
    def f1(y_true: Sequence[bool], y_pred: Sequence[bool]) -> float:
        """Harmonic mean of precision and recall.

        >>> Classification.f1([True, True, False, False], [True, False, True, False])
        0.5
        """
        both, predicted, true, _ = _counts(y_true, y_pred)
        return _share(2 * both, predicted + true)


def _some(name: str, vals: Sequence[float]) -> None:
    if len(vals) == 0:
        raise ValueError(f"{name}: there are no values")


def _counts(y_true: Sequence[bool], y_pred: Sequence[bool]) -> tuple[int, int, int, int]:
    """Count the true positives, the predicted positives, the true cases and all cases."""
    if len(y_true) != len(y_pred):
        raise ValueError(f"{len(y_true)} true values and {len(y_pred)} predictions; expected as many of both")
    pairs = [(bool(true), bool(predicted)) for true, predicted in zip(y_true, y_pred, strict=True)]
    return (
        _count(true and predicted for true, predicted in pairs),
        _count(predicted for _, predicted in pairs),
        _count(true for true, _ in pairs),
        len(pairs),
    )


def _count(flags: Iterable[bool]) -> int:
    return sum(1 for flag in flags if flag)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
