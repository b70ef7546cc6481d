"""extract_choice on classes of replies: each is built from parts, so that no single sentence decides whether it is read."""

from __future__ import annotations

from itertools import product

import pytest
from tests.scorers.growth import assert_linear

from benchwright.scorers import extract_choice

GASES = {"A": "oxygen", "B": "nitrogen", "C": "argon", "D": "helium"}
LETTERS = "ABCD"

LEADS = (
    "The final answer is {x}.", "Final Answer: The final answer is {x}.", "Answer: {x}.", "Looks like {x} to me.", "Sounds like {x}.",
    "My vote goes to {x}.", "I'd go with {x}.", "It has to be {x}.", "Has to be {x}.", "That makes it {x}.", "I'm leaning {x} on this.",
    "Everything points at {x}.", "I would plump for {x}.", "{x} gets my vote.", "{x} is the safest choice.", "The answer, however, is {x}.",
    "It's {x}.", "I'd say ({x}).", "**{x}**", "Changing my answer to {x}.", "I'm switching to {x}.", "Let me revise my choice to {x}.",
    "The only noble gas on the list is {x}.", "The only one that fits must be {x}.",
)  # fmt: skip
PLEASANTRIES = (
    "", "I hope it is correct.", "I hope that helps!", "Hope this is right.", "Let me know if you have other questions.",
    "Let me know if you'd like the reasoning.", "Feel free to ask for more details.", "Please correct me if I'm wrong.",
    "Good luck with your exam!", "But please double-check.", "I could be mistaken, of course.", "Thanks for asking!",
)  # fmt: skip
OTHERS = (
    "Your classmate said", "My colleague claims", "A friend of mine insists", "The student thinks", "Somebody told me", "I was told",
    "Many people believe", "She wrote", "You said", "Maria says", "My teacher once suggested", "According to my sister",
)  # fmt: skip
VERDICTS = (
    "{r}, but she overlooked the sign, which makes it {x}.", "{r}. However, the answer is {x}.", "{r}. In fact it's {x}.",
    "{r}, but {x} is correct.", "{r}. I'd go with {x}.", "{r}. That is wrong. The correct answer is {x}.",
)  # fmt: skip
ABSTENTIONS = (
    "I won't commit to either.", "I can't choose.", "I cannot decide between them.", "Without more information I can't tell.",
    "I have no idea which of them is right.", "I'd rather not say.", "I'll leave this one open.", "The question is too vague to answer.",
    "There is not enough information to decide.", "Ich kann mich nicht entscheiden.", "No puedo decidir.", "Je ne peux pas trancher.",
)  # fmt: skip
EARLIER = (
    "The answer could be {x} or {y}.", "I was going to say {x}.", "Option {x} is tempting, and so is option {y}.", "Perhaps it's {x}.",
    "If it is cold, {x} would be the answer; if it is hot, it would be {y}.", "Either {x} or {y} would fit.",
)  # fmt: skip
CASES = (
    "If it is cold, the answer is {x}; if it is hot, it's {y}.", "If it floats, {x}. If it sinks, {y}.",
    "If it is cold, {x} would be right; if it is hot, it would be {y}.", "For gases the answer is {x}, for liquids it's {y}.",
    "In the north the answer is {x}; in the south it's {y}.", "When it is dry, choose {x}. When it is wet, choose {y}.",
    "Wenn es um Masse geht, ist es {x}; wenn es um Volumen geht, ist es {y}.",
)  # fmt: skip
PLACES = {
    "A": ("the first one", "the first option", "the first of these", "number 1 on the list"),
    "B": ("the second one", "the second choice", "the second of the four", "number two on the list"),
    "C": ("the third one", "the third alternative", "the 3rd option", "number 3 on the list"),
    "D": ("the last one", "the last option", "the fourth one", "the final option on the list"),
}
PLACED = (
    "It's {o}.", "I'd choose {o}.", "The correct answer is {o}.", "I would go with {o}, because it is lighter.", "{O}.",
    "My answer: {o}.", "{O} is correct.", "Not sure, but I think it's {o}.",
)  # fmt: skip
PLACED_ELSEWHERE = {
    "A": (
        "Die erste Option ist richtig.",
        "Je choisis la première réponse.",
        "La primera opción es correcta.",
    ),
    "B": (
        "Ich nehme die zweite Antwort.",
        "La deuxième réponse est la bonne.",
        "Creo que es la segunda opción.",
    ),
    "C": ("Es ist die dritte.", "Je choisis la troisième proposition.", "Elijo la tercera opción."),
    "D": (
        "Die letzte Option ist richtig.",
        "Je choisis la dernière réponse.",
        "La última opción es la correcta.",
    ),
}
COMMON = {
    ("left", "right", "up", "down"): (
        "There's no single right choice here.", "You're right to ask.", "There is nothing left to go on.", "Let me look that up first.",
        "It all comes down to where you stand.", "All right, let me think about this.", "I have no time left.", "Write it down and see what is left.",
    ),
    ("none", "some", "most", "all"): (
        "None of this tells me much.", "Most of the passage is missing.", "Some guesswork would be needed.", "I am not sure at all.",
        "All I know is that the table is cut off.",
    ),
    ("can", "must", "should", "may"): (
        "Can you tell me which sentence it is?", "You should read the sentence again.", "We can see that a verb is missing.",
        "There may be several readings.", "One must know the context first.",
    ),
    ("true", "false", "not given"): (
        "It is true that the passage mentions whales.", "That would be a false start.", "It may be true in some cases and false in others.",
    ),
}  # fmt: skip
"""Options that are common words, with sentences that use them and answer nothing."""
STATED = (
    "{w}",
    "{W}.",
    "The answer is {w}.",
    'The missing word is "{w}".',
    "So it is **{w}**.",
    "{W}, because it fits.",
    "I'd say {w}.",
)
WARNINGS = (
    "Don't be misled by choice {y}.", "Beware of {y}.", "Watch out for option {y}.", "Do not fall for option {y}.",
    "Be careful with ({y}).",
)  # fmt: skip


