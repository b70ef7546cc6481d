"""boolean_yesno_strict on classes of replies: each is built from parts, so that no single sentence decides whether it is read."""

from __future__ import annotations

from itertools import product

import pytest
from tests.scorers.growth import assert_linear

from benchwright.scorers import ScorerInput, boolean_yesno_strict

QUESTION = "Does the contract allow early termination?"
ANALYSES = (
    "- Clause 4 sets a fixed term.\n- Clause 9 permits notice.",
    "Clause 4 does not allow it. Clause 9 does.",
    "No clause says so at first sight.",
    "1. Is there a clause? Yes.\n2. Is it valid? No.",
    "The contract allows a pause. It does not allow a sale.",
)
HEADINGS = (
    "### Answer\n\n", "## Answer\n", "**Answer**\n\n", "**Answer:**\n\n", "Answer:\n", "# Final answer\n\n", "### Verdict\n\n", "### Conclusion\n\n", "**Antwort:**\n\n",
    "### Antwort\n\n", "## Réponse\n\n", "### Respuesta\n",
)  # fmt: skip
WORDS = (
    ("Yes", "yes"), ("**Yes**", "yes"), ("No", "no"), ("**No**", "no"), ("Yes, under clause 9.2", "yes"), ("**No**, clause 4 rules", "no"), ("Ja", "yes"), ("Nein", "no"),
)  # fmt: skip


def read(reply: str, question: str = QUESTION) -> str | None:
    sample = ScorerInput(reply, True, {"question": question} if question else {})
    return getattr(boolean_yesno_strict(sample), "extracted", None)


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_word_under_the_heading_of_the_answer_decides(heading: str) -> None:
    for analysis, (word, answer), question in product(ANALYSES, WORDS, (QUESTION, "")):
        reply = f"### Analysis\n\n{analysis}\n\n{heading}{word}."
        assert read(reply, question) == answer, reply
    assert read(f"{heading}No clause says so; see above.") is None
    assert read(f"{heading}Yes and no.") is None
    if ":" not in heading:  # with a colon it is a statement, of which the first word counts
        assert read(f"{heading}Yes, if it is signed. No, if it is not.") is None


@pytest.mark.parametrize("lead", ["Correction: ", "**Correction:** ", "Korrektur: "])
def test_a_correction_is_the_verdict(lead: str) -> None:
    leap = "Is the year 1900 a leap year in the Gregorian calendar?"
    for first, last in (("Yes", "No"), ("No", "Yes")):
        for doubt in (
            "... wait, century years need 400. ",
            ". Hmm, let me check the rule for centuries again. ",
            "... wait, 1900 / 400 = 4.75. ",
        ):
            for rest in (".", ", 1900 is special.", "; the rule for centuries decides."):
                reply = f"{first}, 1900 is divisible by 4{doubt}{lead}{last}{rest}"
                assert read(reply, leap) == last.lower(), reply


@pytest.mark.parametrize(
    "adverb", ["Botanically", "Legally", "Scientifically", "Strictly", "Historically", "Biologically"]
)
def test_adverbs_may_lead_in_a_verdict(adverb: str) -> None:
    fruit = "Is a tomato a fruit?"
    for lead in (
        (f"{adverb} speaking,", f"{adverb} speaking, yes,")
        if adverb == "Strictly"
        else (f"{adverb} speaking,", f"{adverb},")
    ):
        for word, answer in (
            ("absolutely!", "yes"),
            ("definitely!", "yes"),
            ("definitely not.", "no"),
            ("absolutely not.", "no"),
            ("yes.", "yes"),
            ("no.", "no"),
        ):
            if "yes," in lead and answer == "no":
                continue
            assert read(f"{lead} {word} It grows from a flower.", fruit) == answer, (lead, word)


