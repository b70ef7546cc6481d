"""Finds the number that an answer gives, by the documented rules and by strict ones that compare values."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction

from benchwright.core import Row
from benchwright.scorers._quantity.asked import read_asked
from benchwright.scorers._quantity.expressions import Number
from benchwright.scorers._quantity.numerals import Mark
from benchwright.scorers._quantity.reader import decimal_mark_of, read_number
from benchwright.scorers._scorer import AnswerScores, ScorerInput, Scores, answer_scores, by_name

_NUMBER = r"(-?\d[\d,]*(?:\.\d+)?)"
_ANY = re.compile(_NUMBER)
_MARKED = re.compile(r"####\s*" + _NUMBER)
_FLOAT_NOISE = Fraction(1, 10**12)
"""The share by which binary arithmetic may move a decimal number: 0.1 + 0.2 is 0.30000000000000004."""
_BOXED = re.compile(r"\\boxed\{\s*" + _NUMBER + r"\s*\}")


@by_name
def gsm8k_answer(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the number the response gives, compared as text with the target's.

    The first `#### <number>` counts, else the first `\\boxed{<number>}`, else the last number anywhere.
    Commas are dropped wherever they are and zeros at the end of a fraction go; nothing else is
    normalised: `007` is not `7`. `gsm8k_answer_strict` compares values and reads more carefully.

    >>> gsm8k_answer(ScorerInput("So 3 * 400 = 1,200.00 in all", "#### 1200", {}))
    {'correct': True, 'parsed': True}
    """
    found = _from_response(sample.response or "")
    expected = _from_target(sample.target)
    return answer_scores(found, expected)


def _from_response(text: str) -> str | None:
    match = _MARKED.search(text) or _BOXED.search(text)
    return _normalise(match[1]) if match else _last(text)


def _from_target(target: object) -> str | None:
    if isinstance(target, int | float):
        text = str(target)
        return _normalise(text) if _ANY.fullmatch(text) else None
    text = str(target) if target else ""
    match = _MARKED.search(text)
    return _normalise(match[1]) if match else _last(text)


def _last(text: str) -> str | None:
    numbers = _ANY.findall(text)
    return _normalise(numbers[-1]) if numbers else None


def _normalise(number: str) -> str:
    number = number.replace(",", "")
    return number.rstrip("0").rstrip(".") if "." in number else number


