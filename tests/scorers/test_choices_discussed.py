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


TREES = {"A": "ash tree", "B": "birch wood", "C": "cedar log", "D": "dogwood"}


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The answer is A. Note that if the tree were smaller, the answer would be B.", "A"),
        ("The answer is A. If the question asked for X, then B would be correct.", "A"),
        ("A is correct. Had it been wet, the correct answer would have been C.", "A"),
        ("The answer is A. Otherwise, the answer would be B.", "A"),
        ("The answer is A. Without the constraint, the answer would be D.", "A"),
        ("The answer is A. If it were dry, B would be the right answer.", "A"),
        ("Answer: A\n\nIf the wording were different the answer might be B.", "A"),
        ("The answer is A, although some would say the answer is B.", "A"),
        ("The answer is A. In a different context, the answer could be C.", "A"),
        ("The answer is A. Some people think the answer is B.", "A"),
        ("The answer is A. It is a common mistake to think the answer is B.", "A"),
        ("The answer is A. The answer is not B.", "A"),
        ("The answer is A, not B.", "A"),
        ("If n is even, the answer is A. n is even, so the answer is A.", "A"),
        ("Suppose the answer is B. Then we get a contradiction. So the answer is C.", "C"),
        ("If we assume dryness, the answer would be B. But it is wet, so the answer is C.", "C"),
        ("The answer would be B.", "B"),
        ("I think the answer would be B.", "B"),
        ("A tree that grows in the", None),
        ("A common approach to this problem is to", None),
        ("A", "A"),
        ("A.", "A"),
        ("A detailed look at the options shows", None),
        ("A: the", "A"),
        ("A is a", None),
        ("A-level students often", None),
        ("A good answer requires", None),
        ("C ist richtig.", "C"),
        ("C ist die richtige Antwort.", "C"),
        ("Die richtige Antwort ist C.", "C"),
        ("Die Antwort lautet C.", "C"),
        ("Richtig ist C.", "C"),
        ("Antwort C ist korrekt.", "C"),
        ("Option C ist richtig.", "C"),
        ("Die korrekte Antwort ist: C) cedar log", "C"),
        ("Ich wähle C.", "C"),
        ("Ich denke, C ist richtig.", "C"),
        ("C ist falsch. B ist richtig.", "B"),
        ("C ist nicht richtig, sondern B.", "B"),
        ("B ist nicht richtig. Richtig ist C.", "C"),
        ("Nicht A, sondern C.", "C"),
        ("Die Antwort ist A. Wenn es trocken wäre, wäre die Antwort B.", "A"),
        ("Lösung: C", "C"),
        ("Meine Antwort: C", "C"),
        ("Die richtige Lösung ist C", "C"),
        ("C stimmt.", "C"),
        ("C trifft zu.", "C"),
        ("Die richtige Option ist C.", "C"),
        ("Es ist C.", "C"),
        ("La bonne réponse est C.", "C"),
        ("C est correct.", "C"),
        ("C est la bonne réponse.", "C"),
        ("La réponse correcte est la C.", "C"),
        ("Je choisis C.", "C"),
        ("C'est C.", "C"),
        ("La réponse C est correcte.", "C"),
        ("La respuesta correcta es C.", "C"),
        ("C es correcta.", "C"),
        ("C es la respuesta correcta.", "C"),
        ("La opción correcta es la C.", "C"),
        ("Elijo C.", "C"),
        ("La opción C es correcta.", "C"),
        ("C ist interessant, aber B ist richtig", "B"),
        ("Si fuera seco, la respuesta sería B. La respuesta es C.", "C"),
        ("The answer is B. However, if you consider the alternative, A is also plausible.", "B"),
        ("The answer is B. (If you chose C, you forgot a term.)", "B"),
        ("The correct answer is B. You might be tempted to choose C.", "B"),
        ("B is correct. Choosing A would be a mistake.", "B"),
        ("B. If it had been a question on cedar, C would be right.", "B"),
        ("If the answer were A, it would float. It sinks, so the answer is D.", "D"),
        ("Unless stated otherwise, the answer is B.", "B"),
        ("When in doubt, the answer is B.", "B"),
        ("Assuming standard conditions, the answer is B.", "B"),
        ("If I had to pick, the answer is B.", "B"),
        ("If I had to guess, I'd say B.", "B"),
        ("If you look closely, the answer is B.", "B"),
        ("If I am right, the answer is B.", "B"),
        ("Given the data, the answer would be B.", "B"),
        ("The answer is A. Were it a conifer, the answer would be C.", "A"),
        ("The answer is A. Only in the case of rain would B be correct.", "A"),
        ("The answer is A. B would be correct if it rained.", "A"),
        ("B would be correct if it rained. The answer is A.", "A"),
        ("The answer is A unless it rains, in which case the answer is B.", None),
        ("A (", None),
        ('A "', None),
        ("A **", None),
        ("A “", None),
        ("A-", None),
        ("A’", None),
    ],
)
def test_other_cases_other_people_other_languages_and_cut_sentences(reply: str, letter: str | None) -> None:
    assert extract_choice(reply, TREES).letter == letter
