"""Tails of distributions, and p-values of several tests."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, exp, lgamma, log, log1p


def binomial_tail(hits: int, n: int, share: float) -> float:
    """Return the probability of at least this many hits.

    >>> binomial_tail(9, 10, 0.5)
    0.0107421875
    """
    if hits <= 0:
        return 1.0
    if share <= 0 or hits > n:
        return 0.0
    if share >= 1:
        return 1.0
    if hits <= n * share:  # the other tail is the shorter one
        return max(0.0, 1.0 - binomial_tail(n - hits + 1, n, 1 - share))
    if share == 0.5 and n <= 1000:
        return sum(comb(n, k) for k in range(hits, n + 1)) / (1 << n)
    chosen = lgamma(n + 1) - lgamma(hits + 1) - lgamma(n - hits + 1)
    term = total = exp(chosen + hits * log(share) + (n - hits) * log1p(-share))
    for k in range(hits, n):
        term *= (n - k) / (k + 1) * share / (1 - share)
        total += term
        if term < 1e-17 * total:
            break
    return min(1.0, total)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's method, keeping their order.

    >>> holm([0.01, 0.5, 0.03])
    [0.03, 0.5, 0.06]
    """
    found = [0.0] * len(p_values)
    largest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[at] * (len(p_values) - rank)))
        found[at] = largest
    return found
