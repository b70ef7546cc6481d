"""Scorer functions: their signatures, how they are called, what they may return, and the judges in their settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from benchwright.core import BenchmarkError, BenchwrightError

if TYPE_CHECKING:
    from benchwright.scorers import Scores


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_MIGRATION = (
    "A scorer takes one ScorerInput: write `def {name}(sample: ScorerInput) -> dict:` and use sample.response, "
    "sample.target and sample.metadata in place of (response, target, metadata)."
)
_CONTRACT = 'return a dict such as {"correct": True}: text keys, bool or number values (None: no score)'


class ScorerSignatureError(BenchmarkError, TypeError):
    """A function that cannot be called as a scorer."""


def check_scorer(function: Callable[..., Any]) -> bool:
    """Whether the scorer takes its config as a second argument.

    It does if its second parameter is required, or is called `config`. Raises ScorerSignatureError (a TypeError) for a
    function that cannot be called with one or two arguments; functions that cannot be inspected pass.
    """
    if not callable(function):
        raise ScorerSignatureError(f"@scorer decorates a function, not {type(function).__name__}")
    name = getattr(function, "__name__", "scorer")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    parameters = [p for p in signature.parameters.values() if p.kind not in _VARIADIC]
    required = [p for p in parameters if p.default is p.empty]
    hint = _MIGRATION.format(name=name)
    if not parameters:
        raise ScorerSignatureError(f"scorer {name!r} takes no parameters. {hint}")
    if len(required) >= 3:
        given = ", ".join(p.name for p in required)
        raise ScorerSignatureError(
            f"scorer {name!r} has {len(required)} required parameters ({given}). {hint}"
        )
    keyword_only = [p.name for p in required if p.kind is p.KEYWORD_ONLY]
    if keyword_only or parameters[0].kind not in _POSITIONAL:
        given = ", ".join(keyword_only or [parameters[0].name])
        raise ScorerSignatureError(
            f"scorer {name!r} takes {given} by keyword only and could not be called. {hint}"
        )
    if len(parameters) < 2 or parameters[1].kind not in _POSITIONAL:
        return False
    return parameters[1].default is inspect.Parameter.empty or parameters[1].name == "config"


def positional_count(function: Callable[..., Any]) -> int | None:
    """How many positional arguments a function accepts; None if unlimited or unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in _POSITIONAL for p in parameters)


def scores_of(result: object) -> Scores:
    """Read the scores in a scorer's result as plain bools, numbers, texts and None.

    Scalars of numpy and similar libraries become Python values. NaN and infinities are refused: in an average they would
    spoil the metric, and left out they would flatter it. An empty dict is allowed and contributes to no metric.
    Raises BenchwrightError for anything that is not a dict of scores.

    >>> scores_of({"correct": True, "f1": 0.5})
    {'correct': True, 'f1': 0.5}
    """
    if not isinstance(result, dict) and not isinstance(result, Mapping):  # the latter costs ten times as much
        if inspect.isawaitable(result):
            raise BenchwrightError("the scorer returned an awaitable that nobody awaited")
        raise BenchwrightError(f"the scorer returned {_shown(result)}; {_CONTRACT}")
    scores: Scores = {}
    for key, value in result.items():
        kind = type(value)
        if type(key) is str and (kind is bool or kind is str or value is None):  # needs no further check
            scores[key] = value
            continue
        if not isinstance(key, str):
            raise BenchwrightError(f"the scorer returned the key {key!r}, which is not text; {_CONTRACT}")
        plain = _plain(value)
        if plain is _INVALID:
            raise BenchwrightError(f"score {key!r} is {_shown(value)}; {_CONTRACT}")
        if isinstance(plain, float | int) and not -_LARGEST < plain < _LARGEST:  # NaN and infinities included
            raise BenchwrightError(
                f"score {key!r} is {plain}, which cannot be averaged; return None for no score"
            )
        scores[key] = plain
    if type(result) is not dict:
        from benchwright.scorers import AnswerScores

        if isinstance(result, AnswerScores):
            scores["extracted"] = result.extracted
    return scores


_INVALID: Any = object()
_LARGEST = 1e15
"""Sums of larger scores lose digits that means and deviations need."""


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is bool or kind is float or kind is int or kind is str or value is None:
        return value
    if isinstance(value, str):
        return str(value)
    item = getattr(value, "item", None)  # numpy scalars, 0-d arrays, torch scalars
    if callable(item):
        try:
            value = item()
        except (TypeError, ValueError, RuntimeError):  # an array of several
            return _INVALID
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Real) or type(value).__name__ == "Decimal":
        return float(value)
    return _INVALID


def _shown(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text[:60]}{'…' if len(text) > 60 else ''}"
