"""Turn a row into requests and an answer: one file for each strategy that `core` declares, and the table of which one a benchmark takes.

The file of a strategy is loaded if a benchmark takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchwright.benchmarks._strategies.base import Strategy
from benchwright.core import STRATEGIES

if TYPE_CHECKING:
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.core import ModelType

_CLAIMS: Mapping[str, tuple[str, Callable[[BenchmarkSpec, Any], bool]]] = {
    "score_only": ("score_only:ScoreOnly", lambda spec, kind: spec.response_field is not None),
    "call_tools": ("call_tools:CallTools", lambda spec, kind: spec.calls_tools),
    "choices": ("rank:Rank", lambda spec, kind: "completions_logprob" in (kind, spec.endpoint_type)),
    "multi_turn": ("converse:Converse", lambda spec, kind: spec.converses),
    "generate": ("generate:Generate", lambda spec, kind: True),
}
"""The file and class of each strategy, and whether it claims a benchmark with a model of a type, unless another claims it first."""


def strategy_of(spec: BenchmarkSpec, model_type: ModelType | None = None) -> type[Strategy]:
    """The strategy for the rows of this benchmark with a model of `model_type` (None: as declared).

    Raises UsageError for a combination that cannot work.
    """
    place = next(place for place, claims in map(_CLAIMS.__getitem__, STRATEGIES) if claims(spec, model_type))
    file, _, name = place.partition(":")
    strategy: type[Strategy] = getattr(import_module(f"{__name__}.{file}"), name)
    strategy.check(spec, model_type)
    return strategy
