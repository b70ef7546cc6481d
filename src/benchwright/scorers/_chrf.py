"""Character n-gram F-scores of one sentence: the documented formula, and sacreBLEU's."""

from __future__ import annotations

from collections.abc import Sequence
from string import punctuation

from benchwright.scorers._input import ScorerInput, Scores
from benchwright.scorers._ngrams import f_score, ngrams, overlap

_CHAR_ORDERS = range(1, 7)
_WORD_ORDERS = range(1, 3)
_BETA_SQUARED = 4.0  # beta 2: recall counts twice


def chrf(sample: ScorerInput) -> Scores:
    """`chrf` (characters, orders 1 to 6) and `chrf_pp` (words of orders 1 and 2 too), 0 to 100.

    Spaces count as characters and case is kept. F is computed per order and then averaged over all
    orders, also those too long for the text: `yes` against `yes` is 50. `chrf_sacre` has sacreBLEU's
    reading. A response that is `None` counts as empty; one side empty gives 0.0.

    >>> chrf(ScorerInput("yes", "yes", {}))
    {'chrf': 50.0, 'chrf_pp': 50.0}
    """
    found, wanted = sample.response or "", str(sample.target)
    if not found or not wanted:
        return {"chrf": 0.0, "chrf_pp": 0.0}
    chars = [_f_of(_counts(found, wanted, n)) for n in _CHAR_ORDERS]
    found_words, wanted_words = found.split(), wanted.split()
    words = [_f_of(_counts(found_words, wanted_words, n)) for n in _WORD_ORDERS]
    both = chars + words
    return {"chrf": 100 * sum(chars) / len(chars), "chrf_pp": 100 * sum(both) / len(both)}


def chrf_sacre(sample: ScorerInput) -> Scores:
    """`chrf` and `chrf_pp` of one sentence, 0 to 100, equal to sacreBLEU's `sentence_chrf`.

    Unlike `chrf`: whitespace is left out, a word gives up its leading or trailing punctuation mark,
    orders that either text is too short for are left out, and precision and recall are averaged over
    the orders before F is taken.

    >>> chrf_sacre(ScorerInput("yes", "yes", {}))
    {'chrf': 100.0, 'chrf_pp': 100.0}
    """
    found, wanted = sample.response or "", str(sample.target)
    found_chars, wanted_chars = "".join(found.split()), "".join(wanted.split())
    chars = [_counts(found_chars, wanted_chars, n) for n in _CHAR_ORDERS]
    found_words, wanted_words = _split_marks(found), _split_marks(wanted)
    words = [_counts(found_words, wanted_words, n) for n in _WORD_ORDERS]
    return {"chrf": _f_of_averages(chars), "chrf_pp": _f_of_averages(chars + words)}


def _counts(found: Sequence[str], wanted: Sequence[str], n: int) -> tuple[int, int, int]:
    """n-grams in common, in the response, in the target."""
    left, right = ngrams(found, n), ngrams(wanted, n)
    return overlap(left, right), len(left), len(right)


def _f_of(counts: tuple[int, int, int]) -> float:
    common, found, wanted = counts
    return f_score(common / found, common / wanted, _BETA_SQUARED) if common else 0.0


def _f_of_averages(orders: list[tuple[int, int, int]]) -> float:
    usable = [(common / found, common / wanted) for common, found, wanted in orders if found and wanted]
    if not usable:
        return 0.0
    precision = sum(p for p, _ in usable) / len(usable)
    recall = sum(r for _, r in usable) / len(usable)
    return 100 * f_score(precision, recall, _BETA_SQUARED)


def _split_marks(text: str) -> list[str]:
    words = []
    for word in text.split():
        if len(word) > 1 and word[-1] in punctuation:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in punctuation:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words
