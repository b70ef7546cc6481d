"""What samples can be filtered by. A facet is derived from the record of a sample's score and nothing else, so an
index of facets can be late, but never of another opinion than the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

from benchwright.core import score_fields

Verdict: TypeAlias = Literal["right", "wrong"]

_PLACES_PER_ROW = 10_000
"""Repeats have four digits in keys."""


class Facet(NamedTuple):
    """The values of one sample that filters ask for."""

    outcome: str
    """How it ended."""
    verdict: str
    """`right`, `wrong`, or nothing."""
    scored: bool
    """Whether it has scores."""
    error: bool
    """Whether an error is recorded."""

    def to_text(self) -> str:
        """As an index holds it.

        >>> Facet("scored", "wrong", True, False).to_text()
        'scored/wrong/s'
        """
        return f"{self.outcome}/{self.verdict}/{'s' * self.scored}{'e' * self.error}"

    @classmethod
    def from_text(cls, text: str) -> Facet:
        """The reverse of `to_text`."""
        outcome, verdict, marks = text.split("/")
        return cls(outcome, verdict, "s" in marks, "e" in marks)


@dataclass(frozen=True, slots=True)
class SampleFilter:
    """Which samples are wanted; None everywhere: all of them."""

    outcome: str | None = None
    """Those that ended so."""
    verdict: Verdict | None = None
    """Those that were judged so."""
    scored: bool | None = None
    """Those with, or without, scores."""
    error: bool | None = None
    """Those with, or without, an error."""

    def wants(self, facet: Facet) -> bool:
        """Whether a sample of that facet passes."""
        return (
            self.outcome in (None, facet.outcome)
            and self.verdict in (None, facet.verdict)
            and self.scored in (None, facet.scored)
            and self.error in (None, facet.error)
        )


def verdict_of(scores: dict[str, Any] | None) -> Verdict | None:
    """What `correct`, else `acc`, else the first right-or-wrong score says. Samples without scores are neither.

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
    """The facet of a score as it is recorded. A record that is no JSON, as after damage, has one of its own."""
    try:
        fields = score_fields(record)
        scores = fields.get("scores")
        found = Facet(str(fields["outcome"]), verdict_of(scores) or "", scores is not None, "error" in fields)
    except (orjson.JSONDecodeError, KeyError, AttributeError, TypeError):
        return Facet("", "", False, False).to_text()
    return found.to_text()


def place_of(sample: int, repeat: int) -> int:
    """A sample's place in the order of samples, as pages count them."""
    return sample * _PLACES_PER_ROW + repeat


def sample_at(place: int) -> tuple[int, int]:
    """The reverse of `place_of`: row and repeat."""
    return divmod(place, _PLACES_PER_ROW)
