from benchwright.workflows._agent import AgentResult as AgentResult, run_agent as run_agent
from benchwright.workflows._canonical import hash_json as hash_json, stable_stringify as stable_stringify
from benchwright.workflows._child import ProgramProgress as ProgramProgress
from benchwright.workflows._client import (
    BenchwrightClient as BenchwrightClient,
    BenchwrightRun as BenchwrightRun,
    RunRecord as RunRecord,
    StepParams as StepParams,
)
from benchwright.workflows._concurrency import (
    collect_async_iter as collect_async_iter,
    iter_async_with_concurrency as iter_async_with_concurrency,
)
from benchwright.workflows._context import WorkflowContext as WorkflowContext, emit as emit, step as step
from benchwright.workflows._datasets import (
    Dataset as Dataset,
    RowError as RowError,
    dataset as dataset,
    map_dataset as map_dataset,
)
from benchwright.workflows._environment import child_environment as child_environment
from benchwright.workflows._execution import (
    WorkflowDescriptor as WorkflowDescriptor,
    entrypoint as entrypoint,
    workflow as workflow,
)
from benchwright.workflows._llm import (
    AssistantMessage as AssistantMessage,
    LLMError as LLMError,
    LLMMessage as LLMMessage,
    LLMReply as LLMReply,
    ModelProvider as ModelProvider,
    SystemMessage as SystemMessage,
    ToolMessage as ToolMessage,
    UserMessage as UserMessage,
    call_llm as call_llm,
)
from benchwright.workflows._llm_tools import LLMTool as LLMTool, LLMToolCall as LLMToolCall
from benchwright.workflows._programs import (
    ProgramPlan as ProgramPlan,
    ProgramResult as ProgramResult,
    find_script as find_script,
    plan_program as plan_program,
    program_executable as program_executable,
    refuse_settings as refuse_settings,
    run_script as run_script,
)
from benchwright.workflows._recorder import (
    ApiError as ApiError,
    MissingKeyError as MissingKeyError,
    StepTimeoutError as StepTimeoutError,
    WorkflowError as WorkflowError,
    error_message as error_message,
)
from benchwright.workflows._run_program import (
    ProgramServer as ProgramServer,
    Serve as Serve,
    resume_program as resume_program,
    run_program as run_program,
)
from benchwright.workflows._sources import DatasetSource as DatasetSource
