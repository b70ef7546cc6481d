"""What the commands do, as functions."""

from benchwright.sdk._check import check
from benchwright.sdk._code.captured import STREAM_FILES
from benchwright.sdk._code.carry_out import Serve, ServerBeside, resume_code, run_code
from benchwright.sdk._code.plan import CodePlan, plan_code
from benchwright.sdk._code.plan import executable as code_executable
from benchwright.sdk._code.result import CodeResult
from benchwright.sdk._code.scripts import run_script
from benchwright.sdk._code.watching import CodeProgress, CodeWatcher
from benchwright.sdk._compare import compare
from benchwright.sdk._doctor import Diagnosis, diagnose
from benchwright.sdk._ending import Canceled, Removed, cancel_run, remove_run
from benchwright.sdk._evaluations import Evaluation, list_evaluations
from benchwright.sdk._judge import judge_score
from benchwright.sdk._known_models import KnownModel, list_models
from benchwright.sdk._options import RunOptions
from benchwright.sdk._plugins import ListedPlugin, list_plugins
from benchwright.sdk._rescore import rescore
from benchwright.sdk._result import RunResult
from benchwright.sdk._resume import resume
from benchwright.sdk._run import run, run_all
from benchwright.sdk._suite.check import PairCheck, SuiteCheck, check_suite
from benchwright.sdk._suite.files import load_suite
from benchwright.sdk._suite.named import Origin, chosen_models, command_suite, origins
from benchwright.sdk._suite.options import DEFAULT_WORK_DIR, SuiteOptions
from benchwright.sdk._suite.pairs import Pair, Pairs
from benchwright.sdk._suite.result import PairResult, SuiteResult
from benchwright.sdk._suite.run import run_suite
from benchwright.sdk._validate import validate
from benchwright.sdk._workflow.canonical import hash_json, stable_stringify
from benchwright.sdk._workflow.client import BenchwrightClient, BenchwrightRun, RunRecord, StepParams
from benchwright.sdk._workflow.concurrency import (
    Outcome,
    collect_async_iter,
    iter_async_with_concurrency,
)
from benchwright.sdk._workflow.context import WorkflowContext, emit, step
from benchwright.sdk._workflow.datasets import Dataset, DatasetStats, RowError, dataset, map_dataset
from benchwright.sdk._workflow.descriptor import WorkflowDescriptor, workflow
from benchwright.sdk._workflow.entrypoint import entrypoint
from benchwright.sdk._workflow.environment import child_environment
from benchwright.sdk._workflow.errors import (
    ApiError,
    MissingKeyError,
    StepTimeoutError,
    WorkflowError,
    error_message,
)
from benchwright.sdk._workflow.llm import (
    AssistantMessage,
    LLMError,
    LLMMessage,
    LLMReply,
    ModelProvider,
    SystemMessage,
    UserMessage,
    call_llm,
)
from benchwright.sdk._workflow.recorder import Recorder
from benchwright.sdk._workflow.sources import DatasetSource

__all__ = [
    "DEFAULT_WORK_DIR",
    "STREAM_FILES",
    "ApiError",
    "AssistantMessage",
    "BenchwrightClient",
    "BenchwrightRun",
    "Canceled",
    "CodePlan",
    "CodeProgress",
    "CodeResult",
    "CodeWatcher",
    "Dataset",
    "DatasetSource",
    "DatasetStats",
    "Diagnosis",
    "Evaluation",
    "KnownModel",
    "LLMError",
    "LLMMessage",
    "LLMReply",
    "ListedPlugin",
    "MissingKeyError",
    "ModelProvider",
    "Origin",
    "Outcome",
    "Pair",
    "PairCheck",
    "PairResult",
    "Pairs",
    "Recorder",
    "Removed",
    "RowError",
    "RunOptions",
    "RunRecord",
    "RunResult",
    "Serve",
    "ServerBeside",
    "StepParams",
    "StepTimeoutError",
    "SuiteCheck",
    "SuiteOptions",
    "SuiteResult",
    "SystemMessage",
    "UserMessage",
    "WorkflowContext",
    "WorkflowDescriptor",
    "WorkflowError",
    "call_llm",
    "cancel_run",
    "check",
    "check_suite",
    "child_environment",
    "chosen_models",
    "code_executable",
    "collect_async_iter",
    "command_suite",
    "compare",
    "dataset",
    "diagnose",
    "emit",
    "entrypoint",
    "error_message",
    "hash_json",
    "iter_async_with_concurrency",
    "judge_score",
    "list_evaluations",
    "list_models",
    "list_plugins",
    "load_suite",
    "map_dataset",
    "origins",
    "plan_code",
    "remove_run",
    "rescore",
    "resume",
    "resume_code",
    "run",
    "run_all",
    "run_code",
    "run_script",
    "run_suite",
    "stable_stringify",
    "step",
    "validate",
    "workflow",
]
