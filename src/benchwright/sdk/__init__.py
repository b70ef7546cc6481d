"""What the commands do, as functions."""

from benchwright.config import RunOptions
from benchwright.runs import (
    RunResult,
    check,
    rescore,
    resume,
    run,
    run_all,
)
from benchwright.sdk._compare import compare
from benchwright.sdk._doctor import Diagnosis, diagnose
from benchwright.sdk._ending import Canceled, Removed, cancel_run, remove_run
from benchwright.sdk._evaluations import Evaluation, list_evaluations
from benchwright.sdk._judge import judge_score
from benchwright.sdk._known_models import KnownModel, list_models
from benchwright.sdk._plugins import ListedPlugin, list_plugins
from benchwright.sdk._validate import validate
from benchwright.suites import SuiteResult, run_suite

__all__ = [
    "Canceled",
    "Diagnosis",
    "Evaluation",
    "KnownModel",
    "ListedPlugin",
    "Removed",
    "RunOptions",
    "RunResult",
    "SuiteResult",
    "cancel_run",
    "check",
    "compare",
    "diagnose",
    "judge_score",
    "list_evaluations",
    "list_models",
    "list_plugins",
    "remove_run",
    "rescore",
    "resume",
    "run",
    "run_all",
    "run_suite",
    "validate",
]
