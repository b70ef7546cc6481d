"""Reads the samples of runs once, as columns of scores, and finds the samples that belong together.

Copies and repeats of a row are one cluster: they show how one row is answered, not how many rows are answered well. Rows
are the same if their content is, because row numbers depend on filters, limits, order and sampling.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress, islice
from typing import Any, NamedTuple, Protocol, TypeAlias

from benchwright.core import (
    MAX_TOKENS_FIELD,
    JsonValue,
    RecordColumns,
    SampleRecord,
    canonical_json,
    is_unanswered,
    load_each,
    row_hash,
)

_BLOCK = 250
"""Samples that are decoded together."""
_NUMBERS = frozenset({bool, int, float})


class SampleTexts(NamedTuple):
    """What was sent for a sample, and what came back."""

    prompt: str | None
    reply: str | None
    row: bytes | None = None
    """The row of the data as JSON, if it is known."""
    name: str | None = None
    """The name that a workflow gave the row."""


class SampleReader(Protocol):
    """The samples of one run, wherever they are: in the store, in the folder of its files, or in a portable baseline."""

    def scored(self) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Row, repeat, hash of the row and record of every sample, in their order."""
        ...

    def row_texts(self) -> Iterator[tuple[int, bytes | None]]:
        """Number and JSON of the row of every sample, in their order; nothing if hashes of their content identify the rows."""
        ...

    def texts(self, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], SampleTexts]:
        """Prompts and replies of some samples, by row and repeat, as far as they are known."""
        ...


class Sample(NamedTuple):
    """One sample of a run, without its texts."""

    cluster: int
    """The number of its cluster."""
    row: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    outcome: str
    scores: dict[str, Any] | None
    """None if it failed."""
    target: JsonValue
    error: str | None


_sample: Callable[[Any], Sample] = partial(tuple.__new__, Sample)
"""`Sample._make` without its call frame, because it is called for every sample."""


def row_identity(row: JsonValue) -> bytes:
    """Hash what makes a row the same row: its content in any order of keys, without the longest reply, which a plan may draw
    for each copy, and without the id of a row of function calling that is only its number in the file.

    >>> row_identity({"q": "1+1=", "max_tokens": 5}) == row_identity({"max_tokens": 7, "q": "1+1="})
    True
    """
    return row_hash(canonical_json(_kept(row)))


def _kept(row: JsonValue) -> JsonValue:
    """The part of a row that identifies it; usually the row itself."""
    if not isinstance(row, dict):
        return row
    left_out = [MAX_TOKENS_FIELD] if MAX_TOKENS_FIELD in row else []
    if "id" in row and "category" in row and "question" in row:
        name, _, number = str(row["id"]).rpartition("_")
        if name == row["category"] and number.isdecimal():
            left_out.append("id")
    return {name: value for name, value in row.items() if name not in left_out} if left_out else row


def unread_identity(error: object) -> bytes:
    """The identity of a row that could not be read: the reason."""
    return row_hash(f"!{error}".encode())


