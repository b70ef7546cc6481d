"""Performs what benchmarks describe: durable calls, scoring, resume, budgets, progress."""

from benchwright.engine._feed import WorkItem
from benchwright.engine._findings import DEMO_NOTE
from benchwright.engine._group import InterruptedRunError, RunGroup, stopped_twice
from benchwright.engine._manifest import changed_manifest
from benchwright.engine._perform import Performed, perform
from benchwright.engine._prepare import (
    Prepared,
    model_type_of,
    prepare,
    prepared_like,
    row_settings,
    rows_and_prompts,
    start_problems,
)
from benchwright.engine._progress import Phase, Progress, Watcher
from benchwright.engine._settings import DECIDES, ModelSettings, RunSettings
from benchwright.engine._side_calls import judge_request, judge_settings, judge_text
from benchwright.engine._stop import Budget, StopCause
from benchwright.engine._worker import OpenSample, RunContext, SampleWorker

__all__ = [
    "DECIDES",
    "DEMO_NOTE",
    "Budget",
    "InterruptedRunError",
    "ModelSettings",
    "OpenSample",
    "Performed",
    "Phase",
    "Prepared",
    "Progress",
    "RunContext",
    "RunGroup",
    "RunSettings",
    "SampleWorker",
    "StopCause",
    "Watcher",
    "WorkItem",
    "changed_manifest",
    "judge_request",
    "judge_settings",
    "judge_text",
    "model_type_of",
    "perform",
    "prepare",
    "prepared_like",
    "row_settings",
    "rows_and_prompts",
    "start_problems",
    "stopped_twice",
]