def letter(reply: str, options: dict[str, str] = GASES) -> str | None:
    return extract_choice(reply, options).letter


def unlike(cases: list[tuple[str, str | None]], options: dict[str, str] = GASES) -> list[object]:
    read = [(reply, expected, letter(reply, options)) for reply, expected in cases]
    return [one for one in read if one[1] != one[2]]


def pairs() -> list[tuple[str, str]]:
    return [(x, y) for x, y in product(LETTERS, LETTERS) if x != y]


def test_verdicts_are_read_whatever_pleasantry_follows() -> None:
    cases = [
        (f"{lead.format(x=x)} {rest}".strip(), x) for lead, x, rest in product(LEADS, LETTERS, PLEASANTRIES)
    ]
    assert not unlike([*cases])


def test_what_others_say_is_never_the_verdict() -> None:
    said = [(f"{who} the answer is {y}", x, y) for who, (x, y) in product(OTHERS, pairs())]
    assert not unlike([(verdict.format(r=r, x=x), x) for (r, x, _), verdict in product(said, VERDICTS)])
    assert not unlike([(f"{r}.", None) for r, _, _ in said])


@pytest.mark.parametrize("agreed", [", and she is right.", ", and I agree.", ". That is correct."])
def test_what_others_say_counts_if_the_reply_agrees(agreed: str) -> None:
    assert not unlike(
        [(f"Your classmate said the answer is {x}{agreed}", x) for x in LETTERS]
        + [(f"As your teacher told you, the answer is {x}.", x) for x in LETTERS]
    )


def test_replies_that_abstain_at_the_end_give_no_answer() -> None:
    open_ = [
        (f"{earlier.format(x=x, y=y)} {end}", x)
        for earlier, (x, y), end in product(EARLIER, pairs(), ABSTENTIONS)
    ]
    assert not unlike([(reply, None) for reply, _ in open_])
    assert not unlike([(f"{reply} But if I had to choose, I'd go with {x}.", x) for reply, x in open_])


def test_opposite_cases_give_no_answer_unless_one_is_the_actual() -> None:
    cases = [(case.format(x=x, y=y), x) for case, (x, y) in product(CASES, pairs())]
    assert not unlike([(case, None) for case, _ in cases])
    assert not unlike([(f"{case} Here the first one applies, so the answer is {x}.", x) for case, x in cases])


