"""The comparison of any number of runs: each against the first, and every pair by the headline metric."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from benchwright.core import JsonObject, JsonValue, NotFoundError, UsageError, as_json, is_share, suggest
from benchwright.results._clusters import Clusters, PairedColumns, PairedMeans, ScoreColumns
from benchwright.results._comparison import Comparison, ComparisonOptions, Side
from benchwright.results._found_runs import FoundRun
from benchwright.results._kinds import KindRow
from benchwright.results._load_comparison import LoadComparison
from benchwright.results._metric_comparison import direction_of
from benchwright.results._notebooks import ShownInNotebooks
from benchwright.results._slices import MOST_SLICES, column_names, labels_of, value_in
from benchwright.stats import PairedResult, compare_pairs, holm

MOST_RUNS = 8
"""The most runs that are compared at once."""


class RunPair(Struct, frozen=True):
    """Two of the runs, by the headline metric."""

    run_a: int
    """The number of the first."""
    run_b: int
    """The number of the second."""
    paired: PairedResult | None
    """The rows that both have; None if there are none."""
    p_adjusted: float | None = None
    """The p-value, corrected by Holm's method for all pairs of runs; None if nothing was tested."""

    @property
    def significant(self) -> bool:
        """Whether the corrected test tells them apart at the 5 % level."""
        return self.p_adjusted is not None and self.p_adjusted < 0.05

    def to_json(self) -> JsonObject:
        """All fields, and the verdict."""
        found: JsonObject = {**as_json(self), "significant": self.significant}
        return found


class PairedSlice(Struct, frozen=True):
    """The rows with one value of a column, in two runs."""

    value: str | None
    """The value as text; None: the rows without one."""
    paired: PairedResult | None
    """The rows that both runs have; None if there are none."""
    p_adjusted: float | None = None
    """The p-value, corrected by Holm's method for the number of slices."""
    significant: bool = False
    """Whether the corrected test finds a difference at the 5 % level."""
    small: bool = False
    """Whether the pairs are too few to rely on the interval."""


class PairedSlices(Struct, frozen=True):
    """A metric of two runs by the values of a column, the largest loss first."""

    run_a: int
    """The number of the first run."""
    run_b: int
    """The number of the second."""
    column: str
    metric: str
    slices: tuple[PairedSlice, ...]
    """Every value."""

    def to_json(self) -> JsonObject:
        """All fields."""
        found: JsonObject = as_json(self)
        return found


