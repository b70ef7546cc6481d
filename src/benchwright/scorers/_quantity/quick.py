"""A quick path for replies whose number is plain to see: `42`, `The answer is 42.`, `\\boxed{42}`, texts that end in `#### 42`,
sentences with one number and no word that makes the full reader doubt it, and texts whose last sentence states or concludes it.

It gives exactly what the full reader gives. To score `42` by `numeric` takes 15 µs of CPU instead of 145, a text that ends in
`#### 12` 24 instead of 127, a sentence with one number 19 instead of 90, a calculation in five sentences 44 instead of 206 (the target is
read as well). `BENCHWRIGHT_PLAIN=1` switches it off.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

from benchwright.core import FAST_PATHS
from benchwright.scorers._conditions import TIES
from benchwright.scorers._quantity import asides, expressions, passage, results
from benchwright.scorers._quantity.expressions import Number, is_year
from benchwright.scorers._quantity.patterns import caseless, compiled
from benchwright.scorers._quantity.plain import plain
from benchwright.scorers._quantity.results import BOLD, ReadNumber
from benchwright.scorers._quantity.words import decimal_mark, scale_pattern, spelled_pattern
from benchwright.scorers._replies import ANSWER_STEMS, RESULT_STEMS, is_plain, next_question
from benchwright.scorers._triggers import Triggers, words_of

_SHORT = 60
"""Characters of a whole reply that is read here."""
_LONG = 400
"""Characters of a text whose sentences are all read from their beginning."""
_LONGEST = 2_000
"""Characters of a text whose last sentence is read."""
_NUMBER = r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,2})?"
"""Nothing that could mean something else: no leading zeros, and too few decimals for a group of three."""
_GROUPED = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]{1,2})?"
"""The same with groups, which need a text in English."""


def read_quickly(text: str) -> ReadNumber | None:
    """The number of a plain reply; None if the full reader must read it."""
    if not FAST_PATHS:
        return None
    if len(text) < _SHORT:
        short = _short().fullmatch(text)
        if short:
            kind = short.lastgroup or ""
            return ReadNumber(_number(short[kind]), _RULES.get(kind, "last_number"))
    if (
        len(text) < _LONG
        and (only := _sentence().fullmatch(text))
        and _doubts().none_in(words_of(text.lower()))
    ):
        return ReadNumber(_number(only["number"]), "last_number")
    if (stated := _stated_last(text)) is not None:
        return ReadNumber(_number(stated), "stated")
    if (closing := _closing(text)) is not None:
        return ReadNumber(_number(closing), "last_number")
    end = text[-_SHORT:]
    kind = "marked" if "####" in end else "boxed" if "\\boxed{" in end and "####" not in text else ""
    if not kind or any(sign in text for sign in _NOT_PLAIN) or next_question(text) is not None:
        return None
    given = (_marked() if kind == "marked" else _boxed()).search(text, max(0, len(text) - _SHORT))
    return ReadNumber(_number(given[1]), kind) if given else None


def _number(digits: str) -> Number:
    """A number with a point or none."""
    whole, _, part = digits.replace(",", "").partition(".")
    return Number(Fraction(int(whole + part), 10 ** len(part)) if part else Fraction(int(whole)))


def _stated_last(text: str) -> str | None:
    """The number that the last sentence states, where nothing else is stated."""
    found = _statement().search(text, max(0, len(text) - 2 * _SHORT)) if "nswer" in text[-_SHORT:] else None
    if found is None or len(text) > _LONGEST or "#" in text or not is_plain(text):
        return None
    line = text.rfind("\n", 0, found.start()) + 1
    if text[line] in "*_(^ " or caseless(passage._SOURCE).match(text[line : line + 40].lower()):
        return None
    return found[1] if _statements().none_in(words_of(text[: found.start()].lower())) else None


def _closing(reply: str) -> str | None:
    """The number that the last sentence concludes, or gives as the total, where no word makes the full reader doubt it."""
    if reply[-1:] not in ".!\n" or len(reply) > _LONGEST or not reply.isascii():
        return None
    text = plain(reply) if "**" in reply else reply
    before = _boundary().match(text, max(0, len(text) - _LONG))
    if before is None and len(text) > _LONG:
        return None
    begin = before.end() if before else 0
    found = _last_sentence().match(text, begin)
    if (
        found is None
        or is_year(found["number"])
        or not is_plain(reply)
        or caseless(r"\*\*|[#_]").search(text)
    ):
        return None
    small = text.lower()
    words = words_of(small[begin:])
    if not _doubts().none_in(words) or not _elsewhere().none_in(words_of(small) if begin else words):
        return None
    if text.count(text[begin : found.end("last")]) > 1 or ("a)" in small and "b)" in small):
        return None
    line = text.rfind("\n", 0, begin) + 1
    if text[line] in "-*+ " or caseless(passage._SOURCE).match(small, line) or spelled_pattern().match(small):
        return None
    if not _opens().match(text) or (begin and caseless(passage._REMARK).match(small, begin)):
        return None
    if text is not reply and not _is_bold(reply, found["number"]):
        return None
    if "," in found["number"] and (_other_marks().search(text) or decimal_mark(text) != "."):
        return None
    return found["number"] if _is_result(text, small, begin, words, found) else None


def _is_bold(reply: str, number: str) -> bool:
    """Whether no other number is in bold print."""
    bold = [one for one in compiled(BOLD).findall(reply) if any(map(str.isdecimal, one)) and one[-1] != ":"]
    return not bold or (
        len(bold) == 1 and (only := _only().fullmatch(bold[0])) is not None and only[1] == number
    )


def _is_result(text: str, small: str, begin: int, words: list[str], found: re.Match[str]) -> bool:
    """Whether the full reader takes the last number of the last sentence for its result."""
    if found["sum"]:
        return not found["others"] and "same" not in words and _is_far(text, begin, found)
    at, lead = found.start("number"), found.end("others") if found["others"] else begin
    cue = caseless(results.CONCLUSION).search(small, max(lead, at - 80), at)
    if cue is None:
        is_total = not found["others"] and "=" not in text and caseless(results.SUM).search(small, begin)
        return bool(is_total) and _conclusions().none_in(words_of(small[:begin]))
    if cue[0] == "also" or any(
        caseless(pattern).search(small, at - 24, at) for pattern in (results.KNOWN, results._OPERATES)
    ):
        return False
    if found["others"]:
        return (
            "=" not in text and _is_only_result(small, begin, lead, at, cue[0]) and _beside().none_in(words)
        )
    equated = text.find("=", 0, begin)
    return equated < 0 or _conclusions().none_in(words_of(small[equated:begin]))


def _is_far(text: str, begin: int, found: re.Match[str]) -> bool:
    """Whether no number of a sum counts by itself: an amount of money that is nearly the result may be what was rounded."""
    if "$" not in found["sum"]:
        return True
    last, result = _number(found["operand"]).value, _number(found["number"]).value
    return "=" not in text[:begin] and abs(last - result) * 20 > max(last, result)


def _is_only_result(small: str, begin: int, lead: int, at: int, cue: str) -> bool:
    """Whether the last of several numbers of a sentence is concluded from the others: `12 boxes with 3 pens each, so 36 pens`."""
    return (
        cue in ("so", "therefore", "thus", "hence")
        and not caseless(results.PREMISE).match(small, begin)
        and not caseless(results._TOTAL_AFTER).match(small, lead, at)
        and not caseless(results._OF_KNOWN).search(small, max(0, at - 24), at)
        and not caseless(results._COMMENT).match(small[lead:at])
        and not caseless(results._ROUNDED).fullmatch(small, lead, at)
    )


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
def _statement() -> re.Pattern[str]:
    """The end of the sentence before, and a statement."""
    return re.compile(
        rf"[.!?]\s\n?(?:(?:So|Thus|Therefore|Hence),? )?(?:[Tt]he )?(?:[Ff]inal |[Cc]orrect )?[Aa]nswer(?: is|:) (-?{_NUMBER})\.?\n?\Z"
    )


@cache
def _statements() -> Triggers:
    """The words by which something else is stated, only checked, or tied to a case."""
    return Triggers((TIES, passage._CHECK), ANSWER_STEMS)


@cache
def _opens() -> re.Pattern[str]:
    """A word, perhaps after the number of a step."""
    return re.compile(r"(?:[0-9]{1,2}\. )?[A-Za-z]")


@cache
def _only() -> re.Pattern[str]:
    return re.compile(rf"\$?({_NUMBER})(?: [A-Za-z ]*)?[.!]?")


@cache
def _boundary() -> re.Pattern[str]:
    """Up to the last sentence."""
    return re.compile(r"(?s:.*)(?:[.!?][ ]|\n)(?=[A-Z])")


@cache
def _last_sentence() -> re.Pattern[str]:
    """One sentence in plain letters with numbers."""
    words = "[A-Za-z ,']*"
    return re.compile(
        rf"(?P<last>[A-Z]{words}(?:(?<=[ ])\$?(?P<others>{_NUMBER})(?=[ ,][^0-9]*[0-9])(?=[^=]*\Z){words})*"
        rf"(?<=[ ])(?P<sum>\$?{_NUMBER}(?:[ ]?[-+*x][ ]?\$?(?P<operand>{_NUMBER}))+[ ]?=[ ]?)?\$?(?P<number>{_GROUPED}|{_NUMBER})(?:[ ][a-z]{words}(?<=[a-z]))?)[.!]\n?\Z"
    )


@cache
def _other_marks() -> re.Pattern[str]:
    """A comma that is not between groups of digits, or a point that may be."""
    return re.compile(r"[0-9],[0-9]{1,2}(?![0-9])|[0-9],[0-9]{4}|[0-9]\.[0-9]{3}(?![0-9])")


@cache
def _elsewhere() -> Triggers:
    """The words of any sentence by which the full reader takes something else than the number of the last one."""
    patterns = (
        TIES,
        passage._CHECK,
        passage._REFUSES,
        passage._CONFLICT,
        passage._OFFER,
        passage._MISSING,
        passage._ATTRIBUTED,
    )
    return Triggers(patterns, (*ANSWER_STEMS, *RESULT_STEMS, "depend"))


@cache
def _conclusions() -> Triggers:
    return Triggers((results.CONCLUSION,))


@cache
def _beside() -> Triggers:
    """The words by which it takes one of several numbers of a sentence for a reason, a name or another result."""
    return Triggers((results._REASON, results._SHARE, asides._NAMED, asides._EXAMPLE, r"(?<!\w)same(?!\w)"))


@cache
def _doubts() -> Triggers:
    """The words by which the full reader takes a text with one number for anything else than that number."""
    signs = r"\s?(?:%|"  # signs are no part of the texts that are read here
    patterns = (
        asides._NOT, asides._REFERENCE, asides.COMPARED, asides._THAN, asides._DIGITS, asides._DENIES, asides._NOT_ENOUGH,
        asides._NEAREST, asides._EFFORT, asides._GUESS, asides._EXAMPLE, passage._CHECK, passage._NOT_NEEDED, passage._MISTAKE, asides._WOULD_BE, asides._THAN_ONE, passage._OTHERS,
        passage._SUPPOSED, passage._NAMED_WRONG, passage._DECLINE, passage._UNDETERMINED, passage._NO_VALUE, passage._REFUSES, passage._CONFLICT, passage._OFFER, results._PART_OF, expressions._AND_A_PART,
        expressions._OF_PART, expressions._DOZEN, expressions._MONTH, scale_pattern().pattern, spelled_pattern().pattern,
        expressions._PERCENT.replace(signs, r"\s(?:"), expressions._BOUND.replace("|[<>≤≥]", ""),
        r"(?<!\w)(?:am|pm|o'clock|uhr|per|pro|je|take|plus|margin|minus|negative?|moins|menos)(?!\w)",
    )  # fmt: skip
    return Triggers(patterns, (*ANSWER_STEMS, *RESULT_STEMS, "depend"))
