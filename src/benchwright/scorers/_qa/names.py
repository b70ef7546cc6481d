"""Names of the metrics of free answers."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.core import UsageError, suggest

STANDARD = ("normalised_exact", "exact", "contains", "contains_word", "numeric", "f1")
"""Reported always; the first is the headline unless another was asked for."""

QA_METRICS = (*STANDARD, "regex", "rouge_l", "bleu", "judge")
"""All metrics that can be asked for."""

_ALIASES = {
    "normalized_exact": "normalised_exact",
    "normalised": "normalised_exact",
    "normalized": "normalised_exact",
    "raw": "exact",
    "f1_token": "f1",
    "rougel": "rouge_l",
    "number": "numeric",
}


def qa_metric_names(metrics: Sequence[str] = ()) -> tuple[str, ...]:
    """What will be reported: the metrics asked for, the headline first, then the standard ones not among them.

    Raises:
        UsageError: a metric is not known.

    >>> qa_metric_names(["f1", "bleu"])
    ('f1', 'bleu', 'normalised_exact', 'exact', 'contains', 'contains_word', 'numeric')
    """
    wanted = [metrics] if isinstance(metrics, str) else metrics
    return tuple(dict.fromkeys([*map(_known, wanted), *STANDARD]))


def _known(name: str) -> str:
    plain = str(name).strip().lower().replace("-", "_")
    plain = _ALIASES.get(plain, plain)
    if plain not in QA_METRICS:
        raise UsageError(
            f"unknown metric {name!r} for free answers.{suggest(plain, [*QA_METRICS, *_ALIASES])} "
            f"Known: {', '.join(QA_METRICS)}"
        )
    return plain