class ManyRuns(ShownInNotebooks, Struct, frozen=True, kw_only=True):
    """Several runs of one kind side by side. The first is the baseline."""

    comparisons: tuple[Comparison | LoadComparison, ...]
    """Every other run against the first."""
    metric: str | None = None
    """The metric of `pairs`: the headline. None for runs without one, such as load tests."""
    lower_is_better: bool = False
    """Whether a smaller value is the better one."""
    pairs: tuple[RunPair, ...] = ()
    """Every pair of runs."""
    slices: tuple[PairedSlices, ...] = ()
    """Each run against the first by the values of a column, if one was named."""

    @property
    def runs(self) -> tuple[Side, ...]:
        """All runs, the baseline first."""
        return self.comparisons[0].run_a, *(each.run_b for each in self.comparisons)

    @property
    def differs(self) -> bool:
        """Whether any run differs from the first."""
        return any(each.differs for each in self.comparisons)

    @property
    def regressed(self) -> bool:
        """Whether any run is significantly worse than the first."""
        return any(each.regressed for each in self.comparisons)

    @property
    def comparable(self) -> bool:
        """Whether the numbers of all runs may be compared."""
        return all(each.comparable for each in self.comparisons)

    @property
    def best(self) -> Side | None:
        """The run with the best mean; None if no run has the headline."""
        known = {each.run_a: each for each in self.pairs if each.paired is not None}
        if not known:
            return None
        means: dict[int, list[float]] = {}
        for pair in self.pairs:
            if pair.paired is not None:
                means.setdefault(pair.run_a, []).append(-pair.paired.difference)
                means.setdefault(pair.run_b, []).append(pair.paired.difference)
        sign = -1 if self.lower_is_better else 1
        # The mean of its differences from all others, each on the rows that both have; the first of equals.
        return max(
            (side for side in self.runs if side.id in means),
            key=lambda side: sign * sum(means[side.id]) / len(means[side.id]),
        )

    def pair(self, a: int, b: int) -> RunPair | None:
        """The pair of two runs, as b against a; None if they have no common rows."""
        for each in self.pairs:
            if each.paired is not None and {each.run_a, each.run_b} == {a, b}:
                return each if each.run_a == a else _turned(each)
        return None

    @property
    def sentence(self) -> str:
        """Which run is the best, and which cannot be told apart from it."""
        best = self.best
        if best is None:
            return "; ".join(f"{each.run_b.title}: {each.sentence}" for each in self.comparisons)
        first = self.runs[0]
        others = [side for side in self.runs if side.id != best.id]
        pairs = {side.id: self.pair(side.id, best.id) for side in others}
        # The first run comes first where the best one is better than it; all others follow in their order.
        ahead = [side for side in others if side.id == first.id and self._better(pairs[side.id]) == 1]
        parts = [f"{best.title} is better than {side.title} by {_by(pairs[side.id])}" for side in ahead]
        apart = []
        for side in others:
            better = self._better(pairs[side.id])
            if better is None or side in ahead:
                continue
            by = _by(pairs[side.id])
            if better == 1:
                apart.append(f"{side.title} is worse than {best.title} by {by}")
            elif better == -1:
                apart.append(f"{side.title} is better than {best.title} by {by} on the rows that both have")
            else:
                apart.append(f"{side.title} differs from {best.title}, but not in one direction")
        alike = [side.title for side in others if (pair := pairs[side.id]) and not pair.significant]
        unpaired = [side.title for side in others if pairs[side.id] is None]
        if not parts and not apart and not unpaired:
            return f"no run can be told apart from the others by {self.metric}"
        if not parts:
            parts.append(f"{best.title} has the best {self.metric}")
        parts += apart
        if alike:
            parts.append(f"{_listed(alike)} cannot be told apart from {best.title}")
        if unpaired:
            parts.append(f"{_listed(unpaired)} cannot be compared with {best.title}: no row is in both")
        return "; ".join(parts)

    def _better(self, pair: RunPair | None) -> int | None:
        """Whether the second run of a pair is better (1) or worse (-1), or the test and the means disagree (0). None: the test does
        not tell the runs apart."""
        if pair is None or pair.paired is None or not pair.significant:
            return None
        direction = direction_of(pair.paired.mean_a, pair.paired.mean_b, pair.paired, 0.0)
        if direction not in ("up", "down"):
            return 0
        return 1 if (direction == "up") != self.lower_is_better else -1

    def to_json(self) -> JsonObject:
        """As `--json` prints it: two runs in their own shape; more with every pair, and each run against the first in that shape.
        Slices are there if a column was named."""
        sliced: JsonObject = {"slices": [each.to_json() for each in self.slices]} if self.slices else {}
        if len(self.comparisons) == 1:
            return {**self.comparisons[0].to_json(), **sliced}
        best = self.best
        return {
            "sentence": self.sentence,
            "runs": [as_json(side) for side in self.runs],
            "metric": self.metric,
            "lower_is_better": self.lower_is_better,
            "best": None if best is None else best.id,
            "differs": self.differs,
            "regressed": self.regressed,
            "comparable": self.comparable,
            "pairs": [pair.to_json() for pair in self.pairs],
            "comparisons": [each.to_json() for each in self.comparisons],
            **sliced,
        }


def compare_many(
    kind: KindRow, found: Sequence[FoundRun], options: ComparisonOptions, *, by: str | None = None
) -> ManyRuns:
    """Compare runs of one kind: each with the first, and all pairs of benchmark runs by the headline metric. `by`: also by the values
    of a column."""
    first, *others = found
    comparisons = tuple(kind.compare(first, other, options) for other in others)
    one = comparisons[0]
    if not isinstance(one, Comparison) or not one.metrics or one.noun != "sample":
        if by is not None:
            raise UsageError(
                "only runs of benchmarks that have scores can be compared by a column; leave out --by"
            )
        return ManyRuns(comparisons=comparisons)
    metric = one.metrics[0]
    if len(found) == 2 and by is None:
        pair = RunPair(one.run_a.id, one.run_b.id, metric.paired, metric.p_adjusted)
        return ManyRuns(
            comparisons=comparisons, metric=metric.name, lower_is_better=metric.lower_is_better, pairs=(pair,)
        )
    clusters, columns = Clusters(), []
    groups = _ColumnClusters(by)
    for each in found:
        columns.append(ScoreColumns())
        clusters.read(each.samples, columns[-1], None if by is None else groups.label)
    pairs = []
    less = metric.lower_is_better
    for (a, left), (b, right) in combinations(zip(found, columns, strict=True), 2):
        means = PairedColumns(left, right).means(metric.name)
        pairs.append(RunPair(a.run.id, b.run.id, _tested(means, metric.name, options.tolerance, less)))
    slices = [
        groups.paired(
            PairedColumns(columns[0], column), (first.run.id, other.run.id), metric.name, options, less
        )
        for other, column in zip(others, columns[1:], strict=True)
        if by is not None
    ]
    if len(found) == 2:  # its p-value is corrected for the metrics
        pairs = [RunPair(one.run_a.id, one.run_b.id, metric.paired, metric.p_adjusted)]
        return ManyRuns(
            comparisons=comparisons,
            metric=metric.name,
            lower_is_better=less,
            pairs=tuple(pairs),
            slices=tuple(slices),
        )
    return ManyRuns(
        comparisons=comparisons,
        metric=metric.name,
        lower_is_better=metric.lower_is_better,
        pairs=_corrected(pairs),
        slices=tuple(slices),
    )


