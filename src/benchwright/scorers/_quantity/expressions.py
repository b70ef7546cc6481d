"""Expressions in running text: numbers that belong together, such as `3/4`, `2 1/2`, `6 × 10^23` or `5–10`, each read as a
whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from benchwright.scorers._quantity.numerals import Mark, Numeral, numeral, power, written
from benchwright.scorers._quantity.patterns import caseless, compiled
from benchwright.scorers._quantity.plain import UNKNOWN
from benchwright.scorers._quantity.words import (
    decimal_mark,
    letter_scale,
    letter_scale_pattern,
    scale_of,
    scale_pattern,
)
from benchwright.scorers._replies import Span
from benchwright.scorers._triggers import Gate


class Number(NamedTuple):
    """A number that was read."""

    value: Fraction
    """Its value; of a percentage the number before the sign."""
    percent: bool = False
    """Whether it is a percentage."""
    same: tuple[Fraction, ...] = ()
    """Other values that the text gives for it: `1/3 ≈ 0.333`."""
    other: tuple[Fraction, ...] = ()
    """What the notation could mean as well: 1.234 for `1,234`."""


class Expression(Struct):
    """Numbers that belong together, with their place."""

    start: int
    end: int
    """The place after it, units and percent signs not included."""
    number: Number | None
    """Its value; None if it is not one number."""
    reason: str = ""
    """Why it is not: a key of `UNREAD`."""
    equals: bool = False
    """Whether an equals sign stands between it and the expression before it."""


UNREAD: dict[str, str] = {
    "date": "a date, a version or another series of numbers: `2024-05-01`, `2.10.3`",
    "range": "a range or a difference: `5–10`, `5 to 10`, `10 - 5`",
    "time_or_ratio": "a time or a ratio: `14:35`, `3:4`",
    "several": "several numbers: `4 or 5`, `(2, 3)`, `3 of 7`, `5 red and 7 blue`",
    "depends": "one number for each of several cases: `5 if it is cold, otherwise 6`",
    "units": "one quantity in several units, or in another than the question asks for: `5 feet 11 inches`",
    "formula": "a formula, not a number: `3π`, `2x`, `2 + 3`",
    "bound": "a bound: `more than 5`, `< 3`",
    "notation": "not written as one number: `1,23,4`",
    "ambiguous": "what the notation means is not clear: `1.234` where 1234 is expected, `0.5 %` where 0.5 is",
    "corrected": "the stated number is corrected afterwards, and by what is not clear",
    "too_long": "too many digits for a number",
    "unfinished": "the reply breaks off before it gives a result",
    "declined": "the reply says that the answer cannot be found",
}
"""Why a number is not read, by the `rule` of a sample."""

# How two numbers are linked by the text between them. The first that matches the whole gap counts.
_KINDS_OF_UNITS = (
    r"hours?|hrs?|h|std\.?|stunden?|heures?|horas?|ore|час(?:а|ов)?|ч|minutes?|mins?|minuten?|minutos?|minuti|мин(?:ут[аы]?)?|seconds?|secs?|sekunden?"
    r"|years?|yrs?|jahre?n?|ans?|años?|лет|год(?:а|ов)?|days?|tage?n?|jours?|días?|дн(?:я|ей)|weeks?|wochen?|months?|monate?n?|mois|meses",
    r"feet|foot|ft|inch(?:es)?|km|m|cm|mm|miles?|yards?|yd|met(?:er|re|ro|ri)s?|cent[ií]m(?:et|èt|etr)\w{1,3}",
    r"pounds?|lbs?|ounces?|oz|kg|g|kilos?|grams?|gramm",
    r"dollars?|euros?|cents?|€|£|\$|rubles?|руб(?:\.|л[ьяей]+)|francs?|pesos?|pence|pounds?",
    r"degrees?|°",
    r"million(?:s|en)?|thousand|tausend|mille|mil|hundred",
)
_UNIT = "|".join(_KINDS_OF_UNITS)
_UNIT_AFTER = rf"\s?({_UNIT})(?!\w)"
_LINKS = (
    ("power", r"\s?(?:\^|\*\*)\s?\(?[-+]?"),
    ("times", r"\s?[×*x]\s?|\s(?:times|mal|fois)\s"),
    ("slash", r"\s?[/⁄]\s?"),
    ("dash", r"\s?[-–—]\s?|\s?--\s?"),
    ("range", r"\s(?:to|bis|à|hasta|до|through|till|until|a)\s"),
    ("formula", r"\s?[+÷±]\s?-?|\s(?:plus|minus|moins|menos|más|плюс|минус|divided\sby|mod)\s|\s?[-+×*/]\s?\(?-?|\)\s?\(?"),
    ("colon", r":"),
    ("several", r",?\s(?:or|oder|ou|o|u|или|nor)\s(?:even\s)?|\s(?:out\sof|of|von|sur|из|aus|of\sthe|von\sden|de\slos|de\slas|des|de)\s|\s?或者?\s?"),
    ("in", r"\sin\s"),
    ("and", r"\s(?:and|und|et|y|и|e|&)\s"),
    ("listed", r"\s?[,;|]\s"),
    ("units", rf"\s?(?:{_UNIT})(?:(?<!\w{{4}})\.)?(?:,\s|\s(?:and|und|et|y|и|e)\s|\s)"),
    ("joined", r"[ \t]+"),
)  # fmt: skip
_EQUALS = r"(?!.*[^\W\d]{4}=)[^\d=≈→\n.!?;]{0,24}[=≈→][^\d=≈→\n.!?;]{0,24}"  # `answer=5 confidence=0.8` is no equation
_REASONS = {
    "power": "formula", "times": "formula", "slash": "formula", "dash": "range", "range": "range", "formula": "formula",
    "colon": "time_or_ratio", "several": "several", "in": "several", "and": "several", "listed": "several", "units": "units",
    "joined": "several",
}  # fmt: skip
_CURRENCY = r"(?:[$€£¥₽₹]|US\$|(?<![A-Za-z])(?:USD|EUR|CHF|GBP|Rs\.?|JPY))"
_SIGN = (
    rf"(?:(?:^|[^\w)\]}}.,%'-])\s?[-–]{_CURRENCY.lower()}?"
    rf"|{_CURRENCY.lower()}\s?-|[=≈]\s?-\s|(?<!\w)(?:minus|negative|moins|menos|минус|negativ)\s)$"
)
_MINUS = frozenset(f"{word} "[-5:] for word in ("minus", "negative", "moins", "menos", "минус", "negativ"))
"""How words for the sign end, the blank included."""
_IN_NAME = r"(?:[^\W\d_]|[^\W\d_]-|[^\W\d_]\d*\.)$"
_PERCENT = r"\s?(?:%|percent\b|per\scent\b|prozent\b|pour\s?cents?\b|por\sciento\b|per\scento\b|procent\w*|процент\w*|pct\b)"
_AND_A_PART = (
    r"\s(?:and\sa\s(?P<part>half|third|quarter)|und\sein\shalb|et\sdemie?|y\smedi[ao]|с\sполовиной)\b"
)
_OF_PART = r"\s(?P<part>halves|thirds?|quarters?|fourths?|fifths|sixths|sevenths|eighths?|ninths|tenths?)\b"
_DOZEN = r"\s(?:dozens?|dutzend|douzaines?|docenas?|дюжин[аы]?)(?!\w)"
_PART = {"hal": 2, "thi": 3, "qua": 4, "fou": 4, "fif": 5, "six": 6, "sev": 7, "eig": 8, "nin": 9, "ten": 10}
_VARIABLE = rf"\s?[{UNKNOWN}]|\s?×\s?[^\W\d_]|\s\*\s[^\W\d_]|[xyzniθ](?![^\W_])|‰"
_GOES_ON = r"\s[^\W\d_]+\s(?:and\sa\s(?:half|quarter)|et\sdemie?|y\smedi[ao]|e\smezz[ao]|e\smei[ao]|с\sполовиной)(?!\w)|(?!(?:[cdkmμ]?m|ft|in|s)[23](?!\w))[^\W\d_]{1,3}\d|['′]\s?\d|['′]{2}|[\"″](?=\s?$)"
_BOUND = r"(?:(?:^|[.!?:]\s|(?<!\w)(?:is|are|has|have|had|well|just|takes|with|traffic)\s)(?:over|under|up\sto)|(?:more|less|fewer|greater|larger|smaller|mehr|weniger|plus|moins|más|menos|больше|меньше)\s(?:than|als|de|que)|[<>≤≥])\s?$"
_BOUND_ENDS = ("over", "under", "to", "than", "als", "de", "que", "<", ">", "≤", "≥")
"""How the words and signs of `_BOUND` end."""
_MONTH = (
    r"Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?|Aug(?:ust|\.)?|Sept?(?:ember|\.)?|Oct(?:ober|\.)?"
    r"|Nov(?:ember|\.)?|Dec(?:ember|\.)?|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|février|mars|avril|mai|juin"
    r"|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre"
    r"|noviembre|diciembre|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
)
_BEFORE_YEAR = rf"(?<!\w)(?:(?:{_MONTH})\s\d{{1,2}}(?:st|nd|rd|th)?,?\s|\d{{1,2}}(?:st|nd|rd|th|\.|er)?\s(?:de\s|of\s)?(?:{_MONTH}),?\s(?:de\s)?)$"
_BEFORE_MONTH = rf"(?:st|nd|rd|th|\.|er)?\s(?:of\s|de\s)?(?:{_MONTH})(?!\w)"
_ANY_MONTH = rf"(?<!\w)(?:{_MONTH})(?!\w)"
_AFTER_MONTH = rf"(?<!\w)(?:{_MONTH})\s$"


_ENDS = ("", ".", ",", ";", ":", ")", "\n")
"""What can follow a number that has no unit."""


class Expressions:
    """The expressions of a plain text, each read when it is first asked for; digits of names such as CO2 are left out.

    Args:
        text: what `plain` returned.
        mark: the decimal mark if the text itself does not reveal one.
        small: the text in small letters, for patterns that ignore case.
        may: which patterns may be in it.
    """

    def __init__(self, text: str, mark: Mark | None, small: str, may: Gate) -> None:
        self._text = text
        self._small = small
        self._may = may
        self._mark = mark
        self._tokens = [
            Span(start, end, text[start:end]) for start, end in written(text) if not _is_name(text, start)
        ]
        self._starts = [token.start for token in self._tokens]
        self._read: dict[int, tuple[Expression, int, int]] = {}
        """Index of a token → its expression, and the indexes of the expression's first token and of the next one."""
        self._linked: dict[int, str | None] = {}
        """Index of a token → how it is linked to the one before it."""
        self._decided: Mark | None = None
        self._language: tuple[Mark | None, ...] = ()

    def __len__(self) -> int:
        """The number of written numbers."""
        return len(self._tokens)

    def between(self, begin: int, end: int) -> list[Expression]:
        """The expressions that begin at `begin` or later, and before `end`."""
        at, after = bisect_left(self._starts, begin), bisect_left(self._starts, end)
        found = []
        while at < after:
            one, first, at_next = self._at(at)
            if first >= at:
                found.append(one)
            at = at_next
        return found

    def operands(self, begin: int, end: int) -> set[Fraction]:
        """The values of the written numbers in a part of the text, each by itself: 5 and 3 of `5 × 3`."""
        at, after = bisect_left(self._starts, begin), bisect_left(self._starts, end)
        known = (numeral(token.value) for token in self._tokens[at:after])
        return {self._one(one)[0] for one in known if one is not None}

    def linked(self) -> set[Fraction]:
        """The values of the written numbers that are parts of expressions, each by itself."""
        return {
            self._one(one)[0]
            for at, token in enumerate(self._tokens)
            if self._at(at)[2] - self._at(at)[1] > 1 and (one := numeral(token.value)) is not None
        }

    def backwards(self) -> Iterator[Expression]:
        """All expressions, the last one first."""
        after = len(self._tokens)
        while after:
            one, after, _ = self._at(after - 1)
            yield one

    def _at(self, at: int) -> tuple[Expression, int, int]:
        known = self._read.get(at)
        if known is not None:
            return known
        first = at
        while first and self._link(first) is not None:
            first -= 1
        after = at + 1
        links = [link for index in range(first + 1, at + 1) if (link := self._link(index))]
        while after < len(self._tokens) and (link := self._link(after)) is not None:
            links.append(link)
            after += 1
        gap = self._gap(first)
        equals = (
            gap is not None
            and any(sign in gap for sign in "=≈→")
            and compiled(_EQUALS).fullmatch(gap) is not None
        )
        found = self._expression(self._tokens[first:after], links, equals), first, after
        for index in range(first, after):
            self._read[index] = found
        return found

    def _gap(self, at: int) -> str | None:
        """The text between the number at `at` and the one before it, if it is short."""
        if not at:
            return None
        end, start = self._tokens[at - 1].end, self._tokens[at].start
        return self._small[end:start] if start - end <= 50 else None

    def _link(self, at: int) -> str | None:
        """How the number at `at` is linked to the one before it."""
        if at not in self._linked:
            self._linked[at] = self._find_link(at)
        return self._linked[at]

    def _find_link(self, at: int) -> str | None:
        gap = self._gap(at)
        if gap is None:
            return None
        found = _links().fullmatch(gap)
        if found is None:
            return None
        before, one = (is_year(token.value) for token in self._tokens[at - 1 : at + 1])
        if (before and (found.lastgroup == "listed" or (found.lastgroup == "and" and not one))) or (
            one and found.lastgroup == "in"
        ):
            return None  # `2.1 in 2019 and 1.9 in 2020`
        if found.lastgroup == "units" and not self._is_one_kind(gap, self._tokens[at].end):
            return None  # `in 3 hours 240 km`
        return found.lastgroup

    def _is_one_kind(self, gap: str, end: int) -> bool:
        """Whether the unit at the beginning of a gap and the one at `end`, if there is one, can make one quantity."""
        second = caseless(_UNIT_AFTER).match(self._small, end)
        if second is None:
            return True
        first = caseless(_UNIT_AFTER).match(gap)
        return first is None or any(
            caseless(kind).fullmatch(first[1]) and caseless(kind).fullmatch(second[1])
            for kind in _KINDS_OF_UNITS
        )

    def _decimal_mark(self) -> Mark:
        """The decimal mark of numbers that can be read in two ways."""
        if self._decided is None:
            shown = _shown(numeral(token.value) for token in self._tokens)
            self._decided = shown or self.language() or self._mark or "."
        return self._decided

    def language(self) -> Mark | None:
        """The decimal mark of the text's language, if that is clear."""
        if not self._language:
            self._language = (decimal_mark(self._text[-3_000:]),)
        return self._language[0]

    def _expression(self, tokens: list[Span[str]], links: list[str], equals: bool) -> Expression:
        first, last = tokens[0], tokens[-1]
        result = self._value(tokens, links) if links else self._single(first.value)
        if isinstance(result, str):
            return Expression(first.start, last.end, None, result, equals)
        value, other = result
        text = self._text
        if value.denominator > 1 and text.startswith(("…", "..."), last.end):
            return Expression(first.start, last.end, None, "notation", equals)  # `2.6457…`
        before = text[max(0, first.start - 14) : first.start]
        if before.rstrip().endswith(UNKNOWN):
            return Expression(first.start, last.end, None, "formula", equals)
        if self._small[max(0, first.start - 16) : first.start].rstrip().endswith(_BOUND_ENDS) and caseless(
            _BOUND
        ).search(self._small, max(0, first.start - 16), first.start):
            return Expression(first.start, last.end, None, "bound", equals)
        end, percent = last.end, False
        if text[end : end + 1] not in _ENDS:
            read = self._with_units(end, value, other, before)
            if isinstance(read, str):
                return Expression(first.start, last.end, None, read, equals)
            end, value, other, percent = read
        if len(tokens) == 1 and self._in_date(first):
            return Expression(first.start, last.end, None, "date", equals)
        if ("-" in before or "–" in before or before[-5:].lower() in _MINUS) and caseless(_SIGN).search(
            self._small[max(0, first.start - 14) : first.start]
        ):
            value, other = -value, [-one for one in other]
        elif "(" in before:
            value, other = self._in_brackets(before, end, value, other)
        unique = tuple(one for one in dict.fromkeys(other) if one != value) if other else ()
        return Expression(first.start, end, Number(value, percent, (), unique), "", equals)

    def _with_units(
        self, end: int, value: Fraction, other: list[Fraction], before: str
    ) -> tuple[int, Fraction, list[Fraction], bool] | str:
        """The place after scales and percent signs, the value with them, other meanings, and whether it is a percentage; or the
        reason why it is no number."""
        text = self._text
        if not _unit().match(self._small, end):
            return end, value, other, False
        scaled = self._scaled(end, value, before)
        if scaled is None:
            return "ambiguous"
        end, value, meant = scaled
        if compiled(_VARIABLE).match(text, end):
            return "formula"
        if caseless(_GOES_ON).match(self._small, end):
            return "units"
        percent = caseless(_PERCENT).match(self._small, end)
        return percent.end() if percent else end, value, [*other, *meant], percent is not None

    def _single(self, text: str) -> tuple[Fraction, list[Fraction]] | str:
        """The value of one written number and what it could mean as well, or the reason why it has none."""
        one = numeral(text)
        if one is not None:
            return self._one(one)
        if len(text) > 400:
            return "too_long"
        return "date" if text.count(".") > 1 else "several" if text.count(",") > 1 else "notation"

    def _value(self, tokens: list[Span[str]], links: list[str]) -> tuple[Fraction, list[Fraction]] | str:
        """The same of linked numbers."""
        if len(tokens) > 4:
            return "date" if set(links) <= {"dash", "slash"} else _REASONS[links[0]]
        if len(links) > 1 and set(links) <= {"dash", "slash"} and links not in (["joined", "slash"],):
            return "date"
        known = [one for token in tokens if (one := numeral(token.value)) is not None]
        if len(known) < len(tokens):
            return _REASONS[links[0]]
        firsts = [self._one(one)[0] for one in known]
        if links == ["power"]:
            sign = -1 if self._text[tokens[0].end : tokens[1].start].endswith("-") else 1
            result = power(firsts[0], sign * firsts[1])
            return "formula" if result is None else (result, [])
        if links == ["times", "power"] and firsts[1] == 10:
            sign = -1 if self._text[tokens[1].end : tokens[2].start].endswith("-") else 1
            result = power(Fraction(10), sign * firsts[2])
            if result is None:
                return "formula"
            value, other = self._one(known[0])
            return value * result, [one * result for one in other]
        plain = all(compiled(r"\d{1,12}").fullmatch(token.value) for token in tokens)
        zero = any(len(token.value) > 1 and token.value[0] == "0" for token in tokens)
        if links[-1] == "slash" and (not plain or zero or firsts[-1] == 0):
            decimal = links == ["slash"] and not zero and firsts[-1] != 0 and all(one.shows for one in known)
            if decimal:
                return firsts[0] / firsts[1], []
            formula = plain or (links == ["slash"] and any(one.shows for one in known))  # `180 / 2.5`
            return "formula" if formula and not zero else "date"
        if links == ["slash"]:
            return firsts[0] / firsts[1], []
        if links in (["joined", "slash"], ["and", "slash"]) and firsts[1] < firsts[2]:
            return firsts[0] + firsts[1] / firsts[2], []
        return _REASONS[links[0] if links[0] != "slash" else links[-1]]

    def _one(self, one: Numeral) -> tuple[Fraction, list[Fraction]]:
        if one.point is one.comma or one.point is None or one.comma is None or one.point == one.comma:
            value = one.comma if one.point is None else one.point
            assert value is not None
            return value, []
        if self._decimal_mark() == ",":
            return one.comma, [one.point]  # models write decimal points in all languages
        return one.point, [] if self.language() == "." else [one.comma]

    def _scaled(self, end: int, value: Fraction, before: str) -> tuple[int, Fraction, list[Fraction]] | None:
        """The place after words of scale, the value with them, and other meanings; None if these depend on the language."""
        small = self._small
        letters = letter_scale_pattern().match(self._text, end)
        money = compiled(rf"{_CURRENCY}\s?-?$").search(before) is not None if letters else False
        if letters and (money or letters[1] != "m"):
            scaled = value * 10 ** letter_scale(letters[1])
            return letters.end(), scaled, [] if money and letters[1] != "m" else [value]
        part = caseless(_AND_A_PART).match(small, end)
        if part:
            value += Fraction(1, _PART[part["part"].lower()[:3]] if part["part"] else 2)
            end = part.end()
        of_part = caseless(_OF_PART).match(small, end)
        if of_part and not part:
            return of_part.end(), value / _PART[of_part["part"].lower()[:3]], [value]
        dozen = caseless(_DOZEN).match(small, end)
        if dozen:
            return dozen.end(), value * 12, [value]
        scale = scale_pattern().match(small, end)
        if scale:
            exponent = scale_of(scale, english=self.language() != ",")
            if exponent is None:
                return None
            return scale.end(), value * 10**exponent, [value]
        return end, value, []

    def _in_brackets(
        self, before: str, end: int, value: Fraction, other: list[Fraction]
    ) -> tuple[Fraction, list[Fraction]]:
        """A number in brackets is a negative one in accounts."""
        bracket = compiled(
            rf"(?P<lead>[^(]*)(?P<outer>{_CURRENCY}\s?)?\(\s?(?P<inner>{_CURRENCY}\s?)?$"
        ).search(before)
        if bracket is None or not compiled(r"\s?[$€£¥₽₹]?\s?\)").match(self._text, end):
            return value, other
        money = bracket["outer"] or bracket["inner"]
        direct = compiled(r"(?i)(?:^|[:=]|(?<!\w)(?:is|was|are|of|at|ist|war|est|es))\s?$").search(
            bracket["lead"]
        )
        if money and direct:
            return -value, [value, *other]
        return value, [*other, -value]

    def _in_date(self, token: Span[str]) -> bool:
        """Whether a day and a year stand beside a month: `4 May 1961`, `May 4, 1961`."""
        text = self._text
        if not self._may[_ANY_MONTH]:
            return False
        if is_year(token.value):
            before = text[max(0, token.start - 30) : token.start]
            return compiled(_BEFORE_YEAR).search(before) is not None
        if len(token.value) > 2:
            return False
        if compiled(_BEFORE_MONTH).match(text, token.end):
            return True
        return compiled(_AFTER_MONTH).search(text, max(0, token.start - 14), token.start) is not None


