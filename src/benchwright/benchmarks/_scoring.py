"""Scorer functions: their signatures, how they are called, what they may return, and the judges in their settings."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BenchmarkError, BenchwrightError, ConfigError

if TYPE_CHECKING:
    from benchwright.scorers import JudgeConfig, ScorerInput, Scores


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


def call_scorer(spec: BenchmarkSpec, sample: ScorerInput) -> Any | Awaitable[Any]:
    """Call the benchmark's scorer the way its signature requires.

    Returns its result, for `scores_of`; for an `async` scorer, an awaitable of it.
    Exceptions of the scorer pass through.
    """
    if spec.passes_config:
        return spec.scorer(sample, sample.config)
    return spec.scorer(sample)


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


def judge_problems(spec: BenchmarkSpec) -> list[str]:
    """Problems with the judges' settings, one text for each judge. The environment is not read."""
    return [str(judge) for _, judge in _judges(spec) if isinstance(judge, ConfigError)]


def judge_configs(spec: BenchmarkSpec) -> list[JudgeConfig]:
    """The judges whose settings can be used."""
    return [judge for _, judge in _judges(spec) if not isinstance(judge, ConfigError)]


def judge_key_names(spec: BenchmarkSpec) -> list[str]:
    """Environment variables that must contain the judges' keys, each once."""
    names = [judge.api_key for _, judge in _judges(spec) if not isinstance(judge, ConfigError)]
    return list(dict.fromkeys(name for name in names if name is not None))


def judge_count(spec: BenchmarkSpec) -> int:
    """How many judges the definition names."""
    return sum(1 for _ in _judges(spec))


def _judges(spec: BenchmarkSpec) -> Iterator[tuple[str, JudgeConfig | ConfigError]]:
    from benchwright.scorers import JudgeConfig

    for key, value in spec.config.items():
        if value is None or not isinstance(key, str) or not key.startswith("judge"):
            continue
        if not JudgeConfig.is_key(key) and not isinstance(value, Mapping | JudgeConfig):
            continue
        try:
            yield key, JudgeConfig.of(value, key)
        except ConfigError as error:
            yield key, error