@pytest.mark.parametrize(
    ("question", "other", "denied"),
    [
        ("Are whales fish?", "mammals", "fish"), ("Is a whale a fish?", "a mammal", "a fish"), ("Is the cabin warm?", "cold", "warm"),
        ("Is Toronto the capital of Canada?", "its largest city", "the capital of Canada"), ("Was Bach a painter?", "a composer", "a painter"),
    ],
)  # fmt: skip
def test_what_it_is_instead_denies_what_was_asked(question: str, other: str, denied: str) -> None:
    plural = question.startswith("Are")
    was = "was" if question.startswith("Was") else "are" if plural else "is"
    for subject in ("They",) if plural else ("It", "He", "That"):
        for verb, before in product(
            (f" {was}", "'re" if plural else "'s"),
            ("", "They breathe air. ", "Let me explain the matter in a sentence. "),
        ):
            assert read(f"{before}{subject}{verb} {other}, not {denied}.", question) == "no"
            assert read(f"{before}{subject}{verb} {denied}, not {other}.", question) != "no"
    for reply in (
        f"Some are {other}, not {denied}.",
        f"The shed is {other}, not {denied}.",
        f"Her car is {other}, not {denied}.",
    ):
        assert read(reply, question) is None, reply


@pytest.mark.parametrize(
    "lead", ["Hence ", "So ", "Thus ", "Therefore ", "Therefore, ", "Consequently, ", "As a result, "]
)
def test_a_conclusion_may_be_an_auxiliary(lead: str) -> None:
    cases = (
        ("Can sound travel through a vacuum?", "can", "can't"), ("Does it freeze well?", "does", "doesn't"), ("Is it prime?", "is", "isn't"),
        ("Will it rain?", "will", "won't"), ("Did they win?", "did", "didn't"), ("Has it ended?", "has", "hasn't"),
    )  # fmt: skip
    for question, yes, no in cases:
        who = "they" if "they" in question else "it"
        before = "There's a rule for that, which the table above gives. "
        assert read(f"{before}{lead}{who} {yes}.", question) == "yes"
        assert read(f"{before}{lead}{who} {no}.", question) == "no"
    assert read(f"There is none. {lead}they weren't.", "Can sound travel through a vacuum?") is None


@pytest.mark.parametrize(
    "unit", ["answer\n", "answer\nyes\n", "correction: ", "they're fish, not ", "legally, ", "hence it "]
)
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    assert_linear(read, unit)


IN_SHORT = (
    ("Do penguins fly?", "they do", "they don't"), ("Can you divide by zero?", "you can", "you can't"), ("Can bats see?", "they can", "they cannot"),
    ("Is glass a liquid?", "it is", "it isn't"), ("Is glass a liquid?", "it is", "it's not"), ("Did Napoleon win at Waterloo?", "he did", "he did not"),
    ("Will the train arrive on time?", "it will", "it will not"), ("Has the contract ended?", "it has", "it hasn't"),
)  # fmt: skip


@pytest.mark.parametrize(("question", "affirmed", "denied"), IN_SHORT)
@pytest.mark.parametrize("lead", ["so", "therefore", "thus", "hence", "which means that", "and so"])
def test_a_pronoun_with_the_verb_of_the_question_is_a_conclusion(
    question: str, affirmed: str, denied: str, lead: str
) -> None:
    reason = "The rules are the same everywhere"
    assert read(f"{reason}, {lead} {affirmed}.", question) == "yes"
    assert read(f"{reason}, {lead} {denied}.", question) == "no"
    assert read(f"{reason}; {lead} {denied} at all.", question) == "no"


@pytest.mark.parametrize(
    "aside", ["Some people say so", "It depends on whether it rains", "It is a matter of taste"]
)
@pytest.mark.parametrize(("question", "affirmed", "denied"), IN_SHORT)
def test_a_pronoun_with_another_verb_concludes_nothing(
    question: str, affirmed: str, denied: str, aside: str
) -> None:
    assert read(f"{aside}, so they might.", question) is None
    assert read(f"{aside}, so we may.", question) is None


