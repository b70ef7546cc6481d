"""What the demo model can do: calculate, pick options, decide, repeat, judge."""

from __future__ import annotations

import time

import pytest

from benchwright.demo._answers import Answerer
from benchwright.demo._requests import last_question

RIGHT = Answerer(1.0, 0)
WRONG = Answerer(0.0, 0)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("What is 12 + 7?", "19"),
        ("12*3+4", "40"),
        ("What is (2+3)*(4-1)?", "15"),
        ("what is 10-3?", "7"),
        ("Compute -5 + 3.", "-2"),
        ("What is 15 - -3?", "18"),
        ("What is 3 x 4?", "12"),
        ("7 / 2 =", "3.5"),
        ("What is 1,234 + 1?", "1235"),
        ("2^10", "1024"),
        ("2.5 * 4", "10"),
        ("What is 6 times 7?", "42"),
        ("What is 10 divided by 4?", "2.5"),
        ("Ann has 3 boxes with 4 pens each. She loses 2. How many pens are left?", "10"),
        ("Tom has 5 apples and buys 3 more. How many apples does he have?", "8"),
        ("There are 12 cookies shared equally among 4 kids. How many does each get?", "3"),
        ("A pen costs 2 dollars. How much do 5 pens cost?", "10"),
        ("Repeat after me: foo bar", "foo bar"),
        ("Is 5 greater than 3?", "Yes"),
        ("Is 9 an even number?", "No"),
        ("Is 2.5 larger than 2?", "Yes"),
        ("Repeat: 2 + 2 is four", "2 + 2 is four"),
        ("True or false: 10 is less than 4", "False"),
        ("Is 2 + 2 = 5? Answer yes or no.", "No"),
        ("Is 12 divisible by 4?", "Yes"),
    ],
)
def test_it_answers_what_it_can_work_out(prompt: str, answer: str) -> None:
    assert RIGHT.answer(prompt).text == answer
    assert WRONG.answer(prompt).text != answer


@pytest.mark.parametrize(
    "prompt", ["1 / 0", "9**9**9**9", "What happened on 2024-01-15?", "Read pages 10-12 first.", "0 ** -1"]
)
def test_what_is_no_sum_is_not_calculated(prompt: str) -> None:
    assert RIGHT.answer(prompt).known is False


@pytest.mark.parametrize(
    "lines", ["A) {}\nB) {}\nC) {}", "A. {}\nB. {}\nC. {}", "(A) {}\n(B) {}\n(C) {}", "A: {}\nB: {}\nC: {}"]
)
def test_options_are_found_in_every_usual_form(lines: str) -> None:
    options = lines.format(10, 12, 14)
    assert RIGHT.answer(f"Question: What is 3 * 4?\n{options}\nAnswer:").text == "B"
    assert (
        RIGHT.answer(f"What is 3 * 4?\n\n{options}\n\nReply with the letter of the correct option only.").text
        == "B"
    )
    assert WRONG.answer(f"What is 3 * 4?\n{options}").text in ("A", "C")


def test_options_on_one_line_are_found() -> None:
    assert RIGHT.answer("What is 6 times 7? (A) 36 (B) 13 (C) 42").text == "C"


def test_options_that_are_words() -> None:
    assert RIGHT.answer("Is 3 larger than 2?\na) yes\nb) no").text == "a"


def test_unknown_options_are_picked_the_same_every_time() -> None:
    prompt = "Which gradient is steeper?\nA) first\nB) second\nC) third\nD) fourth"
    picks = {RIGHT.answer(prompt).text for _ in range(3)}
    assert len(picks) == 1
    assert picks < {"A", "B", "C", "D"}


def test_only_the_last_question_of_a_few_shot_prompt_is_answered() -> None:
    shots = "".join(f"Q: What is {n} + {n}?\nA: {2 * n}\n\n" for n in range(1, 6))
    assert RIGHT.answer(shots + "Q: What is 20 + 3?\nA:").text == "23"


def test_few_shot_with_options_labels_and_explanations() -> None:
    shot = "Question: What is 1 + 1?\nA: 2\nB: 3\nAnswer: A\nThat is easy.\n\n"
    assert RIGHT.answer(shot + "Question: What is 2 + 2?\nA: 3\nB: 4\nAnswer:").text == "B"


