"""Slices: the rows of a run grouped by the values of one column, each group next to the whole.

One pass over the samples, in a few bytes for each. Copies and repeats of a row are one cluster, as in comparisons: rows of one run
are the same if their recorded JSON is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import compress, islice
from math import isfinite, isnan
from typing import Any, Protocol, TypeAlias, cast

import msgspec
from msgspec import UNSET, Struct

from benchwright.core import (
    JsonObject,
    JsonValue,
    MetricSummary,
    NotFoundError,
    SampleRecord,
    UsageError,
    as_json,
    is_share,
    listed,
    load_each,
    lower_is_better,
    suggest,
)
from benchwright.results._figures import headline_of
from benchwright.results._notebooks import ShownInNotebooks
from benchwright.results._samples import StoreSamples
from benchwright.stats import (
    FEWEST,
    RowSums,
    ScoreAccumulator,
    Singles,
    holm,
)
from benchwright.store import RunRecord, SampleFilter, Store, labels_of as labels_of, value_in as value_in

MOST_SLICES = 200
"""The most groups of one column. A column of names or texts has more, and grouping by it is meaningless."""
_BINS = 5
"""Groups of a column with more numbers than that: fifths of the rows."""
_BLOCK = 500
"""Samples that are decoded together: few enough for the processor's cache."""
_NUMBERS = frozenset({bool, int, float})
_MOST_NAMED = 40
"""The most columns that an error names."""


class RowReader(Protocol):
    """The samples of one run with their rows."""

    def rows_scored(self) -> Iterator[tuple[bytes, bytes | None, bytes]]:
        """Hash of the row, JSON of the row and record of every sample, in their order."""
        ...


class Slice(Struct, frozen=True):
    """The rows with one value of a column, or all rows."""

    value: str | None
    """The value as text, or a range of numbers; None: the rows without a value, and the whole."""
    rows: int
    """Rows that have the metric. Copies of a row are one."""
    n: int
    """Values in the mean: rows × repeats."""
    failed: int
    """Samples without a score."""
    mean: float | None
    """Mean of the metric; None if no sample has it."""
    ci_low: float | None
    """Lower end of its 95 % interval."""
    ci_high: float | None
    """Upper end."""
    small: bool
    """Whether the rows are too few to rely on the interval."""
    difference: float | None = None
    """The mean less that of the whole."""
    p_value: float | None = None
    """Two-sided, of a difference between these rows and all others; None if there are too few to test."""
    p_adjusted: float | None = None
    """The same, corrected by Holm's method for the number of slices tested."""
    significant: bool = False
    """Whether the corrected test finds a difference at the 5 % level."""


class Slices(ShownInNotebooks, Struct, frozen=True, kw_only=True):
    """A metric of a run by the values of one column: the slice farthest below the whole first."""

    run_id: int
    column: str
    """The column. A dotted name reaches into tables."""
    metric: str
    lower_is_better: bool
    """Whether a smaller mean is the better one."""
    binned: bool
    """Whether slices are ranges of numbers, because the column has too many."""
    overlapping: bool
    """Whether a row may be in several slices, because its value is a list."""
    test: str
    """`fisher`: Fisher's exact test of shares; `welch`: Welch's test of row means."""
    tests: int
    """Tests for which `p_adjusted` is corrected."""
    whole: Slice
    """All rows."""
    slices: tuple[Slice, ...]
    """Every value, the worst first."""

    def to_json(self) -> JsonObject:
        """All fields."""
        found: JsonObject = as_json(self)
        return found

    @classmethod
    def of(cls, store: Store, run: RunRecord, column: str, metric: str | None = None) -> Slices:
        """Slice a recorded run by a column of its data; by its headline metric, unless another is named.

        Raises NotFoundError for a column or a metric that the run does not have, and UsageError for a run without scores and a column
        with too many values.
        """
        from benchwright.results._kinds import kind_of

        samples = kind_of(run).samples
        if samples is None:
            raise UsageError(f"run {run.id} has no rows to slice: it is a load test")
        summary = samples(store, run)[0].result
        known = [] if summary is None else list(summary.metrics)
        name = metric or (None if summary is None else headline_of(summary))
        if name is None or not known:
            raise UsageError(
                f"run {run.id} ({run.name}) has no scores to slice by {column}: it is {run.status}"
            )
        if name not in known:
            raise NotFoundError(
                f"run {run.id} has no metric {name!r}.{suggest(name, known)} It has: {', '.join(known)}"
            )
        less = lower_is_better(name, () if summary is None else summary.lower_is_better)
        return slices_of(StoreSamples(store, run.id), column, name, run_id=run.id, less=less)


