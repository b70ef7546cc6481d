"""The evidence of a benchmark run for a gate: scores of its samples, in total and by slices, alone and paired with a
baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TypeAlias

from benchwright.core import FailureTally, JsonValue, SampleRecord
from benchwright.results._clusters import (
    Clusters,
    PairedColumns,
    SampleReader,
    ScoreColumns,
)
from benchwright.results._slices import MOST_SLICES, column_names, labels_of, value_in

SliceKey: TypeAlias = tuple[str, str]
"""A group of rows: a column and a value of it."""


class Evidence:
    """All samples of a run, and their pairs with a baseline. Copies and repeats of a row are one cluster."""

    def __init__(self, columns: Collection[str] = ()) -> None:
        self.whole = ScoreColumns()
        self.pairs: PairedColumns | None = None
        """The pairs; None: there is no baseline."""
        self.slices: dict[SliceKey, set[int]] = {}
        """The clusters of each group."""
        self.unlabelled: Counter[str] = Counter()
        """Clusters without a value in a column to slice by."""
        self._columns = sorted(columns)
        self._crowded: set[str] = set()
        self._sizes: Counter[str] = Counter()
        self._last: tuple[object, dict[int, list[float]]] = (None, {})
        self.present: dict[str, None] = {}
        """Columns of the rows; if one to slice by is missing, they tell what may be meant."""

    def label(self, cluster: int, row: JsonValue) -> None:
        """Put a cluster into its groups, by one of its rows."""
        labelled = False
        for column in self._columns:
            values = labels_of(value_in(row, column))
            if not values:
                self.unlabelled[column] += 1
            labelled |= bool(values)
            for value in values:
                key = column, value
                group = self.slices.get(key) or self._group(key)
                if group is not None:
                    group.add(cluster)
        if not labelled:
            self.present.update(dict.fromkeys(column_names(row)))

    def _group(self, key: SliceKey) -> set[int] | None:
        """A new group; None if its column has too many."""
        column, _ = key
        self._sizes[column] += 1
        if self._sizes[column] > MOST_SLICES:
            self._crowded.add(column)
            return None
        return self.slices.setdefault(key, set())

    @property
    def missing(self) -> frozenset[str]:
        """Columns to slice by that no row has."""
        return frozenset(column for column in self._columns if not self._sizes[column])

    @property
    def crowded(self) -> frozenset[str]:
        """Columns with too many values to slice by."""
        return frozenset(self._crowded)

    @property
    def before(self) -> Collection[str]:
        """Metrics of the baseline."""
        return () if self.pairs is None else self.pairs.a.metrics.keys()

    @cached_property
    def copies(self) -> int:
        """Rows with the content of an earlier row."""
        return self.whole.rows - self.readable

    readable = 0
    """Clusters of rows that could be read."""

    def keys(self, column: str) -> list[SliceKey]:
        """The groups of a column, by name."""
        return sorted(key for key in self.slices if key[0] == column)

    def size(self, key: SliceKey | None) -> int:
        """The number of distinct rows of a group, or of the run, that have a score or failed."""
        return len(self._judged if key is None else self._judged & self.slices[key])

    @cached_property
    def _judged(self) -> set[int]:
        return self.whole.judged()

    def values(
        self, metric: str, key: SliceKey | None, *, failures_as_wrong: bool, partial: bool
    ) -> Sequence[Sequence[float]]:
        """The values of a metric, row by row. Of a partial metric, only failures in the group of its name count as 0."""
        question = metric, failures_as_wrong, partial
        if self._last[0] != question:  # the slices of one rule follow each other
            found = self.whole.values(metric, failures_as_wrong=failures_as_wrong, partial=partial)
            self._last = question, found
        return self._chosen(self._last[1], key)

    def share_of(self, outcomes: Collection[str], key: SliceKey | None) -> Sequence[Sequence[float]]:
        """For each row, 1 for each sample with one of these outcomes and 0 for each other one; if no outcomes are given, 1
        for each sample without a score. Samples of one row are not independent, so they stay together."""
        question = ("share of", *sorted(outcomes))
        if self._last[0] != question:
            self._last = question, self.whole.share_of(outcomes)
        return self._chosen(self._last[1], key)

    def _chosen(self, rows: dict[int, list[float]], key: SliceKey | None) -> Sequence[Sequence[float]]:
        if key is None:
            return list(rows.values())
        return [rows[cluster] for cluster in sorted(self.slices[key]) if cluster in rows]

    def paired_values(
        self, metric: str, key: SliceKey | None, *, failures_as_wrong: bool, partial: bool
    ) -> tuple[Sequence[float], Sequence[float]]:
        """Means of a metric by row, for the baseline and for the run; empty if no pair has it."""
        if self.pairs is None:
            return [], []
        self._last = (None, {})
        within = None if key is None else self.slices[key]
        if failures_as_wrong and self.failed_pairs:
            _, a, b = self.pairs.means_with_failures(metric, partial=partial, within=within)
        else:
            _, a, b = self.pairs.means(metric, within)
        return a, b

    @cached_property
    def failed_pairs(self) -> bool:
        """Whether a sample failed in a row that run and baseline have."""
        return self.pairs is not None and self.pairs.failures

    @cached_property
    def lost(self) -> Sequence[tuple[int, str | None]]:
        """Rows that failed in the run and in the baseline, with their recorded groups."""
        return [] if self.pairs is None else self.pairs.lost()


def gather(source: SampleReader, columns: Collection[str], baseline: SampleReader | None) -> Evidence:
    """Read the samples of a run and of its baseline once each."""
    found = Evidence(columns)
    clusters = Clusters(found.label if columns else None)
    clusters.read(source, found.whole)
    found.readable, clusters.seen = clusters.readable, None  # rows of the baseline alone are in no slice
    if baseline is not None:
        before = ScoreColumns()
        clusters.read(baseline, before)
        found.pairs = PairedColumns(before, found.whole)
    return found


def commonest_failure(source: SampleReader) -> str:
    """The most common failure of a run in plain words, and its share if there are others; empty if none is recorded."""
    tally = FailureTally()
    for *_, record in source.scored():
        fields = SampleRecord.score_fields(record)
        if fields.get("error") and fields.get("scores") is None:
            tally.add(str(fields["error"]))
    count, error = tally.commonest()
    return error if count == tally.total else f"{error} ({count:,} of {tally.total:,} failures)"