@pytest.mark.parametrize("adverb", ["", "simply ", "mathematically "])
@pytest.mark.parametrize("word", ["impossible", "not possible", "infeasible"])
def test_what_is_called_impossible_cannot_be_done(word: str, adverb: str) -> None:
    assert read(f"The counts differ. The tiling is {adverb}{word}.", "Can the board be tiled?") == "no"
    assert (
        read(f"The tiling is {adverb}{word} if two corners are missing.", "Can the board be tiled?") is None
    )


@pytest.mark.parametrize(
    "reply",
    [
        "So it's the other way around: sound is faster in water.", "It is the other way round.", "The opposite is true.",
        "It's the reverse: water carries it faster.", "Sound is faster in water.",
    ],
)  # fmt: skip
def test_what_holds_of_the_other_of_two_denies_the_comparison(reply: str) -> None:
    assert read(reply, "Is sound faster in air than in water?") == "no"
    assert read("Sound is faster in air.", "Is sound faster in air than in water?") == "yes"


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Svaret är alltså ja.", "yes"), ("Het antwoord is dus nee.", "no"), ("Odpowiedź to tak.", "yes"), ("Odpověď je ano.", "yes"),
        ("Svaret er nej.", "no"), ("La risposta è quindi sì.", "yes"), ("A resposta é portanto não.", "no"), ("Die Antwort lautet also nein.", "no"),
    ],
)  # fmt: skip
def test_the_answer_is_stated_in_other_languages(reply: str, verdict: str) -> None:
    assert read(f"12 is more than 8 and less than 20. {reply}", "Is it larger?") == verdict


@pytest.mark.parametrize("thing", ["photo", "image", "document", "file", "video", "screenshot"])
@pytest.mark.parametrize(
    "lead", ["I can't see any", "I cannot open the", "I don't see an attached", "I'm unable to view the"]
)
def test_a_reply_that_has_not_got_what_was_asked_about_says_nothing(lead: str, thing: str) -> None:
    reply = f"I'm sorry, but {lead} {thing} in our conversation. Please attach it and I'll take a look."
    assert read(reply, f"Is the person in the {thing} smiling?") is None


@pytest.mark.parametrize("picture", ["⚠️ ", "❗", "👉 ", "💡 ", "📌 **", "🤔 "])
def test_pictures_before_a_verdict_say_nothing(picture: str) -> None:
    for word, answer in (("No", "no"), ("Yes", "yes")):
        bold = "**" if picture.endswith("**") else ""
        reply = f"{picture}{word}.{bold} The contract is clear about that."
        found = boolean_yesno_strict(ScorerInput(reply, True, {"question": QUESTION}))
        assert getattr(found, "extracted", None) == answer, reply


@pytest.mark.parametrize("noun", ["a harder one", "a longer one", "this one", "a newer one"])
def test_the_word_one_at_the_end_of_a_clause_tells_of_nobody(noun: str) -> None:
    for word in ("no", "yes"):
        reply = f"A short term can't replace {noun}, so the answer is {word}."
        found = boolean_yesno_strict(ScorerInput(reply, True, {"question": QUESTION}))
        assert getattr(found, "extracted", None) == word, reply