def slices_of(source: RowReader, column: str, metric: str, *, run_id: int, less: bool = False) -> Slices:
    """Slice the samples of a run by a column. `less`: a smaller mean is the better one. Raises as `Slices.of`."""
    labels, samples, graded = _Labels(column), _Samples(metric), SampleFilter.is_of_judge(column)
    for hashes, rows, records in _blocks(source):
        labels.add(_texts_of(records) if graded else rows)
        samples.add(hashes, records)
    samples.count_rows(source)
    if not labels.found and not graded:  # no column of the data: a text among the scores
        known = labels.names
        labels = _Labels(column)
        for _, _, records in _blocks(source):
            labels.add(_texts_of(records))
        labels.names = {**known, **dict.fromkeys(filter(SampleFilter.is_of_judge, labels.names))}
    if not labels.found:
        known = labels.names
        there = listed(sorted(known), _MOST_NAMED) if known else "none that are recorded"
        raise NotFoundError(
            f"no row of run {run_id} has a column {column!r}.{suggest(column, known)} Columns: {there}"
        )
    names, codes, of_code = labels.groups()
    overlapping = any(len(group) > 1 for group in of_code)
    *slices, (total, summary, lost) = _gathered(samples, codes, of_code, len(names), share=is_share(metric))
    tested: list[float | None] = []
    for sums, _, _ in slices:
        apart = 0 < sums.rows < total.rows
        tested.append(sums.compared_with(total.without(sums))[0] if apart else None)
    corrected, tests = _corrected(tested, [sums for sums, _, _ in slices], total, overlapping=overlapping)
    whole = _slice(None, total, summary, lost)
    found = [
        _slice(name, *figures, whole.mean, p_value, adjusted)
        for name, figures, p_value, adjusted in zip(names, slices, tested, corrected, strict=True)
    ]
    return Slices(
        run_id=run_id,
        column=column,
        metric=metric,
        lower_is_better=less,
        binned=labels.binned,
        overlapping=overlapping,
        test="fisher" if total.right_or_wrong else "welch",
        tests=tests,
        whole=whole,
        slices=tuple(sorted(found, key=lambda each: _order(each, less))),
    )


def _texts_of(records: Sequence[bytes]) -> list[bytes]:
    """The texts among the scores of samples, as rows."""
    scores = SampleRecord.columns(records).column("scores")
    return [msgspec.json.encode(SampleFilter.text_scores(each)) for each in scores]


def _order(found: Slice, less: bool) -> tuple[bool, float, str]:
    """The farthest below the whole first; those without a score last."""
    difference = found.difference or 0.0
    return found.mean is None, -difference if less else difference, found.value or ""


def _slice(
    value: str | None,
    sums: RowSums,
    summary: MetricSummary | None,
    failed: int,
    whole: float | None = None,
    p_value: float | None = None,
    adjusted: float | None = None,
) -> Slice:
    mean = None if summary is None else summary.value
    return Slice(
        value,
        sums.rows,
        sums.values,
        failed,
        mean,
        None if summary is None else summary.ci_low,
        None if summary is None else summary.ci_high,
        sums.rows < FEWEST,
        None if mean is None or whole is None else mean - whole,
        p_value,
        adjusted,
        adjusted is not None and adjusted < 0.05,
    )


def _corrected(
    tested: Sequence[float | None], sums: Sequence[RowSums], total: RowSums, *, overlapping: bool
) -> tuple[list[float | None], int]:
    """The p-values by Holm's method, and the number of tests. Two slices that are the whole ask one question."""
    p_values = [each for each in tested if each is not None]
    filled = [each for each in sums if each.rows]
    if len(filled) == 2 and not overlapping and sum(each.rows for each in filled) == total.rows:
        return list(tested), min(1, len(p_values))
    adjusted = iter(holm(p_values))
    return [None if each is None else next(adjusted) for each in tested], len(p_values)


