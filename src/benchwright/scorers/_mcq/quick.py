"""A quick path for replies that name one option in plain words: `The answer is B.`, `**B) London**`, `B. London, because …`; and
for discussions that end in `Therefore, the correct answer is B.` or `so option B is correct.`

It gives exactly what the cascade gives, because nothing in the rest of such a reply can name an option: it contains no other letter by
itself and no option's text. `The answer is B.` takes 10 µs of CPU instead of 102, a letter with a reason 22 instead of 115, a discussion 12 instead of 463.
`BENCHWRIGHT_PLAIN=1` switches it off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from benchwright.core import FAST_PATHS
from benchwright.scorers._conditions import may_depend
from benchwright.scorers._mcq.extraction import Extraction, caseless
from benchwright.scorers._mcq.rules import RULES
from benchwright.scorers._mcq.sayers import ABSTAINS
from benchwright.scorers._mcq.statements import DENIAL, REFUTED, SINGLED, UNSAID, VERDICT
from benchwright.scorers._mcq.texts import COMMON_WORDS, FUNCTION_WORDS, LETTER_INSIDE
from benchwright.scorers._replies import is_plain
from benchwright.scorers._triggers import Triggers, may_match, words_of

_LONG = 1_000
_LONGEST = 20_000
"""Characters of a reply whose end is read, and of an option; views contain them all."""
_TAIL = 120
_AFTER = rf"{ABSTAINS}|{REFUTED}|{DENIAL}|{VERDICT}"
"""What may be said of an option after it is named."""


def choose_quickly(text: str, options: Mapping[str, str]) -> Extraction | None:
    """The option that a plain reply names; None if the cascade must read it."""
    if not FAST_PATHS or len(text) > _LONGEST:
        return None
    found = _shapes().fullmatch(text) if len(text) <= _LONG else None
    if found is None:
        short = len(text) <= _TAIL and text[:2] in ("It", "Th")
        return (_named(text, options) if short else None) or _ending(text, options)
    letter = found["stated"] or found["opens"]
    if letter not in options:
        return None
    own = _plain(options[letter])
    lower = text.lower()
    if own is None or any(
        other is None or (other in lower and other != own) for other in map(_plain, options.values())
    ):
        return None
    named = found["named"] or found["reason"] or ""
    begin = len(own) if named[: len(own)].lower() == own else 0
    rest = named[begin:]
    if own in rest.lower() or rest[:1].isalnum():
        return None
    if found["stated"]:
        if rest or caseless(REFUTED).match(lower, found.end("stated")):
            return None
        return Extraction(letter, "pattern", "answer", *found.span("stated"))
    at = found.end("reason") - len(rest)
    if any(
        caseless(pattern).match(text, place)
        for pattern in (VERDICT, DENIAL, SINGLED)
        for place in (at, found.end("opens"))
    ):
        return None
    if (not begin and _denied().match(text, found.end("opens"))) or may_match(ABSTAINS, lower):
        return None
    return Extraction(letter, "pattern", "opening", *found.span("opens"))


def _named(text: str, options: Mapping[str, str]) -> Extraction | None:
    """The option whose text is all that a sentence gives: `It must be London.`"""
    found = _sentence().fullmatch(text)
    if found is None:
        return None
    named, others = found["named"].lower(), [_plain(one) for one in options.values()]
    if (
        others.count(named) != 1
        or named in COMMON_WORDS | FUNCTION_WORDS
        or may_match(_AFTER, f" {named}")
        or may_depend(named)
    ):
        return None
    if any(other is None or (other != named and (other in named or named in other)) for other in others):
        return None
    cue = RULES["it_is"].compiled.match(text)
    if cue is None or cue.end() != found.start("named") - 1 or not all(map(_has_no_letter, options.values())):
        return None
    return Extraction([*options][others.index(named)], "option_text", "it_is", *found.span("named"))


def _ending(text: str, options: Mapping[str, str]) -> Extraction | None:
    """The option that the last sentence of a discussion states: nothing follows that could take it back."""
    tail = text[-_TAIL:]
    if tail.endswith(_CALLED_RIGHT):
        return _called_right(text, options)
    if "nswer" not in tail:
        return None
    found = _ends().search(text, max(0, len(text) - _TAIL))
    if found is None or found["stated"] not in options or not is_plain(text):
        return None
    if not all(map(_has_no_letter, options.values())) or may_depend(text.lower().replace("\u2019", "'")):
        return None
    named = (found["named"] or "").lower()
    if named and (named != _plain(options[found["stated"]]) or may_match(_AFTER, f" {named}")):
        return None
    return Extraction(found["stated"], "pattern", "answer", *found.span("stated"))


def _called_right(text: str, options: Mapping[str, str]) -> Extraction | None:
    """The option that the last sentence calls right: `It lies in Italy, so option C is correct.`"""
    found = None if "\n" in text else _verdict().search(text, max(0, len(text) - _TAIL))
    if found is None or found["stated"] not in options or not is_plain(text):
        return None
    lower = text.lower().replace("\u2019", "'")
    said = lower[found.start() :]
    if may_depend(lower) or not _turns().none_in(words_of(said)):
        return None
    if not all(_has_no_letter(one) and str(one).strip().lower() not in said for one in options.values()):
        return None
    return Extraction(found["stated"], "pattern", "verdict", *found.span("stated"))


@lru_cache(maxsize=2_048)
def _has_no_letter(option: object) -> bool:
    """Whether no part of an option's text can be taken for a letter, nor a letter for a part of it."""
    text = str(option).lower()
    return text.isascii() and len(text) <= _LONGEST and not caseless(LETTER_INSIDE).search(text)


