"""Lists in which a reply judges each option: `A – False. … D – True.`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchwright.scorers._mcq.extraction import NOT_PART, caseless, compiled
from benchwright.scorers._mcq.texts import OptionTexts
from benchwright.scorers._mcq.view import ReplyText

_RIGHT = "✅✔✓☑"
_WRONG = "❌✗✘✖☒"
_HEAD = (
    r"[\s|•*+–—-]{0,6}(?:\d{1,2}[.)]\s)?(?i:(?:option|choice|statement)\s)?"
    rf"(?:[(\[]?(?P<letter>[A-Z]){NOT_PART}[)\].:|]{{0,2}}[\s|:–—=-]{{0,5}})?"
)
_VERDICT = r"[\s|:–—=.,(-]{0,6}(?:(?:this|it|that)\sis\s|is\s)?(?:(?P<right>true|correct|right)|(?P<untrue>false|untrue)|incorrect|wrong)(?![\w-])"
_WORDS = ("true", "false", "correct", "right", "wrong", *_RIGHT, *_WRONG)


class Judged(NamedTuple):
    """What a list says that judges each option."""

    start: int
    """Where the letter or the text stands that is judged otherwise than the others."""
    end: int
    letter: str
    list_end: int
    """Where the list ends."""


def odd_one_out(view: ReplyText, options: Mapping[str, str], texts: OptionTexts) -> Judged | None:
    """The only option that a list of all calls right, or the only one that it calls false: then the question asks for that one.

    One that is wrong where all others are correct is not chosen: a question may have several answers.
    """
    few = len(options) - 1
    if few < 2 or view.text.count("\n") < few or sum(map(view.lower.count, _WORDS)) <= few:
        return None
    verdicts: dict[str, tuple[bool, bool, int, int]] = {}
    start = end = 0
    for line in view.text.splitlines(keepends=True):
        judged = _judged(view, start, start + len(line.rstrip("\n")), options, texts)
        start += len(line)
        if judged is not None:
            letter, verdict, end = judged
            if letter in verdicts:
                return None
            verdicts[letter] = verdict
    if len(verdicts) < len(options):
        return None
    for letter, (right, untrue, at, stop) in verdicts.items():
        others = {verdict[0] for name, verdict in verdicts.items() if name != letter}
        if (right or untrue) and others == {not right}:
            return Judged(at, stop, letter, end)
    return None


def _judged(
    view: ReplyText, start: int, end: int, options: Mapping[str, str], texts: OptionTexts
) -> tuple[str, tuple[bool, bool, int, int], int] | None:
    """The option that a line judges; whether it calls it right, whether it calls it false, and where it names it; where that ends."""
    head = compiled(_HEAD).match(view.text, start, end)
    if head is None:
        return None
    letter, at, after = head["letter"], head.start("letter"), head.end()
    own = texts.own_at(view, after, letter) if letter in options else None
    if letter not in options:
        named = [(each, stop) for each in options if (stop := texts.own_at(view, after, each)) is not None]
        if len(named) != 1:
            return None
        (letter, own), at = named[0], after
    signs = {sign in _RIGHT for sign in view.text[start:end] if sign in _RIGHT or sign in _WRONG}
    stop = at + 1 if own is None or head["letter"] else own
    if len(signs) == 1:
        return letter, (signs.pop(), False, at, stop), end
    verdict = caseless(_VERDICT).match(view.text, after if own is None else own, end)
    if verdict is None or signs:
        return None
    return letter, (verdict["right"] is not None, verdict["untrue"] is not None, at, stop), verdict.end()