def _blocks(source: RowReader) -> Iterator[tuple[Sequence[bytes], Sequence[bytes | None], Sequence[bytes]]]:
    samples = source.rows_scored()
    while block := list(islice(samples, _BLOCK)):
        hashes, rows, records = zip(*block, strict=True)
        yield hashes, rows, records


class _Samples:
    """One metric of the samples of a run."""

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._decode = _decoder(SampleRecord.key("scores"), metric)
        self._hashes = array("q")
        """A number for each row's hash: rows with different ones differ."""
        self.clusters = array("i")
        """The cluster of each sample, if a row has several."""
        self.values = array("d")
        """The value of each sample; of one without a value, NaN."""
        self.failed = bytearray()
        """Of each sample, 1 if it failed."""

    def add(self, hashes: Sequence[bytes], records: Sequence[bytes]) -> None:
        self._hashes.extend(map(hash, hashes))
        values = self._plain(records)
        if values is None:
            scores = SampleRecord.columns(records).column("scores")
            values = [None if given is None else given.get(self._metric) for given in scores]
            self.failed.extend([given is None for given in scores])
        else:
            self.failed.extend(bytes(len(values)))
        try:
            numbers = array("d", values)
        except TypeError:
            numbers = array("d", [value if type(value) in _NUMBERS else _NAN for value in values])
        self.values.extend(numbers)

    def _plain(self, records: Sequence[bytes]) -> list[Any] | None:
        """The values, read alone, in a third of the time; None if a sample failed or a record needs a patient reader."""
        if self._decode is None:
            return None
        try:
            return [record.value.value for record in self._decode(b"[%b]" % b",".join(records))]
        except (msgspec.MsgspecError, UnicodeDecodeError, AttributeError):
            return None

    def count_rows(self, source: RowReader) -> None:
        """Find the samples of the same row: their clusters. Only if there are any, the hashes are read again."""
        if len(set(self._hashes)) == len(self._hashes):
            return
        numbers: dict[bytes, int] = {}
        for digest, _, _ in source.rows_scored():
            self.clusters.append(numbers.setdefault(digest, len(numbers)))

    @property
    def failures(self) -> int:
        """Samples without a score."""
        return self.failed.count(1)

    @property
    def once(self) -> bool:
        """Whether every row has one sample."""
        return not self.clusters

    @property
    def origin(self) -> float:
        """About the mean of all values: sums of distances from it lose fewer digits."""
        known = [value for value in islice(self.values, 1000) if value == value]
        return sum(known) / len(known) if known and not {*known} <= {0.0, 1.0} else 0.0


def _decoder(*path: str) -> Callable[[bytes], list[Any]] | None:
    """Reads a JSON list of tables with nothing but one value of each, to which the path leads: `.value` for every part of it. None
    if a part has characters that such a reader cannot have."""
    kind: Any = Any
    for part in reversed(path):
        try:
            kind = (
                msgspec.defstruct("Read", [("value", kind, UNSET)], rename={"value": part}, gc=False) | None
            )
        except ValueError:
            return None
    decode: Callable[[bytes], list[Any]] = msgspec.json.Decoder(list[kind]).decode
    return decode


_NAN = float("nan")
_Members: TypeAlias = list[tuple[int, ...]]
"""The groups of each code."""


def _gathered(
    samples: _Samples, codes: Sequence[int], of_code: _Members, count: int, *, share: bool
) -> list[tuple[RowSums, MetricSummary | None, int]]:
    """The sums, the summary and the number of failures of each group; those of all samples last."""
    # By codes first, of which each sample has one: a group may have several, and a code several groups.
    values = [array("d") for _ in of_code]
    clusters = [array("i") for _ in of_code]
    for code, value in zip(codes, samples.values, strict=True):
        values[code].append(value)
    if not samples.once:
        for code, cluster in zip(codes, samples.clusters, strict=True):
            clusters[code].append(cluster)
    lost = Counter(compress(codes, samples.failed))
    members: list[list[int]] = [[] for _ in range(count)]
    for code, places in enumerate(of_code):
        for place in places:
            members[place].append(code)
    lost_of = [sum(lost[code] for code in codes) for codes in members]
    if samples.once:
        apart = all(len(places) == 1 for places in of_code)
        found = _of_singles([_joined(values, codes) for codes in members], samples.values, apart, share)
    else:
        sums = _GroupSums(samples.origin, share=share)
        found = [sums.of(_joined(values, codes), _joined(clusters, codes)) for codes in members]
        found.append(sums.of(samples.values, samples.clusters))
    return [(*each, failed) for each, failed in zip(found, [*lost_of, samples.failures], strict=True)]