def shown_mark(text: str) -> Mark | None:
    """The decimal mark that the numbers of a plain text reveal; None if they reveal none, or both."""
    return _shown(numeral(text[start:end]) for start, end in written(text) if not _is_name(text, start))


def _shown(numerals: Iterable[Numeral | None]) -> Mark | None:
    marks = {shows for one in numerals if one is not None and (shows := one.shows)}
    return marks.pop() if len(marks) == 1 else None


def _is_name(text: str, start: int) -> bool:
    """Whether the digits at `start` belong to a name or an exponent: CO2, GPT-4, m^2, v1.0."""
    last = text[start - 1] if start else " "
    if last == " ":
        return False
    before = text[max(0, start - 6) : start]
    if last == "^" or before.endswith(("^-", "^+")):
        return compiled(r"[\d)]\s?\^[-+]?$").search(before) is None
    if last.isalpha() and not compiled(_CURRENCY + "$").search(before):
        return not compiled(r"(?<=\d)[xXeE]$").search(before)
    return last == "-" and len(before) > 1 and before[-2].isalpha()


def is_year(text: str) -> bool:
    """Whether a written number may be a year."""
    return len(text) == 4 and text.isdecimal() and text[0] in "12"


@cache
def _unit() -> re.Pattern[str]:
    """Matches wherever one of the patterns for scales, units and percent signs does: after most numbers none does."""
    scales = (letter_scale_pattern().pattern.lower(), scale_pattern().pattern)
    any_of = "|".join((_VARIABLE, _GOES_ON, _PERCENT, _AND_A_PART, _OF_PART, _DOZEN, *scales))
    return caseless(re.sub(r"\(\?P<\w+>", "(?:", any_of))


@cache
def _links() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _LINKS))
