"""Scores by shared words and n-grams: BLEU, ROUGE and chrF, by the documented formulas and as sacreBLEU computes them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from string import punctuation
from typing import Any

from benchwright.core import BenchwrightError, UsageError
from benchwright.scorers._scorer import ScorerInput, Scores, by_name


def composed(text: str) -> str:
    """Write every accented letter as one character, no matter how it was typed: `é` and `é` become equal."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def tokens(text: str) -> list[str]:
    """Lower-cased words between Unicode whitespace."""
    return text.lower().split()


def ngrams(items: Sequence[str], n: int) -> Sequence[Hashable]:
    """The n-grams in order: slices of a text, tuples of a list. Empty if there are fewer than `n` items."""
    if isinstance(items, str):
        return [items[i : i + n] for i in range(len(items) - n + 1)]
    return list(zip(*(items[i:] for i in range(n)), strict=False))


def overlap(left: Iterable[Hashable], right: Iterable[Hashable]) -> int:
    """Size of the multiset intersection."""
    # A plain dict: `Counter & Counter` takes 7 times as long for 3 words, 3 times for 15.
    available: dict[Hashable, int] = {}
    count = available.get
    for item in right:
        available[item] = count(item, 0) + 1
    common = 0
    for item in left:
        remaining = count(item)
        if remaining:
            available[item] = remaining - 1
            common += 1
    return common


def f_score(precision: float, recall: float, beta_squared: float = 1.0) -> float:
    """Weighted harmonic mean of precision and recall; 0.0 when both are 0."""
    if precision + recall == 0:
        return 0.0
    return (1 + beta_squared) * precision * recall / (beta_squared * precision + recall)


@by_name
def bleu(sample: ScorerInput) -> Scores:
    """`bleu_1` to `bleu_4` of one sentence, every precision smoothed by adding 1 above and below.

    An order for which the response is too short therefore has precision 1, and a wrong one-word answer still gets 0.84
    in `bleu_4`. Use it to compare with published numbers of the same formula, and `corpus_bleu` to judge quality. If one
    side is empty, the result is 0.0.

    >>> bleu(ScorerInput("the cat", "the cat", {}))
    {'bleu_1': 1.0, 'bleu_2': 1.0, 'bleu_3': 1.0, 'bleu_4': 1.0}
    """
    found, expected = tokens(sample.response), tokens(str(sample.target))
    if not found or not expected:
        return dict.fromkeys(("bleu_1", "bleu_2", "bleu_3", "bleu_4"), 0.0)
    brevity = math.exp(1 - len(expected) / len(found)) if len(found) < len(expected) else 1.0
    scores: Scores = {}
    log_sum = 0.0
    for n in range(1, 5):
        candidates = ngrams(found, n)
        log_sum += math.log((overlap(candidates, ngrams(expected, n)) + 1) / (len(candidates) + 1))
        scores[f"bleu_{n}"] = brevity * math.exp(log_sum / n)
    return scores


@by_name
def rouge(sample: ScorerInput) -> Scores:
    """`rouge_1`, `rouge_2`: F1 of the n-gram overlap; `rouge_l`: F1 of the longest common subsequence.

    No stemming. A side without n-grams of that order gives 0.0.

    >>> rouge(ScorerInput("the cat sat", "the cat", {}))
    {'rouge_1': 0.8, 'rouge_2': 0.6666666666666666, 'rouge_l': 0.8}
    """
    found, expected = tokens(sample.response), tokens(str(sample.target))
    if not found or not expected:
        return {"rouge_1": 0.0, "rouge_2": 0.0, "rouge_l": 0.0}
    return {
        "rouge_1": _f1(overlap(found, expected), len(found), len(expected)),
        "rouge_2": _f1(overlap(ngrams(found, 2), ngrams(expected, 2)), len(found) - 1, len(expected) - 1),
        "rouge_l": _f1(_common_subsequence(found, expected), len(found), len(expected)),
    }


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]) -> float:
    """BLEU of a whole corpus, 0 to 100, exactly as sacreBLEU computes it (13a tokens, exp smoothing).

    `references` contains one text or a list of texts for each hypothesis.

    Raises:
        UsageError: no sentences, or not one reference (list) per hypothesis.
        BenchwrightError: the package `sacrebleu` is not installed.
    """
    if not hypotheses or len(hypotheses) != len(references):
        raise UsageError(
            f"corpus_bleu got {len(hypotheses)} hypotheses and {len(references)} references; "
            "give at least one hypothesis, and one reference (or list of references) for each"
        )
    per_sentence = [[ref] if isinstance(ref, str) else list(ref) for ref in references]
    bare = [i for i, refs in enumerate(per_sentence) if not refs]
    if bare:
        raise UsageError(
            f"corpus_bleu: hypothesis {bare[0]} has an empty list of references; give one or more"
        )
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise BenchwrightError(
            "corpus_bleu needs the package sacrebleu: pip install 'benchwright[metrics]'"
        ) from error
    width = max(map(len, per_sentence))
    # sacreBLEU takes one stream per reference number; None means that this sentence has fewer.
    streams: list[list[Any]] = [
        [refs[i] if i < len(refs) else None for refs in per_sentence] for i in range(width)
    ]
    # force: without it the library logs a guess about tokenised input.
    return float(BLEU(force=True).corpus_score(list(hypotheses), streams).score)


