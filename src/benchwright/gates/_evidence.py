"""The evidence of a benchmark run for a gate: scores of its samples, in total and by slices, alone and paired with a
baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from msgspec import Struct, field

from benchwright.core import (
    JsonValue,
    SampleRecord,
    canonical_json,
    decode_score,
    fails_in,
    load_exact_json,
    row_hash,
)
from benchwright.reports import PairedSamples, Scored, numbers_of, pairs_of

MOST_SLICES = 200
"""The most groups of one column. A column of names or texts has more, and grouping by it is meaningless."""


class SliceKey(NamedTuple):
    """A group of rows."""

    column: str
    value: str


class Scores(Struct):
    """The scores of a group of samples."""

    outcomes: dict[str, Counter[bytes]] = field(default_factory=dict)
    """How many samples of each row have an outcome."""
    metrics: dict[str, dict[bytes, list[float]]] = field(default_factory=dict)
    """Values by metric and row; rows are identified by content, so that copies count as one row."""
    failed: Counter[tuple[bytes, str | None]] = field(default_factory=Counter)
    """How many samples have no score, by row and recorded group."""
    without_numbers: int = 0
    """Samples that were scored and have no number, because their rows have no answer."""

    @property
    def samples(self) -> int:
        """The number of samples."""
        return sum(rows.total() for rows in self.outcomes.values())

    def share_of(self, outcomes: Collection[str]) -> list[list[float]]:
        """For each row, 1 for each sample with one of these outcomes and 0 for each other one; if no outcomes are given, 1
        for each sample without a score. Samples of one row are not independent, so they stay together."""
        sizes: Counter[bytes] = Counter()
        for rows in self.outcomes.values():
            sizes.update(rows)
        hits: Counter[bytes] = Counter()
        if outcomes:
            for name in set(outcomes):
                hits.update(self.outcomes.get(name, {}))
        else:
            for (row, _), count in self.failed.items():
                hits[row] += count
        return [[1.0] * hits[row] + [0.0] * (size - hits[row]) for row, size in sizes.items()]

    def is_partial(self, metric: str) -> bool:
        """Whether only some of the scored samples have the metric, such as the rows of one category."""
        scored = self.samples - self.failed.total() - self.without_numbers
        return sum(map(len, self.metrics.get(metric, {}).values())) < scored

    def values(
        self, metric: str, *, failures_as_wrong: bool = False, partial: bool = False
    ) -> list[list[float]]:
        """The values of a metric, row by row. Of a partial metric, only failures in the group of its name count as 0."""
        rows = self.metrics.get(metric, {})
        if not failures_as_wrong:
            return list(rows.values())
        merged = {row: list(values) for row, values in rows.items()}
        for (row, group), count in self.failed.items():
            if fails_in(metric, group, partial=partial):
                merged.setdefault(row, []).extend([0.0] * count)
        return list(merged.values())

    def add(self, row: bytes, record: SampleRecord) -> None:
        """Add a sample."""
        self.outcomes.setdefault(record.outcome, Counter())[row] += 1
        if record.scores is None:
            self.failed[row, record.group] += 1
            return
        numbers = {
            name: float(value)
            for name, value in record.scores.items()
            if isinstance(value, bool | int | float)
        }
        self.without_numbers += not numbers
        for name, number in numbers.items():
            self.metrics.setdefault(name, {}).setdefault(row, []).append(number)


class Evidence(Struct):
    """All samples of a run, and their pairs with a baseline."""

    whole: Scores = field(default_factory=Scores)
    slices: dict[SliceKey, Scores] = field(default_factory=dict)
    pairs: PairedSamples | None = None
    """The pairs; None: there is no baseline."""
    sliced_pairs: dict[SliceKey, PairedSamples] = field(default_factory=dict)
    before: set[str] = field(default_factory=set)
    """Metrics of the baseline."""
    missing: frozenset[str] = frozenset()
    """Columns to slice by that no row has."""
    crowded: frozenset[str] = frozenset()
    """Columns with too many values to slice by."""
    unlabelled: Counter[str] = field(default_factory=Counter)
    """Rows without a value in a column to slice by."""
    copies: int = 0
    """Rows with the content of an earlier row."""

    def keys(self, column: str) -> list[SliceKey]:
        """The groups of a column, by name."""
        return sorted(key for key in self.slices if key.column == column)


class ContentSamples:
    """Samples of runs, with rows identified by content, independent of the order of keys."""

    def __init__(self, source: Scored) -> None:
        self._source = source

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Row, repeat, hash of the row's content and record of every sample."""
        for row, repeat, digest, record, _ in self.with_rows(run_id):
            yield row, repeat, digest, record

    def with_rows(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes, JsonValue]]:
        """Like `scored`, with the row itself."""
        texts = self._source.row_texts(run_id)
        for (row, repeat, _, record), (_, text) in zip(self._source.scored(run_id), texts, strict=True):
            if text is None:  # a row that could not be read is identified by the reason
                yield row, repeat, row_hash(f"!{decode_score(record).error}".encode()), record, None
            else:
                content = load_exact_json(text)
                yield row, repeat, row_hash(canonical_json(content)), record, content

    def row_texts(self, run_id: int) -> Iterator[tuple[int, bytes | None]]:
        """None: the hashes say all."""
        return iter(())


