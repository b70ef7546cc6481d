"""What the commands do, as functions."""

from benchwright.sdk._check import check
from benchwright.sdk._compare import compare
from benchwright.sdk._evaluations import Evaluation, list_evaluations
from benchwright.sdk._judge import judge_score
from benchwright.sdk._options import RunOptions
from benchwright.sdk._rescore import rescore
from benchwright.sdk._result import RunResult
from benchwright.sdk._resume import resume
from benchwright.sdk._run import run, run_all
from benchwright.sdk._validate import validate
from benchwright.sdk._workflow.concurrency import (
    Outcome,
    collect_async_iter,
    iter_async_with_concurrency,
)

__all__ = [
    "Evaluation",
    "Outcome",
    "RunOptions",
    "RunResult",
    "check",
    "collect_async_iter",
    "compare",
    "iter_async_with_concurrency",
    "judge_score",
    "list_evaluations",
    "rescore",
    "resume",
    "run",
    "run_all",
    "validate",
]
