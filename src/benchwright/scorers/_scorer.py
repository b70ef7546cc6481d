"""The input and output of scorers, and scorers combined from others."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from msgspec import Struct, field

from benchwright.core import HidesFields, JsonObject, Row
from benchwright.scorers._judge_config import Ask

Scores: TypeAlias = dict[str, bool | int | float | str | None]
"""The result of a scorer: metric name → value. Bools and numbers are aggregated, other values only kept."""
GRADE_OF = "grade_of_"
"""Prefix of the grade of one of several judges in the scores; the key of its settings follows."""
SCORE_OF = "score_of_"
"""Prefix of the score of one of several judges; the key of its settings follows."""


def verdicts_in(scores: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    """Grade and score of each judge by its key, if there were several; else empty."""
    return {
        (key := name.removeprefix(GRADE_OF)): (str(grade), float(scores[SCORE_OF + key]))
        for name, grade in scores.items()
        if name.startswith(GRADE_OF) and SCORE_OF + name.removeprefix(GRADE_OF) in scores
    }


class AnswerScores(dict[str, bool | int | float | str | None]):
    """Scores with the answer that the scorer read from the response.

    It equals the plain dict, so documented scorers return the same as before. A run records the answer as `extracted`
    and compares repeated replies by it.
    """

    __slots__ = ("extracted",)

    def __init__(self, scores: Scores, extracted: str | None) -> None:
        super().__init__(scores)
        self.extracted = extracted


def answer_scores(found: str | None, expected: object) -> AnswerScores:
    """`correct` and `parsed` of an answer; `found` is None if no answer could be read."""
    return AnswerScores(
        {"correct": found is not None and found == expected, "parsed": found is not None}, found
    )


class _DataclassFields:
    """Makes the fields that `dataclasses` needs to copy or take apart an input: scorers written for NeMo Evaluator do that."""

    def __get__(self, value: object, owner: type[Struct]) -> dict[str, Any]:
        from dataclasses import make_dataclass

        fields: dict[str, Any] = make_dataclass(owner.__name__, owner.__struct_fields__).__dataclass_fields__  # type: ignore[attr-defined]  # every dataclass has it
        return fields


class ScorerInput(HidesFields, Struct):
    """The input of every scorer."""

    hidden = ("ask",)
    __dataclass_fields__ = _DataclassFields()

    response: str
    """The model's answer; if candidates are ranked, the one with the largest log-probability."""
    target: Any
    """The expected answer, from the row's target field."""
    metadata: Row
    """The whole row after field mapping, plus keys starting with `_` that the run adds."""
    model_call_fn: Callable[..., Any] | None = None
    """Calls the model under test again, if the run offers it."""
    config: dict[str, Any] = field(default_factory=dict)
    """The benchmark's `extra`, including judge settings."""
    conversation: list[JsonObject] | None = None
    """All messages so far, for benchmarks of several turns."""
    turn_index: int | None = None
    """0-based turn being scored, for benchmarks of several turns."""
    ask: Ask | None = None
    """How `judge_score` reaches a judge; supplied by the run."""


Scorer: TypeAlias = Callable[[ScorerInput], Scores]
"""A scorer: one sample in, named values out."""

NAMED_SCORERS: dict[str, Scorer] = {}
"""Scorers marked with `by_name` whose modules are loaded."""
_Named = TypeVar("_Named", bound=Scorer)


def by_name(scorer: _Named) -> _Named:
    """Mark a built-in scorer that commands and files may name."""
    NAMED_SCORERS[scorer.__name__] = scorer
    return scorer


Member: TypeAlias = Callable[..., Scores | Awaitable[Scores]]
"""A scorer that can be combined: it takes `(sample)` or `(sample, config)`, and may be `async`."""

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def any_of(*scorers: Member) -> Scorer:
    """A scorer whose `correct` is true if any of `scorers` says so.

    All of them run, in this order. Each value is kept as `<scorer>_<metric>`; a scorer without `correct` counts as
    false. One that takes `(sample, config)` gets `sample.config`; if one is `async`, so is the combination.

    >>> from benchwright.scorers import contains, exact_match
    >>> any_of(contains, exact_match)(ScorerInput("It is Paris.", "Paris", {}))
    {'contains_correct': True, 'exact_match_correct': False, 'correct': True}
    """
    return _combine("any_of", any, scorers)


def all_of(*scorers: Member) -> Scorer:
    """A scorer whose `correct` is true if all of `scorers` say so. Otherwise like `any_of`."""
    return _combine("all_of", all, scorers)


def _combine(name: str, decide: Callable[[Iterable[bool]], bool], scorers: tuple[Member, ...]) -> Scorer:
    named = [(_name_of(scorer), scorer, _takes_config(scorer)) for scorer in scorers]

    def combined(sample: ScorerInput) -> Scores | Awaitable[Scores]:
        scores: Scores = {}
        verdicts: list[bool] = []
        members = iter(named)
        for prefix, scorer, takes_config in members:
            result = scorer(sample, sample.config) if takes_config else scorer(sample)
            if type(result) is not dict and inspect.isawaitable(result):
                return awaited(sample, scores, verdicts, prefix, result, members)
            _keep(scores, verdicts, prefix, result)
        scores["correct"] = decide(verdicts)
        return scores

    async def awaited(
        sample: ScorerInput,
        scores: Scores,
        verdicts: list[bool],
        prefix: str,
        first: Awaitable[Scores],
        members: Iterator[tuple[str, Member, bool]],
    ) -> Scores:
        """The rest of a combination, from the first scorer that must be awaited."""
        _keep(scores, verdicts, prefix, await first)
        for prefix, scorer, takes_config in members:
            result = scorer(sample, sample.config) if takes_config else scorer(sample)
            if inspect.isawaitable(result):
                result = await result
            _keep(scores, verdicts, prefix, result)
        scores["correct"] = decide(verdicts)
        return scores

    combined.__name__ = combined.__qualname__ = f"{name}({', '.join(prefix for prefix, *_ in named)})"
    combined.__doc__ = f"`correct`: {name.replace('_', ' ')} {', '.join(prefix for prefix, *_ in named)}."
    return cast(Scorer, combined)  # `async` scorers count as scorers everywhere


def _keep(scores: Scores, verdicts: list[bool], prefix: str, result: Scores) -> None:
    for key, value in result.items():
        scores[f"{prefix}_{key}"] = value
    verdicts.append(bool(result.get("correct")))


def _takes_config(scorer: Member) -> bool:
    """Whether a scorer's second parameter is required, or is called `config`."""
    try:
        parameters = [p for p in inspect.signature(scorer).parameters.values() if p.kind in _POSITIONAL]
    except (TypeError, ValueError):
        return False
    return len(parameters) > 1 and (
        parameters[1].default is inspect.Parameter.empty or parameters[1].name == "config"
    )


def _name_of(scorer: Member) -> str:
    name = getattr(scorer, "__name__", None)
    return name if isinstance(name, str) else type(scorer).__name__
