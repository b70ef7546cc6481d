"""Whether an answer says yes or no: the documented rules."""

from __future__ import annotations

import re

from benchwright.scorers._input import ScorerInput, Scores

YES = frozenset({"yes", "true", "correct", "right", "yeah", "yep"})
NO = frozenset({"no", "false", "incorrect", "wrong", "nope", "nah"})
_WORD = re.compile(r"[a-z]+")
_WORDS_READ = 20


def boolean_yesno(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the first yes- or no-word among the response's first 20 words.

    English only, and negation is not understood: "not correct" is a yes. See `boolean_yesno_strict`.
    The target may be a bool, 1 or 0, or such a word; anything else makes no answer correct.

    >>> boolean_yesno(ScorerInput("Yep, it does.", True, {}))
    {'correct': True, 'parsed': True}
    """
    words = _WORD.findall((sample.response or "").lower())[:_WORDS_READ]
    found = next((word in YES for word in words if word in YES or word in NO), None)
    wanted = target_verdict(sample.target)
    return {"correct": found is not None and found == wanted, "parsed": found is not None}


def target_verdict(target: object) -> bool | None:
    """What the target says; None when it is neither. A number is cut to an integer: 1.9 is yes."""
    if isinstance(target, int | float) and target - target == 0:  # NaN and the infinities are read as text
        return {1: True, 0: False}.get(int(target))
    word = str(target).strip().lower()
    if word in YES or word == "1":
        return True
    if word in NO or word == "0":
        return False
    return None
