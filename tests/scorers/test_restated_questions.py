"""A sentence that repeats the question as a statement answers it; one that says something else does not."""

from __future__ import annotations

from itertools import product

import pytest
from tests.scorers.growth import assert_linear

from benchwright.scorers import ScorerInput, boolean_yesno_strict

FACTS = (
    ("Toronto", "is", "the capital of Canada"),
    ("Penguins", "can", "live in the Arctic"),
    ("The bridge", "was", "built by the Romans"),
    ("The treaty", "has", "ended the war"),
    ("A candy bar", "would", "cheer up a depressed friend"),
)
DENIED = (
    "{s} {v} not {p}.",
    "{s} {v} never {p}.",
    "The sources agree. So {s} {v} not {p}.",
    "{s} {v} not {p}, because that is how it is.",
)
AFFIRMED = (
    "{s} {v} {p}.",
    "{s} {v} indeed {p}.",
    "The sources agree. Therefore, {s} {v} {p}.",
    "{s} {v} {p}, as of 2020.",
    "{s} {v} not only {p}, it is famous for it.",
)
OPEN = (
    "It is unclear whether {s} {v} {p}.", "Some say that {s} {v} {p}.", "If it rains, {s} {v} {p}.", "{s} might be {p}.", "Only {s} {v} {p}.",
    "Many believe that {s} {v} {p}.", "{s} {v} {p}?", "{s} {v} not only {p}.", "{s} {v} almost {p}.", "It depends on the source.", "{s} {v} green.",
)  # fmt: skip
PAIRS = (("Earth", "Mars"), ("Lead", "Gold"), ("Anna", "Ben"))


def read(question: str | None, reply: str) -> str | None:
    row = {} if question is None else {"question": question}
    return getattr(boolean_yesno_strict(ScorerInput(reply, True, row)), "extracted", None)


@pytest.mark.parametrize(("subject", "verb", "predicate"), FACTS)
def test_a_statement_affirms_denies_or_leaves_open_what_was_asked(
    subject: str, verb: str, predicate: str
) -> None:
    question = f"{verb.capitalize()} {subject[0].lower() + subject[1:]} {predicate}?"
    for shapes, answer in ((DENIED, "no"), (AFFIRMED, "yes"), (OPEN, None)):
        for shape in shapes:
            reply = shape.format(s=subject, v=verb, p=predicate)
            assert read(question, reply) == answer, (question, reply)
            assert read(None, reply) is None


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_is_compared_the_other_way_round_is_no_yes(one: str, other: str) -> None:
    for adjective in ("larger", "heavier", "older"):
        assert read(f"Is {one} {adjective} than {other}?", f"{other} is {adjective} than {one}.") is None
        assert read(f"Is {one} {adjective} than {other}?", f"{other} is not {adjective} than {one}.") is None
        assert read(f"Is {one} {adjective} than {other}?", f"{one} is {adjective} than {other}.") == "yes"
        assert read(f"Is {one} {adjective} than {other}?", f"{one} is not {adjective} than {other}.") == "no"


@pytest.mark.parametrize(
    ("question", "reply", "answer"),
    [
        ("Is a spider an insect?", "A spider is an arachnid, not an insect.", "no"),
        ("Has anyone walked on Mars?", "No human has ever walked on Mars.", "no"),
        ("Can I bring a bottle?", "Unfortunately, that's not allowed. Use a bag.", "no"),
        ("Can I bring a bottle?", "That's allowed only if it is empty.", None),
        ("Is Paris the capital of Spain?", "Paris is the capital of France.", None),
        ("Isn't Paris the capital of Spain?", "Paris is not the capital of Spain.", "no"),
        ("Is Python compiled?", "Well, yes and no. It is compiled to bytecode.", None),
        ("Is it illegal to own a ferret in Texas?", "No. Note that in Ohio the answer would be yes.", "no"),
        ("Did Apple release it in 2006?", "Apple did release it in 2007.", None),
        ("Did Apple release it in 2006?", "Apple did not release it in 2006.", "no"),
        ("Did the team win the first match?", "The team did not win the second match.", None),
        ("Is the Nile the longest river?", "The Nile is one of the longest rivers.", None),
        ("What is the capital?", "Toronto is not the capital.", None),
    ],
)
def test_other_ways_to_answer(question: str, reply: str, answer: str | None) -> None:
    assert read(question, reply) == answer


@pytest.mark.parametrize(
    "unit", ["it is not ", "toronto ", "so ", "(", ", not a ", "a.b", "the capital is. ", "indeed, "]
)
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    assert_linear(lambda text: read("Is Toronto the capital of Canada?", text), unit)
    assert_linear(lambda text: read(text, "Toronto is not the capital of Canada."), unit)


def test_questions_and_replies_of_any_kind_are_read_without_error() -> None:
    parts = ("", "?", "is", "Is it", "not", "...", "No. 9", "(", "是", "Is Toronto the capital?")
    for question, reply in product(parts, parts):
        read(question, reply)
