"""Estimate the score that humans would have given, from a judge's scores and its known errors.

There are two methods. Both give a 95 % interval that accounts for the judge's errors and the small number of labels:

* by sensitivity and specificity, for scores of 0 and 1 (Rogan and Gladen 1978; interval of Lang and Reiczigel 2014);
* by the mean error on labelled rows drawn from those that were judged, for any scores (prediction-powered inference, with
  the weight of Angelopoulos, Duchi and Zrnic 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.stats._intervals import Z_95, t_quantile

Correction: TypeAlias = Literal["rogan_gladen", "prediction_powered"]
"""How a score was corrected."""

_UNSEEN = 1.0
"""Number of rows with the largest possible error added before the interval is computed: a rare error may be missing
among twenty labels. Chosen by simulation (tests/stats/test_corrected.py)."""


class Corrected(Struct, frozen=True):
    """A mean score as humans would have given it."""

    method: Correction
    """How it was corrected."""
    value: float
    """The corrected mean."""
    ci_low: float
    """Lower end of its 95 % interval."""
    ci_high: float
    """Upper end."""

    @classmethod
    def by_rates(
        cls, judged: tuple[float, float], positives: tuple[float, float], negatives: tuple[float, float]
    ) -> Corrected | None:
        """Estimate the true share of ones if a judge rates `judged[0]` of `judged[1]` rows as 1.

        `positives` are labelled ones and `negatives` labelled zeros, each as (rated correctly by the judge, total).
        A row that was judged or labelled several times counts in parts that sum to 1.
        Labels may come from other rows if the judge errs there as often. None if the judge does not tell ones from
        zeros better than chance, or if there are no labelled ones or no labelled zeros.

        >>> found = Corrected.by_rates((60, 100), (45, 50), (40, 50))
        >>> round(found.value, 4), round(found.ci_low, 4), round(found.ci_high, 4)
        (0.5714, 0.3963, 0.7432)
        """
        (ones, size), (hits, positive), (passes, negative) = judged, positives, negatives
        if not size or not positive or not negative:
            return None
        skill = hits / positive + passes / negative - 1
        sensitivity, specificity = (hits + 1) / (positive + 2), (passes + 1) / (negative + 2)
        slope = sensitivity + specificity - 1
        if skill <= 0 or slope <= 0:
            return None
        square = Z_95 * Z_95
        apparent = (ones + square / 2) / (size + square)
        share = (apparent + specificity - 1) / slope
        one_error = sensitivity * (1 - sensitivity) / (positive + 2)
        zero_error = specificity * (1 - specificity) / (negative + 2)
        shift = 2 * square * (share * one_error - (1 - share) * zero_error)
        spread = (
            apparent * (1 - apparent) / (size + square) + share**2 * one_error + (1 - share) ** 2 * zero_error
        )
        half = Z_95 * sqrt(spread) / slope
        value = _within((ones / size + passes / negative - 1) / skill, 0.0, 1.0)
        low, high = _within(share + shift - half, 0.0, 1.0), _within(share + shift + half, 0.0, 1.0)
        return cls("rogan_gladen", value, min(low, value), max(high, value))

    @classmethod
    def by_error(
        cls, labelled: Sequence[tuple[float, float]], unlabelled: Sequence[float], scale: tuple[float, float]
    ) -> Corrected | None:
        """Estimate the mean that humans would give, from (judge, human) scores of some rows and the judge's scores of the others.

        The labelled rows must be drawn at random from all of them. `scale` has the smallest and the largest possible score.
        None with fewer than two labels.

        >>> found = Corrected.by_error([(1.0, 1.0)] * 30 + [(1.0, 0.0)] * 10 + [(0.0, 0.0)] * 20, [1.0] * 200 + [0.0] * 100, (0, 1))
        >>> round(found.value, 2), round(found.ci_low, 2), round(found.ci_high, 2)
        (0.5, 0.4, 0.6)
        """
        count, others = len(labelled), len(unlabelled)
        if count < 2:
            return None
        judge, human = [pair[0] for pair in labelled], [pair[1] for pair in labelled]
        weight = _weight(judge, human, unlabelled)
        errors = [label - weight * score for score, label in labelled]
        value = fsum(errors) / count
        variance = _variance(errors, _UNSEEN * (scale[1] - scale[0]) ** 2) / count
        if others and weight:
            value += weight * fsum(unlabelled) / others
            variance += weight**2 * _variance(unlabelled) / others
        half = t_quantile(count - 1, 0.95) * sqrt(variance)
        value = _within(value, *scale)
        return cls("prediction_powered", value, _within(value - half, *scale), _within(value + half, *scale))


def _weight(judge: Sequence[float], human: Sequence[float], unlabelled: Sequence[float]) -> float:
    """Return the weight of the judge's scores of unlabelled rows: 0 if they say nothing, near 1 if almost all."""
    spread = _variance([*judge, *unlabelled])
    if not unlabelled or not spread:
        return 0.0
    count = len(judge)
    judge_mean, human_mean = fsum(judge) / count, fsum(human) / count
    shared = fsum((a - judge_mean) * (b - human_mean) for a, b in zip(judge, human, strict=True)) / (
        count - 1
    )
    return _within(shared / (spread * (1 + count / len(unlabelled))), 0.0, 1.0)


def _variance(values: Sequence[float], more: float = 0.0) -> float:
    """Return the sample variance; `more` is added to the squared deviations."""
    if len(values) < 2:
        return more
    mean = fsum(values) / len(values)
    return (fsum((value - mean) ** 2 for value in values) + more) / (len(values) - 1)


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