@by_name
def gsm8k_answer_strict(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the number the response gives, equal in value to the target's.

    The last `#### <number>` counts, else the last `\\boxed{…}` with a number, else the last "answer is
    <number>", else the number that opens or concludes the response. A number is read as a whole or not at all: `1,200` and
    `1.2e3` are 1200 and `3/4` is 0.75, but `1,2,3`, `10-5` and dates are unparsed; `007`, `7` and `7.0` are equal. The
    target, if it is text, is read in the same way.

    >>> gsm8k_answer_strict(ScorerInput("#### 12. No: #### 1,200", 1200.0, {}))
    {'correct': True, 'parsed': True}
    """
    expected = target_number(sample.target)
    found = read_asked(sample.response or "", target_mark(sample.target), sample.metadata)
    found = found._replace(number=in_asked_scale(found.number, sample.metadata))
    right = matches(found.number, expected) if found.number is not None and expected is not None else False
    parsed = found.number is not None and right is not None
    return AnswerScores(
        {"correct": right is True, "parsed": parsed},
        plain_number(found.number) if parsed and found.number is not None else None,
    )


def target_number(target: object) -> Number | None:
    """The number in an expected answer, if there is one."""
    if isinstance(target, bool) or target is None:
        return None
    if isinstance(target, int):
        return Number(Fraction(target))
    if isinstance(target, float):
        value = Decimal(str(target))
        return Number(Fraction(value)) if value.is_finite() else None
    text = str(target)
    return Number(Fraction(int(text))) if _is_plain(text) else read_number(text).number


def _is_plain(text: str) -> bool:
    """Whether a text is a few digits, which mean the same in every notation."""
    return len(text) < 16 and text.isdecimal() and text.isascii()


_ASKED_SCALES = {
    r"thousands?|tausend|milliers?|miles|тысяч\w*": 1_000,
    r"millions?|millionen|millones|milioni|milhões|миллион\w*": 10**6,
    r"billions?|milliarden|milliards|миллиард\w*": 10**9,
    r"dozens?|dutzend|douzaines?|docenas?|дюжин\w*": 12,
    r"hundreds?|hundert": 100,
}
"""Words of a question that ask for a number in these terms, and how much each means."""

_IN_SCALE = r"(?:\(|(?<!\w)(?:in|en|em|how\smany|wie\sviele|combien\sde|cuánt[oa]s)\s)(?:(?:(?:the\s)?nearest|units\sof|terms\sof|whole|full|us|usd|eur|gbp|us\$|[$€£¥])\s?){0,2}"


def in_asked_scale(number: Number | None, row: Row | None) -> Number | None:
    """A number, with what it is in terms that the question asks for: `25 dozen` is 25 if it asks how many dozens, `$4.15M` is 4.15 if
    it asks for millions.

    >>> in_asked_scale(Number(Fraction(300), other=(Fraction(25),)), {"question": "How many dozens?"}).same
    (Fraction(25, 1),)
    """
    question = (row or {}).get("question")
    if number is None or not isinstance(question, str) or not (number.other or abs(number.value) >= 1_000):
        return number
    for words, scale in _ASKED_SCALES.items():
        without = number.value / scale
        written_out = scale >= 1_000 and abs(number.value) >= scale  # nobody has 4,150,000 millions
        if (written_out or without in number.other) and re.search(
            rf"(?i){_IN_SCALE}(?:{words})(?!\w)", question
        ):
            others = tuple(one for one in number.other if one != without)
            return number._replace(same=(*number.same, without), other=others)
    return number


def target_mark(target: object) -> Mark | None:
    """The decimal mark that an expected answer reveals, if it reveals one."""
    return decimal_mark_of(target) if isinstance(target, str) and not _is_plain(target) else None


def matches(found: Number, expected: Number, tolerance: Fraction = Fraction(0)) -> bool | None:
    """Whether two numbers are equal, within a share of the expected one; None if that depends on what a notation means.

    `20 %` equals 0.2 and, as an answer in percent, 20. Whether `0.5 %` is meant by 0.5 is not clear.

    >>> matches(Number(Fraction(20), percent=True), Number(Fraction(1, 5)))
    True
    >>> matches(Number(Fraction(1234), other=(Fraction(1234, 1000),)), Number(Fraction(1234, 1000))) is None
    True
    """
    verdicts = [
        _equal(ours, found.percent, theirs, expected.percent, tolerance)
        for ours in (found.value, *found.same)
        for theirs in (expected.value, *expected.same)
    ]
    if True in verdicts:
        return True
    doubtful = (
        _equal(ours, found.percent, theirs, expected.percent, tolerance) is not False
        for ours in (found.value, *found.same, *found.other)
        for theirs in (expected.value, *expected.same, *expected.other)
    )
    return None if None in verdicts or any(doubtful) else False


def _equal(
    found: Fraction, percent: bool, expected: Fraction, in_percent: bool, tolerance: Fraction
) -> bool | None:
    if percent == in_percent:
        return _near(found, expected, tolerance)
    if _near(found / 100, expected, tolerance) if percent else _near(found * 100, expected, tolerance):
        return True
    if not _near(found, expected, tolerance):
        return False
    return True if abs(expected) > 1 else None


def _near(found: Fraction, expected: Fraction, tolerance: Fraction) -> bool:
    if found == expected:
        return True
    if tolerance < _FLOAT_NOISE and (found.denominator > 1 or expected.denominator > 1):
        tolerance = _FLOAT_NOISE  # whole numbers have none
    return tolerance > 0 and abs(found - expected) <= tolerance * abs(expected)


def plain_number(number: Number) -> str:
    """A number as text, the same for equal numbers: 7 for 7.0 and 007, 1/3 where no decimals are enough.

    >>> plain_number(Number(Fraction(7))), plain_number(Number(Fraction(-1, 2))), plain_number(Number(Fraction(1, 3)))
    ('7', '-0.5', '1/3')
    """
    value = number.value
    sign = "%" if number.percent else ""
    if value.denominator == 1 and abs(value.numerator) < 10**20:
        return f"{value.numerator}{sign}"
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0 and rest > 1:
            rest //= prime
    if rest != 1:
        return f"{value.numerator}/{value.denominator}{sign}"
    with localcontext() as context:
        context.prec = 6_000
        shortest = (Decimal(value.numerator) / Decimal(value.denominator)).normalize()
    if not shortest:
        return f"0{sign}"
    return (f"{shortest:f}" if -20 < shortest.adjusted() < 20 else str(shortest)) + sign
