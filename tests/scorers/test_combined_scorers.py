"""any_of, all_of, and what all scorers have in common."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import pytest

from benchwright.scorers import (
    ScorerInput,
    Scores,
    all_of,
    any_of,
    contains,
    exact_match,
    f1_token,
)
from benchwright.scorers._named import SCORERS
from benchwright.scorers._scorer import Scorer


def sample(response: str, target: Any) -> ScorerInput:
    return ScorerInput(response, target, {})


def test_any_and_all_keep_every_result_under_its_scorers_name() -> None:
    both = {"contains_correct": True, "exact_match_correct": False}
    assert any_of(contains, exact_match)(sample("It is Paris", "Paris")) == {**both, "correct": True}
    assert all_of(contains, exact_match)(sample("It is Paris", "Paris")) == {**both, "correct": False}


def test_a_result_without_correct_counts_as_false() -> None:
    found = any_of(f1_token)(sample("a", "a"))
    assert found == {"f1_token_f1": 1.0, "f1_token_precision": 1.0, "f1_token_recall": 1.0, "correct": False}
    assert all_of(exact_match, f1_token)(sample("a", "a"))["correct"] is False


def test_truthy_is_enough() -> None:
    def half(_: ScorerInput) -> Scores:
        return {"correct": 0.5}

    assert any_of(half)(sample("", ""))["correct"] is True


def test_every_scorer_runs() -> None:
    seen = []

    def note(_: ScorerInput) -> Scores:
        seen.append(1)
        return {"correct": bool(seen)}

    any_of(note, note)(sample("", ""))
    all_of(note, note)(sample("", ""))
    assert len(seen) == 4


def test_without_scorers() -> None:
    assert any_of()(sample("", "")) == {"correct": False}
    assert all_of()(sample("", "")) == {"correct": True}


def test_names() -> None:
    assert any_of(contains, exact_match).__name__ == "any_of(contains, exact_match)"
    assert all_of().__name__ == "all_of()"
    nested = any_of(all_of(contains), exact_match)
    assert nested.__name__ == "any_of(all_of(contains), exact_match)"
    assert set(nested(sample("a", "a"))) == {
        "all_of(contains)_contains_correct",
        "all_of(contains)_correct",
        "exact_match_correct",
        "correct",
    }


def test_a_scorer_without_a_name_gets_its_types() -> None:
    assert any_of(partial(exact_match)).__name__ == "any_of(partial)"


@pytest.mark.parametrize("scorer", [*(row.scorer for row in SCORERS.values()), any_of(contains), all_of()])
def test_a_scorer_has_one_parameter_and_an_explanation(scorer: Scorer) -> None:
    assert list(inspect.signature(scorer).parameters) == ["sample"]
    assert scorer.__doc__


def test_scorer_input_as_users_build_it() -> None:
    positional = ScorerInput("r", "t", {"a": 1}, None, {"k": 2}, [{"role": "user", "content": "x"}], 0)
    assert positional.config == {"k": 2}
    assert positional.turn_index == 0
    plain = ScorerInput(response="r", target="t", metadata={})
    assert (plain.model_call_fn, plain.config, plain.conversation, plain.turn_index) == (None, {}, None, None)
    assert plain.config is not ScorerInput("r", "t", {}).config
    assert "ask" not in repr(plain)
