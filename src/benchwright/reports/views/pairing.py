"""Pairs the samples of two runs, as a stream, by the content of their rows. Row numbers depend on filters, limits, order and
sampling, and do not identify a row."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, Protocol

from msgspec import Struct, field as struct_field

from benchwright.core import (
    JsonValue,
    SampleRecord,
    canonical_json,
    decode_score,
    fails_in,
    is_share,
    load_exact_json,
    row_hash,
)
from benchwright.reports.views.comparison import ChangedSample, Presence, StepPair
from benchwright.reports.views.metric_comparison import question_of
from benchwright.reports.views.sample_columns import COLUMNS
from benchwright.stats import PairedResult, compare_pairs


class Scored(Protocol):
    """Access to the samples of runs: the store, or the files of a run from elsewhere."""

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Row, repeat, hash of the row and record of every sample, in their order."""
        ...

    def row_texts(self, run_id: int) -> Iterator[tuple[int, bytes | None]]:
        """Number and JSON of the row of every sample, in their order."""
        ...


class Half(NamedTuple):
    """One run's record of a sample."""

    row: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    row_hash: bytes
    """Hash of the row's content; for a row that could not be read, of the reason."""
    record: SampleRecord
    """The record, with outcome, scores and target."""


class Pair(NamedTuple):
    """A sample in both runs, or in one of them."""

    a: Half | None
    """In the first run."""
    b: Half | None
    """In the second."""


def pairs_of(store: Scored, a: int, b: int) -> Iterator[Pair]:
    """Pair the samples of two runs. Rows with equal content, in any order of keys, are the same row; copies are paired in
    order.

    As long as both runs have the same rows in the same order, one row of each is kept at a time. From the first difference
    on, the records of the first run are kept.
    """
    left, right = _rows(store, a), _rows(store, b)
    x, y = next(left, None), next(right, None)
    while x is not None and y is not None and x[0].row_hash == y[0].row_hash:
        yield from _repeats(x, y)
        x, y = next(left, None), next(right, None)
    waiting = _Waiting(chain([] if x is None else [x], left), store, a, b)
    for row in chain([] if y is None else [y], right):
        yield from waiting.paired(row)
    for row in waiting.rows.values():
        yield from _repeats(row, ())


class _Waiting:
    """Rows of the first run that have no partner in the second yet."""

    def __init__(self, rows: Iterator[list[Half]], store: Scored, a: int, b: int) -> None:
        self.rows = {row[0].row: row for row in rows}
        """Rows without a partner so far, by number."""
        self._by_hash: dict[bytes, deque[int]] = {}
        for number, row in self.rows.items():
            self._by_hash.setdefault(row[0].row_hash, deque()).append(number)
        self._by_content: dict[bytes, deque[int]] | None = None
        self._store, self._run_id = store, a
        self._texts_b = store.row_texts(b)

    def paired(self, row: list[Half]) -> Iterator[Pair]:
        """Pair a row of the second run with its partner, if there is one. Rows must come in order."""
        found = self._taken(self._by_hash.get(row[0].row_hash))
        if found is None and self.rows:
            content = self._content_b(row[0].row)
            found = None if content is None else self._taken(self._contents().get(content))
            if found is not None and content is not None:  # the hash depends on the order of keys in the text
                found, row = ([half._replace(row_hash=content) for half in side] for side in (found, row))
        return _repeats(found or (), row)

    def _taken(self, numbers: deque[int] | None) -> list[Half] | None:
        while numbers:
            if (row := self.rows.pop(numbers.popleft(), None)) is not None:
                return row
        return None

    def _contents(self) -> dict[bytes, deque[int]]:
        if self._by_content is None:
            self._by_content = {}
            for number, repeats in groupby(self._store.row_texts(self._run_id), key=itemgetter(0)):
                content = _content(next(repeats)[1]) if number in self.rows else None
                if content is not None:
                    self._by_content.setdefault(content, deque()).append(number)
        return self._by_content

    def _content_b(self, number: int) -> bytes | None:
        return next((_content(text) for at, text in self._texts_b if at == number), None)


def _content(row: bytes | None) -> bytes | None:
    """The content of a row with sorted keys, as bytes to compare; None for a row that could not be read. The id of a row of
    function calling may be its number in the file, so it is left out."""
    if row is None:
        return None
    value = load_exact_json(row)
    if isinstance(value, dict) and {"id", "category", "question"} <= value.keys():
        name, _, number = str(value["id"]).rpartition("_")
        if name == value["category"] and number.isdecimal():
            del value["id"]
    return row_hash(canonical_json(value))


def _rows(store: Scored, run_id: int) -> Iterator[list[Half]]:
    """A run's samples in row order, the repeats of a row together."""
    for _, halves in groupby(_halves(store, run_id), key=attrgetter("row")):
        yield list(halves)


def _halves(store: Scored, run_id: int) -> Iterator[Half]:
    for index, repeat, digest, output in store.scored(run_id):
        record = decode_score(output)
        yield Half(index, repeat, digest or str(record.error).encode(), record)


def _repeats(a: Sequence[Half], b: Sequence[Half]) -> Iterator[Pair]:
    """The repeats of one row, by their number."""
    first, second = ({half.repeat: half for half in halves} for halves in (a, b))
    for repeat in sorted({*first, *second}):
        yield Pair(first.get(repeat), second.get(repeat))


