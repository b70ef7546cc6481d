"""Keeps the runs of a command within `--max-cost` by reserving the highest possible cost of a request before it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from benchwright.config import Price
from benchwright.core import LENGTH_LIMITS, ConfigError, ModelReply, ModelRequest, RequestFailure
from benchwright.endpoints import OpenEndpoint
from benchwright.engine._ledger import BUDGET_SPENT
from benchwright.engine._stop import RETRYING, Stop

if TYPE_CHECKING:
    from benchwright.engine._execute import Doing
    from benchwright.engine._feed import WorkItem

Metering: TypeAlias = Callable[[OpenEndpoint, str | None], OpenEndpoint]
"""Wraps an endpoint in the limit. The second argument is the judge's model, or None for the model under test."""

_MEDIA_TOKENS = 16_384
"""Prompt tokens reserved for each image, video or sound of a request."""
_BYTES_OF_A_TOKEN = 4
"""Bytes that a token of a reply usually has at most."""
_INSTRUCTIONS = 2_000
"""Bytes of a judge's instructions."""
_LEAST = 1e-12
"""Tolerance when sums of floats are compared with a limit."""


class CostMeter:
    """Tracks what the runs of one command have spent in one currency, and the most that requests in flight can cost."""

    def __init__(self) -> None:
        self.spent = 0.0
        """The cost of replies so far."""
        self._reserved = 0.0
        self._in_flight = 0
        self._held = 0.0
        self._shares = 0
        self._settled = asyncio.Event()

    def fits(self, bound: float, limit: float) -> bool:
        """Whether `bound` may still be spent even if everything in flight costs the most that it can."""
        return self.spent + self._reserved + self._held + bound <= limit + _LEAST

    async def reserve(self, bound: float, limit: float, stop: Stop, share: float = 0.0) -> bool:
        """Whether a request that costs at most `bound` may be sent. If it fits only after others turn out cheaper than
        reserved, wait for them. `share` is kept back for the judges of its sample, until `give_back`; a request that brings
        one also waits for the judges of other samples, none of which waits for it."""
        while not self.fits(bound + share, limit):
            if not (self._in_flight or (share and self._shares)) or stop.stopped:
                return False
            self._settled.clear()
            await self._settled.wait()
        self._reserved += bound
        self._in_flight += 1
        if share:
            self._held += share
            self._shares += 1
        return True

    def use_share(self, part: float) -> None:
        """Take a part of what is kept back for judges, to reserve it for one of their requests at once."""
        self._held -= part

    def give_back(self, rest: float) -> None:
        """Release the rest of a share, as its sample has ended."""
        self._shares -= 1
        self._held = self._held - rest if self._shares else 0.0
        self._settled.set()

    def add(self, bound: float, limit: float) -> bool:
        """Reserve more for a request that is in flight, if that fits now."""
        if not self.fits(bound, limit):
            return False
        self._reserved += bound
        return True

    def settle(self, bound: float, cost: float) -> None:
        """Replace the reservation for a finished request by its cost."""
        self._in_flight -= 1
        self._reserved = self._reserved - bound if self._in_flight else 0.0
        self.spent += cost
        self._settled.set()


class Share:
    """What is kept back for the judges of one sample, so that its reply, once bought, can also be scored."""

    __slots__ = ("begun", "rest", "shares")

    def __init__(self, shares: JudgeShares) -> None:
        self.shares = shares
        self.begun = False
        """Whether the first request of the sample was sent."""
        self.rest = 0.0
        """What is left of it."""


_SHARE: ContextVar[Share | None] = ContextVar("share", default=None)
"""The share of the sample whose request is being sent."""


class JudgeShares:
    """The shares of a run's samples."""

    def __init__(self, judges: Sequence[tuple[Price, int]], meter: CostMeter) -> None:
        """`judges`: the price of each, and the longest reply in tokens."""
        self._judges = judges
        self._meter = meter
        self._open: dict[tuple[int, int], Share] = {}

    def bound(self, request: ModelRequest) -> float:
        """About the most that judging the reply to a request costs: a judge usually sees the question and the reply."""
        length = max(size for name in LENGTH_LIMITS if isinstance(size := request.body.get(name), int))
        seen = prompt_bound(request) + _BYTES_OF_A_TOKEN * length + _INSTRUCTIONS
        return sum(price.most(seen, longest) for price, longest in self._judges)

    def around(self, do: Doing) -> Doing:
        """Wrap the function that handles a sample: its share ends with it."""

        async def shared(item: WorkItem) -> Any:
            key = item.sample_id, item.repeat
            share = self._open[key] = Share(self)
            token = _SHARE.set(share)
            try:
                return await do(item)
            finally:
                _SHARE.reset(token)
                self._open.pop(key, None)
                if share.begun:
                    self._meter.give_back(share.rest)

        return shared

    def enter(self, item: WorkItem) -> None:
        """Note that requests from here on are those of the judges of a sample, whose scorer may run in a thread."""
        _SHARE.set(self._open.get((item.sample_id, item.repeat)))


