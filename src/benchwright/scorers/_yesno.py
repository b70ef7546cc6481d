"""Decides whether an answer says yes or no, by the documented rules and by strict ones that understand negation. English
only."""

from __future__ import annotations

import re

from benchwright.scorers._scorer import ScorerInput, Scores, answer_scores, by_name

YES = frozenset({"yes", "true", "correct", "right", "yeah", "yep"})
NO = frozenset({"no", "false", "incorrect", "wrong", "nope", "nah"})
_WORD = re.compile(r"[a-z]+")
_WORDS_READ = 20


@by_name
def boolean_yesno(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the first yes- or no-word among the response's first 20 words.

    English only, and negation is not understood: "not correct" is a yes. See `boolean_yesno_strict`.
    The target may be a bool, 1 or 0, or such a word; anything else makes no answer correct.

    >>> boolean_yesno(ScorerInput("Yep, it does.", True, {}))
    {'correct': True, 'parsed': True}
    """
    words = _WORD.findall((sample.response or "").lower())[:_WORDS_READ]
    found = next((word in YES for word in words if word in YES or word in NO), None)
    return answer_scores(_word_of(found), _word_of(target_verdict(sample.target)))


def _word_of(verdict: bool | None) -> str | None:
    return None if verdict is None else "yes" if verdict else "no"


def target_verdict(target: object) -> bool | None:
    """Whether the target says yes or no; None if it says neither. A number is truncated to an integer: 1.9 is yes."""
    if isinstance(target, int | float) and target - target == 0:  # NaN and the infinities are read as text
        return {1: True, 0: False}.get(int(target))
    word = str(target).strip().lower()
    if word in YES or word == "1":
        return True
    if word in NO or word == "0":
        return False
    return None


_WORD_OR_NEGATION = re.compile(r"[a-z]+(?:['’]t)?")
_STATED = re.compile(
    r"\b(?:answer|verdict|conclusion)\s*(?:is\b|would\s+be\b|:|=)[\s:\"'“‘*_`(]*([a-z]+)(\s+[a-z]+)?"
)
_NEGATORS = frozenset({"not", "never", "hardly", "cannot"})
_FILLERS = frozenset({"a", "the", "quite", "entirely", "really", "necessarily", "exactly", "always", "completely",
                      "strictly", "fully", "actually"})  # fmt: skip
_OPINIONS = frozenset({"think", "believe", "agree"})
_CLAUSE = frozenset({"that", "this", "it", "is", "was", "are", "the", "statement", "claim"})
_NEGATION_REACH = 8
# "no" and "right" are verdicts only if the sentence ends or a new clause starts after them: not in "no doubt" or "right
# now".
_ANEW = frozenset(
    {"it", "that", "this", "they", "he", "she", "there", "the", "i", "we", "you", "because", "since"}
)
_NEGATABLE = frozenset({"true", "correct", "right", "false", "incorrect", "wrong"})


@by_name
def boolean_yesno_strict(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: whether the response says yes or no; "not correct" is a no.

    The last "answer is yes" (or "Answer: no") counts; else a verdict in the first word; else all verdicts in the
    text, if they agree. Texts whose verdicts disagree are unparsed.

    >>> boolean_yesno_strict(ScorerInput("That is not correct.", "no", {}))
    {'correct': True, 'parsed': True}
    """
    found = _read((sample.response or "").lower())
    return answer_scores(_word_of(found), _word_of(target_verdict(sample.target)))


def _read(text: str) -> bool | None:
    stated = [verdict for match in _STATED.finditer(text) if (verdict := _of_statement(match)) is not None]
    if stated:
        return stated[-1]
    words = list(_WORD_OR_NEGATION.finditer(text))
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