@dataclass(slots=True)
class Tally:
    """The values of one metric, row by row: sums and counts of both sides, since rows may be repeated."""

    rows: dict[int, list[float]] = field(default_factory=dict)
    """By row: the sum of each side, and how many."""

    def add(self, row: int, a: float, b: float) -> None:
        """Add a pair of a row."""
        sums = self.rows.setdefault(row, [0.0, 0.0, 0.0])
        sums[0] += a
        sums[1] += b
        sums[2] += 1

    def paired(self, name: str) -> PairedResult | None:
        """The test of both sides; None without rows."""
        if not self.rows:
            return None
        return compare_pairs(
            [a / n for a, _, n in self.rows.values()],
            [b / n for _, b, n in self.rows.values()],
            share=is_share(name),
        )

    def question(self) -> bytes:
        """Hash of the differences, row by row."""
        return question_of((row, a / n, b / n) for row, (a, b, n) in sorted(self.rows.items()))


class PairedSamples(Struct):
    """What the pairs of two runs show: values by metric, and the samples that changed."""

    tallies: dict[str, Tally] = struct_field(default_factory=dict)
    """Values of samples that both runs scored, by metric."""
    steps: list[StepPair] = struct_field(default_factory=list)
    """Samples that differ."""
    changed: list[ChangedSample] = struct_field(default_factory=list)
    """Samples whose scores or outcomes changed, losses first, up to a limit."""
    changes: int = 0
    """How many changed, listed or not."""
    both: int = 0
    """Samples that both runs have."""
    only_a: int = 0
    """Samples that only the first has."""
    only_b: int = 0
    """Samples that only the second has."""
    differ: bool = False
    """Whether any sample is not the same in both."""
    failed: dict[str, Tally] = struct_field(default_factory=dict)
    """Like `tallies`, with failed samples as 0."""
    lost: list[tuple[int, str | None]] = struct_field(default_factory=list)
    """Rows and recorded groups of samples that failed in both runs."""
    failures: bool = False
    """Whether a paired sample failed."""

    def with_failures(self, name: str, *, partial: bool = False) -> Tally | None:
        """The values of a metric, failed samples counted as 0; None if none failed. Of a metric that only some samples have,
        samples that failed in both runs count in the group of its name."""
        if not self.failures or name not in self.failed:
            return None
        tally = Tally({row: list(sums) for row, sums in self.failed[name].rows.items()})
        for row, group in self.lost:
            if fails_in(name, group, partial=partial):
                tally.add(row, 0.0, 0.0)
        return tally

    def add_scores(self, a: Half, b: Half) -> tuple[dict[str, float], dict[str, float]]:
        """Count the scores of a pair, and return them."""
        scores_a, scores_b = numbers_of(a), numbers_of(b)
        failed_a, failed_b = _failed(a), _failed(b)
        self.failures = self.failures or failed_a or failed_b
        if failed_a and failed_b:
            self.lost.append((b.row, b.record.group or a.record.group))
        for name in {**scores_a, **scores_b}:
            if name in scores_a and name in scores_b:
                self.tallies.setdefault(name, Tally()).add(b.row, scores_a[name], scores_b[name])
            if (name in scores_a or failed_a) and (name in scores_b or failed_b):
                wrong = self.failed.setdefault(name, Tally())
                wrong.add(b.row, scores_a.get(name, 0.0), scores_b.get(name, 0.0))
        return scores_a, scores_b


def paired_samples(
    pairs: Iterator[Pair], tolerance: float, listed: int | None, headline: str | None, *, worse: int
) -> PairedSamples:
    """Read the pairs once. `worse` is the sign of a change of the headline for the worse."""
    seen = PairedSamples()
    won: list[ChangedSample] = []
    for a, b in pairs:
        if a is None or b is None:
            half = a or b
            assert half is not None
            seen.only_a += b is None
            seen.only_b += a is None
            seen.differ = True
            present: Presence = "only_a" if b is None else "only_b"
            _list(seen.steps, StepPair(_key(half), present, "differs", "differs", "differs"), listed)
            continue
        seen.both += 1
        scores_a, scores_b = seen.add_scores(a, b)
        outcome = a.record.outcome == b.record.outcome
        alike = scores_a.keys() == scores_b.keys() and all(
            abs(scores_b[name] - value) <= tolerance for name, value in scores_a.items()
        )
        if outcome and alike:
            continue
        seen.differ = True
        row = a.row_hash == b.row_hash
        step = StepPair(_key(b), "both", _word(row), _word(outcome), _word(alike))
        _list(seen.steps, step, listed)
        seen.changes += 1
        change = ChangedSample(_key(b), headline, _side_of(a), _side_of(b))
        change_of = scores_b.get(headline or "", 0.0) - scores_a.get(headline or "", 0.0)
        lost = headline is None or change_of * worse > 0
        _list(seen.changed if lost else won, change, listed)
    for change in won:
        _list(seen.changed, change, listed)
    return seen


def _failed(half: Half) -> bool:
    return half.record.scores is None


def numbers_of(half: Half) -> dict[str, float]:
    """The numbers among the scores of a sample."""
    scores: Mapping[str, Any] = half.record.scores or {}
    return {name: float(value) for name, value in scores.items() if isinstance(value, bool | int | float)}


_SHOWN = tuple(name for name, column in COLUMNS.items() if column.compared == "shown")


def _side_of(half: Half) -> JsonValue:
    return {name: getattr(half.record, name) for name in _SHOWN}


def _key(half: Half) -> str:
    return f"{half.row}/{half.repeat}"


def _word(same: bool) -> Any:
    return "same" if same else "differs"


def _list(items: list[Any], item: Any, limit: int | None) -> None:
    if limit is None or len(items) < limit:
        items.append(item)
