"""Calling scorers as their signature wants, and telling scores from what is not a score."""

from __future__ import annotations

import asyncio
import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks import BenchmarkSpec, scores_of
from benchwright.core import BenchwrightError


@dataclass
class Sample:
    response: str = "r"
    config: dict[str, Any] = field(default_factory=lambda: {"level": 3})


class NumpyLike:
    """Scalars of array libraries: a value behind `item()`."""

    def __init__(self, *values: object) -> None:
        self.values = values

    def item(self) -> object:
        if len(self.values) != 1:
            raise ValueError("can only convert an array of size 1")
        return self.values[0]


def spec_of(scorer: Any, passes_config: bool = False) -> BenchmarkSpec:
    return BenchmarkSpec(
        name="x", key="x", dataset=[], prompt="p", scorer=scorer, base_dir=Path(), passes_config=passes_config
    )


def test_one_and_two_argument_scorers_are_called_as_written() -> None:
    sample: Any = Sample()
    assert spec_of(lambda s: {"r": s.response}).score(sample) == {"r": "r"}
    assert spec_of(lambda s, c: {"level": c["level"]}, True).score(sample) == {"level": 3}


def test_async_scorers_give_an_awaitable() -> None:
    async def check(sample: Sample) -> dict[str, bool]:
        return {"correct": True}

    async def run() -> object:
        return scores_of(await spec_of(check).score(Sample()))  # type: ignore[arg-type]

    assert asyncio.run(run()) == {"correct": True}


def test_plain_scores_pass_unchanged() -> None:
    scores = {"correct": True, "n": 3, "f1": 0.5, "grade": "A", "note": None}
    assert scores_of(scores) == scores
    assert scores_of({}) == {}


def test_foreign_numbers_become_pythons_own() -> None:
    result = scores_of({"a": NumpyLike(True), "b": NumpyLike(0.25), "c": Decimal("0.5"), "d": Fraction(1, 4)})
    assert result == {"a": True, "b": 0.25, "c": 0.5, "d": 0.25}
    assert [type(value) for value in result.values()] == [bool, float, float, float]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (0.5, "the scorer returned float 0.5; return a dict such as"),
        (None, "the scorer returned NoneType None"),
        ([("correct", True)], "the scorer returned list"),
        ({1: True}, "the key 1, which is not text"),
        ({"f1": math.nan}, "score 'f1' is nan, which cannot be averaged; return None"),
        ({"f1": NumpyLike(math.inf)}, "score 'f1' is inf"),
        ({"parts": {"a": 1}}, "score 'parts' is dict"),
        ({"many": NumpyLike(1, 2)}, "score 'many' is NumpyLike"),
    ],
)
def test_what_is_no_score_is_explained(result: object, said: str) -> None:
    with pytest.raises(BenchwrightError, match=re.escape(said)):
        scores_of(result)


def test_a_forgotten_await_is_explained() -> None:
    async def check() -> None: ...

    coroutine = check()
    with pytest.raises(BenchwrightError, match="nobody awaited"):
        scores_of(coroutine)
    coroutine.close()
