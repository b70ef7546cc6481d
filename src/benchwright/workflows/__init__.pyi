"""Durable workflows: their steps, datasets and model calls, the clients that record them, and programs as runs."""

from benchwright.workflows._agent import AgentResult, run_agent
from benchwright.workflows._canonical import hash_json, stable_stringify
from benchwright.workflows._child import ProgramProgress, ProgramWatcher
from benchwright.workflows._client import BenchwrightClient, BenchwrightRun, RunRecord, StepParams
from benchwright.workflows._concurrency import Outcome, collect_async_iter, iter_async_with_concurrency
from benchwright.workflows._context import WorkflowContext, emit, step
from benchwright.workflows._datasets import (
    Dataset,
    DatasetStats,
    RowError,
    dataset,
    map_dataset,
)
from benchwright.workflows._environment import child_environment
from benchwright.workflows._execution import WorkflowDescriptor, entrypoint, workflow
from benchwright.workflows._llm import (
    AssistantMessage,
    LLMError,
    LLMMessage,
    LLMReply,
    ModelProvider,
    SystemMessage,
    ToolMessage,
    UserMessage,
    call_llm,
)
from benchwright.workflows._llm_tools import LLMTool, LLMToolCall
from benchwright.workflows._programs import (
    ProgramPlan,
    ProgramResult,
    find_script,
    plan_program,
    program_executable,
    refuse_settings,
    run_script,
)
from benchwright.workflows._recorder import (
    ApiError,
    MissingKeyError,
    Recorder,
    StepTimeoutError,
    WorkflowError,
    error_message,
)
from benchwright.workflows._run_program import ProgramServer, Serve, resume_program, run_program
from benchwright.workflows._sources import DatasetSource

__all__ = [
    "AgentResult",
    "ApiError",
    "AssistantMessage",
    "BenchwrightClient",
    "BenchwrightRun",
    "Dataset",
    "DatasetSource",
    "DatasetStats",
    "LLMError",
    "LLMMessage",
    "LLMReply",
    "LLMTool",
    "LLMToolCall",
    "MissingKeyError",
    "ModelProvider",
    "Outcome",
    "ProgramPlan",
    "ProgramProgress",
    "ProgramResult",
    "ProgramServer",
    "ProgramWatcher",
    "Recorder",
    "RowError",
    "RunRecord",
    "Serve",
    "StepParams",
    "StepTimeoutError",
    "SystemMessage",
    "ToolMessage",
    "UserMessage",
    "WorkflowContext",
    "WorkflowDescriptor",
    "WorkflowError",
    "call_llm",
    "child_environment",
    "collect_async_iter",
    "dataset",
    "emit",
    "entrypoint",
    "error_message",
    "find_script",
    "hash_json",
    "iter_async_with_concurrency",
    "map_dataset",
    "plan_program",
    "program_executable",
    "refuse_settings",
    "resume_program",
    "run_agent",
    "run_program",
    "run_script",
    "stable_stringify",
    "step",
    "workflow",
]