def _of_singles(
    groups: Sequence[array[float]], values: array[float], apart: bool, share: bool
) -> list[tuple[RowSums, MetricSummary | None]]:
    """The sums and the summary of each group of rows with one value each, and of all. `apart`: no row is in two groups."""
    found = [None if not known else Singles.of(known) for known in map(_known, groups)]
    known = _known(values)
    parts = [each for each in found if each is not None]
    whole = None if not known else Singles.joined(parts, known) if apart else Singles.of(known)
    origin = 0.0 if whole is None or whole.answers else whole.mean
    return [
        (RowSums(), None) if each is None else (each.rows(origin), each.summary(share=share))
        for each in (*found, whole)
    ]


def _known(values: array[float]) -> list[float]:
    """The values that are there, as a list: an array makes each number anew, every time."""
    numbers = values.tolist()
    return [value for value in numbers if value == value] if isnan(sum(numbers)) else numbers


def _joined(parts: Sequence[array[Any]], places: Sequence[int]) -> array[Any]:
    first, *others = (parts[place] for place in places)
    for other in others:
        first = first + other
    return first


class _GroupSums:
    """Sums up groups of samples, of which a row may have several."""

    def __init__(self, origin: float, *, share: bool) -> None:
        self._origin, self._share = origin, share

    def of(self, values: array[float], clusters: array[int]) -> tuple[RowSums, MetricSummary | None]:
        """The sums and the summary of some samples. Those without a value count as nothing."""
        if isnan(sum(values)):
            known = [value == value for value in values]
            values = array("d", compress(values, known))
            clusters = array("i", compress(clusters, known))
        if not values:
            return RowSums(), None
        order = sorted(
            range(len(values)), key=clusters.__getitem__
        )  # the values of a row must follow each other
        values = array("d", map(values.__getitem__, order))
        clusters = array("i", map(clusters.__getitem__, order))
        scores = ScoreAccumulator(share=self._share)
        for start in range(0, len(values), _BLOCK):
            scores.extend(values[start : start + _BLOCK], clusters[start : start + _BLOCK])
        return RowSums.of(values, clusters, self._origin), scores.summary()


