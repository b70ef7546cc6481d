"""Whether an answer says yes or no, with negation understood. English only."""

from __future__ import annotations

import re

from benchwright.scorers._input import ScorerInput, Scores
from benchwright.scorers._yesno import NO, YES, target_verdict

_WORD = re.compile(r"[a-z]+(?:['’]t)?")
_STATED = re.compile(
    r"\b(?:answer|verdict|conclusion)\s*(?:is\b|would\s+be\b|:|=)[\s:\"'“‘*_`(]*([a-z]+)(\s+[a-z]+)?"
)
_NEGATORS = frozenset({"not", "never", "hardly", "cannot"})
_FILLERS = frozenset({"a", "the", "quite", "entirely", "really", "necessarily", "exactly", "always", "completely",
                      "strictly", "fully", "actually"})  # fmt: skip
_OPINIONS = frozenset({"think", "believe", "agree"})
_CLAUSE = frozenset({"that", "this", "it", "is", "was", "are", "the", "statement", "claim"})
_NEGATION_REACH = 8
# "no" and "right" are verdicts only where the sentence ends or starts anew after them: not in "no doubt" or
# "right now".
_ANEW = frozenset(
    {"it", "that", "this", "they", "he", "she", "there", "the", "i", "we", "you", "because", "since"}
)
_NEGATABLE = frozenset({"true", "correct", "right", "false", "incorrect", "wrong"})


def boolean_yesno_strict(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: whether the response says yes or no; "not correct" is a no.

    The last "answer is yes" (or "Answer: no") counts; else a verdict in the first word; else all verdicts in the
    text, if they agree. Texts whose verdicts disagree are unparsed.

    >>> boolean_yesno_strict(ScorerInput("That is not correct.", "no", {}))
    {'correct': True, 'parsed': True}
    """
    found = _read((sample.response or "").lower())
    wanted = target_verdict(sample.target)
    return {"correct": found is not None and found == wanted, "parsed": found is not None}


def _read(text: str) -> bool | None:
    stated = [verdict for match in _STATED.finditer(text) if (verdict := _of_statement(match)) is not None]
    if stated:
        return stated[-1]
    words = list(_WORD.finditer(text))
    verdicts = [
        (index, verdict)
        for index in range(len(words))
        if (verdict := _verdict(words, index, text)) is not None
    ]
    if not verdicts:
        return None
    if verdicts[0][0] == 0:
        return verdicts[0][1]
    distinct = {verdict for _, verdict in verdicts}
    return distinct.pop() if len(distinct) == 1 else None


def _of_statement(match: re.Match[str]) -> bool | None:
    word, following = match[1], (match[2] or "").strip()
    if word == "not":
        return None if following not in _NEGATABLE else following in NO
    if word not in YES and word not in NO:
        return None
    return word in YES


def _verdict(words: list[re.Match[str]], index: int, text: str) -> bool | None:
    word = words[index][0]
    if word not in YES and word not in NO:
        return None
    if word in ("no", "right") and index + 1 < len(words):
        following = words[index + 1]
        gap = text[words[index].end() : following.start()]
        if gap.isspace() and "\n" not in gap and following[0] not in _ANEW:
            return None
    return (word in YES) != (word in _NEGATABLE and _is_negated(words, index))


def _is_negated(words: list[re.Match[str]], index: int) -> bool:
    """Whether "not" stands before the word at `index`, or "I don't think that is"."""
    before = [match[0] for match in words[max(0, index - _NEGATION_REACH) : index]]
    while before and before[-1] in _FILLERS:
        before.pop()
    if before and not _negates(before[-1]):
        while before and before[-1] in _CLAUSE:
            before.pop()
        if not before or before.pop() not in _OPINIONS:
            return False
    return bool(before) and _negates(before[-1])


def _negates(word: str) -> bool:
    return word in _NEGATORS or word.endswith(("n't", "n’t"))
