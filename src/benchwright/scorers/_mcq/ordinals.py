"""Finds options that a reply names by their place in the list: `the third one`, `the last option`, `number 2 on the list`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchwright.scorers._mcq.extraction import STOP, caseless
from benchwright.scorers._mcq.rules import STATEMENT_RULES
from benchwright.scorers._mcq.sayers import reported
from benchwright.scorers._mcq.statements import VERDICT, asserted, refuted
from benchwright.scorers._mcq.view import ReplyText
from benchwright.scorers._replies import Span

_WORDS: tuple[str, ...] = (
    r"first|1st|erste[nrs]?|première?|premier|primer[oa]?",
    r"second|2nd|zweite[nrs]?|deuxième|seconde?|segund[oa]",
    r"third|3rd|dritte[nrs]?|troisième|tercer[oa]?",
    r"fourth|4th|vierte[nrs]?|quatrième|cuart[oa]",
    r"fifth|5th|fünfte[nrs]?|cinquième|quint[oa]",
)
_LAST = r"last|final|letzte[nrs]?|dernière?|dernier|últim[oa]"
_COUNTED = "|".join(f"(?P<n{at}>{words})" for at, words in enumerate(_WORDS))
_BARE = "|".join(f"(?P<bare{at}>{words})" for at, words in enumerate(_WORDS))
_DIGITS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_THING = r"(?:options?|choice|answer|alternative|one|statement|item|entry|variante|antwort(?:möglichkeit)?|aussage|proposition|réponse|choix|opción|respuesta|alternativa|möglichkeit)"
_OF = r"(?:(?:of|on|in|from)\s(?:these|those|them|the\s(?:four|five|three|list|listed|given|options|choices|above)(?:\s(?:options|choices|answers|list))?)|listed|given)"
_ORDINAL = (
    rf"(?<![^\W_])(?:(?:the|der|die|das|den|la|le|el|les)\s)?(?:(?:very\s)?(?:{_COUNTED}|(?P<last>{_LAST}))\s(?:{_THING}(?:\s{_OF})?|{_OF})"
    rf"|(?:the|der|die|das|den|la|le|el)\s(?:{_BARE}|(?P<bare_last>{_LAST}))(?=\s?(?:[.!]|\n|$))"
    rf"|(?:(?:(?:option|choice|answer)\s)?(?:number|no\.|nr\.|nummer|numéro|número)\s?|(?:option|choice)\s)(?P<digit>[1-9]|one|two|three|four|five)(?:\s{_OF})?)(?![^\W_])"
)
_OPENS = r"(?:^|[.!\n:]|(?<![^\W_])(?:but|rather|sondern|mais|sino))\s?$"


def stated_ordinals(view: ReplyText, options: Mapping[str, str]) -> Iterator[Span[str]]:
    """The ordinals that a reply gives as its answer: after words for one, called right, or by themselves."""
    if not any(options.values()):  # the list is unknown, and so is its end
        return
    found = [*_ordinals(view, options)]
    if not found:
        return
    ends = _leads(view)
    for one in found:
        text = view.lower
        stops = caseless(STOP).match(text, one.end) is not None
        opens = caseless(_OPENS).search(text, max(0, one.start - 10), one.start) is not None
        led = one.start in ends and stops
        right = caseless(VERDICT).match(view.text, one.end) is not None
        if not (led or right or (opens and stops)):
            continue
        if refuted(view, one.end) or not asserted(view, one.start) or reported(view, one.start, one.end):
            continue
        yield one


def _ordinals(view: ReplyText, options: Mapping[str, str]) -> Iterator[Span[str]]:
    letters = list(options)
    for found in view.matches(_ORDINAL) if view.may(_ORDINAL) else ():
        if found["last"] or found["bare_last"]:
            place = len(letters) - 1
        elif found["digit"]:
            digit = found["digit"].lower()
            if digit in options.values():
                continue
            place = (_DIGITS.get(digit) or int(digit)) - 1
        else:
            place = next(at for at in range(len(_WORDS)) if found[f"n{at}"] or found[f"bare{at}"])
        if place < len(letters):
            yield Span(found.start(), found.end(), letters[place])


def _leads(view: ReplyText) -> frozenset[int]:
    """Places that follow words for an answer; what may be between, such as "the", may be the ordinal's own."""
    ends: set[int] = set()
    for rule in STATEMENT_RULES:
        for cue in rule.found(view):
            if asserted(view, cue.start()):
                ends.update(range(cue.start() + 1, cue.end() + 2))
    return frozenset(ends)
