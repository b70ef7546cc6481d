"""The strategies: the ways from a row to an answer, declared once for all rooms.

Here and not in `benchmarks`, because reports name the strategy of a run without that room. The code of each is one
file in `benchmarks/_strategies`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class StrategyFacts(Struct, frozen=True, kw_only=True):
    """What all rooms may know about a strategy."""

    name: str
    """As runs record it."""
    mode: str
    """As tables show it."""
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
"""By name. The first that fits a benchmark is its strategy."""
