"""The demo model as an endpoint in this process: no sockets, no JSON, a few microseconds per answer."""

from __future__ import annotations

import asyncio
from time import time

from msgspec.structs import replace

from benchwright.core import CallTimes, ModelReply, ModelRequest, ReplyStatus, RequestFailure, TokenUsage
from benchwright.demo._completions import DemoChoice, echoed_tokens
from benchwright.demo._model import DemoModel
from benchwright.demo._requests import DemoRefusalError
from benchwright.demo._settings import FAULTS, DemoSettings, Faults
from benchwright.endpoints import LOOP_CLOCK, USUAL, Allowance, Clock, Limiter, SendGate, SendPolicy

_CALLS_PER_TURN = 32
"""Answers in a row before other tasks may run: at 15 µs each, half a millisecond."""


class DemoEndpoint:
    """Implements `OpenEndpoint` with the embedded demo model.

    Without simulated latency, an answer is returned at once. With it, answers take as long as a server's, at
    most `parallelism` at a time. Faults become failed replies; `max_retries` further attempts are made, without pauses,
    as long as the gate allows them.
    """

    def __init__(
        self,
        settings: DemoSettings | None = None,
        *,
        gate: SendGate | None = None,
        limiter: Limiter | None = None,
        policy: SendPolicy = USUAL,
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        self.settings = settings or DemoSettings()
        self._policy = policy
        self._clock = clock
        self._attempts = self.settings.max_retries + 1 if policy.retries else 1
        self.requests_sent = 0
        self.retries = 0
        self.first_failure: RequestFailure | None = None
        self._model = DemoModel(self.settings)
        self._faults = Faults(self.settings) if self.settings.error_rate else None
        self._waits = self.settings.ttft_ms > 0 or self.settings.itl_ms > 0
        self._limiter = limiter or Limiter(self.settings.parallelism, clock=clock)
        self._allowance = Allowance(gate, clock)
        self._calls = 0

    @property
    def in_flight(self) -> int:
        """Number of requests that wait for their simulated time to pass."""
        return self._limiter.in_flight

    @property
    def limit(self) -> int:
        """Number of requests allowed at once."""
        return self.settings.parallelism

    def forget_failure(self) -> None:
        """Reset `first_failure`, because the earlier requests were a probe."""
        self.first_failure = None

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    async def send(self, request: ModelRequest, *, planned: float | None = None) -> ModelReply:
        """Answer one request."""
        if planned is not None:
            await self._clock.sleep_until(planned)
        if self._waits:
            return await self._send_waiting(request, planned)
        self._calls += 1
        if self._calls >= _CALLS_PER_TURN:
            self._calls = 0
            await asyncio.sleep(0)
        return self._reply(request, time(), planned, self._clock.now(), 0.0)

    async def _send_waiting(self, request: ModelRequest, planned: float | None) -> ModelReply:
        started_at, clock = time(), self._clock
        if not self._policy.limits:
            self._limiter.in_flight += 1
        elif not await self._limiter.acquire(allowance=self._allowance):
            return Allowance.not_sent(started_at)
        try:
            left_s = self._allowance.left_s()
            if left_s <= 0:
                return Allowance.not_sent(started_at)
            started_at, sent = time(), clock.now()
            reply = self._reply(request, started_at, planned, sent, self.settings.ttft_ms / 1000)
            if reply.latency_s > left_s:
                await clock.sleep_until(sent + left_s)
                late = RequestFailure(
                    "budget", "the demo model was still answering when the run's time was up"
                )
                return _failed(late, reply.attempts, started_at, planned, sent, left_s)
            await clock.sleep_until(sent + reply.latency_s)
            return reply
        finally:
            self._limiter.release()

    def _reply(
        self, request: ModelRequest, started_at: float, planned: float | None, sent: float, ttft_s: float
    ) -> ModelReply:
        attempts = 1
        self.requests_sent += 1
        if self._faults is not None:
            failure, untried = None, False
            for attempt in range(self._attempts):
                if failure is not None:
                    if not self._allowance.may_send(failure):
                        untried = True
                        break
                    self.requests_sent += 1
                    self.retries += 1
                attempts = attempt + 1
                kind = self._faults.pick(request.payload, request.repeat, attempt)
                failure = None if kind is None else FAULTS[kind][1]
                if failure is None:
                    break
            if failure is not None:
                failed = _failed(failure, attempts, started_at, planned, sent, ttft_s)
                return replace(failed, untried=True) if untried else failed
        try:
            completion = self._model.complete(request.route, request.body, request.repeat)
        except DemoRefusalError as error:
            refusal = RequestFailure("rejected", f"status {error.status}: {error.message}", error.status)
            self.first_failure = self.first_failure or refusal
            return _failed(refusal, attempts, started_at, planned, sent, 0.0)
        choice = completion.choices[0]
        produced = 0
        for each in completion.choices:
            produced += each.tokens
        times = self._times(request, choice, planned, sent, ttft_s)
        return ModelReply(
            _status(choice),
            choice.text,
            "",
            choice.finish_reason,
            TokenUsage(completion.prompt_tokens, produced),
            None,
            echoed_tokens(choice.logprobs) if choice.logprobs and request.route == "completions" else None,
            choice.tool_calls,
            attempts,
            started_at,
            times,
        )

    def _times(
        self, request: ModelRequest, choice: DemoChoice, planned: float | None, sent: float, ttft_s: float
    ) -> CallTimes:
        """Return the times at which a server of the configured speed would have sent the reply; never before it exists."""
        itl_s, now = self.settings.itl_ms / 1000, self._clock.now()
        first, last = max(now, sent + ttft_s), max(now, sent + ttft_s + itl_s * max(choice.tokens - 1, 0))
        streamed = request.body.get("stream") is True
        arrivals: tuple[float, ...] = ()
        if streamed and self._policy.arrivals:
            arrivals = tuple(min(last, first + itl_s * i) for i in range(choice.tokens))
        token = first if streamed and choice.tokens else None
        event = first if streamed else None
        planned = sent if planned is None else planned
        return CallTimes(planned, sent, first, event, token, token, last, arrivals)


def _status(choice: DemoChoice) -> ReplyStatus:
    if choice.tool_calls is not None or (choice.text and not choice.text.isspace()):
        return "answered"
    return "truncated" if choice.finish_reason == "length" else "empty"


def _failed(
    failure: RequestFailure,
    attempts: int,
    started_at: float,
    planned: float | None,
    sent: float,
    latency_s: float,
) -> ModelReply:
    times = CallTimes(sent if planned is None else planned, sent, failed=sent + latency_s)
    return ModelReply("failed", failure=failure, attempts=attempts, started_at=started_at, times=times)
