"""What the clauses of a reply say their numbers are, compared with what the question asks for.

A reply may calculate more than was asked: an area and a perimeter, a tip and a bill, one for each. A number that is called something
else than what was asked for, where another number is called so, is not the answer.
"""

from __future__ import annotations

import re
from collections.abc import Set
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import NamedTuple

from benchwright.scorers._mcq.view import lower_alike
from benchwright.scorers._quantity.asides import COMPARED, is_dated, is_weak
from benchwright.scorers._quantity.expressions import Expression, Number
from benchwright.scorers._quantity.numerals import numeral, written
from benchwright.scorers._quantity.passage import Passage
from benchwright.scorers._quantity.patterns import caseless, small_letters
from benchwright.scorers._quantity.plain import plain
from benchwright.scorers._quantity.results import CONCLUSION, POINTER, PREMISE, SUM, same
from benchwright.scorers._quantity.units import Unit, unit_at
from benchwright.scorers._quantity.words import is_scale, spelled_pattern, spelled_value
from benchwright.scorers._replies import listed

_BREAK = r"[.;!?](?=\s|$)|\n|,\s(?=(?:and|while|whereas|but|making|leaving|so|which|und|et|y|e|en)(?!\w)|[^\W\d_]+\s(?:=|is|are)\s)|\s(?=(?:and|while|whereas)\s)"
_WORD = r"[^\W\d_]{3,}"
_NO_LABELS = frozenset(
    listed(
        "the and are was were its this that these those how many much what which who whose does did has have had will would can could should for from"
        " with then than per there their his her she they you our not all any some long old far when where out get got give given find calculate"
        " number value answer compute determine please exactly about"
    )
)
_SUBJECT = r"\W*(?:(?:so|thus|then|therefore|hence|finally|and|also|note\sthat),?\s)?(?P<label>(?:[^\W\d_]+\s){0,4}?[^\W\d_]+)\s?(?:=|:|(?:is|are|was|would|will|has|have|equals|comes)(?!\w))"
"""What a clause speaks of."""
_OF_LABEL = r"(?P<label>[^\W\d_]+)\sof\s[$€£]?$"
_ANY_RESULT = frozenset(
    listed(
        "total totals sum altogether result answer final difference remainder amount number it that this there he she they we you all result x y n"
    )
)
_SUMS = frozenset(listed("total totals sum altogether"))
_ASKS_SUM = r"(?<!\w)(?:and|total|sum|altogether|together|all|both|combined|overall|entire|whole|every)(?!\w)"
_MEASURES = frozenset(
    listed(
        "area perimeter volume circumference diameter radius median mean mode range average tip tax discount interest profit loss revenue speed distance"
        " balance bill width height length depth weight mass age density temperature pressure slope quotient remainder product commission price cost fee hypotenuse share"
    )
)
"""What a number may be: two of them are two things."""
_ASKS_REST = r"(?<!\w)(?:left|remain\w*|leav\w+|after|still|keep|net|rest|over|change|balance|now)(?!\w)"
_REST = r"[\d.,]+(?:\s[^\W\d_]+){0,2}\s(?:left|remain\w*|over|übrig|spare)(?!\w)"
_ASKS_YEAR = (
    r"(?<!\w)(?:year|when|date|century|wann|jahr|quand|année|cuándo|año|quando|anno|ano|wanneer|jaar)(?!\w)"
)
_LOSS = r"(?<!\w)(?:lost|loses|loss|deficit|debt|overdrawn|owes|below)(?!\w)"
_ASKS_SIGNED = (
    r"(?<!\w)(?:profit|balance|change|net|temperature|return)(?!\w)(?!.*(?<!\w)(?:loss|debt)(?!\w))"
)
_UNKNOWN = r"\W*(?:(?:sorry|unfortunately|i'm\safraid|leider|désolé|lo\ssiento)[,.]?\s)?(?:i\s(?:don't|do\snot)\s(?:have|know)|i\s(?:couldn't|could\snot|can't|cannot)\s(?:find|tell|say)|there\sis\sno\s(?:information|data|figure)|(?:das\s)?weiß\sich\snicht|ich\sweiß|je\sne\s(?:sais|dispose)|no\s(?:lo\s)?sé|no\stengo|non\s(?:lo\s)?so|não\ssei)(?!\w)[^,.\n]*[.\n]"
"""A first sentence that gives no answer."""
_UNLIKE = r"(?<!\w)(?:unlike|in\scontrast\sto|compared\s(?:to|with)|im\sgegensatz\szu|anders\sals|contrairement\sà|à\sla\sdifférence|a\sdiferencia\sde|a\sdifferenza\sd|ao\scontrário\sd|in\stegenstelling\stot)"
"""Before what is told of another thing."""
_WOULD = r"(?<!\w)(?:would(?:\s(?:be|have|cost|make|take|need|get))|serait|seraient|wären?|sería|serían|sarebbe|sarebbero|seria|seriam|zou|zouden)(?!\w)"
_ASKS_SHARE = r"percent|per\scent|prozent|pourcent|porcent|percentual|(?<!\w)what\s%"
_MORE = r"(?<!\w)how\s(?:many|much)\s(?:more|fewer|less|longer|older|taller|further)(?!\w)"


