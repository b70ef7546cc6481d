"""A quick path for replies whose number is plain to see: `42`, `The answer is 42.`, `\\boxed{42}`, texts that end in `#### 42`, and
sentences with one number and no word that makes the full reader doubt it.

It gives exactly what the full reader gives. To score `42` by `numeric` takes 15 µs of CPU instead of 145, a text that ends in
`#### 12` 24 instead of 127, a sentence with one number 19 instead of 90 (the target is read as well). `BENCHWRIGHT_PLAIN=1`
switches it off.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

from benchwright.core import FAST_PATHS
from benchwright.scorers._quantity import asides, expressions, passage, results
from benchwright.scorers._quantity.expressions import Number
from benchwright.scorers._quantity.results import ReadNumber
from benchwright.scorers._quantity.words import scale_pattern, spelled_pattern
from benchwright.scorers._replies import ANSWER_STEMS, RESULT_STEMS, next_question
from benchwright.scorers._triggers import Triggers, words_of

_SHORT = 60
"""Characters of a whole reply that is read here."""
_LONG = 400
"""Characters of a text whose sentences are all read from their beginning."""
_NUMBER = r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,2})?"
"""Nothing that could mean something else: no leading zeros, and too few decimals for a group of three."""


def read_quickly(text: str) -> ReadNumber | None:
    """The number of a plain reply; None if the full reader must read it."""
    if not FAST_PATHS:
        return None
    if len(text) < _SHORT:
        short = _short().fullmatch(text)
        if short:
            kind = short.lastgroup or ""
            return ReadNumber(Number(Fraction(short[kind])), _RULES.get(kind, "last_number"))
    if (
        len(text) < _LONG
        and (only := _sentence().fullmatch(text))
        and _doubts().none_in(words_of(text.lower()))
    ):
        return ReadNumber(Number(Fraction(only["number"])), "last_number")
    end = text[-_SHORT:]
    kind = "marked" if "####" in end else "boxed" if "\\boxed{" in end and "####" not in text else ""
    if not kind or any(sign in text for sign in _NOT_PLAIN) or next_question(text) is not None:
        return None
    given = (_marked() if kind == "marked" else _boxed()).search(text, max(0, len(text) - _SHORT))
    return ReadNumber(Number(Fraction(given[1])), kind) if given else None


_RULES = {"stated": "stated", "boxed": "boxed"}
_NOT_PLAIN = ("```", "<", "◁", "[T", "[t", "[/")
"""What a program or reasoning, which are not read, begins with."""


@cache
def _short() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<bare>-?{_NUMBER})\.?\n?"
        rf"|(?:[Tt]he\s|[Ff]inal\s|[Tt]he\sfinal\s)?[Aa]nswer(?:\sis|:|\sis:)\s(?P<stated>-?{_NUMBER})\.?\n?"
        rf"|\*\*(?P<bold>{_NUMBER})\*\*\.?\n?|\$(?P<money>{_NUMBER})\.?\n?"
        rf"|\$?\\boxed\{{(?P<boxed>-?{_NUMBER})\}}\$?\.?\n?"
    )


@cache
def _marked() -> re.Pattern[str]:
    return re.compile(rf"(?<![^\n])\#\#\#\#\s(-?{_NUMBER})\n?\Z")


@cache
def _boxed() -> re.Pattern[str]:
    return re.compile(rf"\\boxed\{{(-?{_NUMBER})\}}[\s$.)\\\]]{{0,8}}\Z")


@cache
def _sentence() -> re.Pattern[str]:
    """One sentence in plain letters with one number."""
    return re.compile(
        rf"[A-Z][A-Za-z ,']*[ ]\$?(?P<number>{_NUMBER})(?:[ ][a-z][A-Za-z ,']*(?<=[a-z])[.!]|[.!]?)\n?"
    )


@cache
def _doubts() -> Triggers:
    """The words by which the full reader takes a text with one number for anything else than that number."""
    signs = r"\s?(?:%|"  # signs are no part of the texts that are read here
    patterns = (
        asides._NOT, asides._REFERENCE, asides._COMPARED, asides._THAN, asides._DIGITS, asides._DENIES, asides._NOT_ENOUGH,
        asides._NEAREST, asides._EFFORT, asides._GUESS, passage._CHECK, passage._NOT_NEEDED, passage._MISTAKE, asides._WOULD_BE, asides._THAN_ONE, passage._OTHERS,
        passage._SUPPOSED, passage._NAMED_WRONG, passage._DECLINE, passage._UNDETERMINED, passage._NO_VALUE, passage._REFUSES, results._PART_OF, expressions._AND_A_PART,
        expressions._OF_PART, expressions._DOZEN, expressions._MONTH, scale_pattern().pattern, spelled_pattern().pattern,
        expressions._PERCENT.replace(signs, r"\s(?:"), expressions._BOUND.replace("|[<>≤≥]", ""),
        r"(?<!\w)(?:per|pro|je|take|plus|margin|minus|negative?|moins|menos)(?!\w)",
    )  # fmt: skip
    return Triggers(patterns, (*ANSWER_STEMS, *RESULT_STEMS, "depend"))
