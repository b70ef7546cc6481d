"""What several replies to one row say together: their share that is right, one right in k, a majority of k.

With n replies to a row, c of them right:

- `avg@n` is c / n;
- `pass@k` is the chance that of k replies, drawn from the n without putting back, at least one is right:
  1 - C(n-c, k) / C(n, k) (Chen et al., 2021, arXiv:2107.03374), which is unbiased for k ≤ n;
- `cons@k` is 1 if more than k/2 of the replies are right, else 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import comb, fsum, sqrt

from benchwright.stats._accumulator import interval_of
from benchwright.stats._summary import ScoreSummary


def pass_at_k(n: int, right: int, k: int) -> float:
    """The chance that at least one of `k` replies is right, of which `n` were seen and `right` were right.

    >>> pass_at_k(4, 1, 1), pass_at_k(4, 1, 2), pass_at_k(4, 3, 2)
    (0.25, 0.5, 1.0)
    """
    _check(n, right, k)
    return 1.0 - comb(n - right, k) / comb(n, k)


def consensus_at_k(n: int, right: int, k: int) -> float:
    """1.0 if the right replies are more than half of `k`.

    >>> consensus_at_k(4, 2, 4), consensus_at_k(4, 3, 4)
    (0.0, 1.0)
    """
    _check(n, right, k)
    return float(2 * right > k)


def _check(n: int, right: int, k: int) -> None:
    if not 0 < k <= n or not 0 <= right <= n:
        raise ValueError(
            f"k = {k} of n = {n} replies with {right} right; expected 0 < k ≤ n and 0 ≤ right ≤ n"
        )


@dataclass(frozen=True, slots=True)
class RepeatSummary:
    """One figure over the repeats of each row."""

    scored: ScoreSummary | None
    """Failed replies left out; None when no row has enough replies with a score."""
    with_failures: ScoreSummary | None
    """Failed replies as wrong ones; None for metrics that only some replies have."""


class RepeatTally:
    """Counts right replies row by row, in memory that does not grow with the rows.

    Replies to one row must arrive one after the other. Only metrics whose values are all 0 or 1 are kept.

    >>> tally = RepeatTally()
    >>> for row, right in [(0, True), (0, False), (1, True), (1, True)]:
    ...     tally.add(row, {"correct": right})
    >>> tally.summaries("correct", 2)["pass@2"].scored.mean
    1.0
    """

    __slots__ = (
        "_all_scored",
        "_all_seen",
        "_failed",
        "_lost",
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
        # (replies that have the metric, right ones, replies without any score) → how many rows are like that.
        self._rows: dict[str, Counter[tuple[int, int, int]]] = {}
        self._lost: Counter[int] = Counter()  # rows all of whose replies failed, by their number
        self._other: set[str] = set()  # metrics with other values
        self._all_scored = 0
        self._all_seen: Counter[str] = Counter()

    def add(self, row: int, scores: Mapping[str, object]) -> None:
        """The scores of one more reply to `row`."""
        self._turn_to(row)
        self._scored += 1
        for name, value in scores.items():
            if not isinstance(value, bool | int | float):
                continue
            if value != 0 and value != 1:
                self._rows.pop(name, None)
                self._right.pop(name, None)
                self._other.add(name)
            elif name not in self._other:
                self._right[name] = self._right.get(name, 0) + int(value)
                self._seen[name] = self._seen.get(name, 0) + 1

    def add_failure(self, row: int) -> None:
        """One more reply to `row` that ended without scores."""
        self._turn_to(row)
        self._failed += 1

    def metrics(self) -> list[str]:
        """Names of the metrics that only have the values 0 and 1, sorted."""
        self._close()
        return sorted(self._rows)

    def summaries(self, metric: str, k: int, n: int | None = None) -> dict[str, RepeatSummary]:
        """`avg@n`, `pass@k` and `cons@k` of one metric; n is only for the name (None: k).

        Rows with fewer than k replies that count are left out of `pass@k` and `cons@k`.
        """
        self._close()
        rows = self._rows[metric]
        everywhere = self._all_seen[metric] == self._all_scored
        figures: dict[str, tuple[int, Callable[[int, int], float]]] = {
            f"avg@{k if n is None else n}": (1, lambda seen, right: right / seen),
            f"pass@{k}": (k, lambda seen, right: pass_at_k(seen, right, k)),
            f"cons@{k}": (k, lambda seen, right: consensus_at_k(seen, right, k)),
        }
        found = {}
        for name, (least, figure) in figures.items():
            scored: Counter[float] = Counter()
            wrong: Counter[float] = Counter()
            for (seen, right, failed), count in rows.items():
                if seen >= least:
                    scored[figure(seen, right)] += count
                if seen + failed >= least:
                    wrong[figure(seen + failed, right)] += count
            for failed, count in self._lost.items():
                if failed >= least:
                    wrong[0.0] += count
            found[name] = RepeatSummary(_summary(scored), _summary(wrong) if everywhere else None)
        return found

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
        self._all_scored += self._scored
        self._right, self._seen = {}, {}
        self._scored = self._failed = 0


def _summary(values: Counter[float]) -> ScoreSummary | None:
    """The statistics of values from 0 to 1 that occur so many times each; one value a row."""
    n = values.total()
    if n == 0:
        return None
    mean = fsum(value * count for value, count in values.items()) / n
    squares = fsum((value - mean) ** 2 * count for value, count in values.items())
    stddev = sqrt(squares / n)
    stderr = sqrt(squares / (n - 1) / n) if n > 1 else 0.0
    low, high, interval = interval_of(mean, stderr, n, n, binary=values.keys() <= {0.0, 1.0})
    return ScoreSummary(
        count=n,
        mean=mean,
        stddev=stddev,
        stderr=stddev / sqrt(n),
        sample_stderr=stderr,
        ci_low=max(0.0, low),
        ci_high=min(1.0, high),
        min=min(values),
        max=max(values),
        clusters=n,
        interval=interval,
    )
