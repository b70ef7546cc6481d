"""Finds the option letter that an answer names, by the documented rules and by strict ones."""

from __future__ import annotations

import re
from functools import cache
from string import ascii_uppercase

from benchwright.core import Row
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


# Only explicit statements of an answer count in `mcq_letter_strict`, and the last one wins.
_LETTER = r"\(?\s*(?P<letter>[A-Ja-j])(?![\w'’])\s*\)?"
# Statements of an answer. `(?i:…)` does not apply to the letter, because "a" needs more care than "A".
_STATEMENTS = (
    r"\\boxed\s*\{\s*(?:\\(?:text|textbf|mathrm|mathbf)\s*\{)?\s*" + _LETTER,
    r"(?i:\b(?:answer|choice|option)\s*(?:is|are|would\s+be|should\s+be|must\s+be|:|=)\s*:?\s*"
    r"(?:(?:the\s+)?(?:option|choice|letter)\s*)?)" + _LETTER,
    r"(?i:\b(?:it\s+is|it['’]s|must\s+be)\s+(?:(?:option|choice|letter)\s*)?)" + _LETTER,
    r"(?i:\b(?:choose|select|pick|go\s+with)\s+(?:(?:the\s+)?(?:option|choice|letter|answer)\s*)?)" + _LETTER,
    r"(?i:\b(?:option|choice|answer)\s+)?(?<![\w'’])"
    + _LETTER
    + r"(?i:\s+is\s+(?:the\s+)?(?:correct|right|best)\b)",
)
_NOT_STATED = re.compile(r"(?i)(?:\b(?:not|never|cannot)|n['’]t)\s*$")
_NEGATION_REACH = 12
_MARKUP = re.compile(r"[*_`$]+|\\[()\[\]]")
# What may follow a lone "I" or a small letter that is an answer; any other word makes it a pronoun or article.
_WORD_AFTER = re.compile(r"[ \t]+(?!(?i:because|since|as|for|and|which|is)\b)[^\W\d_]")
_OPTION_LINE = re.compile(r"(?m)^\s*\(?([A-Ja-j])\s*[).:](?=\s|$)")
_LONE_LETTER = re.compile(r"\(?([A-Ja-j])\)?[.:]?")


@by_name
def mcq_letter_strict(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the option letter A to J that the response states as its answer.

    The whole response is read, bold and other marks are ignored, and the last statement wins: "the
    answer is B", "Answer: B", `\\boxed{B}`, "it is B", "I choose B", "B is correct". Without one, a response that
    is only a letter, opens with one option ("B) Paris"), or ends in a line that is only a letter
    counts. The pronoun I and the article a do not. Everything else is unparsed.

    The target may be a letter, an index from 0, the text of one of the row's fields `a` to `j`, or the text
    of an item of its list `choices`; text that is a choice is never read as an index or a letter.

    >>> mcq_letter_strict(ScorerInput("I think it is a tie... The answer is **B**.", "B", {}))
    {'correct': True, 'parsed': True}
    """
    found = _stated_letter(sample.response or "")
    expected = _strict_target(sample.target, sample.metadata or {})
    return answer_scores(found, expected)


def _stated_letter(response: str) -> str | None:
    text = _MARKUP.sub("", response).strip()
    stated: tuple[int, str] | None = None
    for statement in _compiled():
        for match in statement.finditer(text):
            end = match.end("letter")
            before = text[max(0, match.start() - _NEGATION_REACH) : match.start()]
            if _is_word(match["letter"], text, end) or _NOT_STATED.search(before):
                continue
            if stated is None or end > stated[0]:
                stated = end, match["letter"].upper()
    return stated[1] if stated else _unstated(text)


def _unstated(text: str) -> str | None:
    options = {match[1].upper() for match in _OPTION_LINE.finditer(text)}
    opening = _OPTION_LINE.match(text)
    if opening and len(options) == 1:  # several such lines are a list of the options, not an answer
        return opening[1].upper()
    lone = _LONE_LETTER.fullmatch(text.rpartition("\n")[2].strip())
    return lone[1].upper() if lone else None


def _is_word(letter: str, text: str, end: int) -> bool:
    return (letter == "I" or letter.islower()) and _WORD_AFTER.match(text, end) is not None


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
    candidates = {letter: row.get(letter.lower()) for letter in _LETTERS}
    if isinstance(choices, list):
        candidates |= dict(zip(_LETTERS, choices, strict=False))
    for letter, choice in candidates.items():
        if isinstance(choice, str) and choice.strip().lower() == text:
            return letter
    return None


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in _STATEMENTS)
