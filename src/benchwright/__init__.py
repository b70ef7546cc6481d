"""Evaluate language-model endpoints on data and benchmarks you bring yourself.

>>> from benchwright import benchmark, scorer, ScorerInput
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.benchmarks import benchmark, scorer
    from benchwright.core import BenchwrightError, JsonValue
    from benchwright.datasets import load_dataset, register_fetcher
    from benchwright.endpoints import ScriptedEndpoint
    from benchwright.scorers import (
        ScorerInput,
        all_of,
        any_of,
        boolean_yesno,
        chrf,
        gsm8k_answer,
        mcq_letter_extract,
        multiple_choice_acc,
    )
    from benchwright.sdk import RunResult, check, compare, judge_score, resume, run

__version__ = "0.1.0"

# Name → room. Loaded on first use, so that `import benchwright` and `--help` stay quick.
_HOMES = {
    "BenchwrightError": "core",
    "JsonValue": "core",
    "RunResult": "sdk",
    "ScorerInput": "scorers",
    "ScriptedEndpoint": "endpoints",
    "all_of": "scorers",
    "any_of": "scorers",
    "benchmark": "benchmarks",
    "boolean_yesno": "scorers",
    "check": "sdk",
    "chrf": "scorers",
    "compare": "sdk",
    "gsm8k_answer": "scorers",
    "judge_score": "sdk",
    "load_dataset": "datasets",
    "mcq_letter_extract": "scorers",
    "multiple_choice_acc": "scorers",
    "register_fetcher": "datasets",
    "resume": "sdk",
    "run": "sdk",
    "scorer": "benchmarks",
}

__all__ = [
    "BenchwrightError",
    "JsonValue",
    "RunResult",
    "ScorerInput",
    "ScriptedEndpoint",
    "all_of",
    "any_of",
    "benchmark",
    "boolean_yesno",
    "check",
    "chrf",
    "compare",
    "gsm8k_answer",
    "judge_score",
    "load_dataset",
    "mcq_letter_extract",
    "multiple_choice_acc",
    "register_fetcher",
    "resume",
    "run",
    "scorer",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'benchwright' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"benchwright.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
