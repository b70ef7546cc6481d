"""The cost of a run, by the prices of its tokens. `_cost_limit` keeps runs within `--max-cost`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import orjson
from msgspec import Struct

from benchwright.benchmarks import BenchmarkSpec
from benchwright.config import Price, Prices
from benchwright.core import ConfigError, JsonObject, JsonValue, RunSummary
from benchwright.engine._settings import RunSettings
from benchwright.store import RecordedStep


class RunPrices(Struct, frozen=True):
    """The prices of one run at its start."""

    model: Price | None
    """The price of the model under test."""
    judges: dict[str, Price]
    """The prices of its judges, by model."""
    unclear: tuple[str, ...] = ()
    """Models of judges that have several prices, by server. Tokens are counted by model, so their cost is not known."""

    def to_json(self) -> JsonObject:
        """For the manifest; empty if nothing is known."""
        judges: JsonObject = {name: price.to_json() for name, price in self.judges.items()}
        found: dict[str, JsonValue] = {
            "model": None if self.model is None else self.model.to_json(), "judges": judges or None,
            "unclear": list(self.unclear) or None,
        }  # fmt: skip
        return {name: value for name, value in found.items() if value is not None}

    def of(self, judge: str | None) -> Price | None:
        """The price of a judge's model, or of the model under test."""
        return self.model if judge is None else self.judges.get(judge)

    def notes(self, at: float) -> Iterator[str]:
        """Notes that a reader of the cost needs about the prices used at a given time."""
        day = datetime.fromtimestamp(at, UTC).date()
        for price in dict.fromkeys([*([self.model] if self.model else []), *self.judges.values()]):
            if doubt := price.doubt(day):
                yield doubt
        for name in self.unclear:
            yield f"the cost of the judges {name} is not known: their servers have different prices, and tokens are counted by model"

    @classmethod
    def from_json(cls, record: Any) -> RunPrices:
        """The reverse of `to_json`."""
        known = record if isinstance(record, dict) else {}
        model, judges = known.get("model"), known.get("judges") or {}
        return cls(
            None if model is None else Price(**model),
            {name: Price(**each) for name, each in judges.items()},
            tuple(known.get("unclear") or ()),
        )


def run_prices(spec: BenchmarkSpec, settings: RunSettings) -> RunPrices:
    """The prices for a run. Raises ConfigError, before anything is spent, if `--max-cost` needs an unknown price."""
    known = Prices.near(Path(settings.cwd), settings.prices)
    asks = spec.response_field is None and settings.rescored_from is None
    judges, unclear = judge_prices(known, spec)
    found = RunPrices(model_price(known, spec, settings), judges, unclear)
    if settings.budget.max_cost is not None:
        asked = [settings.endpoint.model_id] if asks else []
        _refuse_unknown(known, found, asked, [judge.model_id for judge in spec.judges()])
        if asks and settings.generation.settings.get("max_tokens") is None:
            raise ConfigError("--max-cost needs to know how long a reply may be: give --max-tokens as well")
        _refuse_too_little(spec, settings, found, asks=asks)
    return found


def judge_prices(known: Prices, spec: BenchmarkSpec) -> tuple[dict[str, Price], tuple[str, ...]]:
    """The prices of judges by model, and models that have several, because they are asked at several servers."""
    found: dict[str, dict[object, Price | None]] = {}
    for judge in spec.judges():
        price = known.find(judge.model_id, judge.url)
        found.setdefault(judge.model_id, {})[None if price is None else price.rates] = price
    clear = {
        name: price
        for name, prices in found.items()
        for price in prices.values()
        if price and len(prices) == 1
    }
    return clear, tuple(name for name, prices in found.items() if len(prices) > 1)


def model_price(known: Prices, spec: BenchmarkSpec, settings: RunSettings) -> Price | None:
    endpoint = settings.endpoint
    return known.find(endpoint.model_id, endpoint.url) if spec.response_field is None else None


def _refuse_unknown(known: Prices, found: RunPrices, asked: list[str], judges: list[str]) -> None:
    if found.unclear:
        raise ConfigError(
            f"--max-cost: the servers of the judges {', '.join(found.unclear)} have different prices, and tokens are counted by "
            "model. Use one server, or one price, for each model"
        )
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


def _refuse_too_little(spec: BenchmarkSpec, settings: RunSettings, found: RunPrices, *, asks: bool) -> None:
    """Refuse a limit under which no reply could be bought and judged, whatever the prompts are."""
    judges = spec.judges()
    if not judges or settings.infer_only:
        return
    limit: float = settings.budget.max_cost  # type: ignore[assignment]  # there is one, or this is not called
    length = settings.generation.settings.get("max_tokens")
    longest = [(found.model, length)] if asks else []
    longest += [(found.judges.get(judge.model_id), judge.max_new_tokens) for judge in judges]
    most = sum(
        price.most(0, tokens) for price, tokens in longest if price is not None and isinstance(tokens, int)
    )
    if most > limit:
        currency = next(price.currency for price, _ in longest if price is not None)
        raise ConfigError(
            f"--max-cost {limit:g} {currency}: the longest replies of the model and its judges to one sample cost {most:.4g} "
            "without their prompts. Raise it, or lower --max-tokens and max_new_tokens of the judges"
        )


