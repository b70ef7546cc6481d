"""Pairs the samples of two runs, as a stream, and lists those that changed."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from sys import intern
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.core import JsonValue, RunSummary, SampleRecord
from benchwright.results._clusters import (
    Clusters,
    PairedColumns,
    Sample,
    SampleReader,
    SampleTexts,
    ScoreColumns,
)
from benchwright.results._comparison import ChangedSample, Presence, StepPair
from benchwright.results._sample_columns import COLUMNS
from benchwright.stats import same_score
from benchwright.store import place_of


def pairs_of(a: Iterable[Sample], b: Iterable[Sample]) -> Iterator[tuple[Sample | None, Sample | None]]:
    """Pair the samples of two runs; None: the other run has no such sample. Copies of a row are paired in order, repeats by their number.

    As long as both runs have the same samples in the same order, one of each is kept at a time. From the first difference
    on, the outcomes and scores of the first run are kept.
    """
    left, right = iter(a), iter(b)
    x, y = next(left, None), next(right, None)
    rows = -1, -1
    while (
        x is not None
        and y is not None
        and x.cluster == y.cluster
        and x.repeat == y.repeat
        and (x.row == rows[0]) == (y.row == rows[1])
    ):
        yield x, y
        rows = x.row, y.row
        x, y = next(left, None), next(right, None)
    waiting = _Waiting(chain([] if x is None else [x], left), _Copies(rows[0]))
    copies = _Copies(rows[1])
    for sample in chain([] if y is None else [y], right):
        yield waiting.taken(sample, copies.number(sample)), sample
    for rest in waiting.rest():
        yield rest, None


class _Copies:
    """Numbers the copies of each row. The samples that are left of the row `begun` have the number -1."""

    def __init__(self, begun: int) -> None:
        self._row, self._number = begun, -1
        self._seen = bytearray()
        """By cluster: 1 if it had a row."""
        self._more: dict[int, int] = {}
        """The last number of clusters with several rows."""

    def number(self, sample: Sample) -> int:
        """The number of the sample's row among its copies, given samples in their order."""
        if sample.row != self._row:
            cluster = sample.cluster
            if cluster >= len(self._seen):
                self._seen.extend(bytes(max(cluster + 1, 1024)))
            self._number = 0
            if self._seen[cluster]:
                self._number = self._more[cluster] = self._more.get(cluster, 0) + 1
            self._seen[cluster] = 1
            self._row = sample.row
        return self._number


class _Waiting:
    """Samples of the first run that have no partner in the second yet. Each is one flat tuple, in half the bytes of a sample."""

    def __init__(self, samples: Iterable[Sample], copies: _Copies) -> None:
        self._kept: list[tuple[Any, ...]] = []
        """Row, repeat, outcome, target, error, whether it has scores, and their names and values."""
        self._first: dict[int, array[int]] = {}
        """By repeat and cluster: the place of the sample of the first copy; -1: there is none."""
        self._others: dict[tuple[int, int, int], int] = {}
        """By cluster, copy and repeat: the places of the others."""
        shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
        keep, number = self._kept.append, copies.number
        for place, sample in enumerate(samples):
            cluster, row, repeat, outcome, scores, target, error = sample
            if scores:
                names = tuple(scores)
                names = shapes.setdefault(names, names)
                keep((row, repeat, intern(outcome), target, error, names, *scores.values()))
            else:
                keep((row, repeat, intern(outcome), target, error, None if scores is None else ()))
            copy = number(sample)
            if copy:
                self._others[cluster, copy, repeat] = place
                continue
            first = self._first.get(repeat)
            if first is None:
                first = self._first[repeat] = array("i")
            if cluster >= len(first):
                first.extend([-1] * max(cluster + 1 - len(first), 1024))
            first[cluster] = place
        self._taken = bytearray(len(self._kept))

    def taken(self, partner: Sample, copy: int) -> Sample | None:
        """The sample of the same row, copy and repeat, if there is one."""
        if copy:
            place = self._others.get((partner.cluster, copy, partner.repeat), -1)
        else:
            first = self._first.get(partner.repeat)
            place = first[partner.cluster] if first is not None and partner.cluster < len(first) else -1
        if place < 0:
            return None
        self._taken[place] = True
        return self._sample(place, partner.cluster)

    def rest(self) -> Iterator[Sample]:
        """The samples that were not taken."""
        return (self._sample(place, -1) for place, taken in enumerate(self._taken) if not taken)

    def _sample(self, place: int, cluster: int) -> Sample:
        row, repeat, outcome, target, error, names, *values = self._kept[place]
        scores = None if names is None else dict(zip(names, values, strict=True))
        return Sample(cluster, row, repeat, outcome, scores, target, error)


class PairedSamples(Struct):
    """What the pairs of two runs show: scores by metric, and the samples that changed."""

    columns: PairedColumns = field(default_factory=lambda: PairedColumns(ScoreColumns(), ScoreColumns()))
    """The scores of both runs."""
    steps: list[StepPair] = field(default_factory=list)
    """Samples that differ."""
    changed: list[ChangedSample] = field(default_factory=list)
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


