"""A model server over HTTP: limits, attempts, pauses and deadlines.

Retried are 408, 409, 424, 425, 429 and 5xx, as a status or as an error object inside a 200, and broken connections, broken
streams and timeouts. A 200 that is not a reply (HTML, no choices) is retried once. Everything else is permanent. A pause
is random up to a bound that doubles, or follows `Retry-After`; no attempt goes beyond the sample's deadline. If there is
a gate, it is asked before every attempt but the first, and no attempt goes beyond its deadline.

Requests to a bare host (`http://host:8000`) go to `/v1`. If that gives 404, the same request goes to the host without
`/v1`, and the address that answered is used from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import time

from msgspec.structs import replace

from benchwright.core import ModelReply, ModelRequest, RequestFailure
from benchwright.endpoints._attempts import Attempter
from benchwright.endpoints._clock import LOOP_CLOCK, Clock
from benchwright.endpoints._endpoint import USUAL, SendPolicy
from benchwright.endpoints._gate import Allowance, SendGate
from benchwright.endpoints._limiter import Limiter
from benchwright.endpoints._messages import Names
from benchwright.endpoints._retry import FailedAttempt, Tries, again_of, pause_s
from benchwright.endpoints._settings import EndpointSettings, read_api_key
from benchwright.endpoints._transport import AroundHttp, Stamps, Transport
from benchwright.endpoints._wires.formats import wire_format, wire_of
from benchwright.endpoints._wires.wire import Urls

_RUN_OVER = " (not tried again: the run may send no more requests)"
_LOST_AT_MOST = 3  # times that a request is repeated because the server was closing its connection
_CLOCK_ERROR_S = 0.01  # a timeout may fire slightly before the deadline that it was computed from


class HttpEndpoint:
    """Implements `OpenEndpoint`."""

    def __init__(
        self,
        settings: EndpointSettings,
        transport: Transport,
        *,
        gate: SendGate | None = None,
        limiter: Limiter | None = None,
        names: Names | None = None,
        policy: SendPolicy = USUAL,
        clock: Clock = LOOP_CLOCK,
        around: AroundHttp | None = None,
    ) -> None:
        key = read_api_key(settings.api_key_name) if settings.api_key_name else None
        address = settings.address
        self._settings = settings
        self._timeout_s = min(settings.request_timeout_s, settings.sample_budget_s)
        self._transport = transport
        self._policy = policy
        self._clock = clock
        self._limiter = limiter or Limiter(settings.parallelism, settings.requests_per_minute, clock)
        self._shares_limiter = limiter is not None
        self._allowance = Allowance(gate, clock)
        # Whether a request waits for nothing but a free place.
        self._usual = policy.limits and not policy.arrivals and not self._allowance.limited
        # Whether it waits for nothing at all, as in a load test.
        self._at_once = not policy.limits and not self._allowance.limited
        wire = self._wire = wire_of(settings.api)
        headers: Mapping[str, str] = request_headers(settings, key)
        if around is not None:
            headers = around.headers(headers)
        self._attempter = Attempter(transport, wire, headers, settings, names or Names(), clock)
        model = settings.model_id
        self._urls = wire.urls(address, model)
        # The URLs to try if the server does not know "/v1"; set as long as "/v1" is a guess.
        self._other_urls = wire.urls(address.without_guess(), model) if address.guessed else None
        self.ends_with_reason = wire.native
        """Whether a complete stream always has a finish reason."""
        self.requests_sent = 0
        self._answered = 0
        self._unanswered = 0
        self.retries = 0
        self.first_failure: RequestFailure | None = None

    @property
    def in_flight(self) -> int:
        """Requests in flight now."""
        return self._limiter.in_flight

    @property
    def limit(self) -> int:
        """Requests currently allowed in flight."""
        return self._limiter.limit

    def forget_failure(self) -> None:
        """Reset `first_failure` after a probe."""
        self.first_failure = None

    async def aclose(self) -> None:
        """Close connections."""
        if not self._shares_limiter:  # other endpoints may wait for a shared one
            self._limiter.close()
        await self._transport.aclose()

    async def send(self, request: ModelRequest, *, planned: float | None = None) -> ModelReply:
        """Answer one request, with as many attempts as it needs and is allowed."""
        limiter, urls = self._limiter, self._urls
        if planned is None and self._usual and limiter.try_acquire():
            stamps, timeout_s = Stamps(time()), self._timeout_s
        elif planned is None and self._at_once:
            stamps, timeout_s = Stamps(time()), self._timeout_s
            if self._policy.arrivals:
                stamps.arrivals = []
            limiter.in_flight += 1
        else:
            if planned is not None:
                await self._clock.sleep_until(planned)
            stamps = Stamps(time(), planned)
            admitted = await self._admitted(stamps)
            if admitted is None:
                return Allowance.not_sent(stamps.started_at)
            urls, timeout_s = self._urls, admitted
        self.requests_sent += 1
        try:  # the same as `_attempt`, which would cost another frame
            result = await self._attempter.attempt(request, urls[request.route], timeout_s, stamps)
        except BaseException:
            limiter.release()
            raise
        if isinstance(result, ModelReply):
            self._other_urls = None
            self._answered += 1
            limiter.succeeded()
            return result
        result = self._refused(result)
        if self._policy.retries or self._policy.adapts:
            return await self._persist(request, result, urls, stamps)
        return await self._send_lost_again(request, result, urls, stamps)

    async def _admitted(self, stamps: Stamps) -> float | None:
        """Wait for a place. Returns the seconds that the attempt may last, or None if it must not be sent."""
        policy, limiter, allowance = self._policy, self._limiter, self._allowance
        if policy.arrivals:
            stamps.arrivals = []
        if not policy.limits:
            limiter.in_flight += 1
        elif not await limiter.acquire(allowance=allowance):
            return None
        if allowance.limited and (left_s := allowance.left_s()) < self._timeout_s:
            if left_s <= 0:
                limiter.release()
                return None
            return left_s
        return self._timeout_s

    async def _attempt(
        self, request: ModelRequest, urls: Urls, timeout_s: float, stamps: Stamps
    ) -> ModelReply | FailedAttempt:
        """Make one attempt in the place that the caller has taken."""
        limiter = self._limiter
        self.requests_sent += 1
        try:
            result = await self._attempter.attempt(request, urls[request.route], timeout_s, stamps)
        except BaseException:
            limiter.release()
            raise
        if isinstance(result, ModelReply):
            self._answered += 1
            limiter.succeeded()
            return result
        return self._refused(result)

    def _refused(self, trouble: FailedAttempt) -> FailedAttempt:
        """Tell the limiter about a failed attempt, and release its place."""
        self._unanswered += 1
        if self._policy.limits and trouble.no_room and not self._limiter.refused(trouble.begun_at):
            trouble = replace(trouble, collateral=True)
        self._limiter.release()
        return trouble

    async def _send_lost_again(
        self, request: ModelRequest, trouble: FailedAttempt, urls: Urls, stamps: Stamps
    ) -> ModelReply:
        """For a policy without retries: repeat only what a closing connection lost, on another one."""
        while trouble.lost_in_closing(self._clock.now()) and stamps.lost < _LOST_AT_MOST:
            timeout_s = min(self._timeout_s, self._allowance.left_s())
            if timeout_s <= 0:
                break
            stamps.again()
            stamps.lost += 1
            self.retries += 1
            self._limiter.in_flight += 1
            result = await self._attempt(request, urls, timeout_s, stamps)
            if isinstance(result, ModelReply):
                return replace(result, lost=stamps.lost)
            trouble = result
        return self._failed(trouble, stamps)

    async def _persist(
        self, request: ModelRequest, trouble: FailedAttempt, urls: Urls, stamps: Stamps
    ) -> ModelReply:
        """Handle a failed first attempt: adapt, wait, try again, or give up."""
        settings, policy, now = self._settings, self._policy, self._clock.now
        deadline = trouble.begun_at + settings.sample_budget_s
        tries = Tries(settings.max_retries)
        adaptations = 0
        allowance = self._allowance
        while True:
            if trouble.failure.kind == "timeout" and allowance.left_s() <= _CLOCK_ERROR_S:
                return self._failed(_cut_short(trouble), stamps, " (the run's time is up)")
            other = self._adapted(request, trouble, urls) if policy.adapts and adaptations < 2 else None
            if other is not None:
                adaptations += 1
                pause = 0.0
            elif policy.retries and stamps.lost < _LOST_AT_MOST and trouble.lost_in_closing(now()):
                stamps.lost += 1  # the server has not read it, so this is not a retry
                pause = 0.0
            else:
                if not policy.retries or not tries.take(
                    trouble, answered=self._answered, unanswered=self._unanswered
                ):
                    return self._failed(trouble, stamps)
                pause = pause_s(trouble, tries.pauses, settings.retry_backoff_s)
                if now() + pause >= deadline:
                    return self._failed(trouble, stamps, self._too_late(trouble))
                if pause >= allowance.left_s():
                    return self._run_over(trouble, stamps)
                if trouble.no_room and trouble.retry_after_s:
                    self._limiter.hold(trouble.retry_after_s)
            if not await allowance.pause(pause):
                return self._run_over(trouble, stamps)
            asked_at = now()
            if not await self._limiter.acquire(first=True, allowance=allowance):
                return self._run_over(trouble, stamps)
            if not allowance.may_send(trouble.failure):  # checked last, so that what is reserved is also sent
                self._limiter.release()
                return self._run_over(trouble, stamps)
            deadline += now() - asked_at  # waiting for a place does not count
            stamps.again()
            self.retries += 1
            used = other or self._urls
            left_s = min(deadline - now(), allowance.left_s())
            timeout_s = max(0.001, min(settings.request_timeout_s, left_s))
            result = await self._attempt(request, used, timeout_s, stamps)
            if isinstance(result, ModelReply):
                self._learn(used)
                return replace(result, lost=stamps.lost) if stamps.lost else result
            if other is not None and other is self._other_urls:
                if result.failure.http_status in (404, 405):
                    return self._failed(
                        trouble, stamps, f" (also tried {other[request.route].url_for(request)})"
                    )
                if result.failure.http_status is not None:
                    self._learn(used)
            trouble, urls = result, used

    def _adapted(self, request: ModelRequest, trouble: FailedAttempt, urls: Urls) -> Urls | None:
        """The URLs at which to repeat the request at once because something was learned, or None."""
        status = trouble.failure.http_status
        if status in (404, 405):
            if urls is not self._urls:
                return self._urls  # another request has found the right address meanwhile
            return self._other_urls
        return self._urls if self._wire.learn(trouble.failure, request) else None

    def _learn(self, urls: Urls) -> None:
        """Note that these URLs lead to the API."""
        self._urls = urls
        self._other_urls = None

    def _failed(self, trouble: FailedAttempt, stamps: Stamps, note: str = "") -> ModelReply:
        failure = trouble.failure
        if stamps.attempts > 1 and not note:
            note = f" (attempt {stamps.attempts}, the last)"
        if failure.kind == "timeout" and stamps.attempts > 1:
            note += ". Raise the request timeout, or lower the parallelism"
        failure = replace(failure, message=failure.message + note)
        if (
            self.first_failure is None
            and again_of(failure.kind) in ("never", "once")
            and failure.kind != "budget"
        ):
            self.first_failure = failure
        return ModelReply(
            status="failed",
            failure=failure,
            attempts=stamps.attempts,
            started_at=stamps.started_at,
            times=trouble.times,
            request_id=stamps.request_id,
            lost=stamps.lost,
        )

    def _run_over(self, trouble: FailedAttempt, stamps: Stamps) -> ModelReply:
        """The reply to a request that would have been tried again if its run went on."""
        return replace(self._failed(trouble, stamps, _RUN_OVER), untried=True)

    def _too_late(self, trouble: FailedAttempt) -> str:
        budget = f"the {self._settings.sample_budget_s:g} s that all attempts of a sample may take"
        if trouble.retry_after_s:
            return f" (the server asks to wait {trouble.retry_after_s:g} s, which is beyond {budget})"
        return f" (given up: another attempt would go beyond {budget})"


def _cut_short(trouble: FailedAttempt) -> FailedAttempt:
    """The failure of an attempt that the run's deadline ended, not the server."""
    return replace(trouble, failure=replace(trouble.failure, kind="budget"))


def request_headers(settings: EndpointSettings, key: str | None) -> dict[str, str]:
    """The headers of every request; those of the user take precedence."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "identity",  # replies are short; decompressing them would cost more than it saves
        "User-Agent": "benchwright",
    }
    if key is not None:
        name, prefix = wire_format(settings.api).key_header
        headers[name] = prefix + key
    ours = {name.lower(): name for name in headers}
    for name, value in settings.own_headers().items():
        headers[ours.get(name.lower(), name)] = value
    return headers
