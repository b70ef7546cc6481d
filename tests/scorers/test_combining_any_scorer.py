"""any_of and all_of on every kind of scorer that is legal by itself."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import Any

import pytest

from benchwright.scorers import ScorerInput, Scores, all_of, any_of, contains, exact_match

SAMPLE = ScorerInput("It is Paris.", "Paris", {}, config={"least": 3})


def long_enough(sample: ScorerInput, config: dict[str, Any]) -> Scores:
    return {"correct": len(sample.response) >= config["least"]}


async def slow(sample: ScorerInput) -> Scores:
    await asyncio.sleep(0)
    return {"correct": True, "of": sample.target}


async def slow_with_config(sample: ScorerInput, config: dict[str, Any]) -> Scores:
    await asyncio.sleep(0)
    return {"correct": config["least"] > 3}


def awaited(result: Any) -> Scores:
    async def run() -> Scores:
        scores: Scores = await result
        return scores

    return asyncio.run(run())


def test_a_scorer_of_two_arguments_gets_the_config() -> None:
    found = all_of(contains, long_enough)(SAMPLE)
    assert found == {"contains_correct": True, "long_enough_correct": True, "correct": True}


def test_a_second_parameter_with_a_default_is_left_alone_unless_it_is_the_config() -> None:
    def tuned(sample: ScorerInput, factor: int = 2) -> Scores:
        return {"factor": factor}

    def told(sample: ScorerInput, config: dict[str, Any] | None = None) -> Scores:
        return {"least": (config or {}).get("least")}

    assert any_of(tuned, told)(SAMPLE) == {"tuned_factor": 2, "told_least": 3, "correct": False}


def test_an_async_scorer_makes_the_combination_awaitable() -> None:
    found = awaited(all_of(exact_match, slow, slow_with_config, long_enough)(SAMPLE))
    assert list(found.items()) == [
        ("exact_match_correct", False),
        ("slow_correct", True),
        ("slow_of", "Paris"),
        ("slow_with_config_correct", False),
        ("long_enough_correct", True),
        ("correct", False),
    ]
    assert awaited(any_of(slow, exact_match)(SAMPLE))["correct"] is True


def test_async_scorers_may_be_wrapped_or_combined_before() -> None:
    assert awaited(any_of(partial(slow))(SAMPLE))["correct"] is True
    nested = all_of(contains, any_of(exact_match, slow))
    assert awaited(nested(SAMPLE))["any_of(exact_match, slow)_correct"] is True


def test_without_async_scorers_nothing_is_to_be_awaited() -> None:
    assert not inspect.isawaitable(any_of(contains, long_enough)(SAMPLE))


def test_what_a_scorer_raises_passes_through_and_no_coroutine_is_left_behind() -> None:
    def broken(sample: ScorerInput) -> Scores:
        raise LookupError("no such thing")

    with pytest.raises(LookupError):
        any_of(broken, slow)(SAMPLE)
    with pytest.raises(LookupError):
        awaited(any_of(slow, broken, slow)(SAMPLE))
