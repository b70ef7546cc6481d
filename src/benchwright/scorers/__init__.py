"""Scorers: what a response is worth against its target.

The twelve documented scorers keep their formulas to the last digit, so that you can compare numbers with published ones.
Next to them, under names of their own, are variants without the traps: `chrf_sacre`, `corpus_bleu`, `mcq_letter_strict`,
`gsm8k_answer_strict`, `boolean_yesno_strict`, `multiple_choice_acc_verbatim`, `retrieval_metrics_dedup`. For questions in
a bare file there are `mcq_answers`, which reads a choice by a declared cascade of rules, and `qa_answers`, which measures
a free answer in several ways at once. Nothing here touches disk or network: a judge is called through a function that
the run supplies.
"""

from collections.abc import Mapping

from benchwright.scorers._choices import (
    mcq_ranked,
    multiple_choice_acc,
    multiple_choice_acc_verbatim,
    reread_target,
)
from benchwright.scorers._combine import all_of, any_of
from benchwright.scorers._input import AnswerScores, Scorer, ScorerInput, Scores
from benchwright.scorers._judge import judge_score
from benchwright.scorers._judge_config import Ask, JudgeCall, JudgeConfig, JudgeFailedError
from benchwright.scorers._judge_templates import TEMPLATE_PLUGINS, JudgeTemplate, JudgeTemplateError
from benchwright.scorers._letters import mcq_letter_extract, mcq_letter_strict
from benchwright.scorers._mcq.cascade import extract_choice
from benchwright.scorers._mcq.extraction import ChoiceRule, Extraction
from benchwright.scorers._mcq.guesses import aisbench_choice, nearest_choice
from benchwright.scorers._mcq.rows import gold_letter, gold_letters, options_of
from benchwright.scorers._mcq.rules import CHOICE_RULES, NO_ANSWER_REASONS
from benchwright.scorers._mcq.scorer import extract_choices, mcq_answers, mcq_remarks, mcq_sets, set_remarks
from benchwright.scorers._named import SCORER_PLUGINS, find_scorer
from benchwright.scorers._numbers import gsm8k_answer, gsm8k_answer_strict
from benchwright.scorers._overlap import bleu, chrf, chrf_sacre, corpus_bleu, rouge
from benchwright.scorers._qa import QA_METRICS, holds_answer, qa_answers, qa_metric_names
from benchwright.scorers._retrieval import retrieval_metrics, retrieval_metrics_dedup
from benchwright.scorers._text import contains, exact_match, f1_token, levenshtein_similarity, regex_match
from benchwright.scorers._yesno import boolean_yesno, boolean_yesno_strict

BUILTIN_SCORERS: Mapping[str, Scorer] = {
    scorer.__name__: scorer
    for scorer in (
        exact_match,
        contains,
        f1_token,
        regex_match,
        bleu,
        rouge,
        retrieval_metrics,
        multiple_choice_acc,
        mcq_letter_extract,
        gsm8k_answer,
        boolean_yesno,
        chrf,
        multiple_choice_acc_verbatim,
        mcq_letter_strict,
        gsm8k_answer_strict,
        boolean_yesno_strict,
        chrf_sacre,
        retrieval_metrics_dedup,
    )
}
"""Every scorer of one sample by name: the twelve documented ones, then the stricter variants. Commands, files and the
manual's tests take the names from here."""

__all__ = [
    "BUILTIN_SCORERS",
    "CHOICE_RULES",
    "NO_ANSWER_REASONS",
    "QA_METRICS",
    "SCORER_PLUGINS",
    "TEMPLATE_PLUGINS",
    "AnswerScores",
    "Ask",
    "ChoiceRule",
    "Extraction",
    "JudgeCall",
    "JudgeConfig",
    "JudgeFailedError",
    "JudgeTemplate",
    "JudgeTemplateError",
    "Scorer",
    "ScorerInput",
    "Scores",
    "aisbench_choice",
    "all_of",
    "any_of",
    "bleu",
    "boolean_yesno",
    "boolean_yesno_strict",
    "chrf",
    "chrf_sacre",
    "contains",
    "corpus_bleu",
    "exact_match",
    "extract_choice",
    "extract_choices",
    "f1_token",
    "find_scorer",
    "gold_letter",
    "gold_letters",
    "gsm8k_answer",
    "gsm8k_answer_strict",
    "holds_answer",
    "judge_score",
    "levenshtein_similarity",
    "mcq_answers",
    "mcq_letter_extract",
    "mcq_letter_strict",
    "mcq_ranked",
    "mcq_remarks",
    "mcq_sets",
    "multiple_choice_acc",
    "multiple_choice_acc_verbatim",
    "nearest_choice",
    "options_of",
    "qa_answers",
    "qa_metric_names",
    "regex_match",
    "reread_target",
    "retrieval_metrics",
    "retrieval_metrics_dedup",
    "rouge",
    "set_remarks",
]
