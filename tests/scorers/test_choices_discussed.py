"""extract_choice on replies that go through the other options as well."""

from __future__ import annotations

import pytest

from benchwright.scorers import extract_choice

FORCES = {"A": "gravity", "B": "magnetism", "C": "friction", "D": "inertia"}
FOODS = {"A": "蛋白质", "B": "脂肪", "C": "维生素C", "D": "水"}
BOTH = {"A": "Only I", "B": "Only II", "C": "Both A and B", "D": "None of the above"}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The answer is C. A common mistake is to choose A.", "C"),
        ("C is the answer. Many students pick D.", "C"),
        ("Answer: C. Some might be tempted to go with A.", "C"),
        ("C. People often wrongly select B.", "C"),
        ("Students should choose C.", "C"),
        ("Many forces act here. I choose C.", "C"),
    ],
)
def test_what_others_choose_is_not_the_answer(reply: str, expected: str) -> None:
    assert extract_choice(reply, FORCES).letter == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            "A. Gravity pulls down. B. Magnetism attracts iron. C. Friction slows. D. Inertia is no force.",
            None,
        ),
        ("A) gravity, B) magnetism, C) friction, D) inertia", None),
        ("A. Gravity pulls down. B. Magnetism attracts iron. The answer is C.", "C"),
        ("A. Gravity is the force here. B. Magnetism is wrong.", "A"),
        ("C. Friction slows things down. A. Gravity only pulls.", "C"),
    ],
)
def test_options_told_one_after_the_other_are_a_list(reply: str, expected: str | None) -> None:
    assert extract_choice(reply, FORCES).letter == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("本题答案选择C，因为A是蛋白质", "C"),
        ("选C，因为 A 是蛋白质，D项是水", "C"),
        ("答案是水", "D"),
        ("应该是B。", "B"),
    ],
)
def test_telling_what_an_option_is_states_nothing(reply: str, expected: str) -> None:
    assert extract_choice(reply, FOODS).letter == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The answer is C, both A and B.", "C"),
        ("C, Both A and B", "C"),
        ("The answer is A, B.", None),
        ("The answer is C or D.", None),
    ],
)
def test_letters_inside_an_options_text_are_not_joined_to_it(reply: str, expected: str | None) -> None:
    assert extract_choice(reply, BOTH).letter == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("- A) gravity: pulls down\n- B) magnetism: metals only\n- C) friction: correct", "C"),
        ("A) gravity ❌\nB) magnetism ❌\nC) friction ✅\nD) inertia ❌", "C"),
        ("**A)** gravity – incorrect.\n**B)** magnetism – incorrect.\n**C)** friction – correct!", "C"),
        ("Option A: wrong\nOption B: wrong\nOption C: right\nOption D: wrong", "C"),
        ("A. gravity, correct.\nB. magnetism, correct.\nC. friction, incorrect.\nD. inertia, correct.", None),
        ("Answer: D, the wrong one.\nA: partly\nB: correct\nC: partly", "D"),
        ("A: incorrect\nB: incorrect\nC: not correct\nD: incorrect", None),
        ("A: correct me if I am wrong\nB: right-handed\nC: right side up", None),
        ("A) gravity ❌\nB) magnetism ❌\nC) friction ✅\nD) inertia ❌\n\nSo the answer is D.", "D"),
    ],
)
def test_the_only_option_that_is_marked_as_right(reply: str, expected: str | None) -> None:
    assert extract_choice(reply, FORCES).letter == expected


def test_of_two_options_a_mark_decides_nothing() -> None:
    assert extract_choice("A: correct\nB: incorrect", {"A": "5 > 3", "B": "3 > 5"}).letter is None
