"""Replies with the answer that a careful reader finds in them: letters and yes or no."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.scorers.growth import assert_linear

from benchwright.scorers import (
    ScorerInput,
    boolean_yesno_strict,
    extract_choice,
    mcq_letter_strict,
)

REPLIES = Path(__file__).parent / "replies"
Reader = Callable[[str, dict[str, str]], str | None]
OPTIONS = {"A": "Paris", "B": "London", "C": "Rome", "D": "Berlin"}


DISPUTED = {
    # Weights are no choice: `letters_a`, `_b`, `_c` and `_f` say so too.
    "A: 0.10\nB: 0.75\nC: 0.10\nD: 0.05",
    "A: 5%, B: 10%, C: 80%, D: 5%",
    # Of several statements the last one counts.
    "The answer is A.\n\nThe answer is D.",
}
"""Replies whose label contradicts documented rules: not counted."""


def replies(name: str) -> list[tuple[str, str | None, dict[str, str]]]:
    lines = (REPLIES / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [
        (reply, answer, row_of(more[0]) if more else OPTIONS)
        for reply, answer, *more in map(json.loads, lines)
        if reply not in DISPUTED
    ]


def row_of(asked: list[str] | str) -> dict[str, str]:
    return {"question": asked} if isinstance(asked, str) else dict(zip("ABCDEFGHIJ", asked, strict=False))


def chosen(reply: str, options: dict[str, str] = OPTIONS) -> str | None:
    return extract_choice(reply, options).letter


def lettered(reply: str, options: dict[str, str] = OPTIONS) -> str | None:
    scores = mcq_letter_strict(ScorerInput(reply, "A", {"choices": list(options.values())}))
    return getattr(scores, "extracted", None)


def verdict(reply: str, row: dict[str, str] = OPTIONS) -> str | None:
    return getattr(boolean_yesno_strict(ScorerInput(reply, True, dict(row))), "extracted", None)


@pytest.mark.parametrize("read", [chosen, lettered])
@pytest.mark.parametrize("name", [f"letters_{letter}" for letter in "abcdefghijklmnopqrs"])
def test_letters_are_read_as_a_careful_reader_reads_them(name: str, read: Reader) -> None:
    check(name, read, 0.95)


@pytest.mark.parametrize("name", [f"yesno_{letter}" for letter in "abcdefghijklmnopqrstu"])
def test_yes_and_no_are_read_as_a_careful_reader_reads_them(name: str) -> None:
    """The sets from h on are less plain: some replies answer only together with the question, which h and i do not have."""
    check(name, verdict, 0.92 if name > "yesno_g" else 0.95)


@pytest.mark.parametrize("kind", ["letters", "yesno"])
@pytest.mark.parametrize("letter", "abcde")
def test_hard_replies_are_read_rightly_or_not_at_all(kind: str, letter: str) -> None:
    check(f"{kind}_hard_{letter}", lettered if kind == "letters" else verdict, 0.75)


def check(name: str, read: Reader, share: float) -> None:
    """So many alike, and never another answer."""
    alike = 0
    for reply, answer, options in replies(name):
        found = read(reply, options)
        assert found in (answer, None), (reply, answer, found)
        alike += found == answer
    assert alike / len(replies(name)) >= share


@pytest.mark.parametrize("word", ["Réponse", "Opción", "Alternativa", "Antwort", "Risposta", "Ответ"])
@pytest.mark.parametrize("letter", "ABCD")
def test_words_for_an_answer_in_other_languages_name_a_letter(word: str, letter: str) -> None:
    assert chosen(f"{word} {letter}.") == chosen(f"{word} {letter}") == letter


@pytest.mark.parametrize(
    "lead", ["So the most likely diagnosis is", "Therefore, the capital must be", "Donc la capitale est"]
)
def test_a_conclusion_may_end_with_the_text_of_an_option(lead: str) -> None:
    text = "Row (C) is tempting, and so is row (A)."
    assert chosen(f"{text} {lead} London.") == "B"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Most likely: A\nSecond most likely: B\nLeast likely: D", "A"),
        ("The setting points to A, while the plot points to B. I can't choose between the two.", None),
        ("It's not A, because Paris is not in England.", None),
        ("The answer is B) Rome.", None),
        ("Looking at option A, Paris would require", None),
        ("If the switch is open the answer is A; if it is closed the answer is C.", None),
        ("~~B~~ D", "D"),
        ("B (confidence: 90%)", "B"),
        ("Il s'agit donc de A.", "A"),
        ("A. No, perdón: se declaró en 1816, así que es la B.", "B"),
        ("La risposta corretta è pertanto la D.", "D"),
        ("A. Paris\n\nWhich city is in Italy?\nA. Paris B. London C. Rome D. Berlin\nAnswer: C", "A"),
    ],
)
def test_what_is_ranked_last_denied_or_left_open_is_not_chosen(reply: str, letter: str | None) -> None:
    assert chosen(reply) == letter


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("Sì", "No"),
        ("Sim", "Não"),
        ("Tak", "Nie"),
        ("Ja", "Nee"),
        ("Evet", "Hayır"),
        ("Oui", "Non"),
        ("Да", "Нет"),
        ("Doch", "Nein"),
    ],
)
@pytest.mark.parametrize("rest", [", 1912.", ". 1912!", ""])
def test_words_for_yes_and_no_open_replies_in_every_language(yes: str, no: str, rest: str) -> None:
    assert (verdict(f"{yes}{rest}"), verdict(f"{no}{rest}")) == ("yes", "no")


@pytest.mark.parametrize(
    "adverb", ["Probably", "Most likely", "Definitely", "Certainly", "Almost certainly", "Absolutely"]
)
def test_adverbs_with_not_are_a_no(adverb: str) -> None:
    assert verdict(f"{adverb} not; the paint is too new.") == verdict(f"{adverb} not.") == "no"
    assert verdict(f"The paint is old, so {adverb.lower()} yes.") == "yes"


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("No... hold on, the islands cross the meridian, so technically yes.", "yes"),
        ("Yes, it is prime. Hmm, wait. Let me check divisibility by 13:", None),
        ("Yes\n\nQuestion: Is coal white?\nAnswer: No", "yes"),
        ("La risposta quindi è no.", "no"),
        ("Yeah, no. They lost.", "no"),
        ("No problem! It freezes well.", "yes"),
        ("Indeed, she won it in 1903 and in 1911.", "yes"),
        ("Assolutamente no, può danneggiare la retina.", "no"),
        ("If I had to choose, I'd say yes.", "yes"),
        ("Yes.\n\nFinal answer: No.\n\nFinal answer: Yes and No.", None),
        ("No question about it, he was.", "yes"),
    ],
)
def test_verdicts_that_are_taken_back_or_followed_by_another_question(reply: str, read: str | None) -> None:
    assert verdict(reply) == read


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("A) Paris is the capital of France, so", "unfinished"),
        ('{"A": 0.1, "B": 0.7}', "ambiguous"),
        ('{"A": true, "B": true}', "ambiguous"),
        ("A lot of people think it's Paris, but that's wrong.", "not_found"),
    ],
)
def test_replies_that_name_no_option_say_why(reply: str, reason: str) -> None:
    assert extract_choice(reply, OPTIONS).rule == reason


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Let's see. A: no. B: no. C: yes. D: no.", "C"),
        ("A? No. B? Yes. C? No. D? No.", "B"),
        ("A ✗ B ✗ C ✗ D ✓", "D"),
        ("Checking each: (A) false; (B) true; (C) false; (D) false.", "B"),
        ("A: yes. B: yes. C: no. D: no.", None),
        ("I first thought A, but on reflection B.", "B"),
        ("My gut says A. On second thought, C.", "C"),
    ],
)
def test_letters_that_are_judged_one_by_one_or_corrected(reply: str, letter: str | None) -> None:
    assert chosen(reply) == letter


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("It would be wrong to answer no.", None),
        ("It would be a mistake to say yes.", None),
        ("I would never answer yes.", None),
        ("Some would say yes, but the evidence says no.", "no"),
        ("I'm inclined to say yes.", "yes"),
        ("It is safe to say no.", "no"),
    ],
)
def test_what_it_would_be_wrong_to_say_is_no_verdict(reply: str, read: str | None) -> None:
    assert verdict(reply) == read


def test_strict_letters_without_options_are_a_to_j() -> None:
    assert lettered("The answer is J") is None
    assert getattr(mcq_letter_strict(ScorerInput("The answer is J", "J", {})), "extracted", None) == "J"
    row = {"a": "Paris", "b": "London"}
    assert mcq_letter_strict(ScorerInput("London", "B", row)) == {"correct": True, "parsed": True}


@pytest.mark.parametrize(
    ("target", "right"), [("ja", "Ja."), ("Nein", "No."), ("oui", "Yes"), ("нет", "Нет")]
)
def test_targets_in_other_languages(target: str, right: str) -> None:
    assert boolean_yesno_strict(ScorerInput(right, target, {})) == {"correct": True, "parsed": True}


@pytest.mark.parametrize(
    "unit",
    ["yes ", "no, ", "it is true ", "answer is ", "wait ", "if ", "A: 1, ", "{A: 1,", "A is ", "Paris is ", "A: B\n", "answer (",
     "yes or no ", "some people say ", "是", "not a ", "true ", "so no ", "so it is ", "\nQ: ", "B) Paris ", "probably not ", "hold on ",
     "can't choose ", "yes. ", "No. Yes, Paris. ", "? yes. ", '"a b" ', "the claim ", "some people ", "A is the one that ", "→ yes ", "✅ yes\n", "Paris, in ", "Paris. "],
)  # fmt: skip
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    def asked(reply: str) -> str | None:
        return verdict(reply, {"question": "Is Paris the capital of Spain?"})

    for read in (verdict, asked, chosen, lettered):
        assert_linear(read, unit)
