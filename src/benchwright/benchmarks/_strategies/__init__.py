"""Turn a row into requests and an answer: one file for each strategy that `core` declares, and the table of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchwright.benchmarks._strategies.base import Strategy
from benchwright.benchmarks._strategies.call_tools import CallTools
from benchwright.benchmarks._strategies.converse import Converse
from benchwright.benchmarks._strategies.generate import Generate
from benchwright.benchmarks._strategies.rank import Rank
from benchwright.benchmarks._strategies.score_only import ScoreOnly
from benchwright.core import STRATEGIES

if TYPE_CHECKING:
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.core import ModelType

_CLASSES: Mapping[str, type[Strategy]] = {
    each.name: each for each in (ScoreOnly, CallTools, Rank, Converse, Generate)
}


def strategy_of(spec: BenchmarkSpec, model_type: ModelType | None = None) -> type[Strategy]:
    """The strategy for the rows of this benchmark with a model of `model_type` (None: as declared).

    Raises UsageError for a combination that cannot work.
    """
    return next(found for name in STRATEGIES if (found := _CLASSES[name]).fits(spec, model_type))