_ASKS_CHANGE = r"(?<!\w)(?:how\s(?:much|many)|by\s(?:what|how)).*\s(?:grow|increase|rise|fall|drop|decrease|change|decline|shrink|climb)(?!\w)"
_COUNTS = r"(?<!\w)(?:how\smany|wie\sviele|combien\sde|cuánt[oa]s|quant[ie]|quant[oa]s|hoeveel)\s(?P<noun>[^\W\d_]{3,})"
_NOUN = r"\s[^\W\d_]{3,}|\s?°"
_CONCLUDES = rf"{CONCLUSION}|{SUM}"
_TOTAL = r"(?:in\stotal|in\sall|altogether)(?!\w)"
_TOLD = r"(?<!\w)(?:is|are|was)\s[$€£]?$"
_FEW = 40
"""Numbers of a reply that are combined with each other."""


class _Labelled(NamedTuple):
    number: Number
    start: int
    begin: int
    """Where its clause begins."""
    stems: frozenset[str]
    equals: bool


def is_doubtful(passage: Passage, number: Number, question: str, asked: str, bold: bool) -> bool:
    """Whether a reply calls another number what was asked for, or this one something else.

    Args:
        passage: the reply.
        number: what was read.
        question: the whole question.
        asked: the part of it that asks, in small letters.
        bold: whether it is the only number in bold print.
    """
    every = [one for one in passage.usable(0, len(passage.text)) if one.number is not None]
    places = [one for one in every if same(one.number, number)]
    known = values_of(question) if len(every) > len(places) else frozenset[Fraction]()
    question = question.lower()
    if (
        not bold
        and places
        and len(every) > len(places)
        and (
            _is_given(passage, places, every, known)
            or _is_one_of_two(passage, places, every, known)
            or _is_followed(passage, places, every, known)
            or (caseless(_TOTAL).search(asked) and _is_no_total(passage, places, every))
        )
    ):
        return True
    if caseless(_ASKS_CHANGE).search(asked) and any(
        caseless(r"(?<!\w)to\s[$€£]?$").search(passage.small, max(0, one.start - 5), one.start)
        for one in places
    ):
        return True  # `it grew by 1.5 million, to 4.7 million`
    called = labelled_as(passage, asked, least=1)
    if called is not None and not same(called, number):
        return True
    given = _labelled(passage)
    mine = _labelled(passage, places)
    if not mine:
        return False
    last = mine[-1]
    if not caseless(_ASKS_YEAR).search(question) and all(_is_year(passage, one) for one in mine):
        return True
    if caseless(_UNLIKE).search(passage.small, last.begin, last.start) or _is_spelled_after(passage, last):
        return True
    strange = not last.stems & _stems(question)
    if strange and caseless(_UNKNOWN).match(passage.small):
        return True  # `I don't know. The nearest town has 4,500.`
    others = [
        one for one in given
        if not same(one.number, number) and one.number.value != last.number.value and one.number.value not in known
        and not _is_year(passage, one)
    ]  # fmt: skip
    clause = passage.small[last.begin : last.start]
    subject = caseless(_SUBJECT).match(passage.small, last.begin, last.start)
    label = frozenset(subject["label"].split()) if subject else frozenset[str]()
    measured = frozenset(caseless(_WORD).findall(asked)) & _MEASURES
    if (
        measured
        and label & _MEASURES
        and not label & _MEASURES & frozenset(caseless(_WORD).findall(question))
    ):
        return True
    if number.value > 0 and caseless(_LOSS).search(clause) and caseless(_ASKS_SIGNED).search(asked):
        return True  # `The company lost $3 million.`
    if caseless(_MORE).search(asked) and not last.equals and passage.search(COMPARED):
        return True  # `250 km longer than the other, which measures 6,400 km`
    if not others:
        return False
    if caseless(_REST).match(passage.small, last.start) and not caseless(_ASKS_REST).search(asked):
        return True
    calculated = [one for one in others if one.equals]
    if calculated and clause.lstrip(" ,").startswith("leaving") and not caseless(_ASKS_REST).search(question):
        return True
    if others and caseless(_WOULD).search(clause) and not caseless(_WOULD).search(question):
        return True
    words = _stems(asked)
    if strange and any(mine[0].start < one.start < last.start for one in calculated):
        return True  # `$40 - $10 = $30. You save $10.`
    if label & _ANY_RESULT and (not label & _SUMS or caseless(_ASKS_SUM).search(asked)):
        return False
    own = max(len(one.stems & words) for one in mine)
    if not bold and max(len(one.stems & words) for one in others) > own:
        return True
    if subject is None or not calculated or any(one.equals for one in mine if one is not last):
        return False
    stems = _stems(subject["label"])
    return bool(stems) and not stems & _stems(question) and not last.equals


