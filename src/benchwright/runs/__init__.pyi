from benchwright.runs._jobs import (
    Ended as Ended,
    Job as Job,
    in_event_loop as in_event_loop,
    leave as leave,
    perform_jobs as perform_jobs,
)
from benchwright.runs._load_check import LoadCheck as LoadCheck, check_load as check_load
from benchwright.runs._load_rows import synthetic_target as synthetic_target
from benchwright.runs._models import (
    UNNAMED as UNNAMED,
    choose_model as choose_model,
    scripted_model as scripted_model,
)
from benchwright.runs._perf import (
    LoadPlan as LoadPlan,
    LoadResult as LoadResult,
    load_run_options as load_run_options,
    perform_loads as perform_loads,
    plan_loads as plan_loads,
)
from benchwright.runs._questions import (
    ONLY_MCQ as ONLY_MCQ,
    QUESTION_SETTINGS as QUESTION_SETTINGS,
    fitting as fitting,
    question_options as question_options,
    refuse_idle as refuse_idle,
    refuse_unheard as refuse_unheard,
)
from benchwright.runs._result import (
    RunResult as RunResult,
    called as called,
    recorded as recorded,
    recorded_result as recorded_result,
)
from benchwright.runs._resume import (
    claimed as claimed,
    refuse_adopted as refuse_adopted,
    rescore_plan as rescore_plan,
)
from benchwright.runs._run import (
    Plan as Plan,
    check_targets as check_targets,
    find_targets as find_targets,
    queue_plans as queue_plans,
    run_settings as run_settings,
    run_targets as run_targets,
    samples_as_sent as samples_as_sent,
    with_cost as with_cost,
    with_problems as with_problems,
    with_steps as with_steps,
)
from benchwright.runs._targets import Target as Target
from benchwright.runs._tasks import (
    Task as Task,
    TaskResult as TaskResult,
    count_rows as count_rows,
    run_tasks as run_tasks,
)
