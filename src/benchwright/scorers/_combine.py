"""Scorers made of scorers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchwright.scorers._input import Scorer, ScorerInput, Scores


def any_of(*scorers: Scorer) -> Scorer:
    """A scorer whose `correct` is true when any of `scorers` says so.

    All of them run. Each value is kept as `<scorer>_<metric>`; a scorer without `correct` counts as false.

    >>> from benchwright.scorers import contains, exact_match
    >>> any_of(contains, exact_match)(ScorerInput("It is Paris.", "Paris", {}))
    {'contains_correct': True, 'exact_match_correct': False, 'correct': True}
    """
    return _combine("any_of", any, scorers)


def all_of(*scorers: Scorer) -> Scorer:
    """A scorer whose `correct` is true when all of `scorers` say so. Otherwise like `any_of`."""
    return _combine("all_of", all, scorers)


def _combine(name: str, decide: Callable[[Iterable[bool]], bool], scorers: tuple[Scorer, ...]) -> Scorer:
    named = [(_name_of(scorer), scorer) for scorer in scorers]

    def combined(sample: ScorerInput) -> Scores:
        scores: Scores = {}
        verdicts = []
        for prefix, scorer in named:
            result = scorer(sample)
            for key, value in result.items():
                scores[f"{prefix}_{key}"] = value
            verdicts.append(bool(result.get("correct")))
        scores["correct"] = decide(verdicts)
        return scores

    combined.__name__ = combined.__qualname__ = f"{name}({', '.join(prefix for prefix, _ in named)})"
    combined.__doc__ = f"`correct`: {name.replace('_', ' ')} {', '.join(prefix for prefix, _ in named)}."
    return combined


def _name_of(scorer: Scorer) -> str:
    name = getattr(scorer, "__name__", None)
    return name if isinstance(name, str) else type(scorer).__name__