class Clusters:
    """Numbers the clusters of one or several runs, so that a row has the same number in each."""

    def __init__(self, seen: Callable[[int, JsonValue], None] | None = None) -> None:
        """`seen` gets each new cluster with a row of it."""
        self.seen = seen
        self._numbers: dict[bytes, int] = {}
        self.columns: dict[int, ScoreColumns] = {}
        """The scores of each run that comparisons have read, by the identity of its reader, so that nobody reads it again."""
        self.count = 0
        """How many clusters there are."""
        self.readable = 0
        """How many of them are of rows that could be read."""

    def samples(self, source: SampleReader, columns: ScoreColumns) -> Iterator[Sample]:
        """Read the samples of a run, add their scores to `columns`, and yield them."""
        for block, clusters, records in self._blocks(source, columns):
            yield from map(
                _sample,
                zip(
                    clusters,
                    [each[0] for each in block],
                    [each[1] for each in block],
                    records.column("outcome"),
                    records.column("scores"),
                    records.column("target"),
                    records.column("error"),
                    strict=True,
                ),
            )

    def read(self, source: SampleReader, columns: ScoreColumns) -> None:
        """Add the scores of a run to `columns`."""
        for _ in self._blocks(source, columns):
            pass

    def _blocks(
        self, source: SampleReader, columns: ScoreColumns
    ) -> Iterator[tuple[list[tuple[int, int, bytes, bytes]], list[int], RecordColumns]]:
        texts = _Texts(source)
        samples = source.scored()
        last = -1
        known = self._numbers.get
        while block := list(islice(samples, _BLOCK)):
            records = SampleRecord.columns([each[3] for each in block])
            rows, _, digests, _ = zip(*block, strict=True)
            clusters: list[Any] = list(map(known, digests))
            if None in clusters:
                self._learn(rows, digests, texts)
                clusters = list(map(known, digests))
            if None in clusters:  # rows that could not be read
                for at, error in enumerate(records.column("error")):
                    if not digests[at]:
                        clusters[at] = self._named(unread_identity(error))
            readable = set(rows if all(digests) else compress(rows, digests))
            columns.rows += len(readable) - (last in readable)
            last = rows[-1]
            columns.add(
                clusters, records.column("outcome"), records.column("scores"), records.column("group")
            )
            yield block, clusters, records

    def _learn(self, rows: Sequence[int], digests: Sequence[bytes], texts: _Texts) -> None:
        """Number the rows of a block that are new."""
        new: dict[bytes, int] = {}
        for digest, row in zip(digests, rows, strict=True):
            if digest and digest not in self._numbers:
                new.setdefault(digest, row)
        found = texts.of(new)
        for digest in new:
            if digest not in found:
                self._named(digest)  # of a baseline, whose hashes are identities
        for digest, content in zip(found, load_each(list(found.values()), exact=True), strict=True):
            number, is_new = self._number(digest, content)
            if is_new and self.seen is not None:
                self.seen(number, content)

    def _number(self, digest: bytes, content: JsonValue) -> tuple[int, bool]:
        """The number of a row with this content, and whether it is new."""
        kept = _kept(content)
        numbers = self._numbers
        identity = row_hash(canonical_json(kept))
        number = numbers.get(identity)
        # Older baselines have the hash of all fields.
        whole = identity if kept is content else row_hash(canonical_json(content))
        if number is None and whole != identity:
            number = numbers.get(whole)
        if new := number is None:
            number = self.count
            self.count += 1
            self.readable += 1
        numbers[digest] = numbers[identity] = number
        if whole != identity:
            numbers[whole] = number
        return number, new

    def _named(self, identity: bytes) -> int:
        number = self._numbers.setdefault(identity, self.count)
        self.count += number == self.count
        return number


class _Texts:
    """The texts of rows that are asked for in order."""

    def __init__(self, source: SampleReader) -> None:
        self._source = source
        self._texts: Iterator[tuple[int, bytes | None]] | None = None

    def of(self, wanted: Mapping[bytes, int]) -> dict[bytes, bytes]:
        """The texts of some rows, by hash; a baseline has none."""
        if self._texts is None:
            self._texts = self._source.row_texts()
        found = {}
        for digest, row in wanted.items():
            for at, text in self._texts:
                if at == row and text is not None:
                    found[digest] = text
                    break
        return found


class Column(NamedTuple):
    """The values of one metric."""

    clusters: array[int]
    """The cluster of each value."""
    values: array[float]


