"""A reply that gives no answer, gives two under conditions, or speaks of something else is unparsed, whatever its words."""

from __future__ import annotations

from itertools import product

import pytest
from tests.scorers.growth import assert_linear

from benchwright.scorers import ScorerInput, boolean_yesno_strict

ABSTENTIONS = (
    "I can't tell.", "I can't say.", "I cannot give you an answer either way.", "I don't take a side here.", "I won't pick a side.",
    "There is no determinate answer.", "There's no single right answer.", "Without your numbers I can't say.",
    "I can't reconcile the two.", "It's impossible to know.", "It is hard to say.", "Opinions differ.", "Experts are divided.",
    "That's up to you.", "It's ultimately your decision.", "Only you can decide that.", "Nobody knows.", "We simply do not know.",
    "The question remains open.", "This cannot be determined.", "I have no opinion on this.", "I'd rather not say.",
    "There's no way to tell.", "The jury is still out.", "There is no consensus.", "I'm not sure.", "I am unable to decide.",
    "It's a matter of taste.", "I don't know.", "You will have to decide for yourself.", "I'll leave that to your doctor.",
    "I would need to see the annex before I can answer.", "There is not enough information to decide.",
    "Das kann ich nicht beurteilen.", "Das lässt sich nicht sagen.", "Ich weiß es nicht.", "Die Meinungen gehen auseinander.",
    "Das müssen Sie selbst entscheiden.", "Je ne sais pas.", "Je ne peux pas vous répondre.", "Impossible à dire.",
    "Les avis sont partagés.", "C'est à vous de décider.", "No puedo decirlo.", "No lo sé.", "Es imposible saberlo.",
    "Las opiniones difieren.", "Non lo so.", "Non posso dirlo.", "Impossibile dirlo.", "Le opinioni divergono.", "Não sei.",
    "Não é possível dizer.", "As opiniões divergem.", "Я не знаю.", "Не могу ответить.", "Невозможно сказать.", "Мнения расходятся.",
    "无法确定。", "不知道。", "わかりません。", "알 수 없습니다.",
)  # fmt: skip
EARLIER = (
    "",
    "Yes.",
    "No, say its critics.",
    "The cabin is warm, yes.",
    "The cabin is warm in July.",
    "The cabin is not warm in January.",
    "If the stove is lit, yes.",
    "It is. Then again, it is not.",
    "That's true for the lower floor.",
    "The owner says yes, the guests say no.",
)
AFTER = (
    ("I can't say for sure, but yes.", "yes"),
    ("I can't say for sure, but probably not.", "no"),
    ("It's hard to say, but no.", "no"),
    ("I'm not sure, but I'd say yes.", "yes"),
    ("I don't know for certain. My answer is no.", "no"),
    ("Opinions differ. Final answer: yes", "yes"),
    ("Ich weiß es nicht, aber wahrscheinlich nicht.", "no"),
    ("Je ne sais pas, mais je dirais oui.", "yes"),
)
BESIDES = (
    "Yes. I can't say how long it takes.",
    "Yes. I don't know why.",
    "Yes, it is. We don't know who built it.",
    "Yes. When you go there is up to you.",
)
"""What is left open is something else."""
OTHER = (
    "The shed",
    "The cabin's owner",
    "The cabin door",
    "Her car",
    "An older hut",
    "Most tents",
    "Its roof",
)
CASES = (
    ("If {one}", "If {other}"), ("When {one}", "When {other}"), ("Provided {one}", "Provided {other}"),
    ("Assuming {one}", "Assuming {other}"), ("As long as {one}", "Once {other}"),
)  # fmt: skip
READINGS = (
    "In summer {one}, in winter {other}.",
    "On the first reading, {one}. On the second, {other}.",
    "Depending on the season: {one} or {other}.",
    "With a stove: {one}. Without a stove: {other}.",
    "If the stove is lit, {one}. Otherwise, {other}.",
    "If the stove is lit, then {one}; if not, {other}.",
    "{one} if the stove is lit, {other} if it is not.",
    "{one} for adults, but {other} for children.",
)
QUESTION = "Is the cabin warm?"


def read(reply: str, question: str = QUESTION) -> str | None:
    return getattr(
        boolean_yesno_strict(ScorerInput(reply, True, {"question": question} if question else {})),
        "extracted",
        None,
    )


