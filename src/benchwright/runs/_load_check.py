"""A load test without a request: what it would send, when, and about what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from benchwright.benchmarks import estimate_tokens
from benchwright.core import JsonObject, ModelRequest, UsageError, as_json, public_url
from benchwright.endpoints import UnsendableRequestError
from benchwright.perf import LoadSettings, arrivals
from benchwright.runs._load_work import LoadWork
from benchwright.runs._perf import build_load
from benchwright.runs._run import Plan

_SHOWN = 2
"""Requests that are shown in full."""
_UNKNOWN = 1000
"""Requests that an estimate is of, where the plan does not fix their number."""


class LoadCheck(Struct, frozen=True):
    """One load test as it would be done. Nothing was sent, and nothing was written."""

    name: str
    """Name of the data or the benchmark."""
    model: str
    """Model id; a question mark stands for one that only the server knows."""
    urls: tuple[str, ...]
    """The servers; none if the model answers in this process."""
    load: LoadSettings
    """When requests are sent, and when the test ends."""
    rows: int
    """Rows that can be sent."""
    requests: int | None
    """Requests of all levels, warm-up and cool-down included, or conversations; None: the server's speed or a search decides."""
    unit: str
    """What is counted: requests or conversations."""
    first: tuple[ModelRequest, ...]
    """The first requests, as the server gets them."""
    prompt_tokens_estimate: int
    """Prompt tokens of these requests, or of 1,000 where their number is not known: four characters a token."""
    cost: JsonObject | None
    """About what they cost, where a price is known: `prompts` alone, and `at_most` with replies of full length."""
    notes: tuple[str, ...]

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        first: Any = [{"route": each.route, "body": each.body} for each in self.first]
        record: JsonObject = as_json(
            {name: getattr(self, name) for name in self.__struct_fields__ if name not in ("first", "load")}
        )
        return {**record, "load": self.load.to_json(), "first": first}


def check_load(plan: Plan) -> LoadCheck:
    """Read the data and build every request, as the test itself does."""
    built = build_load(plan)
    load, scan, settings = built.settings, built.prepared.rows.scan, built.prepared.settings
    converses = built.prepared.spec.converses
    total = _total(load, built.requests.offsets)
    passes = (total or _UNKNOWN) / max(1, scan.rows if converses else scan.requests)
    prompts = estimate_tokens(scan.prompt_chars) * passes
    longest = settings.generation.settings.get("max_tokens")
    price = built.prepared.prices.model
    cost = None
    if price is not None:
        most = longest if isinstance(longest, int) else None
        cost = price.estimate(
            prompts,
            None if most is None else prompts + scan.replies_resent * most * passes,
            None if most is None else scan.requests * most * passes,
        )  # fmt: skip
    return LoadCheck(
        name=settings.benchmark,
        model=settings.endpoint.model_id,
        urls=tuple(public_url(each.url) for each in built.endpoints if each.by_http),
        load=load,
        rows=scan.rows,
        requests=total,
        unit="conversations" if converses else "requests",
        first=_first(built),
        prompt_tokens_estimate=round(prompts),
        cost=cost,
        notes=tuple(map(str, built.prepared.notes)),
    )


def _total(load: LoadSettings, offsets: Sequence[float]) -> int | None:
    """The requests that the plan fixes: their number, or what the schedule sends in the time; None: the server's speed or a
    search decides."""
    if load.search is not None:
        return None
    if load.open_loop:
        stages = range(len(load.levels))
        return load.warmup + sum(1 for stage in stages for _ in arrivals(load, stage, offsets))
    if load.requests is None or load.seconds is not None:
        return None
    return load.warmup + len(load.levels) * (load.requests + load.cooldown)


def _first(built: LoadWork) -> tuple[ModelRequest, ...]:
    """UsageError if the wire format has no words for them."""
    endpoint = built.endpoints[0]
    found = [built.requests.at(number).request for number in range(min(_SHOWN, len(built.requests)))]
    try:
        return tuple(map(endpoint.as_sent, found))
    except UnsendableRequestError as error:
        raise UsageError(str(error)) from None
