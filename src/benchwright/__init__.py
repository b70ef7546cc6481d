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
    from benchwright.sdk import (
        RunResult,
        SuiteResult,
        check,
        compare,
        judge_score,
        rescore,
        resume,
        run,
        run_suite,
    )
    from benchwright.stats import Classification, Statistics
    from benchwright.suites import read_base
    from benchwright.workflows import (
        ApiError,
        BenchwrightClient,
        BenchwrightRun,
        Dataset,
        DatasetSource,
        LLMMessage,
        ModelProvider,
        RunRecord,
        StepParams,
        SystemMessage,
        UserMessage,
        WorkflowContext,
        WorkflowDescriptor,
        WorkflowError,
        call_llm,
        collect_async_iter,
        dataset,
        emit,
        entrypoint,
        error_message,
        hash_json,
        iter_async_with_concurrency,
        map_dataset,
        stable_stringify,
        step,
        workflow,
    )

__version__ = "0.1.0"

# Name → room. Loaded on first use, so that `import benchwright` and `--help` stay quick.
_HOMES = {
    "ApiError": "workflows",
    "BenchwrightClient": "workflows",
    "BenchwrightError": "core",
    "BenchwrightRun": "workflows",
    "Classification": "stats",
    "Dataset": "workflows",
    "DatasetSource": "workflows",
    "JsonValue": "core",
    "LLMMessage": "workflows",
    "ModelProvider": "workflows",
    "RunRecord": "workflows",
    "RunResult": "sdk",
    "ScorerInput": "scorers",
    "ScriptedEndpoint": "endpoints",
    "Statistics": "stats",
    "StepParams": "workflows",
    "SuiteResult": "sdk",
    "SystemMessage": "workflows",
    "UserMessage": "workflows",
    "WorkflowContext": "workflows",
    "WorkflowDescriptor": "workflows",
    "WorkflowError": "workflows",
    "all_of": "scorers",
    "any_of": "scorers",
    "benchmark": "benchmarks",
    "boolean_yesno": "scorers",
    "call_llm": "workflows",
    "check": "sdk",
    "chrf": "scorers",
    "collect_async_iter": "workflows",
    "compare": "sdk",
    "dataset": "workflows",
    "emit": "workflows",
    "entrypoint": "workflows",
    "error_message": "workflows",
    "gsm8k_answer": "scorers",
    "hash_json": "workflows",
    "iter_async_with_concurrency": "workflows",
    "judge_score": "sdk",
    "load_dataset": "datasets",
    "map_dataset": "workflows",
    "mcq_letter_extract": "scorers",
    "multiple_choice_acc": "scorers",
    "read_base": "suites",
    "register_fetcher": "datasets",
    "rescore": "sdk",
    "resume": "sdk",
    "run": "sdk",
    "run_suite": "sdk",
    "scorer": "benchmarks",
    "stable_stringify": "workflows",
    "step": "workflows",
    "workflow": "workflows",
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
