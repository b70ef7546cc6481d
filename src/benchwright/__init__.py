"""Evaluate language-model endpoints on data and benchmarks you bring yourself.

>>> from benchwright import benchmark, scorer, ScorerInput
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.benchmarks import benchmark, scorer
    from benchwright.config import read_base
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
    from benchwright.sdk import (
        ApiError,
        BenchwrightClient,
        BenchwrightRun,
        Dataset,
        DatasetSource,
        LLMMessage,
        ModelProvider,
        RunRecord,
        RunResult,
        StepParams,
        SuiteResult,
        SystemMessage,
        UserMessage,
        WorkflowContext,
        WorkflowDescriptor,
        WorkflowError,
        call_llm,
        check,
        collect_async_iter,
        compare,
        dataset,
        emit,
        entrypoint,
        error_message,
        hash_json,
        iter_async_with_concurrency,
        judge_score,
        map_dataset,
        rescore,
        resume,
        run,
        run_suite,
        stable_stringify,
        step,
        workflow,
    )
    from benchwright.stats import Classification, Statistics

__version__ = "0.1.0"

# Name → room. Loaded on first use, so that `import benchwright` and `--help` stay quick.
_HOMES = {
    "ApiError": "sdk",
    "BenchwrightClient": "sdk",
    "BenchwrightError": "core",
    "BenchwrightRun": "sdk",
    "Classification": "stats",
    "Dataset": "sdk",
    "DatasetSource": "sdk",
    "JsonValue": "core",
    "LLMMessage": "sdk",
    "ModelProvider": "sdk",
    "RunRecord": "sdk",
    "RunResult": "sdk",
    "ScorerInput": "scorers",
    "ScriptedEndpoint": "endpoints",
    "Statistics": "stats",
    "StepParams": "sdk",
    "SuiteResult": "sdk",
    "SystemMessage": "sdk",
    "UserMessage": "sdk",
    "WorkflowContext": "sdk",
    "WorkflowDescriptor": "sdk",
    "WorkflowError": "sdk",
    "all_of": "scorers",
    "any_of": "scorers",
    "benchmark": "benchmarks",
    "boolean_yesno": "scorers",
    "call_llm": "sdk",
    "check": "sdk",
    "chrf": "scorers",
    "collect_async_iter": "sdk",
    "compare": "sdk",
    "dataset": "sdk",
    "emit": "sdk",
    "entrypoint": "sdk",
    "error_message": "sdk",
    "gsm8k_answer": "scorers",
    "hash_json": "sdk",
    "iter_async_with_concurrency": "sdk",
    "judge_score": "sdk",
    "load_dataset": "datasets",
    "map_dataset": "sdk",
    "mcq_letter_extract": "scorers",
    "multiple_choice_acc": "scorers",
    "read_base": "config",
    "register_fetcher": "datasets",
    "rescore": "sdk",
    "resume": "sdk",
    "run": "sdk",
    "run_suite": "sdk",
    "scorer": "benchmarks",
    "stable_stringify": "sdk",
    "step": "sdk",
    "workflow": "sdk",
}

__all__ = [
    "ApiError",
    "BenchwrightClient",
    "BenchwrightError",
    "BenchwrightRun",
    "Classification",
    "Dataset",
    "DatasetSource",
    "JsonValue",
    "LLMMessage",
    "ModelProvider",
    "RunRecord",
    "RunResult",
    "ScorerInput",
    "ScriptedEndpoint",
    "Statistics",
    "StepParams",
    "SuiteResult",
    "SystemMessage",
    "UserMessage",
    "WorkflowContext",
    "WorkflowDescriptor",
    "WorkflowError",
    "all_of",
    "any_of",
    "benchmark",
    "boolean_yesno",
    "call_llm",
    "check",
    "chrf",
    "collect_async_iter",
    "compare",
    "dataset",
    "emit",
    "entrypoint",
    "error_message",
    "gsm8k_answer",
    "hash_json",
    "iter_async_with_concurrency",
    "judge_score",
    "load_dataset",
    "map_dataset",
    "mcq_letter_extract",
    "multiple_choice_acc",
    "read_base",
    "register_fetcher",
    "rescore",
    "resume",
    "run",
    "run_suite",
    "scorer",
    "stable_stringify",
    "step",
    "workflow",
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
