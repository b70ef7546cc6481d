"""The package for type checkers: the names of `__init__.py`, imported from the subpackages that define them."""

from benchwright.benchmarks._decorators import benchmark as benchmark, scorer as scorer
from benchwright.config import (
    RunOptions as RunOptions,
)
from benchwright.core import (
    BenchmarkError as BenchmarkError,
    BenchwrightError as BenchwrightError,
    ConfigError as ConfigError,
    DatasetError as DatasetError,
    JsonValue as JsonValue,
    NotFoundError as NotFoundError,
    RunOwnedError as RunOwnedError,
    UsageError as UsageError,
)
from benchwright.datasets._fetchers import register_fetcher as register_fetcher
from benchwright.datasets._open import load_dataset as load_dataset
from benchwright.endpoints._scripted import ScriptedEndpoint as ScriptedEndpoint
from benchwright.results import RunResult as RunResult, Verdict as Verdict
from benchwright.runs import (
    LoadResult as LoadResult,
    ProgramResult as ProgramResult,
    SuiteResult as SuiteResult,
    bless as bless,
    calibrate_judge as calibrate_judge,
    check as check,
    compare as compare,
    gate as gate,
    perf as perf,
    rescore as rescore,
    resume as resume,
    run as run,
    run_suite as run_suite,
)
from benchwright.runs._judge import judge_panel as judge_panel, judge_score as judge_score
from benchwright.runs._suites.suite import read_base as read_base
from benchwright.scorers import (
    ScorerInput as ScorerInput,
    all_of as all_of,
    any_of as any_of,
    bleu as bleu,
    boolean_yesno as boolean_yesno,
    chrf as chrf,
    contains as contains,
    exact_match as exact_match,
    f1_token as f1_token,
    gsm8k_answer as gsm8k_answer,
    mcq_letter_extract as mcq_letter_extract,
    multiple_choice_acc as multiple_choice_acc,
    regex_match as regex_match,
    retrieval_metrics as retrieval_metrics,
    rouge as rouge,
)
from benchwright.stats._helpers import Classification as Classification, Statistics as Statistics
from benchwright.store import RunClosedError as RunClosedError, StoreError as StoreError
from benchwright.store._workflow_records import (
    InputChangedError as InputChangedError,
    StaleAttemptError as StaleAttemptError,
    StepHeldError as StepHeldError,
)
from benchwright.workflows import stable_stringify as stable_stringify
from benchwright.workflows._agent import AgentResult as AgentResult, run_agent as run_agent
from benchwright.workflows._canonical import hash_json as hash_json
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
from benchwright.workflows._recorder import (
    ApiError as ApiError,
    MissingKeyError as MissingKeyError,
    StepTimeoutError as StepTimeoutError,
    WorkflowError as WorkflowError,
    error_message as error_message,
)
from benchwright.workflows._sources import DatasetSource as DatasetSource

__version__: str