def is_of_another_kind(passage: Passage, number: Number, asked: str, unit: Unit | None) -> bool:
    """Whether a number is no percentage, count or quantity as a question asks for, or is the name of something."""
    small = passage.small
    every = [one for one in passage.usable(0, len(passage.text)) if one.number is not None]
    places = [one for one in every if same(one.number, number)]
    if caseless(_ASKS_SHARE).search(asked):
        return not number.percent and any(one.number and one.number.percent for one in every)
    if not places:
        return False
    units = [unit_at(small, one.start, one.end) for one in places]
    if unit is not None and all(one and one.dimension != unit.dimension for one in units):
        return True
    count = caseless(_COUNTS).search(asked)
    if count is None or unit is not None:
        return False
    if all(is_weak(small, one) for one in places):
        return True
    if len(passage.numbers) > len(places) and (
        number.percent or all(one and one.dimension == "money" for one in units)
    ):
        return True
    called = _called(count["noun"])
    if not all(caseless(_NOUN).match(small, one.end) and not called.match(small, one.end) for one in places):
        return False
    ends = (*(one.end for one in every), *(one.end() for one in spelled_pattern().finditer(small)))
    return any(called.match(small, end) for end in ends)


def _called(noun: str) -> re.Pattern[str]:
    """What follows a number of such things."""
    stem = noun[:-3] if noun.endswith("ies") else noun.removesuffix("s")
    return caseless(
        rf"(?:\s(?:million|billion|thousand))?\s(?:[^\W\d_]+\s){{0,2}}{stem}[^\W\d_]{{0,3}}(?!\w)"
    )


def _is_given(
    passage: Passage, places: list[Expression], every: list[Expression], known: frozenset[Fraction]
) -> bool:
    """Whether a number stands in the question already, while another is new: `Plugging it in: 2 × 9 + 5 = 23`."""
    number = places[-1].number
    if number is None or number.value not in known:
        return False
    calculated = [one.start for one in every if one.equals]
    if any(one.equals for one in places) and places[-1].start > calculated[-1]:
        return False  # calculated and then said again
    begin = passage.sentence_start(places[-1].start)
    return any(
        one.number.value not in known or (one.start > begin and _is_pointed_at(passage, one))
        for one in every
        if one.number and not same(one.number, number)
    )


def _is_pointed_at(passage: Passage, one: Expression) -> bool:
    return passage.search(POINTER, max(0, one.start - 40), one.start) is not None


def _is_one_of_two(
    passage: Passage, places: list[Expression], every: list[Expression], known: frozenset[Fraction]
) -> bool:
    """Whether an earlier sentence gives another number, which the last one neither uses nor replaces by a conclusion."""
    last, text = places[0], passage.small
    begin, end = passage.sentence_start(last.start), passage.sentence_end(last.start)
    if last.number is None or last.equals or len(places) > 1 or passage.search(_CONCLUDES, begin, end):
        return False
    if caseless(PREMISE).match(text, begin) or "=" in text[begin:end]:
        return False
    earlier = [
        one for one in every
        if one.start < begin and one.number and one.number.value not in known and (one.equals or _is_pointed_at(passage, one))
        and abs(one.number.value - last.number.value) >= 1 and not passage.in_brackets(one)
    ]  # fmt: skip
    if not earlier:
        return False
    used = passage.numbers.operands(0, len(text)) | known
    feeds = _leading_to(last.number.value, used)
    linked = passage.numbers.linked()
    return any(
        one.number and one.number.value not in feeds and one.number.value not in linked for one in earlier
    )