@pytest.mark.parametrize(
    ("question", "replies", "answer"),
    [
        ("Is a whale a fish?", ("Is a whale a fish? Yes or no?\n\nNO.", "Is a whale a fish? True or false? False.", "Is a whale a fish? Yes/no?\nNo"), "no"),
        ("Is a whale a fish?", ("Is a shark a fish? Yes or no?\n\nYes. What of your whale? I can't tell.",), None),
        ("Is a spider an insect?", ("### Verdict\n❌ No\n\n### Why\n* Insects have six legs", "## Answer\n❌ No.", "❌ **No**, it has eight legs.", "It has eight legs.\n\n✗ No"), "no"),
        ("Is the number 0 even?", ("An even number is 2k. Since 0 = 2 × 0, it fits. That is all.\n\n✅ **Yes, 0 is even.**\n\nMore?", "✔️ Yes.", "It is 2 × 0.\n✅ Correct"), "yes"),
        ("Is a spider an insect?", ("Six legs: it has eight.\n✅ No, it is none", "See above.\n❌ Yes"), None),
        ("Is Helsinki farther north than Stockholm?", ("60.17 > 59.33 → Yes", "60.17 > 59.33 ⇒ yes.", "Helsinki: 60.17\nStockholm: 59.33\n\n60.17 > 59.33 → **Yes**"), "yes"),
        ("Is it a bird?", ("fur → yes\nmilk → yes\nfeathers → no", "feathers → yes, beak → no", "In winter → yes; in summer it isn't."), None),
        ("Is there any doubt that the Earth goes around the Sun?", ("None whatsoever. It has been established.", "None.", "No doubt.", "No doubt whatsoever.", "There is no doubt about it.", "Not the slightest.", "Absolutely none."), "no"),
        ("Is there any doubt that he did it?", ("No doubt he did it.",), None),
        ("Is water denser than ice?", ("**Verdict:** ✅ Yes\n\nThat is why ice floats.", "It weighs more per litre. ✔️ Yes, it is."), "yes"),
        ("Is water denser than ice?", ("That is why ice floats.",), None),
        ("Is Pluto a planet?", ("Not since 2006.", "Not since 2006, when it was reclassified."), "no"),
        ("Are there any snakes in Ireland?", ("None.", "None at all!", "Not one.", "None that I know of."), "no"),
        ("Gibt es Schlangen in Irland?", ("Keine.", "Keine, überhaupt."), "no"),
        ("Is there a moon around Mars?", ("Not one, but two.", "None of your business?"), None),
        ("Is Paris the capital of France?", ("No doubt.", "No doubt about it.", "No question about it."), "yes"),
        ("Is Paris the capital of France?", ("None.", "None whatsoever."), None),
        ("Can you solve this problem?", ("No problem.",), "yes"),
        ("Do I need a visa to go from Spain to Portugal?", ("No visa needed. Both are in the EU.", "No visa is required.", "No visa necessary!", "No visa required for Portugal."), "no"),
        ("Is registration required?", ("No registration needed.", "No registration is required."), "no"),
        ("Can I enter without a visa?", ("No visa needed.", "No visa is required."), None),
        ("Is the museum free?", ("No ticket needed.",), None),
        ("Do I need a visa for Japan?", ("No visa needed if you stay less than 90 days.", "No passport photo needed.", "No visa needed on short stays, but on long ones it is.", "No visa needed except for work."), None),
    ],
)  # fmt: skip
def test_verdicts_beside_questions_marks_arrows_and_none(
    question: str, replies: tuple[str, ...], answer: str | None
) -> None:
    for reply in replies:
        assert read(reply, question) == answer, reply


@pytest.mark.parametrize(
    ("replies", "answer"),
    [
        (("On the one hand, yes: it has a filling. On the other hand, no: hardly anyone calls it that. I'll leave it to you.",
          "On one hand yes, on the other no.", "In one sense yes: bread. In another sense no: it is one piece.",
          "Einerseits ja, andererseits nein."), None),
        (("On the one hand, yes: bread. On the other hand, no: one piece. So no.", "In one sense yes, but my answer is no."), "no"),
        (("$$\\boxed{\\text{No}}$$\n\n(Over the complex numbers the answer would be yes: $x = i$.)",
          "**No**\n\n(Over the complex numbers, the answer would be yes.)", "Answer: No. Among fractions the answer would be yes.",
          "So the answer is no (for 8 the answer is yes)."), "no"),
        (("For this reason, the answer would be yes.", "All in all the answer would be yes."), "yes"),
    ],
)  # fmt: skip
def test_two_sides_are_no_verdict_and_another_case_does_not_replace_one(
    replies: tuple[str, ...], answer: str | None
) -> None:
    for reply in replies:
        assert read(reply, "Is it a sandwich?") == answer, reply