class ScoreColumns:
    """The scores of a run's samples, in a few bytes each."""

    def __init__(self) -> None:
        self.metrics: dict[str, Column] = {}
        self.outcomes: dict[str, array[int]] = {}
        """Clusters of the samples with an outcome."""
        self.failed: dict[str | None, array[int]] = {}
        """Clusters of the samples without scores, by recorded group."""
        self.samples = 0
        self.without_numbers = 0
        """Samples that were scored and have no number, because their rows have no answer."""
        self.rows = 0
        """Rows that could be read."""

    def add(
        self,
        clusters: Sequence[int],
        outcomes: Sequence[str],
        scores: Sequence[dict[str, Any] | None],
        groups: Sequence[str | None],
    ) -> None:
        """Add samples."""
        self.samples += len(clusters)
        first = outcomes[0]
        if outcomes.count(first) == len(outcomes):
            self._ended(first).extend(clusters)
        else:
            for outcome, cluster in zip(outcomes, clusters, strict=True):
                self._ended(outcome).append(cluster)
        if self._added_together(clusters, scores):
            return
        for cluster, given, group in zip(clusters, scores, groups, strict=True):
            if given is None:
                if group not in self.failed:
                    self.failed[group] = array("i")
                self.failed[group].append(cluster)
                continue
            numbers = False
            for name, value in given.items():
                if isinstance(value, bool | int | float):
                    numbers = True
                    column = self._column(name)
                    column.clusters.append(cluster)
                    column.values.append(value)
            self.without_numbers += not numbers

    def _added_together(self, clusters: Sequence[int], scores: Sequence[dict[str, Any] | None]) -> bool:
        """Add samples that all have the same numbers, in a fifth of the time; False if they do not."""
        if None in scores or len(set(map(len, scores))) != 1:  # type: ignore[arg-type]  # none is None
            return False
        try:
            columns = {name: [given[name] for given in scores] for name in scores[0] or ()}  # type: ignore[index]
        except KeyError:
            return False
        numbers = {}
        for name, values in columns.items():
            kinds = set(map(type, values))
            if kinds <= _NUMBERS:
                numbers[name] = values
            elif kinds & _NUMBERS:
                return False
        for name, values in numbers.items():
            column = self._column(name)
            column.clusters.extend(clusters)
            column.values.extend(values)
        self.without_numbers += 0 if numbers else len(clusters)
        return True

    def _column(self, name: str) -> Column:
        column = self.metrics.get(name)
        if column is None:
            column = self.metrics[name] = Column(array("i"), array("d"))
        return column

    def _ended(self, outcome: str) -> array[int]:
        found = self.outcomes.get(outcome)
        if found is None:
            found = self.outcomes[outcome] = array("i")
        return found

    @property
    def failures(self) -> int:
        """Samples without scores."""
        return sum(map(len, self.failed.values()))

    def is_partial(self, metric: str) -> bool:
        """Whether only some of the scored samples have the metric, such as the rows of one category."""
        scored = self.samples - self.failures - self.without_numbers
        return (len(self.metrics[metric].values) if metric in self.metrics else 0) < scored

    def clusters(self) -> set[int]:
        """All clusters of the run."""
        return set().union(*self.outcomes.values())

    def judged(self) -> set[int]:
        """The clusters that have a score or failed."""
        columns = (column.clusters for column in self.metrics.values())
        return set().union(*columns, *self.failed.values())

    def counts(self) -> array[int]:
        """The number of samples of each cluster, by its number; shorter if the last clusters have none."""
        return _counts(self.outcomes.values())

    def failed_counts(self) -> array[int]:
        """The number of failed samples of each cluster, by its number."""
        return _counts(self.failed.values())

    def values(
        self, metric: str, *, failures_as_wrong: bool = False, partial: bool = False
    ) -> dict[int, list[float]]:
        """The values of a metric by cluster. Of a partial metric, only failures in the group of its name count as 0."""
        found: dict[int, list[float]] = {}
        if metric in self.metrics:
            for cluster, value in zip(*self.metrics[metric], strict=True):
                found.setdefault(cluster, []).append(value)
        if failures_as_wrong:
            for group, clusters in self.failed.items():
                if _fails_in(metric, group, partial=partial):
                    for cluster in clusters:
                        found.setdefault(cluster, []).append(0.0)
        return found

    def share_of(self, outcomes: Collection[str]) -> dict[int, list[float]]:
        """For each cluster, 1 for each sample with one of these outcomes and 0 for each other one; if no outcomes are given, 1
        for each sample without a score."""
        named = [self.outcomes[each] for each in set(outcomes) & self.outcomes.keys()]
        hits = _counts(named) if outcomes else self.failed_counts()
        sizes = self.counts()
        hits.extend([0] * (len(sizes) - len(hits)))
        return {
            cluster: [1.0] * hit + [0.0] * (size - hit)
            for cluster, (hit, size) in enumerate(zip(hits, sizes, strict=True))
            if size
        }


