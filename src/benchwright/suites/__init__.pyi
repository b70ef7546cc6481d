from benchwright.suites._entries import QUESTION_KEYS as QUESTION_KEYS
from benchwright.suites._names import (
    Origin as Origin,
    chosen_models as chosen_models,
    command_suite as command_suite,
    origins as origins,
)
from benchwright.suites._pairs import Pairs as Pairs
from benchwright.suites._result import PairResult as PairResult, SuiteResult as SuiteResult
from benchwright.suites._run import (
    DEFAULT_WORK_DIR as DEFAULT_WORK_DIR,
    SuiteCheck as SuiteCheck,
    check_suite as check_suite,
    plan_pair_loads as plan_pair_loads,
    run_suite as run_suite,
)
from benchwright.suites._suite import (
    Suite as Suite,
    load_suite as load_suite,
    read_base as read_base,
    read_suite as read_suite,
    suite_of as suite_of,
)