def _is_followed(
    passage: Passage, places: list[Expression], every: list[Expression], known: frozenset[Fraction]
) -> bool:
    """Whether a later sentence tells another number: `So n = 23. The largest is 25.`"""
    end = passage.sentence_end(places[-1].end)
    return any(
        one.start > end and one.number and one.number.value not in known and caseless(_TOLD).search(passage.small, one.start - 6, one.start)
        and not passage.in_brackets(one) for one in every
    )  # fmt: skip


def _is_no_total(passage: Passage, places: list[Expression], every: list[Expression]) -> bool:
    """Whether another number is called the total: `he is 5 km away (he walked 7 km in total)`."""
    total = caseless(rf"(?:\s[^\W\d_]+){{0,2}}\s{_TOTAL}")
    return any(total.match(passage.small, one.end) for one in every) and not any(
        total.match(passage.small, one.end) for one in places
    )


def _leading_to(value: Fraction, given: Set[Fraction]) -> set[Fraction]:
    """Those of several numbers from which a value follows in one or two steps."""
    values = [*islice(given, _FEW), Fraction(100)]
    found = {value}
    for _ in range(2):
        found |= {
            one for one in values if any(_makes(one, other, result) for result in found for other in values)
        }
    return found


def _makes(one: Fraction, other: Fraction, result: Fraction) -> bool:
    return (
        result in (one + other, one - other, other - one, one * other)
        or (other != 0 and result == one / other)
        or (one != 0 and result == other / one)
    )


def _is_spelled_after(passage: Passage, one: _Labelled) -> bool:
    """Whether the sentence ends with another number in words: `Insects have 6 legs, spiders eight.`"""
    end = passage.sentence_end(one.start)
    return any(
        word[0] != "one" and spelled_value(word) not in (None, one.number.value)
        for word in spelled_pattern().finditer(passage.small, one.start, end)
        if not passage.small[word.end() : end].strip(" *.)") and not is_scale(passage.small, word.start())
    )


def labelled_as(passage: Passage, asked: str, least: int = 2) -> Number | None:
    """The number of the only clause whose subject is what a question asks for: `Area = 40, perimeter = 26`."""
    words = _MEASURES.intersection(caseless(_WORD).findall(asked))
    if len(words) != 1:
        return None
    found: dict[str, list[Number]] = {}
    for one in _labelled(passage):
        subject = caseless(_SUBJECT).match(passage.small, one.begin, one.start) or caseless(_OF_LABEL).search(
            passage.small, one.begin, one.start
        )
        if subject is not None:
            found.setdefault(subject["label"].split()[-1], []).append(one.number)
    called = [number for label, numbers in found.items() if label in words for number in numbers]
    return called[0] if len(found) >= least and len(called) == 1 else None


@lru_cache(maxsize=64)
def values_of(text: str) -> frozenset[Fraction]:
    """The numbers that a question gives, each by itself, in digits and in words."""
    text = plain(text)
    small = small_letters(lower_alike(text))
    written_ones = (numeral(text[start:end]) for start, end in written(text))
    spelled = (
        spelled_value(word) for word in spelled_pattern().finditer(small) if word[0] not in ("one", "a", "an")
    )
    return frozenset(
        one for one in (*chain(*(one for one in written_ones if one)), *spelled) if one is not None
    )


@lru_cache(maxsize=4)
def _stops(small: str) -> list[int]:
    """Where the clauses of a text begin and the last one ends."""
    return [0, *(found.end() for found in caseless(_BREAK).finditer(small)), len(small)]


def _labelled(passage: Passage, places: list[Expression] | None = None) -> list[_Labelled]:
    """The last number of each clause, or those at some places, with the stems of the words of their clauses."""
    text = passage.small
    found = []
    for begin, end in pairwise(_stops(text)):
        if places is not None:
            inside = [one for one in places if begin <= one.start < end]
        else:
            inside = [one for one in passage.usable(begin, end) if one.number is not None]
            inside = ([one for one in inside if not passage.in_brackets(one)] or inside)[-1:]
        stems = _stems(text[begin:end]) if inside else frozenset[str]()
        found += [_Labelled(one.number, one.start, begin, stems, one.equals) for one in inside if one.number]
    return found


def _is_year(passage: Passage, one: _Labelled) -> bool:
    found = passage.numbers.between(one.start, one.start + 1)
    return bool(found) and is_dated(passage.small, found[0])


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in caseless(_WORD).findall(text) if word not in _NO_LABELS)
