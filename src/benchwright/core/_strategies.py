"""The strategies: the ways to get from a row to an answer, declared once for the whole package.

They are declared here because reports name the strategy of a run without importing `benchmarks`. The code of each
strategy is one file in `benchmarks/_strategies`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class StrategyFacts(Struct, frozen=True, kw_only=True):
    """The facts about a strategy that the whole package may use."""

    name: str
    """Its name in the records of runs."""
    mode: str
    """Its name in tables."""
    sends: bool = True
    """Whether it sends requests to the model under test."""
    needs_echo: bool = False
    """Whether it reads log-probabilities of prompts that the server echoes."""


STRATEGIES: Mapping[str, StrategyFacts] = {
    facts.name: facts
    for facts in (
        StrategyFacts(name="score_only", mode="ready-made", sends=False),
        StrategyFacts(name="call_tools", mode="tools"),
        StrategyFacts(name="choices", mode="ranked", needs_echo=True),
        StrategyFacts(name="multi_turn", mode="multi-turn"),
        StrategyFacts(name="generate", mode="gen"),
    )
}
"""All strategies by name. The first one that fits a benchmark is used."""
