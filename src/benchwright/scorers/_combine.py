"""Scorers made of scorers."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeAlias, cast

from benchwright.scorers._input import Scorer, ScorerInput, Scores

Member: TypeAlias = Callable[..., Scores | Awaitable[Scores]]
"""What may be combined: a scorer of `(sample)` or `(sample, config)`, `async` or not."""

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def any_of(*scorers: Member) -> Scorer:
    """A scorer whose `correct` is true when any of `scorers` says so.

    All of them run, in this order. Each value is kept as `<scorer>_<metric>`; a scorer without `correct` counts as
    false. One that takes `(sample, config)` gets `sample.config`; where one is `async`, so is the combination.

    >>> from benchwright.scorers import contains, exact_match
    >>> any_of(contains, exact_match)(ScorerInput("It is Paris.", "Paris", {}))
    {'contains_correct': True, 'exact_match_correct': False, 'correct': True}
    """
    return _combine("any_of", any, scorers)


def all_of(*scorers: Member) -> Scorer:
    """A scorer whose `correct` is true when all of `scorers` say so. Otherwise like `any_of`."""
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
        """The rest of a combination, from the first scorer on that has to be awaited."""
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
    return cast(Scorer, combined)  # as `async` scorers are taken for scorers everywhere


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