def test_doubts_after_a_statement_take_nothing_back() -> None:
    doubts = (
        "I can't think of a reason to choose another one.", "You can't choose {y}, since it is heavier.", "You don't need more information.",
        "It's hard to decide between {x} and {y}, but {x} is lighter.", "Note that it depends on the definition.",
    )  # fmt: skip
    assert not unlike(
        [(f"The answer is {x}. {doubt.format(x=x, y=y)}", x) for doubt, (x, y) in product(doubts, pairs())]
    )


def test_places_in_the_list_name_options() -> None:
    cases = [
        (shape.format(o=place, O=place[0].upper() + place[1:]), x)
        for x, places in PLACES.items()
        for place, shape in product(places, PLACED)
    ]
    assert not unlike([*cases])
    assert not unlike([(reply, x) for x, replies in PLACED_ELSEWHERE.items() for reply in replies])


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The first option is wrong because it ignores gravity. The third one is right.", "C"),
        ("Not the first one, but the second one.", "B"),
        ("The first thing to note is its mass.", None),
        ("The last option is wrong.", None),
        ("It's not the second one.", None),
        ("Is it the second one?", None),
        ("My friend picked the second one.", None),
        ("It's the first one. Oxygen is lighter than argon, which is C. The answer is D.", "D"),
        ("It's the first one, and helium is a noble gas.", None),
        ("It's the seventh one.", None),
    ],
)
def test_places_that_are_denied_asked_or_contradicted_name_none(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


def test_the_last_of_an_unknown_list_is_unknown() -> None:
    assert letter("It's the last option.", dict.fromkeys("ABCDEFGHIJ", "")) is None


@pytest.mark.parametrize("words", COMMON, ids=lambda words: words[0])
def test_common_words_are_options_only_where_they_are_stated(words: tuple[str, ...]) -> None:
    options = dict(zip(LETTERS, words, strict=False))
    assert not unlike([(reply, None) for reply in COMMON[words]], options)
    assert not unlike([(f"{reply} I can't give an answer.", None) for reply in COMMON[words]], options)
    stated = [
        (shape.format(w=word, W=word.capitalize()), x)
        for (x, word), shape in product(options.items(), STATED)
    ]
    assert not unlike([*stated], options)


def test_warnings_of_another_option_leave_the_one_in_brackets() -> None:
    cases = [
        (f"The lightest is {GASES[x]} ({named}{x}). {warning.format(y=y)}", x)
        for (x, y), named, warning in product(pairs(), ("", "choice ", "option "), WARNINGS)
    ]
    assert not unlike([*cases])


def test_an_option_may_say_that_nothing_can_be_decided() -> None:
    options = {"A": "greater", "B": "smaller", "C": "cannot be determined"}
    assert not unlike(
        [(reply, "C") for reply in ("It cannot be determined.", "The answer is C: it cannot be determined.")],
        options,
    )


@pytest.mark.parametrize(
    "unit",
    ["my friend said ", "people say the answer is A, ", "the third one ", "I can't choose, but ", "if it is A, ", "in A, in ", "number 2 ",
     "the answer is A; in ", "looks like ", "right ", "You said A. ", "so the second. "],
)  # fmt: skip
def test_hostile_texts_of_these_classes_are_read_in_linear_time(unit: str) -> None:
    assert_linear(lambda reply: letter(reply, {"A": "right", "B": "left", "C": "my friend"}), unit)


OF_SEVERAL = (
    "wrong", "incorrect", "both wrong", "both tempting", "both too small", "plainly out", "valid", "both correct", "close", "irrelevant", "equally likely",
    "not gases we want", "both ruled out",
)  # fmt: skip


@pytest.mark.parametrize("what", OF_SEVERAL)
def test_two_options_of_which_the_same_is_said_are_no_choice(what: str) -> None:
    shapes = (
        "Options {x} and {y} are {w}.", "Options {x} and {y} are {w}: look at the table.", "Both options {x} and {y} are {w}.", "Choices ({x}) and ({y}) are {w}.",
        "{x} and {y} are {w}.", "Both {x} and {y} are {w}.", "Option {x} and option {y} are {w}.", "Answers {x} & {y} are {w}.", "The options {x} and {y} are {w}.",
    )  # fmt: skip
    cases = [(shape.format(x=x, y=y, w=what), None) for shape, (x, y) in product(shapes, pairs())]
    assert unlike(cases) == []


@pytest.mark.parametrize("letter_", LETTERS)
def test_the_only_one_of_which_something_holds_is_the_choice(letter_: str) -> None:
    does = (
        "names a noble gas", "is a noble gas", "describes it", "satisfies both conditions", "meets the requirement", "refers to it", "is the lightest",
        "belongs to that group", "qualifies", "does",
    )  # fmt: skip
    leads = ("Of the four, only", "Only", "So only", "Here, only", "Looking at them, only")
    cases = [
        (f"{lead} {letter_} {verb}; the others are something else.", letter_)
        for lead, verb in product(leads, does)
    ]
    cases += [(f"{lead} {letter_} {verb}.", letter_) for lead, verb in product(leads, does)]
    assert unlike(cases) == []
    denied = (
        "is wrong",
        "is a distractor",
        "is not a gas",
        "is the wrong one",
        "is a mistake",
        "contains an error",
        "names it, but that is not asked",
    )
    assert unlike([(f"{lead} {letter_} {verb}.", None) for lead, verb in product(leads, denied)]) == []


@pytest.mark.parametrize(
    "link", ["", "somit ", "also ", "daher ", "demnach ", "folglich ", "hier ", "damit "]
)
def test_what_is_right_in_german_with_its_text(link: str) -> None:
    for x, y in pairs():
        others = ", ".join(one for one in LETTERS if one not in (x, y))
        for shape in ("{x}", "{x}) {t}", "**{x}) {t}**", "({x}) {t}", "Antwort {x}"):
            named = shape.format(x=x, t=GASES[x])
            for before in (
                "",
                f"{others} und {y} scheiden aus. ",
                f"{others} und {y} scheiden aus, da sie schwerer sind. ",
            ):
                assert letter(f"{before}Richtig ist {link}{named}.") == x, (before, link, named)
    assert letter("A, B und D scheiden aus.") is None
    assert letter("Richtig ist A) und B).") is None


def test_the_best_step_is_a_statement_that_may_be_taken_back() -> None:
    nouns = (
        "next step",
        "initial treatment",
        "diagnosis",
        "explanation",
        "course of action",
        "test",
        "answer",
        "next test",
    )
    for (x, y), noun, best in product(pairs(), nouns, ("best", "most appropriate")):
        one, other = f"The {best} {noun} is {x}", f"The {best} {noun} is {y}"
        assert letter(f"{one}.") == x
        assert letter(f"{one}... no, sorry, that would be wrong here. {other}, as said.") == y
        assert letter(f"{one}. Wait, no. {other}.") == y


LEFT_OPEN = (
    "The answer could be {x} or {y}.", "I was going to say {x}.", "Options {x} ({tx}) and {y} ({ty}) both fit.", "Both {x} and {y} satisfy the definition.",
    "On the one hand, the colour points to {x} ({tx}); on the other, the smell clearly suggests {y} ({ty}).", "{x} and {y} are both true.",
    "{x} ({tx}) is lighter.\n{y} ({ty}) is inert.", "The text speaks for {x}, the table for {y}.", "Option {x} is correct and so is option {y}.",
)  # fmt: skip
UNDECIDED = (
    "So two of the options fit, and there's no unique answer.", "The question seems to be faulty; there is no single correct option.",
    "I couldn't choose between them.", "I find both readings equally well supported.", "Both are equally plausible.", "Neither can be excluded.",
    "More than one option is correct.", "There are two correct answers.", "The question is ambiguous.", "It is a tie.", "It could be either.",
    "I am torn between the two.", "I'm undecided.", "Which one is meant remains unclear.", "Es gibt zwei richtige Antworten.",
    "Beide sind gleich plausibel.", "Die Frage ist nicht eindeutig.", "Il y a deux bonnes réponses.", "Les deux sont possibles.",
    "La question est ambiguë.", "Hay dos respuestas correctas.", "Ambas son posibles.", "La pregunta es ambigua.", "Ci sono due risposte corrette.",
    "Há duas respostas corretas.", "Er zijn twee juiste antwoorden.",
)  # fmt: skip


def test_replies_that_leave_several_options_give_no_answer() -> None:
    cases = [
        (f"{open_} {end}".format(x=x, y=y, tx=GASES[x], ty=GASES[y]), None)
        for (x, y), open_, end in product(pairs(), LEFT_OPEN, UNDECIDED)
    ]
    assert not unlike(cases)


def test_a_decision_after_doubts_is_read() -> None:
    cases = [(f"{doubt} The answer is {x}.", x) for doubt, x in product(UNDECIDED, LETTERS)]
    assert not unlike(cases)


CORRECTIONS = (
    "I first thought of answer {x}, but it is not {x}, it is {t}.", "J'ai d'abord pensé à la réponse {x}, mais ce n'est pas {x}, c'est {t}.",
    "Zuerst dachte ich an Antwort {x}, aber es ist nicht {x}, sondern {t}.", "Primero pensé en la opción {x}, pero no es {x}, es {t}.",
)  # fmt: skip


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_an_option_that_is_named_after_another_was_taken_back_is_the_choice(correction: str) -> None:
    cases = [(correction.format(x=x, t=GASES[y]), y) for x, y in pairs()]
    assert not unlike(cases)


ANSWERS_ELSEWHERE = (
    "La risposta corretta è {x}.", "La risposta giusta è la {x}.", "Risposta: {x}", "A resposta correta é {x}.", "A resposta é a {x}.",
    "A alternativa correta é a {x}.", "Het juiste antwoord is {x}.", "Het juiste antwoord is dus {x}, {t}.", "Prawidłowa odpowiedź to {x}.",
    "Rätt svar är {x}.", "Svaret är alltså {x}.", "Det rigtige svar er {x}.", "Riktig svar er {x}.", "Správná odpověď je {x}.", "Oikea vastaus on {x}.",
    "Răspunsul corect este {x}.", "Правильный ответ — {x}.", "La bonne réponse est donc {x}.", "Die richtige Antwort lautet also {x}.",
    "La respuesta correcta es la {x}.", "Η σωστή απάντηση είναι η {x}.",
)  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS_ELSEWHERE)
def test_the_answer_is_stated_in_other_languages(answer: str) -> None:
    cases = [
        (f"{y} ({GASES[y]}) is rare.\n{answer.format(x=x, t=GASES[x])}\n{y} ({GASES[y]}) is not.", x)
        for x, y in pairs()
    ]
    assert not unlike(cases)


