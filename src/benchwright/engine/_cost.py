"""What a run costs: by the prices of its tokens, and kept within `--max-cost` before each request is sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.benchmarks import BenchmarkSpec, judge_configs
from benchwright.config import Price, Prices, find_prices
from benchwright.core import ConfigError, JsonObject, JsonValue, ModelReply, ModelRequest, RunSummary
from benchwright.endpoints import EndpointSettings, OpenEndpoint
from benchwright.engine._ledger import BUDGET_SPENT
from benchwright.engine._settings import RunSettings
from benchwright.engine._stop import Stop

_MEDIA_TOKENS = 16_384
"""Prompt tokens that are reserved for each image, video or sound of a request."""
_LEAST = 1e-12
"""Sums of floats may differ from a limit by less."""


class RunPrices(Struct, frozen=True):
    """The prices of one run, as they stood when it began."""

    model: Price | None
    """Of the model under test."""
    judges: dict[str, Price]
    """Of its judges, by their models."""

    def to_json(self) -> JsonObject:
        """For the manifest; empty where nothing is known."""
        judges: JsonObject = {name: price.to_json() for name, price in self.judges.items()}
        found: dict[str, JsonValue] = {
            "model": None if self.model is None else self.model.to_json(), "judges": judges or None,
        }  # fmt: skip
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def from_json(cls, record: Any) -> RunPrices:
        """The reverse of `to_json`."""
        known = record if isinstance(record, dict) else {}
        model, judges = known.get("model"), known.get("judges") or {}
        return cls(
            None if model is None else Price(**model), {name: Price(**each) for name, each in judges.items()}
        )


def run_prices(spec: BenchmarkSpec, settings: RunSettings) -> RunPrices:
    """The prices that hold for a run. ConfigError, before anything is spent, where `--max-cost` needs one that is not
    known."""
    known = find_prices(Path(settings.cwd), settings.prices)
    asks = spec.response_field is None and settings.rescored_from is None
    found = RunPrices(
        _model_price(known, spec, settings),
        {
            judge.model_id: price
            for judge in judge_configs(spec)
            if (price := known.find(judge.model_id, judge.url)) is not None
        },
    )
    if settings.budget.max_cost is not None:
        asked = [settings.endpoint.model_id] if asks else []
        _refuse_unknown(known, found, asked, [judge.model_id for judge in judge_configs(spec)])
        if asks and settings.generation.settings.get("max_tokens") is None:
            raise ConfigError("--max-cost needs to know how long a reply may be: give --max-tokens as well")
    return found


def _model_price(known: Prices, spec: BenchmarkSpec, settings: RunSettings) -> Price | None:
    endpoint = settings.endpoint
    url = endpoint.url if isinstance(endpoint, EndpointSettings) else ""
    return known.find(endpoint.model_id, url) if spec.response_field is None else None


def _refuse_unknown(known: Prices, found: RunPrices, asked: list[str], judges: list[str]) -> None:
    unknown = [name for name in asked if found.model is None]
    unknown += [name for name in judges if name not in found.judges]
    if unknown:
        files = " or ".join(known.files) or "prices.toml, which is not there"
        raise ConfigError(
            f"--max-cost: no price is known for {', '.join(dict.fromkeys(unknown))}. Add a [[price]] table to {files}: "
            "model, input, output (of a million tokens), currency, as_of"
        )
    used = [
        *([found.model] if asked and found.model is not None else []),
        *(found.judges[name] for name in judges),
    ]
    if len(currencies := {price.currency for price in used}) > 1:
        raise ConfigError(
            f"--max-cost: the prices are in {' and '.join(sorted(currencies))}; expected one currency"
        )


def estimated_cost(
    spec: BenchmarkSpec, settings: RunSettings, *, prompt_tokens: int, requests: int
) -> JsonObject | None:
    """About what a run costs without judges, given the prompts and requests of one repeat; None where no price is known."""
    price = _model_price(find_prices(Path(settings.cwd), settings.prices), spec, settings)
    if price is None:
        return None
    prompts, longest = prompt_tokens * settings.repeats, settings.generation.settings.get("max_tokens")
    most = price.cost(prompts, requests * settings.repeats * longest) if isinstance(longest, int) else None
    return {
        "currency": price.currency, "as_of": price.as_of, "source": price.source or price.file,
        "prompts": price.cost(prompts, 0), "at_most": most,
    }  # fmt: skip


class CostMeter:
    """What the runs of one command have spent, and what they have in flight at most."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        """The most that may be spent."""
        self.spent = 0.0
        """What replies have cost."""
        self._reserved = 0.0
        self._in_flight = 0
        self._settled = asyncio.Event()

    async def reserve(self, bound: float, stop: Stop) -> bool:
        """Whether a request that costs at most `bound` may be sent. Where it only fits once others have cost less than
        they might, this waits for them."""
        while self.spent + self._reserved + bound > self.limit + _LEAST:
            if not self._in_flight or stop.stopped:
                return False
            self._settled.clear()
            await self._settled.wait()
        self._reserved += bound
        self._in_flight += 1
        return True

    def settle(self, bound: float, cost: float) -> None:
        """A request has come back."""
        self._in_flight -= 1
        self._reserved = self._reserved - bound if self._in_flight else 0.0
        self.spent += cost
        self._settled.set()


class MeteredEndpoint:
    """An endpoint that sends only what the meter allows."""

    def __init__(self, endpoint: OpenEndpoint, price: Price | None, meter: CostMeter, stop: Stop) -> None:
        self._endpoint = endpoint
        self._price = price
        self._meter = meter
        self._stop = stop

    def __getattr__(self, name: str) -> Any:
        return getattr(self._endpoint, name)

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply, or a failure of kind `budget` where it might cost more than is left."""
        price = self._price
        if price is None:
            raise ConfigError(
                f"--max-cost: no price is known for {request.body.get('model')}; add it to prices.toml"
            )
        bound = cost_bound(price, request)
        if not await self._meter.reserve(bound, self._stop):
            if not self._stop.stopped:
                self._stop.request("budget", f"stopped by --max-cost {self._meter.limit:g} {price.currency}")
            return BUDGET_SPENT
        cost = bound  # of a request whose end nobody saw
        try:
            reply = await self._endpoint.send(request)
            cost = reply_cost(price, request, reply, bound)
        finally:
            self._meter.settle(bound, cost)
        return reply


