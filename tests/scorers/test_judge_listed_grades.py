"""Grades that a judge's template does not list: refused with the grade's name, never a score off the scale."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.scorers import JudgeFailedError, ScorerInput, judge_score

CONFIG = {"judge": {"url": "http://localhost/v1", "model_id": "m"}}
OWN = "Judge {response}!"


def graded(reply: str, **options: Any) -> tuple[Any, Any]:
    found = judge_score(ScorerInput("r", "t", {}, config=CONFIG, ask=lambda call: reply), **options)
    return found["judge_score"], found["judge_grade"]


@pytest.mark.parametrize(
    ("template", "reply"),
    [
        ("likert_5", '{"score": 9}'),
        ("likert_5", '{"score": 0}'),
        ("likert_5", '{"score": 0.9}'),
        ("likert_5", '{"score": 4.5}'),
        ("safety", '{"score": 3}'),
        ("safety", '{"score": -0.1}'),
        ("binary_qa", '{"score": 100}'),
        ("binary_qa_partial", 'Well: {\'x\': 1} {"rating": "7"}'),
    ],
)
@pytest.mark.parametrize("response_format", [None, {"type": "json_object"}])
def test_numbers_off_the_scale_are_refused(template: str, reply: str, response_format: Any) -> None:
    with pytest.raises(JudgeFailedError, match="is not one of"):
        graded(reply, template=template, response_format=response_format)


def test_listed_numbers_and_scores_between_worded_grades_count() -> None:
    assert graded('{"score": 4}', template="likert_5") == (pytest.approx(0.8), "4")
    assert graded('{"score": "5.0"}', template="likert_5") == (1.0, "5")
    assert graded('{"score": 0.8}', template="binary_qa") == (0.8, "0.8")
    assert graded('{"score": 1}', template="safety") == (1.0, "1")
    assert graded('{"score": 1.5}', score_mapping={"C": 2, "I": -1}) == (1.5, "1.5")


def test_where_the_user_reads_the_reply_any_number_counts() -> None:
    assert graded('{"score": 100}', template=OWN) == (100.0, "100")
    assert graded('{"score": 100}', template=OWN, score_mapping={"A": 1}) == (100.0, "100")
    assert graded("SCORE=9", template="likert_5", grade_pattern=r"SCORE=(\d+)") == (9.0, "9")
    assert graded("x", judge_output_parser=lambda text: 30) == (30.0, "30")


@pytest.mark.parametrize(
    "reply",
    [
        "GRADE: C or I",
        "GRADE: C or I.",
        "**GRADE: C or I**",
        "GRADE: **C** or **I**",
        "GRADE: C / I",
        "GRADE: C/I",
        "GRADE: C|I",
        "GRADE: C (or maybe I)",
        "GRADE: correct or incorrect",
        "GRADE: C or GRADE: I",
        "The last line must be GRADE: C or GRADE: I",
        "GRADE: C\nNo, on reflection:\nGRADE: C or I",
    ],
)
def test_a_choice_of_grades_is_no_grade(reply: str) -> None:
    with pytest.raises(JudgeFailedError):
        graded(reply)


def test_other_choices() -> None:
    for reply in ("GRADE: C, P or I", "GRADE: C, GRADE: P or GRADE: I"):
        with pytest.raises(JudgeFailedError):
            graded(reply, template="binary_qa_partial")
    with pytest.raises(JudgeFailedError):
        graded("GRADE: 4 or 5", template="likert_5")
    with pytest.raises(JudgeFailedError):
        graded("GRADE: 4 or 5", template=OWN)


@pytest.mark.parametrize(
    "reply",
    [
        "GRADE: C or GRADE: I, they said.\nGRADE: C",
        "GRADE: C\n(I had to choose GRADE: C or GRADE: I.)",
        "GRADE: C, I think",
        "GRADE: C or so",
        "GRADE: C and I am sure",
        "Right or wrong? Or, better:\nGRADE: C",
        "/\nGRADE: C",
        "I weighed it and it is right, or GRADE: C",
    ],
)
def test_a_grade_beside_an_or_is_still_read(reply: str) -> None:
    assert graded(reply) == (1.0, "C")


def test_four_of_five_is_four() -> None:
    assert graded("GRADE: 4/5", template="likert_5") == (pytest.approx(0.8), "4")
    assert graded("GRADE: 4 / 5", template="likert_5") == (pytest.approx(0.8), "4")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("GRADE: Z", "the judge's grade 'Z' is not one of C, I;"),
        ("Hm.\n**GRADE: Z**", "grade 'Z' is not one of C, I;"),
        ("GRADE: C or I", "grade 'C or I' is not one of C, I;"),
        ("GRADE: " + "z" * 300, f"grade '{'z' * 40}…' is not one of"),
        ('{"grade": "Z"}', "grade 'Z' is not one of C, I;"),
        ("GRADE:", "contains no grade"),
        ("Nothing.", "contains no grade"),
    ],
)
def test_the_message_names_the_grade(reply: str, words: str) -> None:
    with pytest.raises(JudgeFailedError) as caught:
        graded(reply)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600
