"""Chooses the scorer of a question file and its settings, and writes the notes on its numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.benchmarks._questions.columns import LETTERS, Columns
from benchwright.benchmarks._questions.options import DataType, QuestionOptions
from benchwright.benchmarks._questions.row_options import options_reader
from benchwright.benchmarks._spec import Remarks, ScorerFunction
from benchwright.core import DATA_SCORES, JsonObject, Row, UsageError, suggest

if TYPE_CHECKING:
    from benchwright.scorers import ScorerInput, Scores

_JUDGE = "judge"


class QuestionScoring(Struct, frozen=True, kw_only=True):
    """How replies are scored."""

    scorer: ScorerFunction
    headline: str | None
    """The headline metric of a run."""
    config: dict[str, Any] = field(default_factory=dict)
    """What the scorer sees as `sample.config`; judges are looked for here before a run."""
    remarks: Remarks | None = None
    """Notes on the numbers."""
    constants: Mapping[str, Callable[[Row], float]] = field(default_factory=dict)
    """Scores that follow from the row alone."""
    needs_answer: bool = True
    """Whether a row without an answer gets no score."""


def scoring_of(options: QuestionOptions, data_type: DataType, columns: Columns) -> QuestionScoring:
    """The scorer that the options request, else the type's default. UsageError for settings that fit no scorer."""
    name = options.evaluator
    if name is None and options.evaluator_kwargs:
        raise UsageError("evaluator_kwargs are settings of an evaluator; name it too: --evaluator NAME")
    chosen = (
        _of_type(options, data_type, columns) if name is None else _by_name(name, options, data_type, columns)
    )
    if data_type != "qa" and columns.only is not None:
        chosen = replace(chosen, scorer=_seeing_only(chosen.scorer, columns.only))
    return chosen


def _by_name(name: str, options: QuestionOptions, data_type: DataType, columns: Columns) -> QuestionScoring:
    from benchwright.scorers import named_scorer  # loads all scorers

    try:
        named = named_scorer(name)
    except UsageError as error:
        raise UsageError(f"evaluator: {error}") from None
    if named.made_from == "mcq":
        if data_type == "qa":
            raise UsageError(
                f"evaluator {name} reads the letters of options, and these rows have none (qa); leave it out, or name the "
                "columns of the options: --options X,Y,Z"
            )
        _refuse_others(name, options.evaluator_kwargs, ("fallback",))
        return _mcq(str(options.evaluator_kwargs.get("fallback", options.mcq_fallback)), columns)
    if named.made_from == "qa" and (data_type == "qa" or not named.any_rows):
        return _qa(_with_kwargs(named.name, options))
    return QuestionScoring(
        scorer=named.scorer, headline=None, config=dict(options.evaluator_kwargs), needs_answer=False
    )


def _of_type(options: QuestionOptions, data_type: DataType, columns: Columns) -> QuestionScoring:
    if data_type == "qa":
        return _qa(options)
    from benchwright.scorers import (  # a dozen modules that free answers do not need
        mcq_ranked,
        mcq_sets,
        set_remarks,
    )

    if options.infer_method != "gen":
        return QuestionScoring(
            scorer=mcq_ranked, headline="acc", remarks=set_remarks, constants=_chance(columns)
        )
    if data_type == "mcq":
        return _mcq(options.mcq_fallback, columns)
    if options.mcq_fallback != "none":
        raise UsageError(
            "mcq_fallback guesses one letter, and in these rows any number of options may be right (mcq_multi); leave "
            "it out"
        )
    return QuestionScoring(
        scorer=mcq_sets, headline="exact_set", remarks=set_remarks, constants=_chance(columns, sets=True)
    )


def _mcq(fallback: str, columns: Columns) -> QuestionScoring:
    from benchwright.scorers import mcq_answers, mcq_remarks

    known = ("none", "levenshtein", "aisbench")
    if fallback not in known:
        raise UsageError(f"fallback is {fallback!r}; expected {', '.join(known)}.{suggest(fallback, known)}")
    scorer = mcq_answers(fallback)  # type: ignore[arg-type]  # just seen to be one of them
    remarks = partial(mcq_remarks, fallback=fallback)
    return QuestionScoring(scorer=scorer, headline="accuracy", remarks=remarks, constants=_chance(columns))


def _chance(columns: Columns, *, sets: bool = False) -> dict[str, Callable[[Row], float]]:
    """The chance to guess the answer of a row: one of its options, or any set of them but the empty one."""
    options = options_reader(columns)

    def chance(row: Row) -> float:
        count = len(options(row))
        return 1 / (2**count - 1 if sets else count)

    return dict.fromkeys(DATA_SCORES, chance)


def _qa(options: QuestionOptions) -> QuestionScoring:
    from benchwright.scorers import qa_answers, qa_metric_names, qa_remarks

    reported = qa_metric_names(options.qa_metrics)
    judged = _JUDGE in reported
    if judged and not options.judge:
        raise UsageError(
            "the metric judge needs a judge: --judge-url URL --judge-id ID (and --judge-key-name VARIABLE), "
            "--judge-model NAME from benchwright.toml, or --judge JSON"
        )
    if options.judge and not judged:
        raise UsageError("a judge is named, but nothing asks it; add it to the metrics: --qa-metrics judge")
    if options.qa_pattern is not None and "regex" not in reported:
        raise UsageError("qa_pattern is for the metric regex; add it: --qa-metrics regex")
    scorer = qa_answers(
        options.qa_metrics,
        pattern=options.qa_pattern,
        tolerance=options.numeric_tolerance,
    )
    # The judge is only in the configuration, where the settings of a run can change it.
    return QuestionScoring(
        scorer=scorer,
        headline=reported[0],
        config={_JUDGE: options.judge} if judged else {},
        remarks=partial(qa_remarks, headline=reported[0]),
    )


def _with_kwargs(metric: str, options: QuestionOptions) -> QuestionOptions:
    given = options.evaluator_kwargs
    _refuse_others(metric, given, ("pattern", "tolerance", _JUDGE))
    judge = given.get(_JUDGE, options.judge)
    pattern = given.get("pattern", options.qa_pattern)
    tolerance: Any = given.get("tolerance", options.numeric_tolerance)
    return replace(
        options,
        qa_metrics=(metric,),
        qa_pattern=None if pattern is None else str(pattern),
        numeric_tolerance=tolerance,
        judge=judge if isinstance(judge, dict) else {},
    )


def _refuse_others(name: str, given: JsonObject, known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            raise UsageError(
                f"evaluator_kwargs: {key!r} is not known to {name}.{suggest(key, known)} Known: {', '.join(known)}"
            )


def _seeing_only(scorer: ScorerFunction, letters: frozenset[str]) -> ScorerFunction:
    """A scorer that sees only these options, so a column that merely looks like an option has no effect."""
    hidden = frozenset(LETTERS) - letters

    def score(sample: ScorerInput) -> Scores:
        kept = without(sample.metadata, hidden)
        result: Scores = scorer(replace(sample, metadata=kept))
        return result

    if inspect.iscoroutinefunction(scorer):
        raise UsageError("options: only scorers that are plain functions can be limited to some options")
    return score


def without(row: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """A row without some of its columns.

    >>> without({"A": 1, "Z": 2}, frozenset("Z"))
    {'A': 1}
    """
    return {name: value for name, value in row.items() if name not in names}
