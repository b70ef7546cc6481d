"""The front that Python users see: what the commands do, as functions."""

from benchwright.config import RunOptions, SuiteOptions
from benchwright.gates import Blessed, Policy, Verdict
from benchwright.runs import LoadCheck, LoadResult, RunResult, TaskResult
from benchwright.sdk._calibrate import calibrate_judge
from benchwright.sdk._compare import compare
from benchwright.sdk._front import check, rescore, resume, run, validate
from benchwright.sdk._gate import bless, export_baseline, gate
from benchwright.sdk._judge import judge_panel, judge_score
from benchwright.sdk._kinds import RUN_KINDS, KindRow, cancel_run, kind_of, view_of
from benchwright.sdk._lists import (
    Evaluation,
    KnownModel,
    ListedPlugin,
    list_evaluations,
    list_models,
    list_plugins,
)
from benchwright.sdk._perf import check_perf, perf
from benchwright.sdk._resolve import Benchmarks, Program, Questions, Resolved, Workflow, resolve
from benchwright.sdk._run_config import ConfiguredRun, configure_run, run_configured
from benchwright.sdk._upkeep import Canceled, Diagnosis, Removed, diagnose, remove_run
from benchwright.suites import SuiteResult, run_suite
from benchwright.workflows import ProgramResult

__all__ = [
    "RUN_KINDS",
    "Benchmarks",
    "Blessed",
    "Canceled",
    "ConfiguredRun",
    "Diagnosis",
    "Evaluation",
    "KindRow",
    "KnownModel",
    "ListedPlugin",
    "LoadCheck",
    "LoadResult",
    "Policy",
    "Program",
    "ProgramResult",
    "Questions",
    "Removed",
    "Resolved",
    "RunOptions",
    "RunResult",
    "SuiteOptions",
    "SuiteResult",
    "TaskResult",
    "Verdict",
    "Workflow",
    "bless",
    "calibrate_judge",
    "cancel_run",
    "check",
    "check_perf",
    "compare",
    "configure_run",
    "diagnose",
    "export_baseline",
    "gate",
    "judge_panel",
    "judge_score",
    "kind_of",
    "list_evaluations",
    "list_models",
    "list_plugins",
    "perf",
    "remove_run",
    "rescore",
    "resolve",
    "resume",
    "run",
    "run_configured",
    "run_suite",
    "validate",
    "view_of",
]