_Tokens: TypeAlias = "Counter[str]"
"""Tokens of several replies together: `prompt`, of which some are `cached`, and `completion`."""
_NONE = {"prompt": 0, "completion": 0, "cached": 0}


def run_cost(
    summary: RunSummary, prices: RunPrices, taken_over: Iterable[tuple[str, RecordedStep]]
) -> dict[str, Any] | None:
    """The cost of a run's replies, and the part of it that the run itself `spent`; None if no price is known.

    `coverage` is the share of replies whose tokens the server counted; the amounts cover only these. `taken_over` are
    the calls that another run paid for.
    """
    if prices.model is None and not prices.judges:
        return None
    paid_before = _paid_before(taken_over)
    judges = _judges_cost(summary, prices, paid_before)
    found: dict[str, Any] = {"amount": None}
    if prices.model is not None:
        tokens, coverage = _tokens(summary)
        found = _amount(prices.model, tokens, paid_before.get(None), coverage)
        right = _right_answers(summary)
        found["right_answers"] = right
        found["per_right_answer"] = found["amount"] / right if right and coverage == 1.0 else None
    elif judges is None:
        return None
    return {**found, "judges": judges}


def _paid_before(taken_over: Iterable[tuple[str, RecordedStep]]) -> dict[str | None, _Tokens]:
    """Tokens of the replies that came from other runs, by the judge's model, and those of the model under test."""
    found: dict[str | None, _Tokens] = defaultdict(Counter)
    for key, call in taken_over:
        usage = orjson.loads(call.output).get("u")
        if usage is None or "/m" in key:  # requests of a scorer to the model are in no sum of tokens
            continue
        judge = None
        if key.startswith("judge/"):
            judge = "" if call.input is None else str(orjson.loads(call.input).get("model", ""))
        found[judge].update(prompt=usage[0], completion=usage[1], cached=usage[3] if len(usage) > 3 else 0)
    return found


def _counted(prompt: int, completion: int, cached: int) -> _Tokens:
    return Counter(prompt=prompt, completion=completion, cached=cached)


def _tokens(summary: RunSummary) -> tuple[_Tokens, float]:
    if summary.prompt_tokens is not None:
        return _counted(summary.prompt_tokens, summary.completion_tokens or 0, summary.cached_tokens), 1.0
    part = summary.partly_counted
    if part is None:
        return Counter(), 0.0
    counted = _counted(part["prompt_tokens"], part["completion_tokens"], summary.cached_tokens)
    return counted, part["samples"] / part["of"]


def _amount(price: Price, tokens: _Tokens, before: _Tokens | None, coverage: float) -> dict[str, Any]:
    spent = tokens if before is None else tokens - before  # at least 0 of each
    if not coverage:
        return price.figures(None, None, coverage)
    return price.figures(price.cost(**_NONE | tokens), price.cost(**_NONE | spent), coverage)


def _judges_cost(
    summary: RunSummary, prices: RunPrices, paid_before: Mapping[str | None, _Tokens]
) -> dict[str, Any] | None:
    """The costs of judges, by model."""
    found: dict[str, Any] = {}
    for name, took in summary.judges.items():
        price = prices.judges.get(name)
        if price is not None:
            counted = took["requests"] - took["failed"]
            coverage = 1 - took["uncounted"] / counted if counted > 0 else 1.0
            tokens = _counted(took["prompt_tokens"], took["completion_tokens"], took["cached_tokens"])
            found[name] = _amount(price, tokens, paid_before.get(name), coverage)
    return found or None


def _right_answers(summary: RunSummary) -> float | None:
    """The sum of the main metric, if it is between 0 and 1 and higher is better."""
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


def counted_from_resume(summary: JsonObject | None) -> str:
    """From when on the budgets of a resumed run count, and what its earlier starts spent."""
    cost: Any = (summary or {}).get("cost") or {}
    judges: dict[str, Any] = cost.get("judges") or {}
    spent: dict[str, float] = {}
    for each in (cost, *judges.values()):
        if each.get("spent"):
            spent[each["currency"]] = spent.get(each["currency"], 0.0) + each["spent"]
    text = ", counted from the resume on"
    if spent:
        text += f"; earlier starts spent {' and '.join(f'{amount:.4g} {money}' for money, amount in spent.items())}"
    return text
