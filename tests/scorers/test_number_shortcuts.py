"""What makes the reading of numbers cheap changes no reading: each shortcut is compared with the long way."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from tests.scorers import number_notations, word_problems

from benchwright.scorers._mcq.view import lower_alike
from benchwright.scorers._quantity import asides, expressions, passage, patterns, reader, results, words
from benchwright.scorers._quantity.numerals import written
from benchwright.scorers._quantity.plain import plain

REPLIES = [
    json.loads(line)[0]
    for path in sorted((Path(__file__).parent / "replies").glob("numbers_*.jsonl"))
    for line in path.read_text("utf-8").splitlines()
]
NOTATIONS = [
    *(number_notations.written(seed).text for seed in range(300)),
    *(one.text for seed in range(2) for one in word_problems.explanations(seed)),
]
OTHER_LETTERS = ("İ", "ı", "ſ", "\u212a", "ẞ", "ᲂ", "Σ", "ς", "µ", "İf", "ıs", "thuſ", "ΑΣ", "ǅ", "Ё")


@pytest.fixture(scope="module")
def ignoring_case() -> list[str]:
    """The patterns that ignore case and are tried on the replies."""
    tried: dict[str, None] = {}
    real = patterns.caseless

    def record(pattern: str) -> re.Pattern[str]:
        tried[pattern] = None
        return real(pattern)

    with pytest.MonkeyPatch.context() as patch:
        for module in (asides, expressions, passage, reader, results):
            patch.setattr(module, "caseless", record)
        for reply in REPLIES:
            reader.read_fully(reply)
    spelled = (words.spelled_pattern(), words.scale_pattern())
    return [*tried, *(pattern.pattern for pattern in spelled)]


def mixed(text: str, chance: random.Random) -> str:
    """The text in other letters: large and small ones, and those that few texts contain."""
    letters = [one.upper() if chance.random() < 0.3 else one for one in text]
    letters.insert(chance.randrange(len(letters) + 1), chance.choice(OTHER_LETTERS))
    return "".join(letters)


def test_small_letters_match_as_if_case_were_ignored(ignoring_case: list[str]) -> None:
    chance = random.Random(5)
    texts = [mixed(text, chance)[:300] for text in chance.sample([*REPLIES, *NOTATIONS], 60)]
    assert len(ignoring_case) > 60
    for pattern in ignoring_case:
        small, ignoring = re.compile(pattern), re.compile(pattern, re.IGNORECASE)
        for text in texts:
            read = plain(text)
            folded = patterns.small_letters(lower_alike(read))
            assert len(folded) == len(read)
            assert [one.span() for one in small.finditer(folded)] == [
                one.span() for one in ignoring.finditer(read)
            ], (pattern, read)


def test_a_pattern_for_small_letters_must_not_contain_capital_ones() -> None:
    with pytest.raises(AssertionError):
        patterns.caseless(r"\W[A-Z]")


def test_the_only_number_of_a_short_text(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [one for reply in REPLIES for one in re.split(r"(?<=[.!?\n])\s", reply)]
    texts = [*REPLIES, *sentences, *NOTATIONS]
    texts = [text for text in texts if len([*written(plain(text))]) == 1]
    quickly = [reader.read_fully(text) for text in texts]
    monkeypatch.setattr(reader, "_ONE_SENTENCE", -1)
    assert len(texts) > 1_000
    assert quickly == [reader.read_fully(text) for text in texts]


def test_what_is_tried_before_units_and_bounds_leaves_none_out() -> None:
    units = [
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            expressions._VARIABLE,
            expressions._GOES_ON,
            expressions._PERCENT,
            expressions._AND_A_PART,
            expressions._OF_PART,
            expressions._DOZEN,
            words.scale_pattern().pattern,
        )
    ]
    found = 0
    for text in map(plain, (*REPLIES, *NOTATIONS, "5 K", "5k", "5M", "5 bn", "3 dozen", "2 and a half")):
        small = patterns.small_letters(lower_alike(text))
        for start, end in written(text):
            any_of = any(unit.match(text, end) for unit in units)
            found += any_of
            assert not (any_of or words.letter_scale_pattern().match(text, end)) or expressions._unit().match(
                small, end
            ), text[start:]
            begin = max(0, start - 16)
            if patterns.caseless(expressions._BOUND).search(small, begin, start):
                assert small[begin:start].rstrip().endswith(expressions._BOUND_ENDS), text[begin:]
    assert found > 100
