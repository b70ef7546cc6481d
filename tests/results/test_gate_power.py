"""Whatever number of rows or effect a gate quotes for a share has the stated power, counted over all outcomes with the gate's
own decision."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from itertools import product
from math import exp, fsum, lgamma, log

import pytest

from benchwright.results import Policy
from benchwright.results._gates.decide import Claim, decide
from benchwright.results._gates.policy import Rule
from benchwright.results._gates.verdict import RuleRow, Word
from benchwright.stats import LimitTest

LIMITS = (0.5, 0.6, 0.75, 0.8, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99)
DISTANCES = (-0.1, -0.05, -0.02, 0.01, 0.03, 0.1)
SEEN = (100, 400)
NEAR = 0.03


def judged(hits: int, n: int, limit: float, side: int, alpha: float, detect: float | None = None) -> RuleRow:
    """The row of a gate for a share: with `detect`, a limit that must not be missed; without, one that must be shown."""
    shows = ("lower" if side > 0 else "upper") if detect is None else ("upper" if side > 0 else "lower")
    rule = Rule(kind="threshold", where="", metric="m", bound=shows, detect=detect)  # type: ignore[arg-type]
    found = LimitTest.of_share(hits, n, limit, side, level=rule.level)
    claim = Claim(rule=rule, subject="m", found=found, limit=limit, side=side)
    return decide([claim], Policy(source="", rules=(rule,), alpha=alpha, power=0.8))[0][0]


@cache
def power(n: int, true: float, limit: float, side: int, alpha: float, word: Word) -> float:
    """The probability that the gate says this word about n rows. More hits never change GO into NO-GO, or the reverse."""
    more = (side > 0) == (word is Word.GO)

    def decides(hits: int) -> bool:
        return (judged(hits, n, limit, side, alpha).verdict is word) is more

    first = bisect_left(range(n + 1), True, key=decides)
    chances = (
        exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(true) + (n - k) * log(1 - true))
        for k in (range(first, n + 1) if more else range(first))
    )
    return fsum(chances)


@pytest.mark.parametrize("alpha", [0.05, 0.0025])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("limit", LIMITS)
def test_quoted_rows_and_effects_have_the_stated_power(limit: float, side: int, alpha: float) -> None:
    limit = limit if side > 0 else 1 - limit
    quoted = 0
    for distance, seen in product(DISTANCES, SEEN):
        true = limit + side * distance
        hits = round(true * seen)
        if not 0 < hits < seen:
            continue
        row = judged(hits, seen, limit, side, alpha)
        if row.verdict is Word.INCONCLUSIVE and row.n_needed is not None and row.n_needed < 20_000:
            word = Word.GO if side * (hits / seen - limit) > 0 else Word.NO_GO
            assert abs(power(row.n_needed, hits / seen, limit, side, alpha, word) - 0.8) <= NEAR, row
            quoted += 1
        if row.detectable is not None:
            worse = limit - side * row.detectable
            assert abs(power(seen, worse, limit, side, alpha, Word.NO_GO) - 0.8) <= NEAR, row
            quoted += 1
        guarded = judged(hits, seen, limit, side, alpha, detect=0.03)
        if guarded.verdict is Word.INCONCLUSIVE and guarded.n_needed is not None:
            worse = limit - side * 0.03
            assert abs(power(guarded.n_needed, worse, limit, side, alpha, Word.NO_GO) - 0.8) <= NEAR, guarded
            quoted += 1
    assert quoted > 5
