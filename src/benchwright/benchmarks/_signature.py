"""What a scorer's signature says about how to call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

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
