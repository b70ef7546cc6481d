"""Figures over several replies to one row: the share that is right, one right in k, a majority of k, and the
answer that most of them give.

With n replies to a row, c of them right:

- `avg@n` is c / n;
- `pass@k` is the chance that of k replies, drawn from the n without replacement, at least one is right:
  1 - C(n-c, k) / C(n, k) (Chen et al., 2021, arXiv:2107.03374), which is unbiased for k ≤ n;
- `pass^k` is the chance that all of k such replies are right: C(c, k) / C(n, k);
- `cons@k` is the chance that of k such replies more than half are right, plus half the chance that exactly half are;
- `maj@n` is whether the most common answer is right; if several answers are equally common, their mean;
- `agree@n` is the share of the answers that equal the most common one.

The last two compare answers, so they need a scorer that gives the answer it read, as `extracted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import comb, fsum, sqrt

from benchwright.core import MetricSummary
from benchwright.stats._intervals import FEWEST, mean_interval


def pass_at_k(n: int, right: int, k: int) -> float:
    """Return the chance that at least one of `k` replies is right, given `n` replies of which `right` were right.

    >>> pass_at_k(4, 1, 1), pass_at_k(4, 1, 2), pass_at_k(4, 3, 2)
    (0.25, 0.5, 1.0)
    """
    _check(n, right, k)
    return 1.0 - comb(n - right, k) / comb(n, k)


def all_of_k(n: int, right: int, k: int) -> float:
    """Return the chance that all of `k` replies are right (`pass^k`), given `n` replies of which `right` were right. Never more than
    `pass_at_k`, and equal to it for `k` = 1.

    >>> all_of_k(4, 3, 1), all_of_k(4, 3, 2), all_of_k(4, 3, 4)
    (0.75, 0.5, 0.0)
    """
    _check(n, right, k)
    return comb(right, k) / comb(n, k)


def consensus_at_k(n: int, right: int, k: int) -> float:
    """Return the chance that a majority of `k` replies is right, given `n` replies of which `right` were right. A tie
    is half a majority. Never more than `pass_at_k`.

    >>> consensus_at_k(4, 2, 4), consensus_at_k(4, 3, 4), round(consensus_at_k(4, 2, 3), 4)
    (0.5, 1.0, 0.5)
    """
    _check(n, right, k)
    twice = sum(
        comb(right, drawn) * comb(n - right, k - drawn) * (2 if 2 * drawn > k else 1)
        for drawn in range((k + 1) // 2, min(right, k) + 1)
    )
    return twice / (2 * comb(n, k))


def _check(n: int, right: int, k: int) -> None:
    if not 0 < k <= n or not 0 <= right <= n:
        raise ValueError(
            f"k = {k} of n = {n} replies with {right} right; expected 0 < k ≤ n and 0 ≤ right ≤ n"
        )


_OF_K = {"pass@": pass_at_k, "pass^": all_of_k, "cons@": consensus_at_k}
"""The figures that draw k replies, by the beginning of their names."""


def _of_k(figure: Callable[[int, int, int], float], k: int, n: int, right: int) -> float:
    return figure(n, right, k)


_ANSWER = ("extracted", "parsed_response")
"""Names under which scorers give the answer that they read; the first that is present counts. Replies agree if these
answers are equal."""


class RepeatTally:
    """Counts right replies row by row, in memory that does not grow with the rows.

    Replies to one row must arrive one after the other. Only metrics whose values are all 0 or 1 are kept.

    >>> tally = RepeatTally()
    >>> for row, right in [(0, True), (0, False), (1, True), (1, True)]:
    ...     tally.add(row, {"correct": right})
    >>> tally.summaries("correct", [2])["pass@2"].value
    1.0
    """

    __slots__ = (
        "_agreeing",
        "_all_scored",
        "_all_seen",
        "_answers",
        "_failed",
        "_lost",
        "_majorities",
        "_other",
        "_right",
        "_row",
        "_rows",
        "_scored",
        "_seen",
    )

    def __init__(self) -> None:
        self._row: int | None = None
        self._right: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._scored = self._failed = 0
        # (replies with the metric, right replies, replies without any score) → number of such rows.
        self._rows: dict[str, Counter[tuple[int, int, int]]] = {}
        self._lost: Counter[int] = Counter()  # rows all of whose replies failed, by their number
        self._other: set[str] = set()  # metrics with other values
        self._all_scored = 0
        self._all_seen: Counter[str] = Counter()
        # For the current row: answer → the scores of the replies that gave it. For all rows: the values of maj@n by
        # metric, and of agree@n.
        self._answers: dict[str, list[Mapping[str, object]]] | None = None
        self._majorities: dict[str, Counter[float]] = {}
        self._agreeing: Counter[float] = Counter()

    def add(self, row: int, scores: Mapping[str, object]) -> None:
        """Add the scores of a reply to `row`."""
        self._turn_to(row)
        self._scored += 1
        key = next((name for name in _ANSWER if name in scores), None)
        if key is not None:
            if self._answers is None:
                self._answers = {}
            if (answer := scores[key]) is not None:
                self._answers.setdefault(str(answer), []).append(scores)
        # A reply to a row without an answer has no numbers, and does not make other metrics partial.
        self._all_scored += any(isinstance(value, bool | int | float) for value in scores.values())
        for name, value in scores.items():
            if not isinstance(value, bool | int | float):
                continue
            if value != 0 and value != 1:
                self._rows.pop(name, None)
                self._right.pop(name, None)
                self._majorities.pop(name, None)
                self._other.add(name)
            elif name not in self._other:
                self._right[name] = self._right.get(name, 0) + int(value)
                self._seen[name] = self._seen.get(name, 0) + 1

    def add_failure(self, row: int) -> None:
        """Add a reply to `row` that ended without scores."""
        self._turn_to(row)
        self._failed += 1

    def metrics(self) -> list[str]:
        """Names of the metrics that only have the values 0 and 1, sorted."""
        self._close()
        return sorted(self._rows)

    def summaries(self, metric: str, each_k: Sequence[int], n: int | None = None) -> dict[str, MetricSummary]:
        """Return `avg@n` of a metric, `pass@k`, `pass^k` and `cons@k` for each k, and `maj@n` and `agree@n` if the scorer gives
        answers; n is only used in the names (None for the largest k).

        Rows with fewer than k replies that count are left out of the figures for that k; a figure that no row is left for is left out.
        """
        self._close()
        rows = self._rows[metric]
        everywhere = self._all_seen[metric] == self._all_scored
        called = max(each_k) if n is None else n
        figures: dict[str, tuple[int, Callable[[int, int], float]]] = {
            f"avg@{called}": (1, lambda seen, right: right / seen)
        }
        for name, figure in _OF_K.items():
            figures |= {f"{name}{k}": (k, partial(_of_k, figure, k)) for k in each_k}
        found: dict[str, MetricSummary | None] = {}
        for name, (least, value_of) in figures.items():
            scored: Counter[float] = Counter()
            wrong: Counter[float] = Counter()
            replies = 0
            for (seen, right, failed), count in rows.items():
                if seen >= least:
                    scored[value_of(seen, right)] += count
                    replies += seen * count
                if seen + failed >= least:
                    wrong[value_of(seen + failed, right)] += count
            for failed, count in self._lost.items():
                if failed >= least:
                    wrong[0.0] += count
            summary = _summary(scored, replies if least == 1 else None)
            found[name] = _with(summary, wrong if everywhere else None)
        if metric in self._majorities:
            majority = self._majorities[metric]
            wrong = majority + Counter({0.0: self._lost.total()})
            found[f"maj@{called}"] = _with(_summary(majority), wrong if everywhere else None)
            found[f"agree@{called}"] = _summary(self._agreeing)
        return {name: summary for name, summary in found.items() if summary is not None}

    def _turn_to(self, row: int) -> None:
        if row != self._row:
            self._close()
            self._row = row

    def _close(self) -> None:
        if not self._scored and self._failed:
            self._lost[self._failed] += 1
        for name, right in self._right.items():
            place = (self._seen[name], right, self._failed)
            self._rows.setdefault(name, Counter())[place] += 1
            self._all_seen[name] += self._seen[name]
        if self._answers is not None:
            self._vote(self._answers)
        self._right, self._seen, self._answers = {}, {}, None
        self._scored = self._failed = 0

    def _vote(self, answers: dict[str, list[Mapping[str, object]]]) -> None:
        """Record the most common answers of the current row; a row without any answer counts as wrong."""
        votes = max(map(len, answers.values()), default=0)
        chosen = [replies for replies in answers.values() if len(replies) == votes]
        if votes:
            self._agreeing[votes / sum(map(len, answers.values()))] += 1
        for metric in self._right:
            shares = [fsum(float(r.get(metric) or 0) for r in replies) / votes for replies in chosen]  # type: ignore[arg-type]
            value = fsum(shares) / len(shares) if shares else 0.0
            self._majorities.setdefault(metric, Counter())[value] += 1


def _with(summary: MetricSummary | None, wrong: Counter[float] | None) -> MetricSummary | None:
    """A figure, if there is one, with that of the same rows if failed replies are wrong."""
    return None if summary is None else summary.counting_failures(_summary(wrong) if wrong else None)


def _summary(values: Counter[float], replies: int | None = None) -> MetricSummary | None:
    """Return the statistics of values from 0 to 1, given how often each occurs, one per row. `replies`: how many zeros
    and ones the values are means of."""
    n = values.total()
    if n == 0:
        return None
    mean = min(1.0, fsum(value * count for value, count in values.items()) / n)
    squares = fsum((value - mean) ** 2 * count for value, count in values.items())
    stddev = sqrt(squares / n)
    stderr = sqrt(squares / (n - 1) / n) if n > 1 else 0.0
    binary = values.keys() <= {0.0, 1.0}
    low, high, interval = mean_interval(
        mean,
        stderr,
        n,
        third=fsum((value - mean) ** 3 * count for value, count in values.items()) / n,
        answers=n if binary else replies,
        repeated=not binary,
        ends=(min(values), max(values)),
    )
    return MetricSummary(
        value=mean,
        count=n,
        stddev=stddev,
        stderr=stddev / sqrt(n),
        sample_stderr=stderr,
        ci_low=low,
        ci_high=high,
        min=min(values),
        max=max(values),
        interval=interval,
        with_failures=None,
        with_failures_count=None,
        too_few=n < FEWEST,
    )
