"""Estimates the cost of a run before it starts: the range from empty replies to full-length ones, with judges separately."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.benchmarks import BenchmarkSpec, CheckReport
from benchwright.config import Price, Prices
from benchwright.core import STRATEGIES, JsonObject
from benchwright.engine._cost import judge_prices, model_price
from benchwright.engine._settings import RunSettings

if TYPE_CHECKING:
    from benchwright.scorers import JudgeConfig

_RANKED_TOKENS = 1
"""The most tokens of a reply when candidates are ranked: servers that cannot echo without generating generate one."""


_NO_PRICE: JsonObject = dict.fromkeys(("currency", "as_of", "source", "prompts", "at_most", "doubt"))


def estimated_cost(spec: BenchmarkSpec, settings: RunSettings, report: CheckReport) -> JsonObject | None:
    """The approximate cost of all repeats of a checked run; None if no price is known."""
    known = Prices.near(Path(settings.cwd), settings.prices)
    price, longest = model_price(known, spec, settings), _longest_reply(settings, report)
    own_prices, _ = judge_prices(known, spec)
    judges = {
        judge.model_id: (judge, own_prices.get(judge.model_id))
        for judge in (() if spec.unscored else spec.judges())
    }
    if price is None and not any(own for _, own in judges.values()):
        return None
    repeats, prompts = settings.repeats, report.prompt_tokens_estimate
    longest_prompts = None if longest is None else (prompts + report.replies_resent * longest) * repeats
    longest_replies = None if longest is None else report.requests * longest * repeats
    of_judges: JsonObject = {
        name: _judge_cost(judge, own, settings, report, longest) for name, (judge, own) in judges.items()
    }
    return {
        **(
            _NO_PRICE
            if price is None
            else price.estimate(prompts * repeats, longest_prompts, longest_replies)
        ),
        "judges": of_judges or None,
        "assumes": list(_assumptions(spec, report, longest)),
    }


def _assumptions(spec: BenchmarkSpec, report: CheckReport, longest: int | None) -> Iterator[str]:
    yield "4 characters a token"
    if longest is not None:
        yield f"replies of at most {longest:,} {'token' if longest == 1 else 'tokens'}"
    if report.strategy == "call_tools":
        yield "one request for each turn"
    if spec.media is not None:
        yield "texts alone, without images, video and sound"
    yield "no reply from earlier runs"


def _longest_reply(settings: RunSettings, report: CheckReport) -> int | None:
    facts = STRATEGIES.get(report.strategy or "")
    if facts is not None and not facts.sends:
        return 0
    if facts is not None and facts.needs_echo:
        return _RANKED_TOKENS
    most = settings.generation.settings.get("max_tokens")
    return most if isinstance(most, int) else None


def _judge_cost(
    judge: JudgeConfig, price: Price | None, settings: RunSettings, report: CheckReport, longest: int | None
) -> JsonObject:
    """The cost of one judge. Its questions are known from gold answers; a real question contains the reply instead, at
    most once."""
    use = None if report.gold is None else report.gold.judges.get(judge.model_id)
    if use is None:
        return {"requests": None, **_NO_PRICE}
    samples = report.rows * settings.repeats
    asked, prompts = (each * samples for each in use)
    longest_prompts = None if longest is None else prompts + asked * longest
    cost = (
        _NO_PRICE if price is None else price.estimate(prompts, longest_prompts, asked * judge.max_new_tokens)
    )
    return {"requests": round(asked), **cost}
