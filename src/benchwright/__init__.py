"""Evaluate language-model endpoints on data and benchmarks you bring yourself.

>>> from benchwright import benchmark, scorer, ScorerInput

The package exports what you type in a benchmark, a workflow, a suite or a notebook, and the errors that you catch.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

# Loaded on first use, so that `import benchwright` and `--help` stay fast. `__init__.pyi` repeats the names for type
# checkers; a test compares the two.
_NAMES = {
    "benchmarks": "benchmark scorer",
    "config": "RunOptions",
    "core": (
        "BenchmarkError BenchwrightError ConfigError DatasetError JsonValue NotFoundError RunOwnedError UsageError"
    ),
    "datasets": "load_dataset register_fetcher",
    "endpoints": "ScriptedEndpoint",
    "scorers": (
        "ScorerInput all_of any_of bleu boolean_yesno chrf contains exact_match f1_token gsm8k_answer "
        "mcq_letter_extract multiple_choice_acc regex_match retrieval_metrics rouge"
    ),
    "sdk": (
        "LoadResult ProgramResult RunResult SuiteResult Verdict bless calibrate_judge check compare gate judge_panel judge_score perf rescore "
        "resume run run_suite"
    ),
    "stats": "Classification Statistics",
    "store": "InputChangedError RunClosedError StaleAttemptError StepHeldError StoreError",
    "suites": "read_base",
    "workflows": (
        "AgentResult ApiError AssistantMessage BenchwrightClient BenchwrightRun Dataset DatasetSource LLMError LLMMessage "
        "LLMReply LLMTool LLMToolCall "
        "MissingKeyError ModelProvider RowError RunRecord StepParams StepTimeoutError SystemMessage ToolMessage UserMessage "
        "WorkflowContext WorkflowDescriptor WorkflowError call_llm collect_async_iter dataset emit entrypoint "
        "error_message hash_json iter_async_with_concurrency map_dataset run_agent stable_stringify step workflow"
    ),
}
_PACKAGES = {name: package for package, names in _NAMES.items() for name in names.split()}

__all__ = [*sorted(_PACKAGES)]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from benchwright.core import VERSION

        return VERSION
    package = _PACKAGES.get(name)
    if package is None:
        raise AttributeError(f"module 'benchwright' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"benchwright.{package}"), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """This package. `perf` is both a subpackage and a function. Users mean the function, so importing the subpackage
    must not replace it."""

    @property
    def perf(self) -> Any:
        from benchwright.sdk import perf

        return perf

    @perf.setter
    def perf(self, package: Any) -> None:
        pass


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
