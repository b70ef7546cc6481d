"""One run of a benchmark: from a target and options to a plan, a job and a result; resumed or scored again."""

from benchwright.runs._jobs import Ended, Job, in_event_loop, leave, perform_jobs
from benchwright.runs._load_check import LoadCheck, check_load
from benchwright.runs._models import UNNAMED, choose_model, scripted_model
from benchwright.runs._perf import (
    LoadPlan,
    LoadResult,
    load_run_options,
    perform_loads,
    plan_loads,
)
from benchwright.runs._questions import (
    ONLY_MCQ,
    QUESTION_SETTINGS,
    fitting,
    question_options,
    refuse_idle,
    refuse_unheard,
)
from benchwright.runs._result import RunResult, called, recorded, recorded_result
from benchwright.runs._resume import claimed, refuse_adopted, rescore_plan
from benchwright.runs._run import (
    Plan,
    check_targets,
    find_targets,
    queue_plans,
    run_settings,
    run_targets,
    samples_as_sent,
    with_cost,
    with_problems,
    with_steps,
)
from benchwright.runs._synthetic import synthetic_target
from benchwright.runs._targets import Target, resolve_targets
from benchwright.runs._tasks import Task, TaskResult, count_rows, run_tasks

__all__ = [
    "ONLY_MCQ",
    "QUESTION_SETTINGS",
    "UNNAMED",
    "Ended",
    "Job",
    "LoadCheck",
    "LoadPlan",
    "LoadResult",
    "Plan",
    "RunResult",
    "Target",
    "Task",
    "TaskResult",
    "called",
    "check_load",
    "check_targets",
    "choose_model",
    "claimed",
    "count_rows",
    "find_targets",
    "fitting",
    "in_event_loop",
    "leave",
    "load_run_options",
    "perform_jobs",
    "perform_loads",
    "plan_loads",
    "question_options",
    "queue_plans",
    "recorded",
    "recorded_result",
    "refuse_adopted",
    "refuse_idle",
    "refuse_unheard",
    "rescore_plan",
    "resolve_targets",
    "run_settings",
    "run_targets",
    "run_tasks",
    "samples_as_sent",
    "scripted_model",
    "synthetic_target",
    "with_cost",
    "with_problems",
    "with_steps",
]
