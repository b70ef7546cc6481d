"""Benchmarks: how users define them, how rows become prompts and requests, and what can be checked beforehand.

Describes and never performs: no model is called here. The engine runs what this room defines.
"""

from benchwright.benchmarks._check import CheckReport, SamplePrompt, check_benchmark, estimate_tokens
from benchwright.benchmarks._decorators import benchmark, scorer
from benchwright.benchmarks._examples import Example, FewShot, FewShotSource
from benchwright.benchmarks._fewshot import resolve_fewshot
from benchwright.benchmarks._fields import resolve_choices, response_of, target_of, target_reader
from benchwright.benchmarks._gold import GoldCheck, check_gold
from benchwright.benchmarks._importing import import_file
from benchwright.benchmarks._loading import BENCHMARK_PLUGINS, load_benchmarks, missing_target
from benchwright.benchmarks._missing_fields import target_problem
from benchwright.benchmarks._neighbours import imported_modules
from benchwright.benchmarks._nocode.builtins import BUILTIN_EVALUATIONS, BuiltinEvaluation, builtin_definition
from benchwright.benchmarks._nocode.load import freeze_nocode, load_nocode
from benchwright.benchmarks._prompts import Prompt, PromptBuilder, build_prompts
from benchwright.benchmarks._questions.load import is_question_file, load_questions
from benchwright.benchmarks._questions.options import QuestionOptions
from benchwright.benchmarks._questions.validate import FileReport, validate_questions
from benchwright.benchmarks._registered import defined_without_file
from benchwright.benchmarks._requests import (
    Generation,
    body_settings,
    chat_request,
    choice_request,
    completions_request,
    conversation_request,
    open_conversation,
    with_row_length,
)
from benchwright.benchmarks._rows import (
    INFERENCE_ONLY,
    AskableRows,
    NumberedRow,
    RowSettings,
    open_rows,
    requested_spec,
)
from benchwright.benchmarks._scan import RowScan, ScannedRow, scan_rows
from benchwright.benchmarks._scoring import (
    InvalidScores,
    call_scorer,
    judge_configs,
    judge_key_names,
    judge_problems,
    scores_of,
)
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._strategies.base import Answer, Asking, Strategy
from benchwright.benchmarks._strategies.table import strategy_of
from benchwright.benchmarks._template import PlainText, Template, compile_template, load_template
from benchwright.benchmarks._turns import next_user_turn
from benchwright.core import MissingFieldError

__all__ = [
    "BENCHMARK_PLUGINS",
    "BUILTIN_EVALUATIONS",
    "INFERENCE_ONLY",
    "Answer",
    "AskableRows",
    "Asking",
    "BenchmarkSpec",
    "BuiltinEvaluation",
    "CheckReport",
    "Example",
    "FewShot",
    "FewShotSource",
    "FileReport",
    "Generation",
    "GoldCheck",
    "InvalidScores",
    "MissingFieldError",
    "NumberedRow",
    "PlainText",
    "Prompt",
    "PromptBuilder",
    "QuestionOptions",
    "RowScan",
    "RowSettings",
    "SamplePrompt",
    "ScannedRow",
    "Strategy",
    "Template",
    "benchmark",
    "body_settings",
    "build_prompts",
    "builtin_definition",
    "call_scorer",
    "chat_request",
    "check_benchmark",
    "check_gold",
    "choice_request",
    "compile_template",
    "completions_request",
    "conversation_request",
    "defined_without_file",
    "estimate_tokens",
    "freeze_nocode",
    "import_file",
    "imported_modules",
    "is_question_file",
    "judge_configs",
    "judge_key_names",
    "judge_problems",
    "load_benchmarks",
    "load_nocode",
    "load_questions",
    "load_template",
    "missing_target",
    "next_user_turn",
    "open_conversation",
    "open_rows",
    "requested_spec",
    "resolve_choices",
    "resolve_fewshot",
    "response_of",
    "scan_rows",
    "scorer",
    "scores_of",
    "strategy_of",
    "target_of",
    "target_problem",
    "target_reader",
    "validate_questions",
    "with_row_length",
]
