"""What a scorer receives and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from benchwright.core import JsonObject, Row
from benchwright.scorers._judge_config import Ask

Scores: TypeAlias = dict[str, bool | int | float | str | None]
"""What a scorer returns: metric name → value. Bools and numbers are aggregated, the rest is only kept."""


class AnswerScores(dict[str, bool | int | float | str | None]):
    """Scores with the answer that the scorer read out of the response.

    It equals the plain dict, so documented scorers keep what they return. A run records the answer as `extracted`, by
    which repeated replies are compared.
    """

    __slots__ = ("extracted",)

    def __init__(self, scores: Scores, extracted: str | None) -> None:
        super().__init__(scores)
        self.extracted = extracted


def answer_scores(found: str | None, expected: object) -> AnswerScores:
    """`correct` and `parsed` of an answer that was read, or was not."""
    return AnswerScores(
        {"correct": found is not None and found == expected, "parsed": found is not None}, found
    )


@dataclass(slots=True)
class ScorerInput:
    """The one thing every scorer takes."""

    response: str
    """The model's answer; the candidate with the largest log-probability where candidates are ranked."""
    target: Any
    """The expected answer, from the row's target field."""
    metadata: Row
    """The whole row after field mapping, plus keys starting with `_` that the run adds."""
    model_call_fn: Callable[..., Any] | None = None
    """A way to ask the model under test again, where the run offers one."""
    config: dict[str, Any] = field(default_factory=dict)
    """The benchmark's `extra`, judge settings included."""
    conversation: list[JsonObject] | None = None
    """All messages so far, for benchmarks of several turns."""
    turn_index: int | None = None
    """0-based turn being scored, for benchmarks of several turns."""
    ask: Ask | None = field(default=None, kw_only=True, repr=False, compare=False)
    """How `judge_score` reaches a judge; supplied by the run."""


Scorer: TypeAlias = Callable[[ScorerInput], Scores]
"""A scorer: one sample in, named values out."""
