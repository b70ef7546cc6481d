"""Estimates the cost of a run before it starts: the range from empty replies to full-length ones, with judges separately."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from benchwright.benchmarks import BenchmarkSpec, CheckReport
from benchwright.config import Price, find_prices
from benchwright.core import STRATEGIES, JsonObject
from benchwright.engine._cost import judge_prices, model_price
from benchwright.engine._settings import RunSettings

if TYPE_CHECKING:
    from benchwright.scorers import JudgeConfig

_RANKED_TOKENS = 1
"""The most tokens of a reply when candidates are ranked: servers that cannot echo without generating generate one."""


class _Range(Struct, frozen=True):
    """Tokens of several requests, with empty replies and with full-length replies."""

    prompt: float
    longest_prompt: float | None
    """None: the prompt contains replies, and nothing limits their length."""
    longest_replies: float | None
    """All replies together."""

    def cost(self, price: Price) -> JsonObject:
        """The cost in the form of records."""
        most = None
        if self.longest_prompt is not None and self.longest_replies is not None:
            most = price.cost(round(self.longest_prompt), round(self.longest_replies))
        return {
            "currency": price.currency, "as_of": price.as_of, "source": price.source or price.file,
            "prompts": price.cost(round(self.prompt), 0), "at_most": most,
            "doubt": price.doubt(datetime.now(UTC).date()) or None,
        }  # fmt: skip


def tokens_cost(
    price: Price, prompt: float, longest_prompt: float | None, longest_replies: float | None
) -> JsonObject:
    """The range from empty replies to full-length ones; None for what nothing limits."""
    return _Range(prompt, longest_prompt, longest_replies).cost(price)


_NO_PRICE: JsonObject = dict.fromkeys(("currency", "as_of", "source", "prompts", "at_most", "doubt"))


def estimated_cost(spec: BenchmarkSpec, settings: RunSettings, report: CheckReport) -> JsonObject | None:
    """The approximate cost of all repeats of a checked run; None if no price is known."""
    known = find_prices(Path(settings.cwd), settings.prices)
    price, longest = model_price(known, spec, settings), _longest_reply(settings, report)
    own_prices, _ = judge_prices(known, spec)
    judges = {
        judge.model_id: (judge, own_prices.get(judge.model_id))
        for judge in (() if spec.unscored else spec.judges())
    }
    if price is None and not any(own for _, own in judges.values()):
        return None
    repeats, prompts = settings.repeats, report.prompt_tokens_estimate
    model = _Range(
        prompts * repeats,
        None if longest is None else (prompts + report.replies_resent * longest) * repeats,
        None if longest is None else report.requests * longest * repeats,
    )
    of_judges: JsonObject = {
        name: _judge_cost(judge, own, settings, report, longest) for name, (judge, own) in judges.items()
    }
    return {
        **(_NO_PRICE if price is None else model.cost(price)),
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
    tokens = _Range(
        prompts,
        None if longest is None else prompts + asked * longest,
        asked * judge.max_new_tokens,
    )
    return {"requests": round(asked), **(_NO_PRICE if price is None else tokens.cost(price))}
