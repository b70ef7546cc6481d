"""The comparison of any number of runs: each against the first, and every pair by the headline metric."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import ClassVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from benchwright.core import JsonObject, JsonValue, Note, NotFoundError, UsageError, as_json, suggest
from benchwright.results._clusters import Clusters, PairedColumns
from benchwright.results._comparison import Comparison, ComparisonOptions, Side
from benchwright.results._figures import gravest_first
from benchwright.results._found_runs import FoundRun
from benchwright.results._kinds import KindRow
from benchwright.results._load_comparison import LoadComparison
from benchwright.results._notebooks import ShownInNotebooks
from benchwright.results._slices import MOST_SLICES, column_names, labels_of, value_in
from benchwright.results._standings import RunPair, Standings, every_pair, paired_test
from benchwright.stats import holm


class PairedSlices(Struct, frozen=True):
    """A metric of two runs by the values of a column, the largest loss first."""

    run_a: int
    """The number of the first run."""
    run_b: int
    """The number of the second."""
    column: str
    metric: str
    slices: tuple[tuple[str | None, RunPair], ...]
    """Every value as text, None for the rows without one, and the two runs on its rows. Their p-values are corrected for the number of slices."""

    def to_json(self) -> JsonObject:
        """All fields; those of a slice are `{value, paired, p_adjusted, significant, small}`, small: too few pairs to rely on the interval."""
        slices: list[JsonValue] = [
            {
                "value": value,
                "paired": as_json(pair.paired),
                "p_adjusted": pair.p_adjusted,
                "significant": pair.significant,
                "small": pair.small,
            }
            for value, pair in self.slices
        ]
        return {
            "run_a": self.run_a,
            "run_b": self.run_b,
            "column": self.column,
            "metric": self.metric,
            "slices": slices,
        }


class ManyRuns(ShownInNotebooks, Struct, frozen=True, kw_only=True):
    """Several runs of one kind side by side. The first is the baseline."""

    most: ClassVar[int] = 8
    """The most runs that are compared at once."""

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
    def notes(self) -> list[Note]:
        """The doubts about any of the comparisons."""
        return gravest_first(note for each in self.comparisons for note in each.notes)

    @property
    def standings(self) -> Standings:
        """All runs by the headline."""
        return Standings(
            {side.id: side.title for side in self.runs}, self.metric, self.pairs, self.lower_is_better
        )

    @property
    def best(self) -> Side | None:
        """The run with the best mean; None if no run has the headline."""
        found = self.standings.best
        return next((side for side in self.runs if side.id == found), None)

    def pair(self, a: int, b: int) -> RunPair | None:
        """The pair of two runs, as b against a; None if they have no common rows."""
        return self.standings.pair(a, b)

    @property
    def sentence(self) -> str:
        """Which run is the best, and which cannot be told apart from it."""
        if self.best is None:
            return "; ".join(f"{each.run_b.title}: {each.sentence}" for each in self.comparisons)
        return self.standings.sentence

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

    @classmethod
    def of(
        cls, kind: KindRow, found: Sequence[FoundRun], options: ComparisonOptions, *, by: str | None = None
    ) -> ManyRuns:
        """Compare runs of one kind: each with the first, and all pairs of benchmark runs by the headline metric. `by`: also by the values
        of a column."""
        first, *others = found
        groups = _ColumnClusters(by)
        clusters = Clusters(None if by is None else groups.label)
        shared = replace(options, clusters=clusters)
        comparisons = tuple(kind.compare(first, other, shared) for other in others)
        one = comparisons[0]
        if not isinstance(one, Comparison) or not one.metrics or one.noun != "sample":
            if by is not None:
                raise UsageError(
                    "only runs of benchmarks that have scores can be compared by a column; leave out --by"
                )
            return cls(comparisons=comparisons)
        metric = one.metrics[0]
        if len(found) == 2 and by is None:
            pair = RunPair(one.run_a.id, one.run_b.id, metric.paired, metric.p_adjusted)
            return cls(
                comparisons=comparisons,
                metric=metric.name,
                lower_is_better=metric.lower_is_better,
                pairs=(pair,),
            )
        columns = [clusters.columns[id(each.samples)] for each in found]
        less = metric.lower_is_better
        known = {each.run.id: column for each, column in zip(found, columns, strict=True)}
        pairs = every_pair(known, metric.name, less=less, tolerance=options.tolerance)
        slices = [
            groups.paired(
                PairedColumns(columns[0], column), (first.run.id, other.run.id), metric.name, options, less
            )
            for other, column in zip(others, columns[1:], strict=True)
            if by is not None
        ]
        if len(found) == 2:  # its p-value is corrected for the metrics
            pairs = (RunPair(one.run_a.id, one.run_b.id, metric.paired, metric.p_adjusted),)
            return cls(
                comparisons=comparisons,
                metric=metric.name,
                lower_is_better=less,
                pairs=pairs,
                slices=tuple(slices),
            )
        return cls(
            comparisons=comparisons,
            metric=metric.name,
            lower_is_better=metric.lower_is_better,
            pairs=pairs,
            slices=tuple(slices),
        )


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
            name: paired_test(columns.means(metric, within), metric, options.tolerance, less)
            for name, within in self._clusters.items()
        }
        differing = {name: each for name, each in tested.items() if each is not None and each.differing}
        adjusted = dict(zip(differing, holm([each.p_value for each in differing.values()]), strict=True))
        sign = -1 if less else 1
        order = sorted(
            tested.items(), key=lambda each: (sign * each[1].difference if each[1] else inf, each[0] or "")
        )
        found = tuple((name, RunPair(*runs, each, adjusted.get(name))) for name, each in order)
        return PairedSlices(*runs, self._column, metric, found)