@pytest.mark.parametrize("span", ["A–D", "A-D", "A to D", "A through D"])
def test_a_range_of_options_chooses_none(span: str) -> None:
    assert (
        letter(f"Could you upload the figure? Then I can tell you which of the options {span} fits.") is None
    )


def test_an_option_that_is_only_mentioned_beside_the_text_of_another_chooses_none() -> None:
    cases = [(f"Option {x} has one as well. What you look for is {GASES[y]}.", None) for x, y in pairs()]
    assert all(letter(reply) != reply[7] for reply, _ in cases)


JUDGED = (("True", "False"), ("Correct", "Incorrect"), ("correct", "wrong"), ("✅", "❌"), ("✔", "✗"))
HEADS = ("{l}. ", "{l}) ", "- **{l}** – ", "**{l}.** ", "| {l} | ", "- {t}: ", "Option {l}: ", "({l}) {t} – ")
CITIES = {"A": "Paris", "B": "London", "C": "Rome", "D": "Berlin"}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("words", JUDGED)
def test_the_option_that_a_list_judges_otherwise_than_all_others(head: str, words: tuple[str, str]) -> None:
    def listed(judged: dict[str, str], why: str) -> str:
        return "\n".join(
            f"{head.format(l=letter, t=text)}{judged[letter]}{why}" for letter, text in CITIES.items()
        )

    for odd, (usual, other), why in product(CITIES, (words, words[::-1]), ("", " – it is on a river.", ". Many say so.")):  # fmt: skip
        reply = listed({letter: other if letter == odd else usual for letter in CITIES}, why)
        chosen = odd if other in ("True", "False", words[0]) else None  # else there may be several answers
        assert extract_choice(reply, CITIES).letter == chosen, reply
        assert extract_choice(f"Let's see.\n\n{reply}\n", CITIES).letter == chosen, reply
        last = next(letter for letter in CITIES if letter != odd)
        assert extract_choice(f"{reply}\n\nThe answer is {last}.", CITIES).letter == last, reply
        unsure = f"{reply}\n\nI can't decide between them."
        assert extract_choice(unsure, CITIES).letter in (odd, None), reply
    right, wrong = words
    for judged in ({"A": right, "B": wrong, "C": wrong, "D": right}, dict.fromkeys(CITIES, wrong)):
        assert extract_choice(listed(judged, ""), CITIES).letter is None, judged


