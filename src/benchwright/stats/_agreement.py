"""Measure how far raters agree: confusion table, Cohen's κ with its interval, and the agreement of a panel.

Numbers in, numbers out. κ and its error are those of Cohen (1968) and of Fleiss, Cohen and Everitt (1969).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from math import fsum, sqrt
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.stats._intervals import FEWEST, t_quantile

Weights: TypeAlias = Literal["none", "linear", "quadratic"]
"""How a disagreement is weighted: fully, by the distance on the scale, or by its square."""

_BY_CHANCE = 2.0
"""Number of chance pairs added before the interval is computed, like the two failures that Agresti and Coull add to a
share: a rare disagreement may be missing among fifty pairs. Chosen by simulation (tests/stats/test_agreement.py)."""


class Agreement(Struct, frozen=True):
    """How far two raters agree on the same items."""

    pairs: int
    """Number of pairs of ratings."""
    items: int
    """Number of different items that were rated."""
    categories: tuple[str, ...]
    """All ratings, in the order of the scale."""
    confusion: tuple[tuple[int, ...], ...]
    """Pairs by the first rater's category (rows) and the second's (columns)."""
    agreed: float
    """Share of items with the same category; the mean of several pairs of an item."""
    weights: Weights
    """How disagreements count in κ."""
    kappa: float | None
    """1 is perfect agreement, 0 agreement by chance. None if both raters used only one and the same category."""
    ci_low: float | None
    """Lower end of the 95 % interval of κ; None if a rater used only one category, because κ is then 0 whatever the items."""
    ci_high: float | None
    """Upper end."""

    @classmethod
    def of(
        cls,
        pairs: Sequence[tuple[str, str]],
        scale: Mapping[str, float] | None = None,
        weights: Weights | None = None,
        items: Sequence[Hashable] | None = None,
    ) -> Agreement:
        """Compute how far two raters agree, given (first, second) pairs of categories.

        `items` names the item of each pair if items were rated several times. Every item counts once, however many pairs it has,
        and the interval is that of as many pairs as there are items: right if the pairs of an item are alike, and a little too wide if not.

        `scale` gives each category's place, and so their order and, with weights, their distance. Without `weights`,
        scales of more than two places get quadratic weights, others none. Raises ValueError if there are no pairs, and for
        weights with categories that are not on the scale.

        >>> found = Agreement.of([("C", "C")] * 20 + [("C", "I")] * 5 + [("I", "C")] * 10 + [("I", "I")] * 15)
        >>> round(found.kappa, 3), found.confusion
        (0.4, ((20, 5), (10, 15)))
        """
        if not pairs:
            raise ValueError("there are no pairs to compare")
        places = dict(scale or {})
        seen = {category for pair in pairs for category in pair}
        if weights is None:
            weights = (
                "quadratic" if seen <= set(places) and len({places[each] for each in seen}) > 2 else "none"
            )
        if weights != "none" and not seen <= set(places):
            raise ValueError(f"no place on the scale for {', '.join(sorted(seen - set(places)))}")
        categories = tuple(sorted(seen, key=lambda each: (places.get(each, 0.0), each)))
        counts = Counter(pairs)
        items = range(len(pairs)) if items is None else items
        sizes = Counter(items)
        shares: dict[tuple[str, str], list[float]] = {}
        for pair, item in zip(pairs, items, strict=True):
            shares.setdefault(pair, []).append(1 / sizes[item])
        weight = {pair: fsum(parts) for pair, parts in shares.items()}
        confusion = tuple(tuple(counts[row, column] for column in categories) for row in categories)
        credit = _credit(categories, places, weights)
        table = [[weight.get((row, column), 0.0) for column in categories] for row in categories]
        kappa = weighted_kappa(table, credit)[0]
        low = high = None
        if kappa is not None and all(len(set(raters)) > 1 for raters in zip(*pairs, strict=True)):
            centre, error = weighted_kappa(_with_chance(table), credit)
            assert centre is not None  # adding chance pairs keeps κ defined
            half = t_quantile(max(1, len(sizes) - 1), 0.95) * error
            low, high = max(-1.0, min(kappa, centre - half)), min(1.0, max(kappa, centre + half))
        agreed = fsum(weight.get((each, each), 0.0) for each in categories) / len(sizes)
        return cls(len(pairs), len(sizes), categories, confusion, agreed, weights, kappa, low, high)

    @property
    def too_few(self) -> bool:
        """Whether the items are too few to rely on the interval."""
        return self.items < FEWEST


def weighted_kappa(
    table: Sequence[Sequence[float]], credit: Sequence[Sequence[float]]
) -> tuple[float | None, float]:
    """Return κ of a table of counts and its standard error; `credit` is 1 for full agreement and 0 for none."""
    total = fsum(map(fsum, table))
    size = range(len(table))
    share = [[count / total for count in row] for row in table]
    first = [fsum(row) for row in share]
    second = [fsum(share[i][j] for i in size) for j in size]
    observed = fsum(credit[i][j] * share[i][j] for i in size for j in size)
    expected = fsum(credit[i][j] * first[i] * second[j] for i in size for j in size)
    if 1 - expected < 1e-12:
        return None, 0.0
    rows = [fsum(second[j] * credit[i][j] for j in size) for i in size]
    columns = [fsum(first[i] * credit[i][j] for i in size) for j in size]
    spread = fsum(
        share[i][j] * (credit[i][j] * (1 - expected) - (rows[i] + columns[j]) * (1 - observed)) ** 2
        for i in size
        for j in size
    )
    spread -= (observed * expected - 2 * expected + observed) ** 2
    return (observed - expected) / (1 - expected), sqrt(max(0.0, spread) / total) / (1 - expected) ** 2


class PanelAgreement:
    """How far several raters of a run agree: the mean κ of all pairs of them."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._scale: dict[str, float] = {}

    def add(self, verdicts: Mapping[str, tuple[str, float]]) -> None:
        """Add one item: each rater's category and its place on the scale."""
        self._scale.update(verdicts.values())
        for one, other in combinations(sorted(verdicts), 2):
            self._pairs.setdefault((one, other), []).append((verdicts[one][0], verdicts[other][0]))

    def figures(self) -> dict[str, float]:
        """Return `judge_kappa`, if κ is defined for any pair of raters."""
        found = [Agreement.of(pairs, self._scale).kappa for pairs in self._pairs.values()]
        known = [kappa for kappa in found if kappa is not None]
        return {"judge_kappa": fsum(known) / len(known)} if known else {}


def _credit(categories: Sequence[str], places: Mapping[str, float], weights: Weights) -> list[list[float]]:
    if weights == "none":
        return [[float(one == other) for other in categories] for one in categories]
    power = 1 if weights == "linear" else 2
    ends = [places[each] for each in categories]
    reach = (max(ends) - min(ends)) or 1.0
    return [[1 - (abs(one - other) / reach) ** power for other in ends] for one in ends]


def _with_chance(table: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the table with a few pairs added in the proportions of two independent raters."""
    total = fsum(map(fsum, table))
    first = [fsum(row) / total for row in table]
    second = [fsum(row[j] for row in table) / total for j in range(len(table))]
    return [
        [count + _BY_CHANCE * first[i] * second[j] for j, count in enumerate(row)]
        for i, row in enumerate(table)
    ]
