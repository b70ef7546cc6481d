"""Scorers that compare texts: equality, containment, token overlap, patterns.

A response must be text: `None` raises, because these scorers cannot tell "no answer" from a wrong one.
Case is removed with `str.lower()`, not with case folding: `straße` and `STRASSE` differ. Letters with accents are
composed first, so that it does not matter how they were typed; a pattern is left as it is.
"""

from __future__ import annotations

import re
import warnings

from benchwright.scorers._input import ScorerInput, Scores
from benchwright.scorers._ngrams import composed, overlap, tokens
from benchwright.scorers._patterns import is_found


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


def contains(sample: ScorerInput) -> Scores:
    """`correct`: the target, stripped, occurs in the response, ignoring case. An empty target always does.

    >>> contains(ScorerInput("It is Paris.", "paris ", {}))
    {'correct': True}
    """
    return {"correct": composed(str(sample.target).lower().strip()) in composed(sample.response.lower())}


def f1_token(sample: ScorerInput) -> Scores:
    """`f1`, `precision`, `recall` of the multiset overlap of lower-cased, whitespace-separated tokens.

    Punctuation and articles stay. Nothing in common, or one side empty, gives 0.0 everywhere.

    >>> f1_token(ScorerInput("the cat sat", "the cat", {}))
    {'f1': 0.8, 'precision': 0.6666666666666666, 'recall': 1.0}
    """
    found, wanted = tokens(composed(sample.response)), tokens(composed(str(sample.target)))
    common = overlap(found, wanted)
    if not common:
        return {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    precision, recall = common / len(found), common / len(wanted)
    return {"f1": 2 * precision * recall / (precision + recall), "precision": precision, "recall": recall}


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
