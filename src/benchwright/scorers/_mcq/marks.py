"""Options that a reply lists one below the other, exactly one of them marked as right.

A) 2258: too small
B) 2263: correct ✓
C) 2281: too large
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from benchwright.scorers._mcq.extraction import ChoiceRule
from benchwright.scorers._mcq.rules import RULES
from benchwright.scorers._mcq.texts import OptionTexts
from benchwright.scorers._mcq.view import View

_ITEM = r"(?m:^)[ \-•·*]{0,4}(?:(?i:option|choice)\s|选项\s?)?[(\[]?(?P<letter>[A-Z])(?:[)\].:,]{1,2}|(?=\s?[✅✔✓☑❌✗✘]))\s?"
_RIGHT = (
    r"\s?[)\].,;:(–—-]{0,3}\s?(?:[✅✔✓☑]|(?i:this\sis\s)?(?i:correct|right)(?![\w-])(?=\s?[✅✔✓☑)\].,;!]|\s?\n|\s?$)"
    r"|(?:正确|正確)(?=\s?[).,;!]|\s?\n|\s?$))"
)
_LISTED = 3
"""With fewer, one right and one wrong mark may answer which of two is wrong."""


def marked_option(
    view: View, options: Mapping[str, str], texts: OptionTexts
) -> tuple[int, str, ChoiceRule] | None:
    """Place and letter of the only option in a list that is marked as right."""
    listed: set[str] = set()
    right: dict[str, int] = {}
    for item in _item().finditer(view.text):
        letter = item["letter"]
        if letter not in options:
            continue
        listed.add(letter)
        own = texts.own_at(view, item.end(), letter)
        if _right().match(view.text, item.end() if own is None else own):
            right[letter] = item.start("letter")
    if len(right) != 1 or len(listed) < _LISTED:
        return None
    ((letter, at),) = right.items()
    return at, letter, RULES["marked"]


@cache
def _item() -> re.Pattern[str]:
    return re.compile(_ITEM)


@cache
def _right() -> re.Pattern[str]:
    return re.compile(_RIGHT)