def gather(source: Scored, run_id: int, columns: Collection[str], baseline: Scored | None) -> Evidence:
    """Read the samples of a run once, and once more with their pairs. `baseline` identifies the rows of its only run by
    content."""
    found = Evidence()
    samples = ContentSamples(source)
    labels: dict[bytes, tuple[SliceKey, ...]] = {}
    values: dict[str, set[str]] = {column: set() for column in columns}
    last = -1
    for number, _, digest, text, row in samples.with_rows(run_id):
        if digest in labels:
            found.copies += number != last and row is not None
        else:
            labels[digest] = tuple(dict.fromkeys(_labels(row, columns)))  # a list may name a group twice
            for key in labels[digest]:
                values[key.column].add(key.value)
            found.unlabelled.update({*columns} - {key.column for key in labels[digest]})
        last = number
        record = decode_score(text)
        found.whole.add(digest, record)
        for key in labels[digest]:
            if len(values[key.column]) <= MOST_SLICES:
                found.slices.setdefault(key, Scores()).add(digest, record)
    found.missing = frozenset(column for column, each in values.items() if not each)
    found.crowded = frozenset(column for column, each in values.items() if len(each) > MOST_SLICES)
    if baseline is not None:
        _pair(found, samples, run_id, baseline, labels)
    return found


class _BothSides:
    """The baseline as run 0, and the run under its number."""

    def __init__(self, baseline: Scored, samples: ContentSamples, run_id: int) -> None:
        self._sides = {0: (baseline, 0), run_id: (samples, run_id)}

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        source, number = self._sides[run_id]
        return source.scored(number)

    def row_texts(self, run_id: int) -> Iterator[tuple[int, bytes | None]]:
        return iter(())


def _pair(
    found: Evidence,
    samples: ContentSamples,
    run_id: int,
    baseline: Scored,
    labels: dict[bytes, tuple[SliceKey, ...]],
) -> None:
    found.pairs = whole = PairedSamples()
    numbers: dict[bytes, int] = {}
    for a, b in pairs_of(_BothSides(baseline, samples, run_id), 0, run_id):
        if a is None or b is None:
            whole.only_a += b is None
            whole.only_b += a is None
            found.before.update(() if a is None else numbers_of(a))
            continue
        # Copies of one row are one pair, because they add no more information than repeats.
        b = b._replace(row=numbers.setdefault(b.row_hash, len(numbers)))
        whole.both += 1
        before, _ = whole.add_scores(a, b)
        found.before.update(before)
        for key in labels.get(b.row_hash, ()):
            if key in found.slices:
                group = found.sliced_pairs.setdefault(key, PairedSamples())
                group.both += 1
                group.add_scores(a, b)


def _labels(row: JsonValue, columns: Collection[str]) -> Iterator[SliceKey]:
    """The groups of a row. A dotted name reaches into tables."""
    for column in columns:
        value: Any = row
        for part in [column] if isinstance(row, dict) and column in row else column.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str | int | float):
                yield SliceKey(column, str(each))


def paired_values(
    pairs: PairedSamples, metric: str, *, failures_as_wrong: bool, partial: bool
) -> tuple[list[float], list[float]]:
    """Means of a metric by row, for the baseline and for the run; empty if no pair has it."""
    tally = pairs.with_failures(metric, partial=partial) if failures_as_wrong else None
    tally = tally or pairs.tallies.get(metric)
    if tally is None:
        return [], []
    return [a / n for a, _, n in tally.rows.values()], [b / n for _, b, n in tally.rows.values()]
