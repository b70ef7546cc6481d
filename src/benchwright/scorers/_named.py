"""Scorers by name: the built-in ones, then those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.core import UsageError, suggest
from benchwright.plugins import Registry, check_function
from benchwright.scorers._choices import multiple_choice_acc, multiple_choice_acc_verbatim
from benchwright.scorers._letters import mcq_letter_extract, mcq_letter_strict
from benchwright.scorers._numbers import gsm8k_answer, gsm8k_answer_strict
from benchwright.scorers._overlap import bleu, chrf, chrf_sacre, rouge
from benchwright.scorers._qa import QA_METRICS
from benchwright.scorers._retrieval import retrieval_metrics, retrieval_metrics_dedup
from benchwright.scorers._scorer import Scorer
from benchwright.scorers._text import contains, exact_match, f1_token, regex_match
from benchwright.scorers._tool_calls import tool_calls_match
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
        tool_calls_match,
    )
}
"""Every scorer of one sample by name: the twelve documented ones, then the stricter variants. Commands, files and the
manual's tests take the names from here."""


def _names() -> tuple[str, ...]:
    return (*BUILTIN_SCORERS, *QA_METRICS, "mcq")


SCORER_PLUGINS: Registry[Scorer] = Registry(
    "scorers", lambda value: check_function(value, 1), built_in=_names
)
"""Scorers of installed packages by name."""


def find_scorer(name: str) -> Scorer:
    """The built-in or installed scorer with this name.

    Raises:
        UsageError: there is none; the text has near names.
    """
    found = BUILTIN_SCORERS.get(name) or SCORER_PLUGINS.find(name)
    if found is None:
        known = (*BUILTIN_SCORERS, *SCORER_PLUGINS.names())
        raise UsageError(f"no scorer named {name!r}.{suggest(name, known)} Known: {', '.join(known)}")
    return found
