"""Replies whose answer depends on a case give none; conditions that only explain leave the answer. One class for all three readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from tests.scorers.growth import assert_linear

from benchwright.scorers import ScorerInput, boolean_yesno_strict, extract_choice, qa_answers
from benchwright.scorers._conditions import depends
from benchwright.scorers._replies import Span

DEPENDS = {
    "en": (
        "{x} if {c}, {y} otherwise.", "{x} if {c}, otherwise {y}.", "{x} if {c}; otherwise {y}.", "{x} if {c}. Otherwise, {y}.",
        "{x}, if {c}. Otherwise it's {y}.", "{x}, unless {c}; then {y}.", "{x}, unless {c}, in which case {y}.",
        "{x} unless {c}. In that case it's {y}.", "{x} if {c} and {y} if {d}.", "{x} if {c}, but {y} if {d}.", "{x}, if {c}. {y}, if {d}.",
        "{x} when {c}, {y} when {d}.", "If {c}, {x}; otherwise {y}.", "If {c}, {x}. If not, {y}.", "If {c}, then {x}, else {y}.",
        "{x}, provided that {c}; if not, {y}.", "{x} except when {c}, then {y}.", "{x} as long as {c}, or else {y}.",
        "{x} (if {c}) or {y} (if {d}).", "{x} assuming {c}; {y} assuming {d}.", "{x} in case {c}, and {y} in all other cases.",
        "{x} only if {c}; if {d}, {y}.", "If {c}, {x}. When {d}, {y}.", "{x} whenever {c}, {y} if {d}.",
    ),
    "de": (
        "{x}, wenn {c}, sonst {y}.", "{x}, falls {c}; andernfalls {y}.", "{x}, es sei denn, {c}; dann {y}.",
        "{x}, wenn {c}, und {y}, wenn {d}.", "Wenn {c}, {x}; sonst {y}.", "Falls {c}, {x}. Falls nicht, {y}.", "{x}, sofern {c}. Ansonsten {y}.",
        "{x}, außer wenn {c}, dann {y}.", "{x}, wenn {c}, aber {y}, wenn {d}.", "Wenn {c}, dann {x}, ansonsten {y}.", "{x}, solange {c}, andernfalls {y}.",
    ),
    "fr": (
        "{x} si {c}, sinon {y}.", "{x} si {c} ; sinon, {y}.", "{x}, sauf si {c} ; alors {y}.", "{x} si {c}, et {y} si {d}.", "Si {c}, {x} ; sinon, {y}.",
        "Si {c}, {x}. Dans le cas contraire, {y}.", "{x} à condition que {c}, autrement {y}.", "{x} lorsque {c}, {y} lorsque {d}.", "{x} quand {c}, mais {y} quand {d}.",
        "{x}, à moins que {c}, auquel cas {y}.",
    ),
    "es": (
        "{x} si {c}, si no {y}.", "{x} si {c}; de lo contrario, {y}.", "{x}, a menos que {c}; entonces {y}.", "{x} si {c} y {y} si {d}.", "Si {c}, {x}; si no, {y}.",
        "Si {c}, {x}. En caso contrario, {y}.", "{x} cuando {c}, {y} cuando {d}.", "{x}, salvo que {c}, en cuyo caso {y}.", "{x} siempre que {c}; si no, {y}.",
    ),
    "it": (
        "{x} se {c}, altrimenti {y}.", "{x} se {c}; in caso contrario {y}.", "{x}, a meno che {c}; allora {y}.", "{x} se {c} e {y} se {d}.", "Se {c}, {x}; altrimenti {y}.",
        "Se {c}, {x}. Se no, {y}.", "{x} quando {c}, {y} quando {d}.", "{x}, tranne se {c}, nel qual caso {y}.", "{x} purché {c}; altrimenti, {y}.",
    ),
    "pt": (
        "{x} se {c}, senão {y}.", "{x} se {c}; caso contrário, {y}.", "{x}, a menos que {c}; então {y}.", "{x} se {c} e {y} se {d}.", "Se {c}, {x}; caso contrário {y}.",
        "Se {c}, {x}. Se não, {y}.", "{x} quando {c}, {y} quando {d}.", "{x}, exceto se {c}, caso em que {y}.", "{x} desde que {c}; do contrário, {y}.",
    ),
    "nl": (
        "{x} als {c}, anders {y}.", "{x}, mits {c}; anders {y}.", "{x}, tenzij {c}; dan {y}.", "{x} als {c} en {y} als {d}.", "Als {c}, {x}; anders {y}.", "Als {c}, {x}. Zo niet, {y}.",
        "{x} wanneer {c}, {y} wanneer {d}.", "{x} indien {c}, in het andere geval {y}.",
    ),
}  # fmt: skip
CLAUSES = {
    "en": (("it is cold", "it is hot"), ("the contract is signed", "it is not"), ("you count the ends", "you don't")),
    "de": (("es kalt ist", "es heiß ist"), ("der Vertrag unterschrieben ist", "er es nicht ist")),
    "fr": (("il fait froid", "il fait chaud"), ("le contrat est signé", "il ne l'est pas")),
    "es": (("hace frío", "hace calor"), ("el contrato está firmado", "no lo está")),
    "it": (("fa freddo", "fa caldo"), ("il contratto è firmato", "non lo è")),
    "pt": (("faz frio", "faz calor"), ("o contrato está assinado", "não está")),
    "nl": (("het koud is", "het warm is"), ("het contract getekend is", "dat niet zo is")),
}  # fmt: skip
LEADS = {
    "en": ("", "The answer is ", "Answer: ", "**Answer:** ", "It depends: ", "### Conclusion\n\n", "The clause was changed in 1998. The answer is "),
    "de": ("", "Die Antwort ist ", "Antwort: ", "Es kommt darauf an: "),
    "fr": ("", "La réponse est ", "Réponse : "),
    "es": ("", "La respuesta es ", "Respuesta: "),
    "it": ("", "La risposta è ", "Risposta: "),
    "pt": ("", "A resposta é ", "Resposta: "),
    "nl": ("", "Het antwoord is ", "Antwoord: "),
}  # fmt: skip
VERDICTS = {
    "en": ("yes", "no"), "de": ("ja", "nein"), "fr": ("oui", "non"), "es": ("sí", "no"), "it": ("sì", "no"), "pt": ("sim", "não"), "nl": ("ja", "nee"),
}  # fmt: skip
QUESTION = "Does the contract allow early termination?"


def letter(reply: str) -> str | None:
    return extract_choice(reply, {"A": "oxygen", "B": "nitrogen", "C": "argon", "D": "helium"}).letter


def verdict(reply: str, question: str = "") -> str | None:
    row = {"question": question} if question else {}
    return getattr(boolean_yesno_strict(ScorerInput(reply, True, row)), "extracted", None)


def asked(reply: str) -> str | None:
    return verdict(reply, QUESTION)


def number(reply: str, question: str = "How many parts does it have?") -> object:
    return qa_answers(["numeric"])(ScorerInput(reply, "0", {"question": question}))["matched"]


Reader = Callable[[str], object]
READERS: tuple[tuple[Reader, str], ...] = (
    (letter, "letters"),
    (verdict, "words"),
    (asked, "words"),
    (number, "numbers"),
)


def values(kind: str, language: str) -> tuple[tuple[str, str], ...]:
    if kind == "letters":
        return ("A", "B"), ("D", "C"), ("option B", "option D")
    if kind == "numbers":
        return ("12", "15"), ("$1,200", "$900"), ("7 parts", "8")
    yes, no = VERDICTS[language]
    return (yes, no), (no, yes)


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def dependent(kind: str, language: str) -> Iterator[str]:
    for shape, (x, y), (c, d), lead in product(
        DEPENDS[language], values(kind, language), CLAUSES[language], LEADS[language]
    ):
        said = shape.format(x=x, y=y, c=c, d=d)
        if lead.endswith((" ", "\n")) and shape[0] != "{" and "is " in lead:
            continue
        yield lead + said if lead.endswith(("is ", "ist ", "est ", "es ", "è ", "é ")) else lead + upper(said)


@pytest.mark.parametrize("language", DEPENDS)
@pytest.mark.parametrize(("read", "kind"), READERS, ids=lambda one: getattr(one, "__name__", one))
def test_an_answer_that_depends_on_a_case_is_none(read: Reader, kind: str, language: str) -> None:
    found = [(reply, answer) for reply in dependent(kind, language) if (answer := read(reply)) is not None]
    assert not found, (len(found), found[:5])


SETTLED = (
    " It is cold here, so the answer is {x}.", " Since it is cold, the answer is {x}.", "\n\nHere it is cold. Final answer: {x}",
)  # fmt: skip


@pytest.mark.parametrize(("read", "kind"), READERS, ids=lambda one: getattr(one, "__name__", one))
def test_the_case_that_applies_settles_it(read: Reader, kind: str) -> None:
    for shape, (x, y), end in product(DEPENDS["en"], values(kind, "en"), SETTLED):
        reply = upper(shape.format(x=x, y=y, c="it is cold", d="it is hot")) + end.format(x=x)
        expected = {"letters": x[-1], "words": x, "numbers": x.split()[0].strip("$").replace(",", "")}[kind]
        assert read(reply) == expected, reply


EXPLAINED = (
    "The answer is {x}, since if it were {y}, the sum would be odd.", "The answer is {x}. Otherwise the sum would be odd.",
    "The answer is {x}, unless I am missing something.", "The answer is {x}, unless I misread the question.", "The answer is {x}, if I am not mistaken.",
    "The answer is {x}, if you think about it.", "{x}, if you think about it.", "If you think about it, the answer is {x}.",
    "If it were {y}, the sum would be odd; otherwise it would be even. It is even. So the answer is {x}.", "The answer is {x}. If you need more detail, just ask.",
    "The answer is {x}; if anything is unclear, let me know.", "When you add them all up, the answer is {x}.",
    "The answer is {x}, because otherwise the parts would not fit.", "The answer is {x}, as otherwise it would be {y}.",
    "If p holds then q holds, so the answer is {x}.", "If we look at clause 9, we see that it ends. Therefore the answer is {x}.",
    "If it rains, the floor is wet; if it is dry, it is not. Here it rains. The answer is {x}.", "The answer is {x}. If it were cold, it would be {y}.",
    "The answer is {x}, not {y}, if we follow the text.",
)  # fmt: skip


@pytest.mark.parametrize("shape", EXPLAINED)
def test_conditions_that_explain_leave_the_answer(shape: str) -> None:
    for read, kind in READERS:
        for x, y in values(kind, "en"):
            reply = upper(shape.format(x=x, y=y))
            expected = {"letters": x[-1], "words": x, "numbers": x.split()[0].strip("$").replace(",", "")}[
                kind
            ]
            assert read(reply) == expected, (read.__name__, reply)


@pytest.mark.parametrize(
    "heading", ["### Conclusion\n\n", "### Answer\n\n", "**Answer:**\n\n", "## Fazit\n", "### Verdict\n\n"]
)
def test_words_that_qualify_a_noun_under_a_heading_are_no_verdict(heading: str) -> None:
    for noun in (
        "Yes men are bad.",
        "No man is an island.",
        "No clause says so.",
        "Yes votes were counted.",
        "Right turns are banned.",
        "True north lies there.",
    ):
        assert verdict(heading + noun) is None, noun
    for said, expected in (
        ("Yes it is.", "yes"),
        ("No it does not.", "no"),
        ("Yes because it ends.", "yes"),
        ("Yes", "yes"),
        ("No - it ends.", "no"),
    ):
        assert verdict(heading + said) == asked(heading + said) == expected, said


MISSED_UNITS = (
    "It takes 90 minutes to cook 2 kg. This is {r} {other}.", "That is {r} {other}.", "It takes {r} {other}.", "So it takes {r} {other} in all.",
    "The answer is {r} {other}.", "**{r} {other}**", "{r} {other}", "90 × 2 = 180, so {r} {other}.", r"\boxed{{{r} \text{{ {other}}}}}",
)  # fmt: skip


@pytest.mark.parametrize(
    ("asks", "other", "converted"),
    [
        ("minutes", "hours", "180"), ("metres", "km", "3000"), ("grams", "kg", "3000"), ("cm", "m", "300"), ("seconds", "min", "180"), ("hours", "days", "72"),
        ("km/h", "m/s", "10.8"), ("feet", "inches", "0.25"), ("km", "miles", None), ("litres", "gallons", None), ("cents", "dollars", "300"),
    ],
)  # fmt: skip
def test_a_number_in_another_unit_is_converted_or_not_read(
    asks: str, other: str, converted: str | None
) -> None:
    for shape in MISSED_UNITS:
        reply = shape.format(r=3, other=other)
        assert number(reply, f"How many {asks} is it?") == converted, reply
        assert number(reply, f"How many {other} is it?") == "3", reply
    for shape in (
        "It takes {r} {asks}.", "{r} {asks}", "The answer is {r} {asks}.", "It is {r} {asks} ({s} {other}).", "{s} {other} = {r} {asks}", "The answer is {r}.",
    ):  # fmt: skip
        assert number(shape.format(r=150, s=2, asks=asks, other=other), f"How many {asks} is it?") == "150", (
            shape
        )


@pytest.mark.parametrize(
    "unit",
    [
        "if it is A, ",
        "A if ",
        "yes if no, ",
        "otherwise 5, ",
        "5 if 6 else ",
        "unless A; then B, ",
        "si A, sinon B. ",
    ],
)
def test_hostile_texts_with_conditions_are_read_in_linear_time(unit: str) -> None:
    for read in (letter, verdict, asked, number):
        assert_linear(read, unit)


@pytest.mark.parametrize(
    ("word", "ties"),
    [("disease", False), ("Hawaiian course", False), ("goals", False), ("if", True), ("km if", True)],
)
def test_a_word_that_ends_like_a_condition_is_none(word: str, ties: bool) -> None:
    text = f"5 {word} 6 {word} 7"
    values = [Span(at, at + 1, text[at]) for at in (0, len(word) + 3, len(text) - 1)]
    assert depends(text, values, "5", 0) == ties
