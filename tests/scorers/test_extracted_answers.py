"""Scorers that read an answer out of a response give it, so that repeated replies can be compared."""

from __future__ import annotations

import pytest

from benchwright.benchmarks import scores_of
from benchwright.scorers import (
    AnswerScores,
    ScorerInput,
    boolean_yesno,
    boolean_yesno_strict,
    gsm8k_answer,
    gsm8k_answer_strict,
    mcq_letter_extract,
    mcq_letter_strict,
    qa_answers,
)
from benchwright.scorers._scorer import Scorer
from benchwright.stats import RepeatTally


@pytest.mark.parametrize(
    ("scorer", "response", "target", "extracted"),
    [
        (mcq_letter_extract, "The answer is (c).", "A", "C"),
        (mcq_letter_extract, "?", "A", None),
        (mcq_letter_strict, "The answer is **B**.", "B", "B"),
        (gsm8k_answer, "#### 1,200.50", "7", "1200.5"),
        (gsm8k_answer, "none", "7", None),
        (gsm8k_answer_strict, "The answer is 007.0", "7", "7"),
        (gsm8k_answer_strict, "in all 0.00", "0", "0"),
        (gsm8k_answer_strict, "it is 1e300", "7", "1E+300"),
        (boolean_yesno, "Yep, it does.", True, "yes"),
        (boolean_yesno_strict, "That is not correct.", True, "no"),
        (boolean_yesno_strict, "Who knows?", True, None),
        (qa_answers(("numeric",)), "The answer is 5.0", "5", "5"),
    ],
)
def test_the_answer_is_recorded_as_extracted(
    scorer: Scorer, response: str, target: object, extracted: str | None
) -> None:
    returned = scorer(ScorerInput(response, target, {}))
    assert isinstance(returned, AnswerScores)
    recorded = scores_of(returned)
    assert isinstance(recorded, dict)
    assert recorded["extracted"] == extracted
    assert {name: value for name, value in recorded.items() if name != "extracted"} == returned


def test_numbers_that_are_equal_vote_together() -> None:
    tally = RepeatTally()
    for reply in ("#### 7", "#### 7.0", "#### 007", "#### 8", "#### 9"):
        scores = scores_of(gsm8k_answer_strict(ScorerInput(reply, "8", {})))
        assert isinstance(scores, dict)
        tally.add(0, scores)
    found = tally.summaries("correct", [5])
    assert (found["maj@5"].value, found["agree@5"].value) == (0.0, 0.6)


def test_free_answers_do_not_vote_by_a_number_that_is_not_their_headline() -> None:
    assert not isinstance(qa_answers()(ScorerInput("5", "5", {})), AnswerScores)