def _tested(means: PairedMeans, metric: str, tolerance: float, less: bool) -> PairedResult | None:
    if not means.clusters:
        return None
    found = compare_pairs(means.a, means.b, share=is_share(metric), tolerance=tolerance)
    return found.turned() if less else found


class _ColumnClusters:
    """The clusters of each value of a column."""

    def __init__(self, column: str | None) -> None:
        self._column = column or ""
        self._clusters: dict[str | None, set[int]] = {}
        self._names: dict[str, None] = {}
        self._found = False

    def label(self, cluster: int, row: JsonValue) -> None:
        """Put a cluster into its groups, by one of its rows."""
        value = value_in(row, self._column)
        self._found = self._found or value is not UNSET
        if not self._found:
            self._names.update(dict.fromkeys(column_names(row)))
        for name in labels_of(value) or (None,):
            self._clusters.setdefault(name or None, set()).add(cluster)
        if len(self._clusters) > MOST_SLICES:
            raise UsageError(
                f"the column {self._column!r} has more than {MOST_SLICES} values; compare by one that has fewer"
            )

    def paired(
        self,
        columns: PairedColumns,
        runs: tuple[int, int],
        metric: str,
        options: ComparisonOptions,
        less: bool,
    ) -> PairedSlices:
        """The groups in two runs. Raises NotFoundError if no row has the column."""
        if not self._found:
            there = ", ".join(sorted(self._names)) or "none that are recorded"
            raise NotFoundError(
                f"no row has a column {self._column!r}.{suggest(self._column, self._names)} Columns: {there}"
            )
        tested = {
            name: _tested(columns.means(metric, within), metric, options.tolerance, less)
            for name, within in self._clusters.items()
        }
        differing = {name: each for name, each in tested.items() if each is not None and each.differing}
        adjusted = dict(zip(differing, holm([each.p_value for each in differing.values()]), strict=True))
        found = [
            PairedSlice(
                name,
                each,
                adjusted.get(name),
                adjusted.get(name, 1.0) < 0.05,
                each is None or each.too_few,
            )
            for name, each in tested.items()
        ]
        sign = -1 if less else 1
        found.sort(key=lambda each: (sign * each.paired.difference if each.paired else inf, each.value or ""))
        return PairedSlices(*runs, self._column, metric, tuple(found))


def _corrected(pairs: Sequence[RunPair]) -> tuple[RunPair, ...]:
    tested = [each for each in pairs if each.paired is not None and each.paired.differing]
    p_values: dict[int, float] = dict(
        zip(map(id, tested), holm([each.paired.p_value for each in tested if each.paired]), strict=True)
    )
    return tuple(replace(each, p_adjusted=p_values.get(id(each))) for each in pairs)


def _turned(pair: RunPair) -> RunPair:
    found: Any = pair.paired
    low, high = found.ci_low, found.ci_high
    turned = replace(
        found,
        mean_a=found.mean_b,
        mean_b=found.mean_a,
        difference=-found.difference,
        ci_low=None if high is None else -high,
        ci_high=None if low is None else -low,
        wins=found.losses,
        losses=found.wins,
        leaning=-found.leaning,
    )
    return RunPair(pair.run_b, pair.run_a, turned, pair.p_adjusted)


def _by(pair: RunPair | None) -> str:
    """`0.0400 (0.0100 to 0.0700)`: the size of a difference, with its interval."""
    found: Any = None if pair is None else pair.paired
    size = f"{abs(found.difference):.4f}"
    if found.ci_low is None or found.ci_high is None:
        return size
    low, high = (found.ci_low, found.ci_high) if found.difference > 0 else (-found.ci_high, -found.ci_low)
    return f"{size} ({low:.4f} to {high:.4f})"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