class _Labels:
    """The values of one column, sample by sample."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._decode = None if "." in column else _decoder(column)
        self._codes: dict[Any, int] = {}
        """The code of each value; texts, numbers and lists of them as tuples."""
        self._of_samples = array("i")
        self._names: dict[str | None, None] = {}
        """The values that rows have, as text."""
        self._numbers: array[float] | None = None
        """The number of each sample, if there are too many values: NaN for a sample without one."""
        self.found = False
        """Whether a row has the column."""
        self.names: dict[str, None] = {}
        """Columns of the rows, as far as they were read to find this one."""

    @property
    def binned(self) -> bool:
        """Whether groups are ranges of numbers."""
        return self._numbers is not None

    def add(self, rows: Sequence[bytes | None]) -> None:
        """Add the rows of some samples."""
        values = self._values(rows)
        if self._numbers is not None:
            self._numbers.extend(self._plain_numbers(values) or map(self._number, values))
            return
        codes = self._codes
        if set(map(type, values)) == {str}:
            with suppress(KeyError):  # most blocks have no new value
                self._of_samples.extend([codes[value] for value in values])
                return
        found = []
        for value in values:
            key: Any = (value, value.__class__) if value.__class__ is not str else value
            try:
                code = codes.get(key)
            except TypeError:  # a list or a table
                key = msgspec.json.encode(value)
                code = codes.get(key)
            if code is None:
                code = self._new(key, value)
            found.append(code)
        self._of_samples.extend(found)
        if len(self._names) > MOST_SLICES:
            self._count_as_numbers()

    def _values(self, rows: Sequence[bytes | None]) -> list[Any]:
        """The value of each row; UNSET for a row without one."""
        texts = (
            [b"null" if row is None else row for row in rows]
            if None in rows
            else cast("Sequence[bytes]", rows)
        )
        values = self._plain(texts)
        if values is None:
            values = [value_in(row, self._column) for row in load_each(texts, exact=True)]
        self.found = self.found or any(value is not UNSET for value in values)
        if not self.found:
            self._learn(texts)
        return values

    def _plain(self, texts: Sequence[bytes]) -> list[Any] | None:
        """The values, read alone; None for a row that is no table, or text that is not valid."""
        if self._decode is None:
            return None
        try:
            decoded = self._decode(b"[%b]" % b",".join(texts))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
        return [UNSET if row is None else row.value for row in decoded]

    def _learn(self, texts: Sequence[bytes]) -> None:
        for row in load_each(texts, exact=True):
            self.names.update(dict.fromkeys(column_names(row)))

    def _new(self, key: Any, value: Any) -> int:
        code = self._codes[key] = len(self._codes)
        for name in labels_of(value):
            self._names[name] = None
        return code

    def _count_as_numbers(self) -> None:
        """Go on with numbers, because the column has too many values. Raises UsageError if they are texts."""
        values: list[Any] = [
            msgspec.json.decode(key) if isinstance(key, bytes) else key[0] if isinstance(key, tuple) else key
            for key in self._codes
        ]
        numbers = [self._number(value) for value in values]
        self._numbers = array("d", map(numbers.__getitem__, self._of_samples))
        self._of_samples = array("i")

    @staticmethod
    def _plain_numbers(values: Sequence[Any]) -> array[float] | None:
        """The numbers of a block that has nothing else."""
        if set(map(type, values)) <= {int, float}:
            with suppress(OverflowError):
                numbers = array("d", values)
                return numbers if all(map(isfinite, numbers)) else None
        return None

    def _number(self, value: Any) -> float:
        if value is UNSET or value is None or value == "":
            return _NAN
        try:
            number = float(value) if value.__class__ in (int, float, str) else _NAN
        except (ValueError, OverflowError):
            number = _NAN
        if not isfinite(number):
            raise UsageError(
                f"the column {self._column!r} has more than {MOST_SLICES} values that are not all numbers, such as "
                f"{str(value)[:40]!r}; slice by one that has fewer"
            )
        return number

    def groups(self) -> tuple[list[str | None], Sequence[int], _Members]:
        """The names of the groups, the code of each sample, and the groups of each code."""
        if self._numbers is not None:
            return _bins(self._numbers)
        names: dict[str | None, int] = {}
        of_code = []
        for key in self._codes:
            value = (
                msgspec.json.decode(key)
                if isinstance(key, bytes)
                else key[0]
                if isinstance(key, tuple)
                else key
            )
            found = [name or None for name in labels_of(value) or (None,)]  # an empty cell is no value
            of_code.append(tuple(names.setdefault(name, len(names)) for name in found))
        return list(names), self._of_samples, of_code


def _bins(numbers: Sequence[float]) -> tuple[list[str | None], Sequence[int], _Members]:
    """Ranges with about the same number of samples each. Equal numbers are in one range."""
    known = sorted(number for number in numbers if number == number)
    starts = sorted({known[len(known) * part // _BINS] for part in range(_BINS)})
    ends = [known[max(0, _below(known, start) - 1)] for start in starts[1:]] + [known[-1]]
    names: list[str | None] = [
        f"{low:.12g}" if low == high else f"{low:.12g} to {high:.12g}"
        for low, high in zip(starts, ends, strict=True)
    ]
    codes = array(
        "i", [bisect_right(starts, number) - 1 if number == number else len(starts) for number in numbers]
    )
    if len(known) < len(numbers):
        names.append(None)
    return names, codes, [(place,) for place in range(len(names))]


def _below(ordered: Sequence[float], start: float) -> int:
    from bisect import bisect_left

    return bisect_left(ordered, start)


def column_names(row: JsonValue) -> Iterator[str]:
    """The columns of a row, as `value_in` finds them."""
    for name, value in row.items() if isinstance(row, dict) else ():
        if isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in value)
        else:
            yield name