@lru_cache(maxsize=2_048)
def _plain(option: object) -> str | None:
    """The text of an option in lower case, if it is made of words; None if markup may be part of it."""
    text = str(option).strip().lower()
    return text if _words().fullmatch(text) else None


@cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[a-z][a-z]+(?:[ -][a-z0-9]+)*")


@cache
def _denied() -> re.Pattern[str]:
    return re.compile(r"(?i)[).:]\s(?:wrong|incorrect|false|not|no)\b")


@cache
def _sentence() -> re.Pattern[str]:
    return re.compile(r"(?:It|This|That)(?: is| was| must be|'s) (?P<named>[A-Za-z][A-Za-z0-9 -]+)[.!]?\n?")


@cache
def _ends() -> re.Pattern[str]:
    """The end of the sentence before, and a statement, perhaps in bold."""
    return re.compile(
        r"[.!?]\s\n?(?:\*\*)?(?:(?:So|Thus|Therefore|Hence),? )?(?:[Tt]he )?(?:(?:[Cc]orrect|[Ff]inal|[Bb]est|[Rr]ight) )?[Aa]nswer(?: is|:|:\*\*)"
        r" (?P<bold>\*\*)?\(?(?P<stated>[A-J])(?:\)?|[).:] (?P<named>[A-Za-z0-9 -]+))(?(bold)\*\*)\.?(?:\*\*)?\n?\Z"
    )


_CALLED_RIGHT = tuple(
    f" is {right}{noun}{stop}"
    for right in ("correct", "right", "the correct", "the right", "the best")
    for noun in ("", " answer", " option", " choice", " one")
    for stop in (".", "")
)


@cache
def _verdict() -> re.Pattern[str]:
    """The end of the sentence before, and one in which nothing else is named."""
    word = r"(?:[A-Z]?[a-z]{2,}|[A-Z][a-z]|a(?= [a-z]{2})|[0-9]+)"
    return re.compile(
        rf"[.!?] (?:{word}(?:, |[ -]))*+(?<!is, .{{7}})(?<! is .{{7}})(?<=[Oo]ption |[Cc]hoice |[Aa]nswer )(?P<stated>[A-J]) is [a-z]+(?: [a-z]+){{0,2}}\.?\Z"
    )


@cache
def _turns() -> Triggers:
    """The words by which the cascade takes such a sentence for anything else."""
    return Triggers(UNSAID, ("when", "wenn", "quand", "cuando", "under", "for"))


@cache
def _shapes() -> re.Pattern[str]:
    named = r"(?:\)|[).:] (?P<named>[A-Za-z0-9 -]+?))?"
    # No letter by itself but the article, and no sign that means something.
    word = r"(?:[A-Z]?[a-z]{2,}|a(?= [a-z]{2})|[0-9]+)"
    return re.compile(
        rf"(?:[Tt]he )?(?:(?:correct|final|best|right) )?[Aa]nswer(?: is|:) (?P<bold>\*\*)?\(?(?P<stated>[A-J]){named}(?(bold)\*\*)\.?\n?"
        rf"|(?P<opens>[A-J])[).:] (?P<reason>{word}(?:(?:, |\. |[ -]){word})*)\.\n?"
    )
