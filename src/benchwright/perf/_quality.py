"""Quality under load: the scores of replies, and whether they change from one level or test to another.

Replies are scored after the last request, so that scoring never disturbs the measurement. Each result is a separate step
next to the record of its request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct, msgpack, structs

from benchwright.core import DATA_SCORES, StepValues, load_json, lower_is_better, ready
from benchwright.perf._bootstrap import Blocked, block_count, block_of, mean_interval
from benchwright.perf._columns import column, compute as pc
from benchwright.perf._distributions import Distribution, describe, numbers
from benchwright.perf._requests import Requests
from benchwright.perf._values import RequestRecord

_DIGITS = 6
_NO_SCORES = "{}"
"""The column `scores` of a request for a row without an answer."""


class Grade(Struct, frozen=True, array_like=True, omit_defaults=True):
    """The result of scoring the reply of one request. Fields are stored by position: append new ones, with a default.

    A request for a row without an answer has an empty table of scores, even if the request failed.
    """

    number: int
    stage: int = 0
    outcome: str = "scored"
    """The outcome, as for samples of runs: `scored`, `unparsed`, `truncated`, `scorer_failed` …"""
    scores: dict[str, float] | None = None
    error: str | None = None
    """Why there are no scores."""

    def added_to(self, record: RequestRecord) -> RequestRecord:
        """The record of the request, with its scores."""
        return structs.replace(record, scores=self.scores, score_outcome=self.outcome, score_error=self.error)

    def step(self, at: float) -> StepValues:
        """The step that records it, made at this wall clock."""
        key = f"grade/{self.number:09d}/{self.stage:04d}"
        return (key, b"", None, encode_grade(self), False, at, at, None, None, None)

    @staticmethod
    def plain(scores: Mapping[str, Any] | None) -> dict[str, float] | None:
        """The scores that are numbers; truth values count as 1 and 0.

        >>> Grade.plain({"correct": True, "why": "because", "f1": 0.5})
        {'correct': 1.0, 'f1': 0.5}
        """
        if scores is None:
            return None
        return {name: float(value) for name, value in scores.items() if isinstance(value, int | float)}


_GRADE = msgpack.Decoder(ready(Grade))


def encode_grade(grade: Grade) -> bytes:
    """Encode for storage."""
    return msgpack.encode(grade)


def decode_grade(stored: bytes) -> Grade:
    """Decode what `encode_grade` stored."""
    return _GRADE.decode(stored)


class ScoreDifference(Struct, frozen=True):
    """The mean of one score in two tests or levels, over the rows that both sent."""

    name: str
    a: float
    b: float
    difference: float
    """b − a."""
    ci95: tuple[float, float] | None
    p_value: float
    rows: int
    """Rows with scores on both sides."""

    @property
    def significant(self) -> bool:
        """Whether it is more than chance."""
        return self.p_value < 0.05 and self.difference != 0

    @property
    def worse(self) -> bool:
        """Whether the second side is lower, by chance or not."""
        return self.difference < 0


class StageScores:
    """The scores of a stage's replies."""

    def __init__(self, completed: Requests) -> None:
        self._requests = completed

    @cached_property
    def _values(self) -> dict[str, list[float | None]]:
        """The values by name, one per request in order; None if it has none."""
        texts = self._requests["scores"].to_pylist()
        found: dict[str, list[float | None]] = {}
        for place, text in enumerate(texts):
            for name, value in (load_json(text) if text else {}).items():
                found.setdefault(name, [None] * len(texts))[place] = float(value)
        return found

    def distributions(self) -> dict[str, Distribution]:
        """The distribution of each score, with the interval of its mean."""
        return {name: self._distribution(values) for name, values in self._values.items()}

    def _distribution(self, values: list[float | None]) -> Distribution:
        import pyarrow as pa

        every = column(values, pa.float64())
        known = every.drop_null()
        order = pc.sort_indices(known)
        ordered = numbers(known.take(order))
        if ordered[0] == ordered[-1]:
            return describe(known, ordered, 1.0, _DIGITS)
        blocked = Blocked(known, block_of(len(known)), ordered, order, block_count(len(known)))
        return describe(known, ordered, 1.0, _DIGITS, mean_interval(blocked, len(known)))

    def means_with_failures(self, sent: Requests) -> dict[str, float]:
        """Mean scores over all sent requests for rows with an answer; those without a score count as 0.

        As in runs, only scores that every scored reply has get this mean, and not those that depend on the data alone or
        where 0 is the best value.
        """
        counted = len(sent) - sum(text == _NO_SCORES for text in sent["scores"].to_pylist())
        scored = sum(text not in (None, _NO_SCORES) for text in self._requests["scores"].to_pylist())
        return {
            name: round(sum(value or 0.0 for value in values) / counted, _DIGITS)
            for name, values in self._values.items()
            if len(values) - values.count(None) == scored
            and name not in DATA_SCORES
            and not lower_is_better(name)
        }

    def outcomes(self) -> dict[str, int]:
        """Scored replies by outcome."""
        found = self._requests["score_outcome"].drop_null().value_counts().to_pylist()
        return {
            each["values"]: each["counts"] for each in sorted(found, key=lambda each: str(each["values"]))
        }

    def first_error(self) -> str | None:
        """The first error of replies that could not be scored."""
        words = self._requests["score_error"].drop_null()
        return str(words[0].as_py()) if len(words) else None

    def row_means(self, name: str) -> dict[int, float]:
        """The mean score of each row of the data. A row that was sent several times counts once."""
        sums: dict[int, list[float]] = {}
        for row, value in zip(self._requests["row"].to_pylist(), self._values.get(name, ()), strict=True):
            if value is not None:
                sums.setdefault(row, []).append(value)
        return {row: sum(each) / len(each) for row, each in sums.items()}

    def names(self) -> tuple[str, ...]:
        return tuple(self._values)


def score_differences(a: StageScores, b: StageScores) -> Iterator[ScoreDifference]:
    """Compare the scores that both sides have, row by row."""
    from benchwright.stats import PairedResult

    for name in a.names():
        if name in b.names():
            one, other = a.row_means(name), b.row_means(name)
            rows = sorted(one.keys() & other.keys())
            if rows:
                found = PairedResult.of([one[row] for row in rows], [other[row] for row in rows])
                low, high = found.ci_low, found.ci_high
                ends = None if low is None or high is None else (round(low, _DIGITS), round(high, _DIGITS))
                a_mean, b_mean, difference = (
                    round(each, _DIGITS) for each in (found.mean_a, found.mean_b, found.difference)
                )
                yield ScoreDifference(name, a_mean, b_mean, difference, ends, found.p_value, len(rows))