def cost_bound(price: Price, request: ModelRequest) -> float:
    """The most that a request can cost: no text has more tokens than bytes, and no reply more than it may have."""
    body = request.body
    most = body.get("max_tokens", body.get("max_completion_tokens"))
    if not isinstance(most, int):
        raise ConfigError(
            "--max-cost needs to know how long a reply may be, and the request has no max_tokens"
        )
    replies = body.get("n", 1)
    return price.cost(prompt_bound(request), most * (replies if isinstance(replies, int) else 1))


def prompt_bound(request: ModelRequest) -> int:
    """The most prompt tokens that a request can have. Files stand in its record by their hashes."""
    if request.record is None:
        return len(request.payload)
    return len(request.record) + _MEDIA_TOKENS * request.record.count(b"sha256")


def reply_cost(price: Price, request: ModelRequest, reply: ModelReply, bound: float) -> float:
    """What a reply cost, as far as can be known: by its tokens, or by its bytes where the server did not count. An error
    status costs nothing; of a reply that never came whole, everything may have been charged."""
    usage = reply.usage
    if usage is not None:
        return price.cost(usage.prompt, usage.completion, usage.cached or 0)
    if reply.failure is not None:
        return 0.0 if (reply.failure.http_status or 0) >= 400 or not reply.attempts else bound
    return min(bound, price.cost(prompt_bound(request), len((reply.text + reply.reasoning).encode())))


def run_cost(summary: RunSummary, prices: RunPrices) -> dict[str, Any] | None:
    """What the replies of a run cost; None where no price is known.

    `coverage` is the share of replies whose tokens the server counted: the amount is of these alone.
    """
    judges = _judges_cost(summary, prices)
    price, found = prices.model, None
    if price is not None:
        prompt, completion, coverage = _tokens(summary)
        found = _amount(price, price.cost(prompt, completion, summary.cached_tokens), coverage)
        right = _right_answers(summary)
        found["right_answers"] = right
        found["per_right_answer"] = found["amount"] / right if right and coverage == 1.0 else None
    if found is None and judges is None:
        return None
    return {**(found or {"amount": None}), "judges": judges}


def _tokens(summary: RunSummary) -> tuple[int, int, float]:
    if summary.prompt_tokens is not None:
        return summary.prompt_tokens, summary.completion_tokens or 0, 1.0
    part = summary.partly_counted
    if part is None:
        return 0, 0, 0.0
    return part["prompt_tokens"], part["completion_tokens"], part["samples"] / part["of"]


def _amount(price: Price, amount: float, coverage: float) -> dict[str, Any]:
    return {
        "amount": amount if coverage else None, "currency": price.currency, "as_of": price.as_of,
        "source": price.source or price.file, "coverage": coverage,
    }  # fmt: skip


def _judges_cost(summary: RunSummary, prices: RunPrices) -> dict[str, Any] | None:
    """By the judge's model."""
    found: dict[str, Any] = {}
    for name, took in summary.judges.items():
        price = prices.judges.get(name)
        if price is not None:
            counted = took["requests"] - took["failed"]
            coverage = 1 - took["uncounted"] / counted if counted > 0 else 1.0
            found[name] = _amount(
                price,
                price.cost(took["prompt_tokens"], took["completion_tokens"], took["cached_tokens"]),
                coverage,
            )
    return found or None


def _right_answers(summary: RunSummary) -> float | None:
    """The sum of the main metric, where it runs from 0 to 1 and more is better."""
    name = summary.main_metric
    metric = None if name is None else summary.metrics[name]
    if (
        metric is None
        or name in summary.lower_is_better
        or metric.min < 0
        or metric.max > 1
        or metric.constant
    ):
        return None
    return metric.value * metric.count
