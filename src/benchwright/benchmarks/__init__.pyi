from benchwright.benchmarks._check import (
    CheckedRows as CheckedRows,
)
from benchwright.benchmarks._check import (
    CheckReport as CheckReport,
)
from benchwright.benchmarks._check import (
    SamplePrompt as SamplePrompt,
)
from benchwright.benchmarks._check import (
    check_benchmark as check_benchmark,
)
from benchwright.benchmarks._check import (
    check_rows as check_rows,
)
from benchwright.benchmarks._decorators import benchmark as benchmark
from benchwright.benchmarks._decorators import scorer as scorer
from benchwright.benchmarks._doubts import unmet_requirements as unmet_requirements
from benchwright.benchmarks._examples import (
    Example as Example,
)
from benchwright.benchmarks._examples import (
    FewShot as FewShot,
)
from benchwright.benchmarks._examples import (
    FewShotSource as FewShotSource,
)
from benchwright.benchmarks._fewshot import resolve_fewshot as resolve_fewshot
from benchwright.benchmarks._fields import (
    resolve_choices as resolve_choices,
)
from benchwright.benchmarks._fields import (
    response_of as response_of,
)
from benchwright.benchmarks._fields import (
    target_of as target_of,
)
from benchwright.benchmarks._fields import (
    target_reader as target_reader,
)
from benchwright.benchmarks._gold import GoldCheck as GoldCheck
from benchwright.benchmarks._gold import check_gold as check_gold
from benchwright.benchmarks._importing import import_file as import_file
from benchwright.benchmarks._importing import imported_modules as imported_modules
from benchwright.benchmarks._loading import (
    BENCHMARK_PLUGINS as BENCHMARK_PLUGINS,
)
from benchwright.benchmarks._loading import (
    custom_media_file as custom_media_file,
)
from benchwright.benchmarks._loading import (
    load_benchmarks as load_benchmarks,
)
from benchwright.benchmarks._loading import (
    missing_target as missing_target,
)
from benchwright.benchmarks._missing_fields import lacks_answer as lacks_answer
from benchwright.benchmarks._missing_fields import target_problem as target_problem
from benchwright.benchmarks._nocode import (
    BUILTIN_EVALUATIONS as BUILTIN_EVALUATIONS,
)
from benchwright.benchmarks._nocode import (
    BuiltinEvaluation as BuiltinEvaluation,
)
from benchwright.benchmarks._nocode import (
    builtin_definition as builtin_definition,
)
from benchwright.benchmarks._nocode.load import freeze_nocode as freeze_nocode
from benchwright.benchmarks._nocode.load import load_nocode as load_nocode
from benchwright.benchmarks._prompts import (
    Prompt as Prompt,
)
from benchwright.benchmarks._prompts import (
    PromptBuilder as PromptBuilder,
)
from benchwright.benchmarks._prompts import (
    build_prompts as build_prompts,
)
from benchwright.benchmarks._prompts import next_user_turn as next_user_turn
from benchwright.benchmarks._questions import is_question_file as is_question_file
from benchwright.benchmarks._questions.load import (
    load_questions as load_questions,
)
from benchwright.benchmarks._questions.options import QuestionOptions as QuestionOptions
from benchwright.benchmarks._questions.rows import (
    FileReport as FileReport,
)
from benchwright.benchmarks._questions.rows import (
    validate_questions as validate_questions,
)
from benchwright.benchmarks._requests import (
    Generation as Generation,
)
from benchwright.benchmarks._requests import (
    body_settings as body_settings,
)
from benchwright.benchmarks._requests import (
    chat_request as chat_request,
)
from benchwright.benchmarks._requests import (
    choice_request as choice_request,
)
from benchwright.benchmarks._requests import (
    completions_request as completions_request,
)
from benchwright.benchmarks._requests import (
    conversation_request as conversation_request,
)
from benchwright.benchmarks._requests import (
    open_conversation as open_conversation,
)
from benchwright.benchmarks._requests import (
    with_row_length as with_row_length,
)
from benchwright.benchmarks._rows import (
    INFERENCE_ONLY as INFERENCE_ONLY,
)
from benchwright.benchmarks._rows import (
    AskableRows as AskableRows,
)
from benchwright.benchmarks._rows import (
    NumberedRow as NumberedRow,
)
from benchwright.benchmarks._rows import (
    RowSettings as RowSettings,
)
from benchwright.benchmarks._rows import (
    open_rows as open_rows,
)
from benchwright.benchmarks._rows import (
    requested_spec as requested_spec,
)
from benchwright.benchmarks._scan import RowScan as RowScan
from benchwright.benchmarks._scan import ScannedRow as ScannedRow
from benchwright.benchmarks._scan import estimate_tokens as estimate_tokens
from benchwright.benchmarks._scan import scan_rows as scan_rows
from benchwright.benchmarks._scoring import (
    InvalidScores as InvalidScores,
)
from benchwright.benchmarks._scoring import (
    call_scorer as call_scorer,
)
from benchwright.benchmarks._scoring import (
    judge_configs as judge_configs,
)
from benchwright.benchmarks._scoring import (
    judge_key_names as judge_key_names,
)
from benchwright.benchmarks._scoring import (
    judge_problems as judge_problems,
)
from benchwright.benchmarks._scoring import (
    scores_of as scores_of,
)
from benchwright.benchmarks._spec import BenchmarkSpec as BenchmarkSpec
from benchwright.benchmarks._spec import DerivedWithFailures as DerivedWithFailures
from benchwright.benchmarks._spec import FilesWriter as FilesWriter
from benchwright.benchmarks._spec import RecordedSample as RecordedSample
from benchwright.benchmarks._spec import defined_without_file as defined_without_file
from benchwright.benchmarks._strategies import strategy_of as strategy_of
from benchwright.benchmarks._strategies.base import Answer as Answer
from benchwright.benchmarks._strategies.base import Asking as Asking
from benchwright.benchmarks._strategies.base import Strategy as Strategy
from benchwright.benchmarks._template import (
    PlainText as PlainText,
)
from benchwright.benchmarks._template import (
    Template as Template,
)
from benchwright.benchmarks._template import (
    compile_template as compile_template,
)
from benchwright.benchmarks._template import (
    load_template as load_template,
)
from benchwright.benchmarks._template import looks_like_lost_file as looks_like_lost_file
from benchwright.benchmarks._template import template_file as template_file
from benchwright.benchmarks._template import template_text as template_text
from benchwright.benchmarks._tool_tasks import MAX_STEPS as MAX_STEPS
from benchwright.benchmarks._tool_tasks import CallErrors as CallErrors
from benchwright.benchmarks._tool_tasks import Readings as Readings
from benchwright.benchmarks._tool_tasks import ToolEnvironment as ToolEnvironment
from benchwright.benchmarks._tool_tasks import ToolTask as ToolTask
from benchwright.benchmarks._tool_tasks import ToolTurn as ToolTurn
from benchwright.benchmarks._tool_tasks import UnheededTools as UnheededTools
from benchwright.core import MissingFieldError as MissingFieldError