def _f1(common: int, found: int, expected: int) -> float:
    return f_score(common / found, common / expected) if common else 0.0


def _common_subsequence(left: list[str], right: list[str]) -> int:
    from rapidfuzz.distance import LCSseq  # 20 ms to import

    # Small numbers instead of words: rapidfuzz compares hashes, and those of texts could collide.
    numbers: dict[str, int] = {}
    as_numbers = [[numbers.setdefault(word, len(numbers)) for word in words] for words in (left, right)]
    return int(LCSseq.similarity(*as_numbers))


_CHAR_ORDERS = range(1, 7)
_WORD_ORDERS = range(1, 3)
_BETA_SQUARED = 4.0  # beta 2: recall counts twice


@by_name
def chrf(sample: ScorerInput) -> Scores:
    """`chrf` (characters, orders 1 to 6) and `chrf_pp` (words of orders 1 and 2 too), 0 to 100.

    Spaces count as characters and case is kept. F is computed per order and then averaged over all orders, even those too
    long for the text: `yes` against `yes` is 50. `chrf_sacre` computes it as sacreBLEU does. A response that is `None`
    counts as empty. If one side is empty, the result is 0.0.

    >>> chrf(ScorerInput("yes", "yes", {}))
    {'chrf': 50.0, 'chrf_pp': 50.0}
    """
    found, expected = sample.response or "", str(sample.target)
    if not found or not expected:
        return {"chrf": 0.0, "chrf_pp": 0.0}
    chars = [_f_of(_counts(found, expected, n)) for n in _CHAR_ORDERS]
    found_words, expected_words = found.split(), expected.split()
    words = [_f_of(_counts(found_words, expected_words, n)) for n in _WORD_ORDERS]
    both = chars + words
    return {"chrf": 100 * sum(chars) / len(chars), "chrf_pp": 100 * sum(both) / len(both)}


@by_name
def chrf_sacre(sample: ScorerInput) -> Scores:
    """`chrf` and `chrf_pp` of one sentence, 0 to 100, equal to sacreBLEU's `sentence_chrf`.

    Unlike `chrf`, it leaves out whitespace, splits a leading or trailing punctuation mark from a word, leaves out orders
    for which either text is too short, and averages precision and recall over the orders before computing F.

    >>> chrf_sacre(ScorerInput("yes", "yes", {}))
    {'chrf': 100.0, 'chrf_pp': 100.0}
    """
    found, expected = sample.response or "", str(sample.target)
    found_chars, expected_chars = "".join(found.split()), "".join(expected.split())
    chars = [_counts(found_chars, expected_chars, n) for n in _CHAR_ORDERS]
    found_words, expected_words = _split_marks(found), _split_marks(expected)
    words = [_counts(found_words, expected_words, n) for n in _WORD_ORDERS]
    return {"chrf": _f_of_averages(chars), "chrf_pp": _f_of_averages(chars + words)}


def _counts(found: Sequence[str], expected: Sequence[str], n: int) -> tuple[int, int, int]:
    """n-grams in common, in the response, in the target."""
    left, right = ngrams(found, n), ngrams(expected, n)
    return overlap(left, right), len(left), len(right)


def _f_of(counts: tuple[int, int, int]) -> float:
    common, found, expected = counts
    return f_score(common / found, common / expected, _BETA_SQUARED) if common else 0.0


def _f_of_averages(orders: list[tuple[int, int, int]]) -> float:
    usable = [(common / found, common / expected) for common, found, expected in orders if found and expected]
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