PairedMeans: TypeAlias = tuple[Sequence[int], Sequence[float], Sequence[float]]
"""Clusters that both runs have, and the means of a metric in them, in the first run and in the second."""
_NO_PAIRS: PairedMeans = ((), (), ())


class PairedColumns:
    """Two runs, by clusters: each side of a pair is the mean of all values of the cluster in that run, however many."""

    def __init__(self, a: ScoreColumns, b: ScoreColumns) -> None:
        self.a, self.b = a, b
        self._last: tuple[object, PairedMeans] = (None, _NO_PAIRS)
        self._order: _Order | None = None

    def counts(self) -> tuple[int, int, int]:
        """The number of samples that have a partner, and that only one of the runs has."""
        counts = self.a.counts(), self.b.counts()
        both = sum(map(min, *counts))
        return both, self.a.samples - both, self.b.samples - both

    @property
    def failures(self) -> bool:
        """Whether a sample failed in a cluster that both runs have."""
        shared = self.a.clusters() & self.b.clusters()
        return any(
            not shared.isdisjoint(clusters) for side in (self.a, self.b) for clusters in side.failed.values()
        )

    def lost(self) -> list[tuple[int, str | None]]:
        """The clusters of which all samples failed in both runs, with the recorded groups."""
        groups = {
            cluster: group
            for side in (self.a, self.b)
            for group, clusters in side.failed.items()
            for cluster in clusters
        }
        all_failed = [
            {
                cluster
                for cluster, (failed, count) in enumerate(
                    zip(side.failed_counts(), side.counts(), strict=False)
                )
                if failed and failed == count
            }
            for side in (self.a, self.b)
        ]
        return [(cluster, groups[cluster]) for cluster in sorted(all_failed[0] & all_failed[1])]

    def means(self, metric: str, within: Collection[int] | None = None) -> PairedMeans:
        """The clusters in which both runs have a value; `within`: only these."""
        return self._within(within, metric)

    def means_with_failures(
        self, metric: str, *, partial: bool = False, within: Collection[int] | None = None
    ) -> PairedMeans:
        """The same, with failed samples counted as 0 in rows that have the metric. Of a row that failed always and in both
        runs, its group tells."""
        return self._within(within, metric, partial)

    def _within(self, within: Collection[int] | None, *question: Any) -> PairedMeans:
        if self._last[0] != question:  # slices of one metric follow each other
            self._last = (
                question,
                self._with_failures(*question) if len(question) > 1 else self._means(*question),
            )
        found = self._last[1]
        if within is None:
            return found
        clusters, a, b = found
        chosen = [cluster in within for cluster in clusters]
        return list(compress(clusters, chosen)), list(compress(a, chosen)), list(compress(b, chosen))

    def _means(self, metric: str) -> PairedMeans:
        columns = self.a.metrics.get(metric), self.b.metrics.get(metric)
        if columns[0] is None or columns[1] is None:
            return _NO_PAIRS
        if columns[0].clusters == columns[1].clusters and _rises(columns[0].clusters):
            return columns[0].clusters, columns[0].values, columns[1].values
        a, b = columns[0], columns[1]
        if self._order is None or not self._order.is_of(a, b):  # metrics usually have the same samples
            self._order = _Order(a.clusters, b.clusters)
        return self._order.means(a, b) or _shared_means(_Sums(a), _Sums(b))

    def _with_failures(self, metric: str, partial: bool) -> PairedMeans:
        sides = [_Sums(side.metrics.get(metric)) for side in (self.a, self.b)]
        known = sides[0].total.keys() | sides[1].total.keys()
        known |= {cluster for cluster, group in self.lost() if _fails_in(metric, group, partial=partial)}
        for side, sums in zip((self.a, self.b), sides, strict=True):
            for clusters in side.failed.values():
                for cluster in clusters:
                    if cluster in known:
                        sums.add(cluster, 0.0)
        return _shared_means(sides[0], sides[1])


