"""Pairs the samples of two runs, as a stream, and lists those that changed."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from msgspec import Struct, field

from benchwright.core import JsonValue, encode_json
from benchwright.reports.views.clusters import Clusters, PairedColumns, Sample, ScoreColumns, Scored
from benchwright.reports.views.comparison import ChangedSample, Presence, StepPair
from benchwright.reports.views.sample_columns import COLUMNS
from benchwright.stats import same_score


class Pair(NamedTuple):
    """A sample in both runs, or in one of them."""

    a: Sample | None
    """In the first run."""
    b: Sample | None
    """In the second."""


def pairs_of(a: Iterable[Sample], b: Iterable[Sample]) -> Iterator[Pair]:
    """Pair the samples of two runs. Copies of a row are paired in order, repeats by their number.

    As long as both runs have the same rows in the same order, one row of each is kept at a time. From the first difference
    on, the outcomes and scores of the first run are kept, as JSON.
    """
    left, right = _rows(a), _rows(b)
    x, y = next(left, None), next(right, None)
    while x is not None and y is not None and x[0].cluster == y[0].cluster:
        yield from _repeats(x, y)
        x, y = next(left, None), next(right, None)
    waiting = _Waiting(chain([] if x is None else [x], left))
    for row in chain([] if y is None else [y], right):
        yield from _repeats(waiting.taken(row[0].cluster), row)
    for row in waiting.rest():
        yield from _repeats(row, ())


class _Waiting:
    """Rows of the first run that have no partner in the second yet, as JSON."""

    def __init__(self, rows: Iterable[Sequence[Sample]]) -> None:
        self._texts = bytearray()  # one object: as many small ones as rows would take several times as much
        self._ends = array("q")
        self._first: dict[int, int] = {}
        """Cluster → the place of its first row that waits; -1: there is none any more."""
        self._next = array("i")
        """By place: the place of the next row of the cluster; -1: there is none."""
        last: dict[int, int] = {}
        for place, row in enumerate(rows):
            cluster = row[0].cluster
            self._texts += encode_json(list(map(tuple, row)))
            self._ends.append(len(self._texts))
            self._next.append(-1)
            if cluster in self._first:
                self._next[last.get(cluster, self._first[cluster])] = place
                last[cluster] = place
            else:
                self._first[cluster] = place
        self._taken = bytearray(len(self._ends))

    def taken(self, cluster: int) -> list[Sample]:
        """The next row of a cluster; empty if there is none."""
        place = self._first.get(cluster, -1)
        if place < 0:
            return []
        self._first[cluster] = self._next[place]
        self._taken[place] = True
        return self._row(place)

    def rest(self) -> Iterator[list[Sample]]:
        """The rows that were not taken."""
        return (self._row(place) for place, taken in enumerate(self._taken) if not taken)

    def _row(self, place: int) -> list[Sample]:
        text = self._texts[self._ends[place - 1] if place else 0 : self._ends[place]]
        return [Sample(*each) for each in orjson.loads(text)]


def _rows(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    """A run's samples in row order, the repeats of a row together."""
    for _, repeats in groupby(samples, key=attrgetter("row")):
        yield list(repeats)


def _repeats(a: Sequence[Sample], b: Sequence[Sample]) -> Iterator[Pair]:
    """The repeats of one row, by their number."""
    if len(a) == len(b) == 1 and a[0].repeat == b[0].repeat:
        yield Pair(a[0], b[0])
        return
    first, second = ({each.repeat: each for each in side} for side in (a, b))
    for repeat in sorted({*first, *second}):
        yield Pair(first.get(repeat), second.get(repeat))


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
    source: Scored, a: int, b: int, *, tolerance: float, listed: int | None, headline: str | None, worse: int
) -> PairedSamples:
    """Read the samples of two runs once. `worse` is the sign of a change of the headline for the worse."""
    clusters, sides = Clusters(), (ScoreColumns(), ScoreColumns())
    seen = PairedSamples(PairedColumns(*sides))
    won: list[ChangedSample] = []
    both = 0
    for one, other in pairs_of(clusters.samples(source, a, sides[0]), clusters.samples(source, b, sides[1])):
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
        scores_a, scores_b = _numbers(one), _numbers(other)
        alike = scores_a.keys() == scores_b.keys() and all(
            same_score(value, scores_b[name], tolerance) for name, value in scores_a.items()
        )
        if outcome and alike:
            continue
        seen.differ = True
        step = StepPair(_key(other), "both", "same", _word(outcome), _word(alike))
        _list(seen.steps, step, listed)
        seen.changes += 1
        change_of = scores_b.get(headline or "", 0.0) - scores_a.get(headline or "", 0.0)
        lost = headline is None or change_of * worse > 0
        changed = seen.changed if lost else won
        if listed is None or len(changed) < listed:
            changed.append(ChangedSample(_key(other), headline, _side_of(one), _side_of(other)))
    seen.both = both
    for change in won:
        _list(seen.changed, change, listed)
    return seen


def with_questions(
    changed: Sequence[ChangedSample], source: object, run_id: int
) -> tuple[ChangedSample, ...]:
    """The changed samples with their prompts, if the source knows them."""
    read = getattr(source, "prompts", None)
    if read is None or not changed:
        return tuple(changed)
    keys = {change.step: tuple(map(int, change.step.split("/"))) for change in changed}
    prompts = read(run_id, set(keys.values()))
    return tuple(replace(change, question=prompts.get(keys[change.step], "")) for change in changed)


def _numbers(sample: Sample) -> dict[str, float]:
    """The numbers among the scores of a sample."""
    scores: dict[str, Any] = sample.scores or {}
    return {name: float(value) for name, value in scores.items() if isinstance(value, bool | int | float)}


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
