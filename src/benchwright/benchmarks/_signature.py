"""What may be called how: the keywords of `@benchmark`, and the arguments of scorers and of `next_turn`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from benchwright.core import BenchmarkError

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_MIGRATION = (
    "A scorer takes one ScorerInput: write `def {name}(sample: ScorerInput) -> dict:` and use sample.response, "
    "sample.target and sample.metadata in place of (response, target, metadata)."
)


class ScorerSignatureError(BenchmarkError, TypeError):
    """A function that cannot be called as a scorer."""


def check_scorer(function: Callable[..., Any]) -> bool:
    """Whether the scorer wants its config as a second argument.

    That is so when its second parameter is required, or is called `config`. ScorerSignatureError (a TypeError)
    for a function that cannot be called with one or two arguments; functions that cannot be introspected pass.
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
    """How many positional arguments a function accepts; None when unlimited or unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in _POSITIONAL for p in parameters)


P = ParamSpec("P")
R = TypeVar("R")

NEAR = 0.8
"""From this likeness on a keyword is taken for a slip: `choice`, `promt`, `num_fewshots`, `systemprompt`."""


def refuses_slips(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function with `**keywords` raise BenchmarkError for a keyword that is nearly one of its parameters.

    The look comes before the call: a mistyped name of a required parameter would otherwise be reported as its
    absence. The caller of the result is two frames above the function, not one.
    """
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for keyword in sorted(kwargs.keys() - known):
            near = _nearly(keyword, known)
            if near is not None:
                name = kwargs.get("name", args[0] if args else None)
                whose = f"benchmark {name!r}: " if isinstance(name, str) else ""
                raise BenchmarkError(
                    f"{whose}{keyword!r} is no parameter of @benchmark. Did you mean {near!r}? To hand it to the "
                    f'scorer on purpose, write extra={{"{keyword}": …}}'
                )
        return function(*args, **kwargs)

    return call


def _nearly(keyword: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # only where there are further keywords

    return next(iter(get_close_matches(keyword, known, n=1, cutoff=NEAR)), None)
