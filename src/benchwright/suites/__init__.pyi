"""Suites: pairs of a model and a dataset, read from a file or a command line, checked, run and compared."""

from benchwright.suites._entries import QUESTION_KEYS, SuiteDataset, SuiteModel
from benchwright.suites._names import Origin, chosen_models, command_suite, origins
from benchwright.suites._pairs import Pair, Pairs
from benchwright.suites._result import PairResult, SuiteResult
from benchwright.suites._run import (
    DEFAULT_WORK_DIR,
    PairCheck,
    SuiteCheck,
    check_suite,
    plan_pair_loads,
    run_suite,
)
from benchwright.suites._suite import Suite, load_suite, read_base, read_suite, suite_of

__all__ = [
    "DEFAULT_WORK_DIR",
    "QUESTION_KEYS",
    "Origin",
    "Pair",
    "PairCheck",
    "PairResult",
    "Pairs",
    "Suite",
    "SuiteCheck",
    "SuiteDataset",
    "SuiteModel",
    "SuiteResult",
    "check_suite",
    "chosen_models",
    "command_suite",
    "load_suite",
    "origins",
    "plan_pair_loads",
    "read_base",
    "read_suite",
    "run_suite",
    "suite_of",
]
