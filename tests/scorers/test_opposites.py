"""The opposite of what was asked denies it; the negation of the opposite affirms it only if there is no third."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pytest
from tests.scorers.test_restated_questions import read

from benchwright.scorers._asked import OPPOSITES

NEGATIONS = ("is not", "isn't", "is never")
JUDGED = ("valid", "sound", "invalid", "unsound", "supported", "support", "unsupported", "contradicted")
"""Judgements: what follows one gives its reason."""
DEFECTS = ("error", "mistake", "bug", "flaw", "typo", "problem", "issue", "fault", "defect", "flawless")
HEDGES = ("to some", "for some people", "in some places", "to many")


class Row(NamedTuple):
    sides: tuple[list[str], list[str]]
    contrary: bool


def rows() -> list[Row]:
    """The table, each word in its first row."""
    found, seen = [], set[str]()
    for line in OPPOSITES.strip().splitlines():
        contrary = "/" in line
        left, right = (
            [word for word in side.split() if word.rstrip("*") not in seen]
            for side in line.split("/" if contrary else "|")
        )
        seen |= {word.rstrip("*") for word in left + right}
        found.append(Row((left, right), contrary))
    return found


def pairs(row: Row) -> list[tuple[str, str]]:
    left, right = row.sides
    return [*product(left, right), *product(right, left)]


def shown(row: Row) -> str:
    return "-".join(side[0] for side in row.sides)


@pytest.mark.parametrize("row", rows(), ids=shown)
def test_a_negated_opposite_affirms_only_where_there_is_no_third(row: Row) -> None:
    for asked, said in pairs(row):
        open_ended = row.contrary or "*" in asked + said
        question = f"Is the thing {asked.rstrip('*')}?"
        for negation in NEGATIONS:
            reply = f"The thing {negation} {said.rstrip('*')}."
            found = read(question, reply)
            assert found in ((None,) if open_ended else ("yes", None)), (question, reply)
    if not row.contrary:
        for asked, said in (shown(row).split("-"), reversed(shown(row).split("-"))):
            for negation in NEGATIONS:
                assert read(f"Is the thing {asked}?", f"The thing {negation} {said}.") == "yes", (asked, said)


@pytest.mark.parametrize("row", rows(), ids=shown)
def test_a_plain_opposite_denies_unless_it_is_hedged(row: Row) -> None:
    for asked, said in pairs(row):
        question = f"Is the thing {asked.rstrip('*')}?"
        assert read(question, f"The thing is {said.rstrip('*')}.") == "no", (asked, said)
        for hedge in HEDGES:
            assert read(question, f"The thing is {said.rstrip('*')} {hedge}.") is None, (asked, said, hedge)


@pytest.mark.parametrize("row", rows(), ids=shown)
def test_what_a_third_value_or_another_noun_takes_the_place_of_is_left_open(row: Row) -> None:
    for asked, said in pairs(row):
        question, word = f"Is the thing {asked.rstrip('*')}?", said.rstrip("*")
        for rest in (
            () if asked in JUDGED else ("; it is mauve", ". It is neither", ", but mauve", ", it is mauve")
        ):
            assert read(question, f"The thing is not {word}{rest}.") is None, (asked, said, rest)
        for reply in (
            ()
            if asked in JUDGED + DEFECTS
            else (
                f"It is not {word} advice.",
                f"It is {word} advice.",
                f"It's {asked.rstrip('*')} advice.",
            )
        ):
            assert read(question, reply) is None, (question, reply)
        for reply in (
            f"It is not true that the thing is {word}.",
            f"It is unlikely that the thing is {word}.",
            f"Nothing in it suggests that the thing is {word}.",
            f'{{"{word}": false}}',
            f"{word.capitalize()}: no",
        ):
            found = read(question, reply)
            assert found != "no", (question, reply)
            assert found is None or not (row.contrary or "*" in asked + said), (question, reply)


@pytest.mark.parametrize(
    ("question", "reply", "answer"),
    [
        ("Does the text entail the hypothesis?", "The text does not contradict the hypothesis.", None),
        ("Does the text contradict the hypothesis?", "The text does not entail the hypothesis.", None),
        ("Does the text contradict the hypothesis?", "The text entails the hypothesis.", "no"),
        ("Is Bob older than Ann?", "Bob is not younger than Ann.", None),
        ("Is Bob older than Ann?", "Bob is younger than Ann.", "no"),
        ("Is x greater than 5?", "x is not less than 5.", None),
        ("Is x greater than 5?", "x is not greater than 5.", "no"),
        ("Did sales rise?", "Sales did not fall.", None),
        ("Did sales rise?", "Sales fell.", "no"),
        ("Is Bob happy?", "Bob is not unhappy.", None),
        ("Is 7 prime?", "7 is not composite; it is prime.", "yes"),
        ("Is it illegal?", "It's not legal advice.", None),
        ("Can I fire him?", "It's not legal advice.", None),
        ("Is water wet?", "For some people, water is dry.", None),
        ("Is the soup hot?", "The soup may be cold.", None),
        ("Is the soup hot?", "The soup was cold.", None),
        ("Is the soup hot?", "The soup seems cold.", "no"),
        ("Is the sentiment positive?", "Not negative", None),
        ("Is the sentiment positive?", "Negative: yes", "no"),
    ],
)
def test_opposites_in_other_sentences(question: str, reply: str, answer: str | None) -> None:
    assert read(question, reply) == answer


@pytest.mark.parametrize(
    "judgement", ["impossible", "unlikely", "improbable", "doubtful", "certain", "clear", "obvious"]
)
def test_what_is_not_excluded_or_not_certain_is_left_open(judgement: str) -> None:
    question = "Is Bob at home?"
    assert read(question, f"It is not {judgement} that Bob is at home.") is None
    assert read(question, "It is possible that Bob is at home.") is None
    assert read("Is it possible that Bob is at home?", "It is possible that Bob is at home.") == "yes"
