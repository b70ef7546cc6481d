"""Filters of samples. Facets and metric values are derived only from the record of a score, so an index of them may lag
behind, but never contradict the record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from msgspec import Struct

from benchwright.core import UsageError, score_fields
from benchwright.store._records import SampleSteps

Verdict: TypeAlias = Literal["right", "wrong"]

_SMALLEST = -6
"""Values closer to zero than half of 2 to this power are in one bucket."""
_PLACES_PER_ROW = 10_000
"""Repeats have four digits in keys."""


class Facet(NamedTuple):
    """The values of one sample that filters compare."""

    outcome: str
    """How it ended."""
    verdict: str
    """`right`, `wrong`, or empty."""
    scored: bool
    """Whether it has scores."""
    error: bool
    """Whether an error is recorded."""

    def to_text(self) -> str:
        """The form in an index.

        >>> Facet("scored", "wrong", True, False).to_text()
        'scored/wrong/s'
        """
        return f"{self.outcome}/{self.verdict}/{'s' * self.scored}{'e' * self.error}"

    @classmethod
    def from_text(cls, text: str) -> Facet:
        """Read the form in an index."""
        outcome, verdict, marks = text.split("/")
        return cls(outcome, verdict, "s" in marks, "e" in marks)


class SampleFilter(Struct, frozen=True):
    """Selects the samples of a page. None lets every sample pass."""

    outcome: str | None = None
    """Only samples with this outcome."""
    verdict: Verdict | None = None
    """Only samples with this verdict."""
    scored: bool | None = None
    """Only samples with, or without, scores."""
    error: bool | None = None
    """Only samples with, or without, an error."""
    metric: str | None = None
    """Only samples with a value of this metric, within `above` and `below`. True counts as 1, false as 0."""
    above: float | None = None
    """Only samples whose value is greater."""
    below: float | None = None
    """Only samples whose value is smaller."""
    text: str | None = None
    """Only samples with this text in prompt, reply or target, in any case. It is not indexed: see `page_samples`."""

    def __post_init__(self) -> None:
        if self.metric is None and (self.above is not None or self.below is not None):
            raise UsageError("a filter by value needs the name of a metric")

    @property
    def bounds(self) -> tuple[float, float]:
        """The open interval for metric values."""
        return (
            -math.inf if self.above is None else self.above,
            math.inf if self.below is None else self.below,
        )

    def passes(self, facet: Facet) -> bool:
        """Whether samples with that facet pass, judged by the facet alone."""
        return (
            self.outcome in (None, facet.outcome)
            and self.verdict in (None, facet.verdict)
            and self.scored in (None, facet.scored)
            and self.error in (None, facet.error)
        )


def verdict_of(scores: dict[str, Any] | None) -> Verdict | None:
    """The verdict of `correct`, else of `acc`, else of the first right-or-wrong score. None for samples without scores.

    >>> verdict_of({"f1": 0.5, "exact": False}), verdict_of({"acc": 1.0}), verdict_of({"f1": 0.5})
    ('wrong', 'right', None)
    """
    if not scores:
        return None
    value = scores.get("correct", scores.get("acc"))
    if "correct" not in scores and "acc" not in scores:
        value = next((score for score in scores.values() if isinstance(score, bool)), None)
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        return None
    return "right" if value else "wrong"


def facet_of(record: bytes) -> str:
    """The facet of a recorded score. A damaged record that is not JSON has a special facet."""
    try:
        return _facet(score_fields(record))
    except _NO_SCORE:
        return _DAMAGED


def facet_and_values(record: bytes) -> tuple[str, dict[str, float]]:
    """The facet of a recorded score, and its numbers by metric."""
    try:
        fields = score_fields(record)
        scores = (fields.get("scores") or {}).items()
        values = {name: float(value) for name, value in scores if isinstance(value, bool | int | float)}
        return _facet(fields), values
    except _NO_SCORE:
        return _DAMAGED, {}


def _facet(fields: dict[str, Any]) -> str:
    scores = fields.get("scores")
    verdict = verdict_of(scores) or ""
    return Facet(str(fields["outcome"]), verdict, scores is not None, "error" in fields).to_text()


_DAMAGED = Facet("", "", False, False).to_text()
_NO_SCORE = (orjson.JSONDecodeError, KeyError, AttributeError, TypeError, OverflowError)


def bucket_of(value: float) -> int:
    """The bucket of a metric value. Greater values have the same bucket or a greater one. There are four buckets per doubling
    and one around zero, so that a page by metric reads few ranges and skips few values.

    >>> [bucket_of(value) for value in (0.0, 0.5, 0.6, 0.75, 1.0, -1.0)]
    [0, 25, 25, 27, 29, -29]
    """
    mantissa, exponent = math.frexp(abs(value))
    if exponent < _SMALLEST or not value:
        return 0
    bucket = (exponent - _SMALLEST) * 4 + int((mantissa - 0.5) * 8) + 1
    return bucket if value > 0 else -bucket


def holds_text(sample: SampleSteps, text: str) -> bool:
    """Whether prompt, reply or target contain a text, in any case."""
    needle_text = text.casefold()
    if text.isascii() and orjson.dumps(text)[1:-1] == text.encode():
        # Searched in the JSON first, which decides nearly all samples without decoding them.
        needle = text.lower().encode()
        if not any(
            part is not None and needle in part.lower()
            for part in (sample.score, sample.call_input, sample.call_output)
        ):
            return False
    return any(needle_text in found.casefold() for found in _texts(sample))


def _texts(sample: SampleSteps) -> Iterator[str]:
    try:
        fields = score_fields(sample.score)
        body = orjson.loads(sample.call_input or b"{}")
        reply = orjson.loads(sample.call_output or b"{}")
        for value in (fields.get("target"), fields.get("prompt"), fields.get("response"), reply.get("t")):
            yield from _strings(value)
        yield from _strings(fields.get("conversation"))
        yield from _strings(body.get("prompt"))
        for message in body.get("messages") or ():
            yield from _strings(message.get("content"))
    except (orjson.JSONDecodeError, AttributeError, TypeError):  # damaged
        return


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def place_of(sample: int, repeat: int) -> int:
    """A sample's place in the order of samples, as pages count them."""
    return sample * _PLACES_PER_ROW + repeat


def sample_at(place: int) -> tuple[int, int]:
    """The reverse of `place_of`: row and repeat."""
    return divmod(place, _PLACES_PER_ROW)
