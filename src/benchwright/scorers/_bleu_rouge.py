"""Sentence-level BLEU and ROUGE over lower-cased whitespace tokens, and sacreBLEU's corpus BLEU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchwright.core import BenchwrightError, UsageError
from benchwright.scorers._input import ScorerInput, Scores
from benchwright.scorers._ngrams import f_score, ngrams, overlap, tokens


def bleu(sample: ScorerInput) -> Scores:
    """`bleu_1` to `bleu_4` of one sentence, every precision smoothed by adding 1 above and below.

    An order for which the response is too short therefore has precision 1, and a wrong one-word answer
    still gets 0.84 in `bleu_4`: good for comparing with published numbers of the same formula, not as
    a judgement. Use `corpus_bleu` for that. One side empty gives 0.0.

    >>> bleu(ScorerInput("the cat", "the cat", {}))
    {'bleu_1': 1.0, 'bleu_2': 1.0, 'bleu_3': 1.0, 'bleu_4': 1.0}
    """
    found, wanted = tokens(sample.response), tokens(str(sample.target))
    if not found or not wanted:
        return dict.fromkeys(("bleu_1", "bleu_2", "bleu_3", "bleu_4"), 0.0)
    brevity = math.exp(1 - len(wanted) / len(found)) if len(found) < len(wanted) else 1.0
    scores: Scores = {}
    log_sum = 0.0
    for n in range(1, 5):
        candidates = ngrams(found, n)
        log_sum += math.log((overlap(candidates, ngrams(wanted, n)) + 1) / (len(candidates) + 1))
        scores[f"bleu_{n}"] = brevity * math.exp(log_sum / n)
    return scores


def rouge(sample: ScorerInput) -> Scores:
    """`rouge_1`, `rouge_2`: F1 of the n-gram overlap; `rouge_l`: F1 of the longest common subsequence.

    No stemming. A side without n-grams of that order gives 0.0.

    >>> rouge(ScorerInput("the cat sat", "the cat", {}))
    {'rouge_1': 0.8, 'rouge_2': 0.6666666666666666, 'rouge_l': 0.8}
    """
    found, wanted = tokens(sample.response), tokens(str(sample.target))
    if not found or not wanted:
        return {"rouge_1": 0.0, "rouge_2": 0.0, "rouge_l": 0.0}
    return {
        "rouge_1": _f1(overlap(found, wanted), len(found), len(wanted)),
        "rouge_2": _f1(overlap(ngrams(found, 2), ngrams(wanted, 2)), len(found) - 1, len(wanted) - 1),
        "rouge_l": _f1(_common_subsequence(found, wanted), len(found), len(wanted)),
    }


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]) -> float:
    """BLEU of a whole corpus, 0 to 100, exactly as sacreBLEU computes it (13a tokens, exp smoothing).

    `references` holds for each hypothesis one text or a list of texts.

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
    # sacreBLEU wants one stream per reference number; None stands for "this sentence has fewer".
    streams: list[list[Any]] = [
        [refs[i] if i < len(refs) else None for refs in per_sentence] for i in range(width)
    ]
    # force: without it the library logs a guess about tokenised input.
    return float(BLEU(force=True).corpus_score(list(hypotheses), streams).score)


def _f1(common: int, found: int, wanted: int) -> float:
    return f_score(common / found, common / wanted) if common else 0.0


def _common_subsequence(left: list[str], right: list[str]) -> int:
    from rapidfuzz.distance import LCSseq  # 20 ms to import

    # Small numbers instead of words: rapidfuzz compares hashes, and those of texts could collide.
    numbers: dict[str, int] = {}
    as_numbers = [[numbers.setdefault(word, len(numbers)) for word in words] for words in (left, right)]
    return int(LCSseq.similarity(*as_numbers))
