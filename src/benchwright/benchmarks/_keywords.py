"""Further keywords of `@benchmark`: they go to the scorer, unless they look like a parameter that was mistyped."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from benchwright.core import BenchmarkError

P = ParamSpec("P")
R = TypeVar("R")

NEAR = 0.8
"""From this likeness on a keyword is taken for a slip: `choice`, `promt`, `num_fewshots`, `systemprompt`."""


def refuses_slips(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function with `**keywords` raise BenchmarkError for a keyword that is nearly one of its parameters.

    The look comes before the call: a mistyped name of a required parameter would otherwise be told as its
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
