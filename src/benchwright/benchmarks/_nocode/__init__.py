"""Evaluations without code, made from a table of the configuration, and the built-in ones.

Built-in evaluations are tables too, with data from the hub.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.core import ConfigError, UsageError, suggest

if TYPE_CHECKING:
    from benchwright.config import BuiltinBenchmark, GraderStyle, NoCodeBenchmark

_ABSTRACT = """\
{% if row.context is defined %}Context:
{{ row.context.contexts | join("\\n") if row.context is mapping else row.context }}

{% endif %}Question: {{ row.question }}

Answer with one word: yes, no or maybe."""


_BY_SIMILARITY = {"type": "levenshtein", "golden_column": "answer"}

BUILTIN_EVALUATIONS: Mapping[str, tuple[str, str, str, Mapping[str, Any]]] = {
    "pubmedqa": (
        "questions about medical abstracts: yes, no or maybe",
        "hf://quantiles/PubMedQA?config=pqa_labeled&split=train",
        _ABSTRACT,
        {
            "type": "leading_label",
            "golden_column": "final_decision",
            "labels": ("yes", "no", "maybe"),
            "tokens": 5,
        },
    ),
    "simpleqa-verified": (
        "short factual questions, scored by similarity",
        "hf://quantiles/simpleqa-verified",
        "{{ row.problem }}",
        _BY_SIMILARITY,
    ),
    "financebench": (
        "questions about annual reports, scored by similarity",
        "hf://quantiles/financebench",
        "{{ row.question }}",
        _BY_SIMILARITY,
    ),
}
"""Every built-in evaluation by name: one line for listings, the URI of its rows, its template, and the arguments of its `GraderStyle`."""


def builtin_definition(table: BuiltinBenchmark, name: str, folder: Path) -> NoCodeBenchmark:
    """The evaluation as a separate definition, under `name`."""
    from benchwright.config import (
        GraderStyle,
        NoCodeBenchmark,
    )  # every run needs the names, and few need these

    found = BUILTIN_EVALUATIONS.get(table.benchmark)
    if found is None:
        raise UsageError(
            f"no built-in evaluation {table.benchmark!r}.{suggest(table.benchmark, BUILTIN_EVALUATIONS)} Known: "
            f'{", ".join(BUILTIN_EVALUATIONS)}. A table with another name says which: benchmark = "…"'
        )
    _, dataset, prompt, grading = found
    grader = GraderStyle(**grading)
    if table.metric is not None:
        grader = _compared_by(table, grader)
    return NoCodeBenchmark(
        name=name,
        dataset=table.dataset or dataset,
        prompt=prompt,
        grader=grader,
        folder=str(folder),
    )


def _compared_by(table: BuiltinBenchmark, grader: GraderStyle) -> GraderStyle:
    if grader.type != "levenshtein":
        raise ConfigError(f"metric: {table.benchmark} compares labels; leave it out")
    if table.metric == "cosine":
        raise ConfigError(
            "metric cosine compares embeddings, and there is no embedding model here (all-MiniLM-L6-v2 would have "
            "to be installed with its library); use levenshtein, the default"
        )
    if table.metric != "levenshtein":
        raise ConfigError(f"metric {table.metric!r} is not known; expected levenshtein")
    return grader