def paired_samples(
    a: SampleReader,
    b: SampleReader,
    *,
    tolerance: float,
    listed: int | None,
    headline: str | None,
    worse: int,
    is_effort: Callable[[str], bool] = RunSummary.is_effort,
    clusters: Clusters | None = None,
) -> PairedSamples:
    """Read the samples of two runs once. `worse` is the sign of a change of the headline for the worse. Scores that measure effort change
    no sample. `clusters`: those that several comparisons share."""
    clusters, sides = clusters or Clusters(), (ScoreColumns(), ScoreColumns())
    seen = PairedSamples(PairedColumns(*sides))
    won: list[ChangedSample] = []
    both, full = 0, False
    for one, other in pairs_of(clusters.samples(a, sides[0]), clusters.samples(b, sides[1])):
        if one is None or other is None:
            half = one or other
            assert half is not None
            seen.only_a += other is None
            seen.only_b += one is None
            seen.differ = True
            present: Presence = "only_a" if other is None else "only_b"
            _list(seen.steps, StepPair(_key(half), present, "differs", "differs", "differs"), listed)
            continue
        both += 1
        outcome = one.outcome == other.outcome
        if outcome and one.scores == other.scores:
            continue
        alike = _alike(one.scores or {}, other.scores or {}, tolerance, is_effort)
        if outcome and alike:
            continue
        seen.differ = True
        seen.changes += 1
        full = full or (listed is not None and len(seen.steps) >= listed <= min(len(seen.changed), len(won)))
        if full:
            continue  # no list has room
        _list(seen.steps, StepPair(_key(other), "both", "same", _word(outcome), _word(alike)), listed)
        change_of = _value(other, headline) - _value(one, headline)
        lost = headline is None or change_of * worse > 0
        _list(
            seen.changed if lost else won,
            ChangedSample(_key(other), headline, _side_of(one), _side_of(other), _key(one)),
            listed,
        )
    seen.both = both
    clusters.columns |= {id(a): sides[0], id(b): sides[1]}
    for change in won:
        _list(seen.changed, change, listed)
    return seen


def changed_places(
    a: SampleReader, b: SampleReader, known: Sequence[tuple[int, int, bytes, bytes]] | None = None
) -> Iterator[int]:
    """The places in the second run of the samples whose outcomes or scores differ from the first run's, in the order of pairs. `known`:
    the samples whose records differ at all, if those with the same numbers are pairs."""
    if known is not None:
        for row, repeat, *records in known:
            before, now = (SampleRecord.score_fields(record) for record in records)
            alike = _alike(before.get("scores") or {}, now.get("scores") or {}, 0.0, RunSummary.is_effort)
            if before["outcome"] != now["outcome"] or not alike:
                yield place_of(row, repeat)
        return
    clusters = Clusters()
    for one, other in pairs_of(clusters.samples(a, ScoreColumns()), clusters.samples(b, ScoreColumns())):
        if one is None or other is None:
            continue
        if one.outcome != other.outcome or not _alike(
            one.scores or {}, other.scores or {}, 0.0, RunSummary.is_effort
        ):
            yield place_of(other.row, other.repeat)


def with_texts(
    changed: Sequence[ChangedSample], a: SampleReader, b: SampleReader
) -> tuple[ChangedSample, ...]:
    """The changed samples with their prompts and replies, as far as the sources know them."""
    if not changed:
        return ()
    nothing = SampleTexts(None, None)
    first, second = [_place(change.step_a) for change in changed], [_place(change.step) for change in changed]
    before, after = a.texts(set(first)), b.texts(set(second))
    return tuple(
        replace(change, texts_a=before.get(one, nothing), texts_b=after.get(other, nothing))
        for change, one, other in zip(changed, first, second, strict=True)
    )


def _place(key: str) -> tuple[int, int]:
    row, _, repeat = key.partition("/")
    return int(row), int(repeat)


_NUMBERS = frozenset({bool, int, float})
_LEAST_WIDE = 0.999
"""A tolerance about which right and wrong might be the same."""


def _alike(
    a: Mapping[str, Any], b: Mapping[str, Any], tolerance: float, is_effort: Callable[[str], bool]
) -> bool:
    """Whether the numbers among two samples' scores are the same, but for effort."""
    for name, value in a.items():
        other: Any = b.get(name)
        if value is other:
            continue
        kind, other_kind = type(value), type(other)
        if kind is bool and other_kind is bool and tolerance < _LEAST_WIDE:  # one is right, the other wrong
            return False
        if (kind in _NUMBERS) != (other_kind in _NUMBERS) and not is_effort(name):
            return False
        if (
            kind in _NUMBERS
            and other_kind in _NUMBERS
            and value != other
            and not same_score(value, other, tolerance)
            and not is_effort(name)
        ):
            return False
    return len(a) == len(b) or not any(
        type(b[name]) in _NUMBERS and not is_effort(name) for name in b.keys() - a.keys()
    )


def _value(sample: Sample, metric: str | None) -> float:
    """A score of a sample; 0 if it has none."""
    value: Any = None if metric is None else (sample.scores or {}).get(metric)
    return float(value) if type(value) in _NUMBERS else 0.0


_SHOWN = tuple(name for name, column in COLUMNS.items() if column.compared == "shown")


def _side_of(sample: Sample) -> JsonValue:
    return {name: getattr(sample, name) for name in _SHOWN}


def _key(sample: Sample) -> str:
    return f"{sample.row}/{sample.repeat}"


_Word: TypeAlias = Literal["same", "differs"]


def _word(same: bool) -> _Word:
    return "same" if same else "differs"


def _list(items: list[Any], item: Any, limit: int | None) -> None:
    if limit is None or len(items) < limit:
        items.append(item)