def metering(
    meter_of: Callable[[str], CostMeter],
    price_of: Callable[[str | None], Price | None],
    limit: float,
    stop: Stop,
) -> Metering:
    """Return the function that wraps the endpoints of one run in the limit. `meter_of` returns the meter of a currency."""

    def metered(endpoint: OpenEndpoint, judge: str | None) -> OpenEndpoint:
        price = price_of(judge)
        if price is None:
            return UnpricedEndpoint(endpoint)
        meter = meter_of(price.currency)
        return MeteredEndpoint(endpoint, price, meter, limit, stop, judges=judge is not None)

    return metered


class UnpricedEndpoint:
    """An endpoint that is not expected to be called, such as that of a run over recorded responses."""

    def __init__(self, endpoint: OpenEndpoint) -> None:
        self._endpoint = endpoint

    def __getattr__(self, name: str) -> Any:
        return getattr(self._endpoint, name)

    async def send(self, request: ModelRequest) -> ModelReply:
        """Refuse, because the cost would be unknown."""
        raise ConfigError(
            f"--max-cost: no price is known for {request.body.get('model')}; add it to prices.toml"
        )


class MeteredEndpoint:
    """An endpoint that sends only what the meter allows."""

    def __init__(
        self,
        endpoint: OpenEndpoint,
        price: Price,
        meter: CostMeter,
        limit: float,
        stop: Stop,
        *,
        judges: bool = False,
    ) -> None:
        self._endpoint = endpoint
        self._judges = judges
        self._price = price
        self._meter = meter
        self._limit = limit
        self._stop = stop

    def __getattr__(self, name: str) -> Any:
        return getattr(self._endpoint, name)

    async def send(self, request: ModelRequest) -> ModelReply:
        """Return the reply, or a failure of kind `budget` if the request might cost more than is left."""
        meter, limit, bound = self._meter, self._limit, cost_bound(self._price, request)
        share, kept_back = _SHARE.get(), 0.0
        if share is not None:
            if self._judges:
                part = min(share.rest, bound)
                share.rest -= part
                meter.use_share(part)
            elif not share.begun:
                kept_back = share.shares.bound(request)
        if not await meter.reserve(bound, limit, self._stop, kept_back):
            self._over(bound, kept_back)
            return BUDGET_SPENT
        if share is not None and kept_back:
            share.begun, share.rest = True, kept_back
        lost = 0.0  # on earlier attempts, which may have been charged although no reply came

        def again(failure: RequestFailure) -> bool:
            nonlocal lost
            if may_be_charged(failure):
                if not meter.add(bound, limit):
                    self._over(bound)
                    return False
                lost += bound
            return True

        cost = bound  # if the request never comes back
        token = RETRYING.set(again)
        try:
            reply = await self._endpoint.send(request)
            cost = reply_cost(self._price, request, reply, bound)
        finally:
            RETRYING.reset(token)
            meter.settle(bound + lost, cost + lost)
        return reply

    def _over(self, bound: float, kept_back: float = 0.0) -> None:
        if self._stop.stopped:
            return
        currency = self._price.currency
        reason = f"stopped by --max-cost {self._limit:g} {currency}"
        if bound + kept_back > self._limit + _LEAST:
            what = "sample, with its judges," if kept_back else "request"
            reason += f": a single {what} may cost up to {bound + kept_back:.4g} {currency}"
        self._stop.request("budget", reason)


def cost_bound(price: Price, request: ModelRequest) -> float:
    """The most that a request can cost. A text has at most as many tokens as bytes, and a reply at most `max_tokens`."""
    body = request.body
    lengths = [length for name in LENGTH_LIMITS if isinstance(length := body.get(name), int)]
    if not lengths:
        raise ConfigError(
            "--max-cost needs to know how long a reply may be, and the request has no max_tokens"
        )
    most = max(lengths)  # servers differ in which of them counts
    replies = max(count for count in (body.get("n"), body.get("best_of"), 1) if isinstance(count, int))
    return price.most(prompt_bound(request), most * replies)


def prompt_bound(request: ModelRequest) -> int:
    """The most prompt tokens that a request can have. Its record names files by their hashes."""
    if request.record is None:
        return len(request.payload)
    return len(request.record) + _MEDIA_TOKENS * request.record.count(b"sha256")


def may_be_charged(failure: RequestFailure) -> bool:
    """Whether a server may charge for a failed attempt. It does not charge for one that it refused. It may charge for one that
    the run's deadline cut off."""
    return (failure.http_status or 0) < 400


def reply_cost(price: Price, request: ModelRequest, reply: ModelReply, bound: float) -> float:
    """The cost of the last attempt: by its tokens, or by its bytes if the server did not count tokens. A reply that never
    arrived in full may have been charged at the highest possible cost."""
    usage = reply.usage
    if usage is not None:
        return price.cost(usage.prompt, usage.completion, usage.cached or 0)
    if reply.failure is not None:
        return bound if reply.attempts and may_be_charged(reply.failure) else 0.0
    return min(bound, price.most(prompt_bound(request), len((reply.text + reply.reasoning).encode())))
