"""The package for type checkers: the names of `__init__.py`, imported from the subpackages that define them."""

from benchwright.benchmarks import (
    benchmark as benchmark,
    scorer as scorer,
)
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
from benchwright.datasets import (
    load_dataset as load_dataset,
    register_fetcher as register_fetcher,
)
from benchwright.endpoints import (
    ScriptedEndpoint as ScriptedEndpoint,
)
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
from benchwright.sdk import (
    LoadResult as LoadResult,
    ProgramResult as ProgramResult,
    RunResult as RunResult,
    SuiteResult as SuiteResult,
    Verdict as Verdict,
    bless as bless,
    calibrate_judge as calibrate_judge,
    check as check,
    compare as compare,
    gate as gate,
    judge_panel as judge_panel,
    judge_score as judge_score,
    perf as perf,
    rescore as rescore,
    resume as resume,
    run as run,
    run_suite as run_suite,
)
from benchwright.stats import (
    Classification as Classification,
    Statistics as Statistics,
)
from benchwright.store import (
    InputChangedError as InputChangedError,
    RunClosedError as RunClosedError,
    StaleAttemptError as StaleAttemptError,
    StepHeldError as StepHeldError,
    StoreError as StoreError,
)
from benchwright.suites import (
    read_base as read_base,
)
from benchwright.workflows import (
    AgentResult as AgentResult,
    ApiError as ApiError,
    AssistantMessage as AssistantMessage,
    BenchwrightClient as BenchwrightClient,
    BenchwrightRun as BenchwrightRun,
    Dataset as Dataset,
    DatasetSource as DatasetSource,
    LLMError as LLMError,
    LLMMessage as LLMMessage,
    LLMReply as LLMReply,
    LLMTool as LLMTool,
    LLMToolCall as LLMToolCall,
    MissingKeyError as MissingKeyError,
    ModelProvider as ModelProvider,
    RowError as RowError,
    RunRecord as RunRecord,
    StepParams as StepParams,
    StepTimeoutError as StepTimeoutError,
    SystemMessage as SystemMessage,
    ToolMessage as ToolMessage,
    UserMessage as UserMessage,
    WorkflowContext as WorkflowContext,
    WorkflowDescriptor as WorkflowDescriptor,
    WorkflowError as WorkflowError,
    call_llm as call_llm,
    collect_async_iter as collect_async_iter,
    dataset as dataset,
    emit as emit,
    entrypoint as entrypoint,
    error_message as error_message,
    hash_json as hash_json,
    iter_async_with_concurrency as iter_async_with_concurrency,
    map_dataset as map_dataset,
    run_agent as run_agent,
    stable_stringify as stable_stringify,
    step as step,
    workflow as workflow,
)

__version__: str
