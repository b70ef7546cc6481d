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

__all__ = [
    "Evaluation",
    "RunOptions",
    "RunResult",
    "check",
    "compare",
    "judge_score",
    "list_evaluations",
    "rescore",
    "resume",
    "run",
    "run_all",
    "validate",
]
