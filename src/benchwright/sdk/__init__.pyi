from benchwright.config import RunOptions as RunOptions, SuiteOptions as SuiteOptions
from benchwright.gates import Verdict as Verdict
from benchwright.runs import (
    LoadCheck as LoadCheck,
    LoadResult as LoadResult,
    RunResult as RunResult,
    TaskResult as TaskResult,
)
from benchwright.sdk._calibrate import calibrate_judge as calibrate_judge
from benchwright.sdk._compare import compare as compare
from benchwright.sdk._front import (
    check as check,
    rescore as rescore,
    resume as resume,
    run as run,
    validate as validate,
)
from benchwright.sdk._gate import bless as bless, export_baseline as export_baseline, gate as gate
from benchwright.sdk._judge import judge_panel as judge_panel, judge_score as judge_score
from benchwright.sdk._kinds import (
    RUN_KINDS as RUN_KINDS,
    cancel_run as cancel_run,
    kind_of as kind_of,
    view_of as view_of,
)
from benchwright.sdk._lists import (
    Evaluation as Evaluation,
    list_evaluations as list_evaluations,
    list_models as list_models,
    list_plugins as list_plugins,
)
from benchwright.sdk._perf import check_perf as check_perf, perf as perf
from benchwright.sdk._resolve import (
    Benchmarks as Benchmarks,
    Program as Program,
    Questions as Questions,
    Resolved as Resolved,
    Workflow as Workflow,
    resolve as resolve,
)
from benchwright.sdk._run_config import (
    ConfiguredRun as ConfiguredRun,
    configure_run as configure_run,
    run_configured as run_configured,
)
from benchwright.sdk._upkeep import diagnose as diagnose, remove_run as remove_run
from benchwright.suites import SuiteResult as SuiteResult, run_suite as run_suite
from benchwright.workflows import ProgramResult as ProgramResult
