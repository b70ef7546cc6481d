from benchwright.runs._blind import blind_samples as blind_samples, judge_agreement as judge_agreement
from benchwright.runs._calibrate import calibrate_judge as calibrate_judge
from benchwright.runs._cancel_and_repair import diagnose as diagnose, remove_run as remove_run
from benchwright.runs._child import ProgramProgress as ProgramProgress
from benchwright.runs._compare import (
    compare as compare,
    compare_runs as compare_runs,
    harmless_settings as harmless_settings,
)
from benchwright.runs._functions import (
    check as check,
    rescore as rescore,
    resume as resume,
    run as run,
    validate as validate,
)
from benchwright.runs._gate import bless as bless, export_baseline as export_baseline, gate as gate
from benchwright.runs._jobs import Ended as Ended
from benchwright.runs._kinds import cancel_run as cancel_run
from benchwright.runs._label_effect import run_labels as run_labels
from benchwright.runs._label_files import export_labels as export_labels, import_labels as import_labels
from benchwright.runs._lists import (
    list_evaluations as list_evaluations,
    list_models as list_models,
)
from benchwright.runs._load_check import LoadCheck as LoadCheck
from benchwright.runs._load_work import LoadResult as LoadResult
from benchwright.runs._perf_function import check_perf as check_perf, perf as perf
from benchwright.runs._programs import (
    ProgramPlan as ProgramPlan,
    ProgramResult as ProgramResult,
    refuse_settings as refuse_settings,
)
from benchwright.runs._report import write_report as write_report
from benchwright.runs._resolve import (
    Benchmarks as Benchmarks,
    Program as Program,
    resolve as resolve,
)
from benchwright.runs._resolved import Resolved as Resolved
from benchwright.runs._run_config import (
    ConfiguredRun as ConfiguredRun,
)
from benchwright.runs._run_program import (
    Serve as Serve,
    resume_program as resume_program,
    run_program as run_program,
)
from benchwright.runs._session import Session as Session
from benchwright.runs._slices import slices as slices
from benchwright.runs._suites.names import command_suite as command_suite, origins as origins
from benchwright.runs._suites.pairs import Pairs as Pairs
from benchwright.runs._suites.recorded import recorded_suite as recorded_suite
from benchwright.runs._suites.result import PairResult as PairResult, SuiteResult as SuiteResult
from benchwright.runs._suites.run import (
    DEFAULT_WORK_DIR as DEFAULT_WORK_DIR,
    SuiteCheck as SuiteCheck,
    check_suite as check_suite,
    run_suite as run_suite,
)
from benchwright.runs._suites.suite import Suite as Suite
from benchwright.runs._tag_and_rename import (
    rename_run as rename_run,
    resume_apart as resume_apart,
    tag_run as tag_run,
)
from benchwright.runs._trials import ask_again as ask_again
