"""What the clauses of a reply say their numbers are, compared with what the question asks for.

A reply may calculate more than was asked: an area and a perimeter, a tip and a bill, one for each. A number that is called something
else than what was asked for, where another number is called so, is not the answer.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from benchwright.scorers._quantity.asides import is_dated
from benchwright.scorers._quantity.expressions import Number
from benchwright.scorers._quantity.passage import Passage
from benchwright.scorers._quantity.patterns import caseless
from benchwright.scorers._quantity.results import same
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
_ASKS_YEAR = (
    r"(?<!\w)(?:year|when|date|century|wann|jahr|quand|année|cuándo|año|quando|anno|ano|wanneer|jaar)(?!\w)"
)
_EACH = r"(?<!\w)(?:each|every|per|apiece|jede[rsnm]?|pro|chaque|cada|ogni|ciascun\w*|elk[e]?)(?!\w)"
_UNKNOWN = r"\W*(?:(?:sorry|unfortunately|i'm\safraid|leider|désolé|lo\ssiento)[,.]?\s)?(?:i\s(?:don't|do\snot)\s(?:have|know)|i\s(?:couldn't|could\snot|can't|cannot)\s(?:find|tell|say)|there\sis\sno\s(?:information|data|figure)|(?:das\s)?weiß\sich\snicht|ich\sweiß|je\sne\s(?:sais|dispose)|no\s(?:lo\s)?sé|no\stengo|non\s(?:lo\s)?so|não\ssei)(?!\w)[^,.\n]*[.\n]"
"""A first sentence that gives no answer."""
_UNLIKE = r"(?<!\w)(?:unlike|in\scontrast\sto|compared\s(?:to|with)|im\sgegensatz\szu|anders\sals|contrairement\sà|à\sla\sdifférence|a\sdiferencia\sde|a\sdifferenza\sd|ao\scontrário\sd|in\stegenstelling\stot)"
"""Before what is told of another thing."""
_WOULD = r"(?<!\w)(?:would(?:\s(?:be|have|cost|make|take|need|get))|serait|seraient|wären?|sería|serían|sarebbe|sarebbero|seria|seriam|zou|zouden)(?!\w)"
_ASKS_SHARE = r"percent|per\scent|prozent|pourcent|porcent|percentual|(?<!\w)what\s%"
_MORE = r"(?<!\w)how\s(?:many|much)\s(?:more|fewer|less|longer|older|taller|further)(?!\w)"


class _Labelled(NamedTuple):
    number: Number
    start: int
    begin: int
    """Where its clause begins."""
    stems: frozenset[str]
    equals: bool


def is_doubtful(passage: Passage, number: Number, question: str, asked: str) -> bool:
    """Whether a reply calls another number what was asked for, or this one something else.

    Args:
        passage: the reply.
        number: what was read.
        question: the whole question in small letters.
        asked: the part of it that asks.
    """
    given = [*_labelled(passage)]
    mine = [one for one in given if same(one.number, number)]
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
    known = set(caseless(r"\d[\d,.]*(?<![,.])").findall(question))
    others = [
        one for one in given
        if not same(one.number, number) and one.number.value != last.number.value and _written(one.number) not in known
        and not _is_year(passage, one)
    ]  # fmt: skip
    if not others:
        return False
    clause = passage.small[last.begin : last.start]
    calculated = [one for one in others if one.equals]
    if (
        calculated
        and caseless(_EACH).search(clause)
        and not caseless(_EACH).search(question)
        and not last.equals
    ):
        return True
    if calculated and clause.lstrip(" ,").startswith("leaving") and not caseless(_ASKS_REST).search(question):
        return True
    if others and caseless(_WOULD).search(clause) and not caseless(_WOULD).search(question):
        return True
    if (
        not number.percent
        and caseless(_ASKS_SHARE).search(asked)
        and any(one.number.percent for one in others)
    ):
        return True
    called = labelled_as(passage, asked, least=1)
    if called is not None and not same(called, number):
        return True
    if caseless(_MORE).search(asked) and not (
        "difference" in clause
        or caseless(r"\S*\s(?:[^\W\d_]+\s)?(?:more|fewer|less|[^\W\d_]+er)(?!\w)").match(
            passage.small, last.start
        )
    ):
        return True
    words = _stems(asked)
    if strange and any(mine[0].start < one.start < last.start for one in calculated):
        return True  # `$40 - $10 = $30. You save $10.`
    subject = caseless(_SUBJECT).match(passage.small, last.begin, last.start)
    label = frozenset(subject["label"].split()) if subject else frozenset[str]()
    if label & _MEASURES and not label & _MEASURES & frozenset(caseless(_WORD).findall(question)):
        return bool(calculated) or any(one.stems & words for one in others)
    if label & _ANY_RESULT and (not label & _SUMS or caseless(_ASKS_SUM).search(asked)):
        return False
    own = max(len(one.stems & words) for one in mine)
    if max(len(one.stems & words) for one in others) > own:
        return True
    if subject is None or not calculated or any(one.equals for one in mine if one is not last):
        return False
    stems = _stems(subject["label"])
    return bool(stems) and not stems & _stems(question) and not last.equals


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
    words = caseless(_WORD).findall(asked)
    found: dict[str, list[Number]] = {}
    for one in _labelled(passage):
        subject = caseless(_SUBJECT).match(passage.small, one.begin, one.start)
        if subject is not None:
            found.setdefault(subject["label"].split()[-1], []).append(one.number)
    called = [(label, numbers) for label, numbers in found.items() if label in words and label in _MEASURES]
    if len(found) < least or len(called) != 1 or len(called[0][1]) != 1 or len(_MEASURES & set(words)) != 1:
        return None
    return called[0][1][0]


def _labelled(passage: Passage) -> list[_Labelled]:
    """The last number of each clause, with the stems of the clause's words."""
    text = passage.small
    stops = [0, *(found.end() for found in caseless(_BREAK).finditer(text)), len(text)]
    found = []
    for begin, end in pairwise(stops):
        inside = [one for one in passage.usable(begin, end) if one.number is not None]
        if inside and inside[-1].number is not None:
            one = inside[-1]
            found.append(_Labelled(inside[-1].number, one.start, begin, _stems(text[begin:end]), one.equals))
    return found


def _is_year(passage: Passage, one: _Labelled) -> bool:
    found = passage.numbers.between(one.start, one.start + 1)
    return bool(found) and is_dated(passage.small, found[0])


def _written(number: Number) -> str:
    return str(number.value)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in caseless(_WORD).findall(text) if word not in _NO_LABELS)
