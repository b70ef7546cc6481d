"""Evaluations without code, made from a table of the configuration, and the built-in ones.

Built-in evaluations are tables too, with data from the hub.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from benchwright.core import ConfigError, UsageError, suggest

if TYPE_CHECKING:
    from benchwright.config import BuiltinBenchmark, GraderStyle, NoCodeBenchmark

_ABSTRACT = """\
{% if row.context is defined %}Context:
{{ row.context.contexts | join("\\n") if row.context is mapping else row.context }}

{% endif %}Question: {{ row.question }}

Answer with one word: yes, no or maybe."""


class BuiltinEvaluation(Struct, frozen=True):
    """One built-in evaluation."""

    description: str
    """One line for listings."""
    dataset: str
    """URI of its rows."""
    prompt: str
    """Template text."""
    grading: Mapping[str, Any]
    """How replies are compared: the arguments of a `GraderStyle`."""

    @property
    def grader(self) -> GraderStyle:
        """How replies are compared."""
        from benchwright.config import GraderStyle  # every run needs the names, and few need this

        return GraderStyle(**self.grading)


_BY_SIMILARITY = {"type": "levenshtein", "golden_column": "answer"}

BUILTIN_EVALUATIONS: Mapping[str, BuiltinEvaluation] = {
    "pubmedqa": BuiltinEvaluation(
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
    "simpleqa-verified": BuiltinEvaluation(
        "short factual questions, scored by similarity",
        "hf://quantiles/simpleqa-verified",
        "{{ row.problem }}",
        _BY_SIMILARITY,
    ),
    "financebench": BuiltinEvaluation(
        "questions about annual reports, scored by similarity",
        "hf://quantiles/financebench",
        "{{ row.question }}",
        _BY_SIMILARITY,
    ),
}
"""Every built-in evaluation by name."""


def builtin_definition(table: BuiltinBenchmark, name: str, folder: Path) -> NoCodeBenchmark:
    """The evaluation as a separate definition, under `name`."""
    from benchwright.config import NoCodeBenchmark

    found = BUILTIN_EVALUATIONS.get(table.benchmark)
    if found is None:
        raise UsageError(
            f"no built-in evaluation {table.benchmark!r}.{suggest(table.benchmark, BUILTIN_EVALUATIONS)} Known: "
            f'{", ".join(BUILTIN_EVALUATIONS)}. A table with another name says which: benchmark = "…"'
        )
    grader = found.grader
    if table.metric is not None:
        grader = _compared_by(table, grader)
    return NoCodeBenchmark(
        name=name,
        dataset=table.dataset or found.dataset,
        prompt=found.prompt,
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
