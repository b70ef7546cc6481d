"""Measures how well retrieved items are ranked, given a set of relevant ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from msgspec.structs import replace

from benchwright.core import BenchmarkError
from benchwright.scorers._scorer import ScorerInput, Scores, by_name


@by_name
def retrieval_metrics(sample: ScorerInput) -> Scores:
    """`precision_at_k`, `recall_at_k`, `mrr`, `ndcg` from the row's `retrieved`, `relevant` and `k`.

    `k` defaults to the number of retrieved items. `mrr` uses the whole list, the others its
    first `k`. An item that was retrieved twice counts twice, so recall and nDCG can exceed 1:
    `retrieval_metrics_dedup` counts it once. A list that is empty or missing gives 0.0 everywhere; a
    `k` that is not an integer raises; a negative one cuts from the end and makes precision and nDCG 0.0.

    >>> retrieval_metrics(ScorerInput("", None, {"retrieved": ["x", "a"], "relevant": ["a"]}))["mrr"]
    0.5
    """
    row = sample.metadata
    retrieved: Sequence[object] = row.get("retrieved", [])
    if not retrieved or not row.get("relevant"):
        return {"precision_at_k": 0.0, "recall_at_k": 0.0, "mrr": 0.0, "ndcg": 0.0}
    relevant = set(row["relevant"])
    k: int = row.get("k", len(retrieved))
    ranks = [rank for rank, item in enumerate(retrieved[:k], 1) if item in relevant]
    first = next((rank for rank, item in enumerate(retrieved, 1) if item in relevant), None)
    ideal = _gain(range(1, min(len(relevant), k) + 1))
    return {
        "precision_at_k": len(ranks) / k if k > 0 else 0.0,
        "recall_at_k": len(ranks) / len(relevant),
        "mrr": 1 / first if first else 0.0,
        "ndcg": _gain(ranks) / ideal if ideal else 0.0,
    }


@by_name
def retrieval_metrics_dedup(sample: ScorerInput) -> Scores:
    """`retrieval_metrics` after each retrieved item was reduced to its first occurrence.

    Nothing can exceed 1. `k` must be a positive integer if it is given.

    >>> retrieval_metrics_dedup(ScorerInput("", None, {"retrieved": ["a", "a"], "relevant": ["a"]}))["ndcg"]
    1.0
    """
    row = sample.metadata
    distinct = list(dict.fromkeys(row.get("retrieved") or ()))
    cleaned = {**row, "retrieved": distinct}
    k = cleaned.pop("k", None)
    if k is not None:
        if not isinstance(k, int) or k < 1:
            raise BenchmarkError(f'field "k" is {k!r}; expected a positive integer, or no such field')
        cleaned["k"] = k
    return retrieval_metrics(replace(sample, metadata=cleaned))


def _gain(ranks: Sequence[int]) -> float:
    """Discounted cumulative gain of hits at these 1-based ranks."""
    return sum(1 / log2(rank + 1) for rank in ranks)
