"""The quick paths for verdicts, letters and sentences with one number give exactly what the full readers give, and can be left out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, strategies as st

from benchwright.scorers import _verdict_quick, _verdict_words, _verdicts
from benchwright.scorers._asked import read_question
from benchwright.scorers._mcq import cascade, quick, sayers, statements
from benchwright.scorers._quantity import asides, passage, reader
from benchwright.scorers._quantity.quick import read_quickly
from benchwright.scorers._triggers import KnownPatterns, may_match, needed_words, words_of

REPLIES = Path(__file__).parent / "replies"
OPTIONS = ["Paris", "London", "Rome", "Berlin"]


def labelled(kind: str) -> list[tuple[str, object]]:
    """The labelled replies of a kind, each with its question or options."""
    rows = [
        json.loads(line)
        for path in sorted(REPLIES.glob(f"{kind}_*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return [(row[0], row[2] if len(row) > 2 else None) for row in rows]


def sentences(kind: str) -> list[str]:
    return sorted(
        {one for reply, _ in labelled(kind) for one in re.split(r"(?<=[.!?])\s", reply) if len(one) < 200}
    )


def test_verdicts_that_open_a_reply() -> None:
    read = 0
    for reply, question in labelled("yesno"):
        for lead, known in product(("", "Yes, ", "No, ", "Yes. ", "No. "), (question, None)):
            asked = read_question(known) if isinstance(known, str) else None
            quickly = _verdict_quick.read_quickly(lead + reply, asked)
            read += quickly is not None
            assert quickly is None or quickly == _verdicts.read_fully(lead + reply, asked), (
                lead + reply,
                known,
            )
    assert read > 1_000


@pytest.mark.parametrize(
    "question", ["", "Is it true that Rome is old?", "Isn't Rome old?", "Is this spam?", "Is there a bug?"]
)
def test_verdicts_that_are_stated(question: str) -> None:
    asked = read_question(question) if question else None
    for lead, name, verb, word, end in product(
        ("", "So ", "Thus, "),
        ("the answer", "My final answer", "Answer"),
        (" is", ":"),
        ("yes", "No"),
        ("", ".", "!"),
    ):
        text = f"{lead}{name}{verb} {word}{end}"
        assert (
            _verdict_quick.read_quickly(text, asked) == _verdicts.read_fully(text, asked) == (word == "yes")
        )


def test_replies_that_repeat_or_judge_the_question() -> None:
    subjects = ["gold", "the moon", "most snow", "2 plus 2", "my left hand", "every dog", "the first bridge"]
    predicates = [
        "the capital of Peru",
        "larger than Mars",
        "not a fish",
        "the only way",
        "cold",
        "a negative number",
        "red and hot",
        "wrong",
    ]
    questions = [
        f"{verb} {one} {what}?" for verb in ("Is", "Were") for one in subjects for what in predicates
    ]
    questions += [one for _, one in labelled("yesno") if isinstance(one, str)]
    read = 0
    for asked in filter(None, map(read_question, dict.fromkeys(questions))):
        verb, *words = asked.text.split(" ")
        texts = [" ".join([*words[:at], verb, *words[at:]]) + "." for at in range(1, len(words))]
        texts += [
            f"{one} {word}." for one in ("That is not", "It's") for word in ("correct", "true", "false")
        ]
        for text in texts:
            quickly = _verdict_quick.read_quickly(text, asked)
            read += quickly is not None
            assert quickly is None or quickly == _verdicts.read_fully(text, asked), (text, asked)
    assert read > 1_000


def test_letters_that_are_stated_or_open_a_reply() -> None:
    read = 0
    for reply, given_options in labelled("letters"):
        options = dict(
            zip("ABCDEFGHIJ", given_options if isinstance(given_options, list) else OPTIONS, strict=False)
        )
        parts = re.split(r"(?<=[.!?])\s", reply)
        for letter in "AC":
            own = options.get(letter, "")
            texts = [
                reply,
                f"{letter}. {reply}",
                f"The answer is {letter}.",
                f"Answer: {letter}) {own}",
                f"The correct answer is **{letter}) {own}**.",
            ]
            texts += [
                f"{lead}{part}"
                for part in parts
                for lead in (f"{letter}) {own}, ", f"{letter}) {own} ", f"{letter}. ")
            ]
            for text in texts:
                quickly = quick.choose_quickly(text, options)
                read += quickly is not None
                assert quickly is None or quickly == cascade.read_fully(text, options), (text, options)
    assert read > 3_000


def test_options_that_a_sentence_names() -> None:
    lists = [one for _, one in labelled("letters") if isinstance(one, list)]
    lists += [["not", "thus far", "right", "the best"], ["most likely", "letter", "Rome", "in Rome"], OPTIONS]
    read = 0
    for texts in lists:
        options = dict(zip("ABCDEFGHIJ", texts, strict=False))
        for text in texts:
            for reply in (f"It must be {text}.", f"That's {text}!", f"This was {text}", f"It is the {text}."):
                quickly = quick.choose_quickly(reply, options)
                read += quickly is not None
                assert quickly is None or quickly == cascade.read_fully(reply, options), (reply, options)
    assert read > 500


def discussions(kind: str, ends: list[str]) -> list[str]:
    """Sentences of labelled replies, one to four of them with one of the ends."""
    parts, draw = sentences(kind), Random(kind)
    return [
        " ".join(draw.choices(parts, k=1 + number % 4)) + (" " if number % 3 else "\n\n") + end
        for number in range(600)
        for end in draw.choices(ends, k=2)
    ]


def test_verdicts_that_the_last_sentence_states() -> None:
    ends = [
        "So the answer is no.",
        "**Answer:** Yes",
        "Therefore, the final answer is **no**.",
        "My answer: yes!",
    ]
    questions = [one for _, one in labelled("yesno") if isinstance(one, str)]
    read = 0
    for number, text in enumerate(discussions("yesno", ends)):
        for asked in (None, read_question(questions[number % len(questions)])):
            quickly = _verdict_quick.read_quickly(text, asked)
            read += quickly is not None
            assert quickly is None or quickly == _verdicts.read_fully(text, asked), (text, asked)
    assert read > 500


def test_letters_that_the_last_sentence_states() -> None:
    ends = [
        "Therefore, the correct answer is B.",
        "**Answer:** C",
        "The answer is **A) Paris**.",
        "Final answer: (D).",
    ]
    read = 0
    for text in discussions("letters", ends):
        for texts in (OPTIONS, ["2258", "2263", "2281", "not 7"], ["", "", "", ""]):
            options = dict(zip("ABCD", texts, strict=True))
            quickly = quick.choose_quickly(text, options)
            read += quickly is not None
            assert quickly is None or quickly == cascade.read_fully(text, options), (text, options)
    assert read > 500


def test_letters_that_the_last_sentence_calls_right() -> None:
    leads = [
        "so",
        "Therefore,",
        "",
        "since it fits,",
        "If it rains,",
        "My friend says",
        "I think",
        "It is not true that",
        "In London,",
        "the answer is",
    ]
    names = product(leads, ("option", "Choice"), "AC", ("correct", "the best answer"), (".", ""))
    ends = [f"{lead} {noun} {letter} is {right}{stop}".lstrip() for lead, noun, letter, right, stop in names]
    read = 0
    for text in discussions("letters", ends):
        options = dict(zip("ABCD", OPTIONS, strict=True))
        quickly = quick.choose_quickly(text, options)
        read += quickly is not None
        assert quickly is None or quickly == cascade.read_fully(text, options), text
    assert read > 50


def test_verdicts_that_the_last_sentence_concludes_or_repeats() -> None:
    questions = [one for _, one in labelled("yesno") if isinstance(one, str)]
    read = nothing = 0
    for number, text in enumerate(discussions("yesno", ["So yes, {}.", "Therefore, yes, they do.", "{}."])):
        question = questions[number % len(questions)]
        asked = read_question(question)
        verb, *words = (asked.text if asked else "is it so").split(" ")
        at = 1 + number % 3
        text = text.replace("{}", " ".join([*words[:at], verb, *words[at:]]))
        for known in (asked, None):
            quickly = _verdict_quick.read_quickly(text, known)
            read += quickly is not None
            assert quickly is None or quickly == _verdicts.read_fully(text, known), (text, question)
        if _verdict_quick.says_nothing(text):
            nothing += 1
            assert _verdicts.read_fully(text, None) is None, text
    assert read > 50
    assert nothing > 10


def test_numbers_that_the_last_sentence_concludes() -> None:
    leads = [
        "So",
        "Therefore,",
        "In total,",
        "The sum of both is",
        "There are 12 boxes of 3, so",
        "She has",
        "Of the 8 cats 3 are old, thus",
    ]
    nouns = [
        "pens.",
        "dollars altogether.",
        "of them are left!",
        "km in 3 hours.",
        "each, the same as before.",
    ]
    numbers = ("7", "$18.50", "**12**", "21 - 15 = 6", "3 * 4=**12**")
    ends = [f"{lead} {number} {noun}" for lead in leads for number in numbers for noun in nouns]
    ends += ["So the answer is 7.", "Final answer: 18.5"] * 20
    read = 0
    for text in discussions("numbers", ends):
        quickly = read_quickly(text)
        read += quickly is not None
        for mark in (None, ","):
            assert quickly is None or quickly == reader.read_fully(text, mark), text  # type: ignore[arg-type]
    assert read > 50


def test_sentences_with_one_number() -> None:
    texts = [
        re.sub(r"\$?\d[\d.,]*\d|\d", number, one)
        for one in sentences("numbers")
        for number in ("7", "$12.50")
    ]
    texts += [re.sub(r"(?<= )(?:yes|no|a|the)(?= )", "12", one, count=1) for one in sentences("yesno")]
    read = 0
    for text in texts:
        quickly = read_quickly(text)
        read += quickly is not None
        for mark in (None, ","):
            assert quickly is None or quickly == reader.read_fully(text, mark), text  # type: ignore[arg-type]
    assert read > 300


PATTERNS = [
    _verdict_words.ABSTAINS, _verdict_words.CORRECTION, _verdict_words.TAKES_BACK, _verdict_words.REPORTED, _verdict_words.BY_ITSELF,
    sayers.ABSTAINS, statements.VERDICT, passage._DECLINE, passage._UNDETERMINED, passage._CHECK, asides._NOT, asides._REFERENCE,
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_text_in_which_a_pattern_is_found_has_its_words(pattern: str) -> None:
    compiled = re.compile(pattern)
    for kind in ("yesno", "letters", "numbers"):
        for text in (reply.lower() for reply, _ in labelled(kind)):
            assert may_match(pattern, text) or not compiled.search(text), text


@given(
    st.lists(
        st.sampled_from(["not", "can", "not", "cannot", "'t", " ", "say", "i", "one", ".", "no", "a"]),
        max_size=8,
    )
)
def test_words_of_any_small_text(parts: list[str]) -> None:
    text = "".join(parts)
    for pattern in (_verdict_words.ABSTAINS, _verdict_words.BY_ITSELF, asides._NOT):
        assert may_match(pattern, text) or not re.search(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [(r"can(?:'t|not)", "i can't"), (r"(?<!\w)so\s", "also so "), (r"(?:ab|cd)?ef", "xefx"), (r"(?=no)\w+", "nothing"), (r"[äo]k", "ok")],
)  # fmt: skip
def test_what_a_pattern_needs(pattern: str, text: str) -> None:
    words = frozenset(words_of(text))
    assert re.search(pattern, text)
    assert any(all(one.is_in(words, text) for one in way) for way in needed_words(pattern))


@pytest.mark.parametrize("pattern", [r"\d+", r"a?b?", r"(?:so|\d)\s"])
def test_patterns_that_need_no_word(pattern: str) -> None:
    with pytest.raises(ValueError, match="without words"):
        needed_words(pattern)
    assert may_match(pattern, "")


def test_quick_paths_can_be_left_out() -> None:
    code = (
        "from benchwright.scorers import _verdict_quick, _triggers; from benchwright.scorers._mcq.quick import choose_quickly\n"
        "assert _verdict_quick.read_quickly('Yes.', None) is None and _triggers.may_match('no', 'yes')\n"
        "assert choose_quickly('The answer is B.', {'A': 'Paris', 'B': 'London'}) is None"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "BENCHWRIGHT_PLAIN": "1"}, check=True)


def test_texts_without_words_make_no_pattern_forgotten() -> None:
    known = KnownPatterns()
    for word in ("step", "wait", "sorry"):
        number = known.add((word, {word}, (), ()))
        assert known.table()[word] >> number & 1  # the words of a text
        known.table().clear()  # of one that has none
    assert known.table()["step"] == 1