@pytest.mark.parametrize("closing", ABSTENTIONS)
def test_a_reply_that_ends_without_an_answer_has_none(closing: str) -> None:
    for earlier, question in product(EARLIER, (QUESTION, "")):
        reply = f"{earlier} {closing}".strip()
        assert read(reply, question) is None, reply


@pytest.mark.parametrize(("reply", "answer"), AFTER)
def test_a_verdict_after_an_abstention_counts(reply: str, answer: str) -> None:
    for earlier, question in product(("", "The stove is old. "), (QUESTION, "")):
        assert read(earlier + reply, question) == answer


@pytest.mark.parametrize("reply", BESIDES)
def test_what_else_is_left_open_takes_no_verdict_back(reply: str) -> None:
    assert read(reply) == read(reply, "") == "yes"


def test_short_statements_about_others_are_no_class() -> None:
    for who in ("Cats", "Her cats", "Most cats", "Horses"):
        for verb in ("cannot", "can", "can't", "never"):
            assert read(f"{who} {verb} eat grapes.", "Can dogs eat grapes?") is None


def test_a_question_for_what_can_be_known_is_answered_by_it() -> None:
    assert read("No, nobody knows.", "Does anybody know who wrote it?") == "no"
    assert read("No, experts disagree.", "Do experts agree?") == "no"


@pytest.mark.parametrize("shape", READINGS)
def test_opposite_words_under_conditions_are_no_verdict(shape: str) -> None:
    for one, other in (
        ("yes", "no"),
        ("no", "yes"),
        ("it is", "it is not"),
        ("it is warm", "it is not warm"),
    ):
        reply = shape.format(one=one, other=other)
        assert read(reply[0].upper() + reply[1:]) is None, reply


@pytest.mark.parametrize("leads", CASES)
def test_opposite_statements_under_conditions_are_no_verdict(leads: tuple[str, str]) -> None:
    first, second = (lead.format(one="the stove is lit", other="the stove is cold") for lead in leads)
    for one, other in product(
        ("the cabin is warm", "it is warm", "yes"), ("the cabin is not warm", "it is not", "no")
    ):
        for reply in (f"{first}, {one}. {second}, {other}.", f"{second}, {other}; {first.lower()}, {one}."):
            assert read(reply) is None, reply


def test_one_reading_that_nothing_opposes_is_a_verdict() -> None:
    assert read("If you mean in summer, yes.") == "yes"
    assert read("Assuming the stove is lit, yes.") == "yes"
    assert read("If you mean in summer, yes; if you mean in winter, no.") is None


@pytest.mark.parametrize("subject", OTHER)
def test_a_statement_about_something_else_is_no_verdict(subject: str) -> None:
    for verb in ("is warm", "is not warm", "isn't warm", "is never warm", "was warm", "is cold"):
        assert read(f"{subject} {verb}.") is None, (subject, verb)
        assert read(f"So {subject.lower()} {verb}.") is None, (subject, verb)
    for verb in ("does not support two displays", "supports two displays", "never supports two displays"):
        assert read(f"{subject} {verb}.", "Does the 2019 model support two displays?") is None, (
            subject,
            verb,
        )


@pytest.mark.parametrize(
    "between", [", whereas ", ", though ", ", while ", " whereas ", ". ", "; ", ", and "]
)
def test_sources_and_places_that_contradict_each_other_are_no_verdict(between: str) -> None:
    pairs = (
        ("the abstract says that the cabin is warm", "the table says that the cabin is not warm"),
        ("the cabin is warm upstairs", "the cabin is not warm downstairs"),
        ("the brochure says it is warm", "the guests say it is not"),
        ("the first page supports the claim", "the last page contradicts it"),
        ("for adults it is warm", "for children it is not warm"),
        ("one guest found that it is warm", "another one found that it is not warm"),
    )
    for one, other in pairs:
        for first, second in ((one, other), (other, one)):
            reply = f"{first}{between}{second}."
            assert read(reply[0].upper() + reply[1:]) is None, reply


@pytest.mark.parametrize(
    "unit", ["I can't ", "whether it ", "it is impossible to ", "otherwise, ", "if not, no. ", "while warm, "]
)
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    assert_linear(read, unit)