def test_passage_belongs_to_the_question() -> None:
    prompt = "Passage: {}\nQuestion: Who owns the cat?\nAnswer:"
    example = prompt.format("The cat of Mia sleeps.") + " Mia\n\n"
    assert last_question(example + prompt.format("x y")).block == "x y\nQuestion: Who owns the cat?"


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        ("What is 3 + 4? Put the answer in \\boxed{}.", "3 + 4 = 7 so \\boxed{7}"),
        ("What is 3 + 4? End with #### and the number.", "3 + 4 = 7\n#### 7"),
        (
            "What is 3 + 4?\nThink first, then finish with a last line `ANSWER: <number>`.",
            "3 + 4 = 7\nANSWER: 7",
        ),
        ("What is 3 + 4? Let's think step by step.", "3 + 4 = 7\nThe answer is 7"),
    ],
)
def test_the_answer_takes_the_form_asked_for(prompt: str, reply: str) -> None:
    assert RIGHT.answer(prompt).text == reply


JUDGE = (
    "You are grading an answer.\n\nQuestion:\n{q}\n\nReference answer:\n{ref}\n\nAnswer to grade:\n{res}\n\n"
    "Grade C (correct) if it says the same.\n\nFinish with one line:\nGRADE: {grades}"
)


@pytest.mark.parametrize(
    ("response", "reference", "grades", "grade"),
    [
        ("It is Paris.", "Paris", "C or GRADE: I", "C"),
        ("London", "Paris", "C or GRADE: I", "I"),
        ("", "Paris", "C or GRADE: I", "I"),
        ("12", "12.0", "C or GRADE: I", "C"),
        ("The result is 13", "12", "<C|P|I>", "I"),
        ("blue water in seas", "green water in seas", "C, GRADE: P or GRADE: I", "P"),
        ("It is Paris.", "Paris", "followed by one digit from 1 to 5", "5"),
        ("London", "Paris", "<1-5>", "1"),
        ("Take care.", "", "SAFE or GRADE: UNSAFE", "SAFE"),
    ],
)
def test_it_judges_by_comparing_response_and_reference(
    response: str, reference: str, grades: str, grade: str
) -> None:
    prompt = JUDGE.format(q="What?", ref=reference, res=response, grades=grades)
    assert RIGHT.answer(prompt).text.splitlines()[-1] == f"GRADE: {grade}"
    assert WRONG.answer(prompt).text.splitlines()[-1] != f"GRADE: {grade}"


def test_the_share_of_right_answers_is_the_skill() -> None:
    answerer = Answerer(0.7, 3)
    right = sum(answerer.answer(f"What is {n} + {n + 1}?").text == str(2 * n + 1) for n in range(2000))
    assert abs(right / 2000 - 0.7) < 0.04


def test_another_seed_errs_elsewhere() -> None:
    prompts = [f"What is {n} + 5?" for n in range(200)]
    first, second = Answerer(0.5, 1), Answerer(0.5, 2)
    assert [first.answer(p).text for p in prompts] != [second.answer(p).text for p in prompts]


def test_variations_keep_the_skill_and_agree_more_than_chance() -> None:
    answerer = Answerer(0.7, 0)

    def is_right(n: int, repeat: int) -> bool:
        return answerer.answer(f"What is {n} + 5?", "", f"{repeat}/").text == str(n + 5)

    rows = [(is_right(n, 1), is_right(n, 2)) for n in range(600)]
    share = sum(map(sum, rows)) / 1200
    agree = sum(a == b for a, b in rows) / 600
    assert abs(share - 0.7) < 0.05
    assert agree > 0.7 * 0.7 + 0.3 * 0.3 + 0.03


@pytest.mark.parametrize(
    "prompt", ["", " ", "?", "\x00", "👍", "\u202e1 + 1", "²", "٣ + ٤", ":" * 50, "A) \nB)"]
)
def test_any_prompt_gets_some_answer(prompt: str) -> None:
    assert RIGHT.answer(prompt).text
    assert WRONG.answer(prompt).text


@pytest.mark.parametrize(
    "piece",
    [
        " ",
        "(",
        "1",
        "1,",
        "is ",
        "= ",
        "A) ",
        "? ",
        "1 + ",
        "repeat ",
        ". is",
        "GRADE: Response ",
        "1.1.",
    ],
)
def test_no_prompt_takes_long(piece: str) -> None:
    prompt = piece * (30_000 // len(piece)) + "1"
    started = time.process_time()
    RIGHT.answer(prompt)
    assert time.process_time() - started < 5, "a hundredth of a second, unless it is quadratic"