class _Order:
    """Where the values of the clusters that two columns share are, if each column has every cluster at most once."""

    def __init__(self, a: array[int], b: array[int]) -> None:
        self._a, self._b = a, b
        size = 1 + max(max(a, default=-1), max(b, default=-1))
        first, second = _places(a, size), _places(b, size)
        self._once = size - first.count(-1) == len(a) and size - second.count(-1) == len(b)
        if self._once:
            self._shared = array("i", [at for at in range(size) if first[at] >= 0 <= second[at]])
            self._in_a = array("i", map(first.__getitem__, self._shared))
            self._in_b = array("i", map(second.__getitem__, self._shared))

    def is_of(self, a: Column, b: Column) -> bool:
        return self._a == a.clusters and self._b == b.clusters

    def means(self, a: Column, b: Column) -> PairedMeans | None:
        """None if a cluster has several values."""
        if not self._once:
            return None
        return (
            self._shared,
            array("d", map(a.values.__getitem__, self._in_a)),
            array("d", map(b.values.__getitem__, self._in_b)),
        )


class _Sums:
    """The sum and the number of values of each cluster."""

    def __init__(self, column: Column | None) -> None:
        self.total: dict[int, float] = {}
        self.repeated: dict[int, int] = {}
        """How many values, for clusters that have several."""
        if column is not None:
            for cluster, value in zip(*column, strict=True):
                self.add(cluster, value)

    def add(self, cluster: int, value: float) -> None:
        if cluster in self.total:
            self.total[cluster] += value
            self.repeated[cluster] = self.repeated.get(cluster, 1) + 1
        else:
            self.total[cluster] = value

    def means(self, clusters: Sequence[int]) -> array[float]:
        total, repeated = self.total, self.repeated
        if not repeated:
            return array("d", map(total.__getitem__, clusters))
        return array("d", (total[each] / repeated.get(each, 1) for each in clusters))


def _shared_means(a: _Sums, b: _Sums) -> PairedMeans:
    clusters = array("i", sorted(a.total.keys() & b.total.keys()))
    return clusters, a.means(clusters), b.means(clusters)


def _places(clusters: Sequence[int], size: int) -> array[int]:
    """The place of each cluster's last value; -1 for a cluster without one."""
    found = array("i", [-1]) * size
    for place, cluster in enumerate(clusters):
        found[cluster] = place
    return found


def _rises(clusters: Sequence[int]) -> bool:
    """Whether each cluster comes once, in order."""
    return all(map(int.__lt__, clusters, islice(clusters, 1, None)))


def _counts(clusters: Collection[Sequence[int]]) -> array[int]:
    found = array("i", bytes(4 * (1 + max((max(each) for each in clusters if each), default=-1))))
    for each in clusters:
        for cluster in each:
            found[cluster] += 1
    return found


def _fails_in(metric: str, group: str | None, *, partial: bool) -> bool:
    """Whether a failed sample of this group counts as 0 in a metric. `partial`: only some scored samples have the metric.

    >>> _fails_in("accuracy", None, partial=False), _fails_in("accuracy", "(no answer)", partial=False)
    (True, False)
    """
    return group == metric or not (partial or is_unanswered(group))
