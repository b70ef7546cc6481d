"""Finds the option letter that an answer names, by the documented rules and by strict ones."""

from __future__ import annotations

import re
from string import ascii_uppercase

from benchwright.core import Row
from benchwright.scorers._mcq.cascade import extract_choice
from benchwright.scorers._scorer import ScorerInput, Scores, answer_scores, by_name

_LETTERS = ascii_uppercase[:10]
"""Options that can be named: A to J."""

_WINDOW_CHARS = 200
_RULES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\\boxed\{\s*([A-Ja-j])\s*\}",
        r"(?i)answer\s+is\s*[:\-]?\s*\(?\s*([A-J])\b",
        r"(?i)\boption\s*\(?([A-J])\)",
        r"(?i)\A\(?([A-J])[).:]",
        r"\b([A-Ja-j])\b",
    )
)


@by_name
def mcq_letter_extract(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the letter A to J that the start of the response names, against the target.

    Only the first 200 characters are read. These are tried in order, with the leftmost match of each: `\\boxed{B}`,
    `answer is B`, `option (B)`, `B)` at the very start, and finally any letter by itself, so that
    "I think it is B" gives I. `mcq_letter_strict` avoids that mistake.

    The target may be a letter, an index from 0, or the text of the row's field `a`, `b`, `c` or `d`.
    An empty response, or `None`, is unparsed.

    >>> mcq_letter_extract(ScorerInput("The answer is (C).", 2, {}))
    {'correct': True, 'parsed': True}
    """
    found = _first_letter(sample.response)
    expected = _target_letter(sample)  # also for an unparsed response: a bad target is always reported
    return answer_scores(found, expected)


def _first_letter(response: str | None) -> str | None:
    window = response.strip()[:_WINDOW_CHARS] if response else ""
    for rule in _RULES:
        match = rule.search(window)
        if match:
            return match[1].upper()
    return None


def _target_letter(sample: ScorerInput) -> str | None:
    target = sample.target
    if isinstance(target, int):
        return _letter_at(int(target))
    if not isinstance(target, str):
        return None
    text = target.strip()
    if text.isdigit():
        return _letter_at(int(text))  # "²" is a digit but no integer: the ValueError makes the sample fail
    letter = text[:1].upper()
    if letter and letter in _LETTERS and len(text) <= 2:  # "B", "b", "B)"
        return letter
    lowered = text.lower()
    for key in "abcd":
        choice = sample.metadata.get(key)
        if isinstance(choice, str) and choice.strip().lower() == lowered:
            return key.upper()
    return None


def _letter_at(index: int) -> str | None:
    """The letter of a 0-based index, if there is one."""
    return _LETTERS[index] if 0 <= index < len(_LETTERS) else None


_LONE_LETTER = re.compile(r"\(?([A-Ja-j])\)?[.:]?")


@by_name
def mcq_letter_strict(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the option letter A to J that the response gives as its answer.

    The response is read as `extract_choice` reads it, whole and without markup: "the answer is B", "Answer: B", `\\boxed{B}`,
    "B is correct", "A… no wait, B", the letter or the text of an option alone. The last statement wins. The pronoun I, the article
    a, denied options and several at once do not count. Everything else is unparsed.

    The options are those of the row: its fields `a` to `j`, or its list `choices`; without any, A to J. The target may be a
    letter, an index from 0 or the text of an option; text that is an option is never read as an index or a letter.

    >>> mcq_letter_strict(ScorerInput("I think it is a tie... The answer is **B**.", "B", {}))
    {'correct': True, 'parsed': True}
    """
    row = sample.metadata or {}
    found = extract_choice(sample.response or "", _options(row)).letter
    return answer_scores(found, _strict_target(sample.target, row))


def _options(row: Row) -> dict[str, str]:
    """The options of a row by letter; the letters alone if it has none."""
    choices = row.get("choices")
    if isinstance(choices, list | tuple) and 1 < len(choices) <= len(_LETTERS):
        return dict(zip(_LETTERS, map(str, choices), strict=False))
    options = {}
    for letter in _LETTERS:
        text = row.get(letter.lower(), row.get(letter))
        if not isinstance(text, str | int | float) or isinstance(text, bool):
            break
        options[letter] = str(text)
    return options if len(options) > 1 else dict.fromkeys(_LETTERS, "")


def _strict_target(target: object, row: Row) -> str | None:
    if isinstance(target, str):
        text = target.strip()
        known = _choice_letter(text.lower(), row)
        if known:
            return known
        if text.isdecimal():
            return _letter_at(int(text))
        lone = _LONE_LETTER.fullmatch(text)
        return lone[1].upper() if lone else None
    if isinstance(target, int):
        return _letter_at(int(target))
    return None


def _choice_letter(text: str, row: Row) -> str | None:
    choices = row.get("choices")
    listed = choices if isinstance(choices, list) else ()
    for at, letter in enumerate(_LETTERS):
        choice = listed[at] if at < len(listed) else row.get(letter.lower())
        if isinstance(choice, str) and choice.strip().lower() == text:
            return letter
    return None
