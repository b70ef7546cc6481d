"""Where documented scorers mislead, item by item: the variants next to them do not."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright import ScorerInput
from benchwright.scorers import (
    bleu,
    boolean_yesno,
    boolean_yesno_strict,
    chrf,
    chrf_sacre,
    corpus_bleu,
    gsm8k_answer,
    gsm8k_answer_strict,
    mcq_letter_extract,
    mcq_letter_strict,
    qa_answers,
    regex_match,
    retrieval_metrics,
    retrieval_metrics_dedup,
    rouge,
)


@pytest.mark.parametrize(
    ("response", "target", "row"),
    [
        ("I think it is B", "B", {}),
        ("The answer is **B**. A is a distractor", "B", {}),
        ("Let me think. A few words. " * 20 + "The answer is C", "C", {}),
        ("E", "fifth", {"e": "fifth"}),
    ],
)
def test_item_14_letters_are_read_where_they_are_stated(
    response: str, target: str, row: dict[str, Any]
) -> None:
    sample = ScorerInput(response, target, row)
    assert mcq_letter_strict(sample)["correct"]
    assert mcq_letter_strict(ScorerInput("The answer is a tie", "A", {}))["parsed"] is False
    assert mcq_letter_extract(ScorerInput("I think it is B", "I", {}))["correct"], (
        "the documented reading stays"
    )


@pytest.mark.parametrize(
    ("response", "target"),
    [
        ("#### 007", "7"),
        ("#### 12. No: #### 15", "15"),
        ("it is -5", "-5"),
        ("#### 5", r"\boxed{5}"),
    ],
)
def test_item_15_numbers_are_compared_by_value(response: str, target: str) -> None:
    assert gsm8k_answer_strict(ScorerInput(response, target, {}))["correct"]
    assert not gsm8k_answer_strict(ScorerInput("1,2,3", "123", {}))["correct"]
    assert not gsm8k_answer_strict(ScorerInput("so it is 10-5", "-5", {}))["parsed"], (
        "a difference or a range"
    )
    assert gsm8k_answer(ScorerInput("1,2,3", "123", {}))["correct"], "the documented reading stays"


def test_item_16_not_correct_means_no() -> None:
    sample = ScorerInput("That is not correct.", False, {})
    assert boolean_yesno_strict(sample)["correct"]
    assert not boolean_yesno(sample)["correct"], "the documented reading stays"


def test_item_17_overlap_is_no_credit_for_a_wrong_word() -> None:
    pytest.importorskip("sacrebleu")
    assert corpus_bleu(["wrong"], ["right"]) == 0.0
    same = ScorerInput("yes", "yes", {})
    assert chrf_sacre(same)["chrf"] == 100.0
    assert chrf(same)["chrf"] == 50.0, "the documented formula stays"
    twice = ScorerInput("", "", {"retrieved": ["a", "a"], "relevant": ["a"]})
    assert retrieval_metrics_dedup(twice)["recall_at_k"] == 1.0 < retrieval_metrics(twice)["recall_at_k"]
    for scorer, metric in ((bleu, "bleu_1"), (rouge, "rouge_1"), (regex_match, "correct")):
        assert scorer(ScorerInput("5", 5, {}))[metric] == 1.0, "a target may be a number"
    assert qa_answers(("numeric", "contains"))(ScorerInput("It is 5", 5, {}))["contains"], (
        "a target may be a number"
    )