@pytest.mark.parametrize("lead", ["Let's examine each option:", "Let me look at every choice:", "Let's check the options one by one:", ""])  # fmt: skip
def test_a_list_of_options_that_breaks_off_chooses_none(lead: str) -> None:
    lines = [
        f"{letter}. {text} is on a river, and it was a capital for a long time."
        for letter, text in CITIES.items()
    ]
    for whole, cut in product(range(2, len(lines)), (", but", " because it", " and the")):
        reply = "\n\n".join([lead, *lines[:whole]]).rstrip(".") + cut
        assert extract_choice(reply, CITIES).letter is None, reply


@pytest.mark.parametrize(
    ("replies", "letter"),
    [
        (
            ("C is the one that is not reactive.", "Thus C is the one that is not a metal.", "Statement C is the true one: it is inert.", "So (C) is the odd one out.",
             "A, B and D react. C is the noble one here.", "Option C is the only one that glows.", "Argon is a gas. C is the correct statement.", "Therefore option C must be the one with eight electrons."),
            "C",
        ),
        (
            ("C is the one that floats, and B is the one that sinks.", "A is the one that burns. B is the one that stinks. C is the one that glows.", "C is the tempting one.", "C is the one that most people pick.",
             "C is the one to avoid.", "C is the one that looks right.", "C is the wrong one.", "C is the one that floats. The question asks for another.", "Is C the one that glows?"),
            None,
        ),
        (("Oxygen burns and nitrogen does not. Helium is the noble one here.", "Nitrogen is in the air, and oxygen too. Helium is the lightest one of these."), "D"),
        (
            ("Oxygen is the reactive one. Helium is the noble one.", "Helium is the noble one. Oxygen burns.", "Oxygen burns. Helium is the tempting one.", "Oxygen burns. Helium is the one most people pick."),
            None,
        ),
        (("Argon, in 1894. Helium followed a year later.", "Argon. Helium is far lighter.", "Argon (Ar). Oxygen burns, helium floats.", "Argon, by Ramsay in 1894. Nitrogen was known long before."), "C"),
        (
            ("Argon. Helium. Nitrogen.", "Argon. Or helium.", "Argon, or helium.", "Argon, in air. Helium, in stars.", "Argon. Actually helium is lighter."),
            None,
        ),
        (("Only C is true of noble gases.", "Zinc and salt give none, i.e. C.", "its C, the noble gas. oxygen burns", "thats C.", "i think its C", "its C because argon is inert"), "C"),
        (("its C string broke. helium or oxygen", "its c and d sides", "The gases of the air, i.e. A and C."), None),
        (
            ("You'd be forgiven for picking D, since helium comes close. The true optimum, though, is nitrogen (option B).", "One could be excused for choosing A. The correct gas, however, is B.",
             "It is easy to pick A here. The real answer is B.", "The reflex is to choose D. The right gas, in fact, is nitrogen."),
            "B",
        ),
        (("You'd be forgiven for picking D.", "One could be excused for choosing A.", "It is natural to choose D here."), None),
    ],
)  # fmt: skip
def test_options_that_are_singled_out_open_the_reply_or_are_others_choice(
    replies: tuple[str, ...], letter: str | None
) -> None:
    for reply in replies:
        assert extract_choice(reply, GASES).letter == letter, reply
