"""Scorers that compare texts: equality, containment, token overlap, patterns.

A response must be text: `None` raises, because these scorers cannot tell "no answer" from a wrong one.
Case is removed with `str.lower()`, not with case folding: `straße` and `STRASSE` differ. Letters with accents are
composed first, so that it does not matter how they were typed; a pattern is left as it is.
"""

from __future__ import annotations

import re
import warnings

from benchwright.scorers._overlap import composed, overlap, tokens
from benchwright.scorers._patterns import is_found
from benchwright.scorers._scorer import ScorerInput, Scores, by_name


@by_name
def exact_match(sample: ScorerInput) -> Scores:
    """`correct`: the response equals the target, ignoring case and outer whitespace.

    >>> exact_match(ScorerInput(" Paris\\n", "paris", {}))
    {'correct': True}
    """
    target = sample.target
    if target.__class__ is not str:
        target = str(target)
    response = sample.response.strip().lower()
    target = target.strip().lower()
    return {"correct": response == target or composed(response) == composed(target)}


@by_name
def contains(sample: ScorerInput) -> Scores:
    """`correct`: the target, stripped, occurs in the response, ignoring case. An empty target always does.

    >>> contains(ScorerInput("It is Paris.", "paris ", {}))
    {'correct': True}
    """
    return {"correct": composed(str(sample.target).lower().strip()) in composed(sample.response.lower())}


@by_name
def f1_token(sample: ScorerInput) -> Scores:
    """`f1`, `precision`, `recall` of the multiset overlap of lower-cased, whitespace-separated tokens.

    Punctuation and articles stay. Nothing in common, or one side empty, gives 0.0 everywhere.

    >>> f1_token(ScorerInput("the cat sat", "the cat", {}))
    {'f1': 0.8, 'precision': 0.6666666666666666, 'recall': 1.0}
    """
    found, expected = tokens(composed(sample.response)), tokens(composed(str(sample.target)))
    common = overlap(found, expected)
    if not common:
        return {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    precision, recall = common / len(found), common / len(expected)
    return {"f1": 2 * precision * recall / (precision + recall), "precision": precision, "recall": recall}


@by_name
def regex_match(sample: ScorerInput) -> Scores:
    """`correct`: the target, a Python regular expression, is found anywhere in the response, ignoring case.

    A pattern that is not valid gives false; `check` reports such rows. A target that is not text is
    converted first. A match that takes more than 5 s raises, so its sample is `scorer_failed`.

    >>> regex_match(ScorerInput("about 42 apples", r"\\b\\d+\\b", {}))
    {'correct': True}
    """
    pattern = str(sample.target)
    try:
        found = is_found(pattern, sample.response, re.IGNORECASE)
    except re.error:
        return {"correct": False}
    except FutureWarning:  # a valid but odd pattern such as "[[a]", where warnings are errors
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            found = is_found(pattern, sample.response, re.IGNORECASE)
    return {"correct": found}


_GROUP = re.compile(r"(?<=\d)(?<!\d{4})[ '’\u00a0\u202f\u2009]\d{3}(?!\d)")
"""A group of three digits, as in `12 000`, with the sign before it."""


def is_word_character(char: str) -> bool:
    """Whether `char` belongs to a word; characters of scripts without spaces between words do not."""
    if char.isascii():
        return char.isalnum() or char == "_"
    return char.isalnum() and not (
        "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
    )


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether the non-empty text[start:end] is not part of a longer word or number.

    >>> [is_whole("15 or 5.5 or 5%", at, at + 1) for at in (1, 6, 8, 13)]
    [False, False, False, True]
    """
    first, last = text[start], text[end - 1]
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    signed = first in "-+" and end - start > 1
    if before and is_word_character(before) and (is_word_character(first) or signed):
        return False
    if after and is_word_character(after) and is_word_character(last):
        return False
    far_before = text[start - 2] if start > 1 else ""
    far_after = text[end + 1 : end + 2]
    if first.isdigit() and before:
        # 2263 is not in 1,2263, 0.2263, .2263, 1/2263 or -2263; in "10-2263" it is.
        if before in ".,/:^" and far_before.isdigit():
            return False
        if before in ".-−" and not (far_before and (is_word_character(far_before) or far_before in ")]")):
            return False
    elif before == "-" and is_word_character(first) and far_before and is_word_character(far_before):
        return False  # non-toxic
    if last.isdigit() and _GROUP.match(text, end):
        return False  # 12 is not in 12 000
    if first.isdigit() and start and _GROUP.match(text, start - 1):
        return False
    if last.isdigit():
        return not (after and after in ".,/:^-" and far_after.isdigit())
    return not (after == "-" and far_after and is_word_character(far_after) and is_word_character(last))


def levenshtein_similarity(one: str, other: str) -> float:
    """1 - distance / length of the longer text; 1 for two empty texts.

    >>> levenshtein_similarity("kitten", "sitting"), levenshtein_similarity("", "")
    (0.5714285714285714, 1.0)
    """
    from rapidfuzz.distance import Levenshtein  # 20 ms to import

    longer = max(len(one), len(other))
    return 1.0 - int(Levenshtein.distance(one, other)) / longer if longer else 1.0
