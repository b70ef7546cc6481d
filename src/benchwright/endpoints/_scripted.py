"""An endpoint that answers from a script: for tests of any benchmark."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from time import time
from typing import TypeAlias

from benchwright.core import FailureKind, JsonObject, ModelReply, ModelRequest, RequestFailure
from benchwright.endpoints._clock import LOOP_CLOCK, Clock
from benchwright.endpoints._replies import BadReply, read_reply
from benchwright.endpoints._transport import Stamps

ScriptedAnswer: TypeAlias = "str | ModelReply | RequestFailure | JsonObject | Exception"
"""The answer's text; a whole reply; a failure; the JSON a server would have sent; or an exception, which becomes the
corresponding failure (`TimeoutError`: timeout, `ConnectionError`: connection)."""

Script: TypeAlias = "ScriptedAnswer | Iterable[ScriptedAnswer] | Callable[[ModelRequest], ScriptedAnswer | Awaitable[ScriptedAnswer]]"
"""One answer for all requests (a text, the JSON a server would have sent, …); answers in order (list, generator); or a function of the request."""


class ScriptedEndpoint:
    """Implements `OpenEndpoint` without a server.

    >>> import asyncio
    >>> endpoint = ScriptedEndpoint(["4", TimeoutError("too slow")])
    >>> request = ModelRequest("chat", {"messages": []}, b"{}")
    >>> asyncio.run(endpoint.send(request)).text
    '4'
    >>> asyncio.run(endpoint.send(request)).failure.kind
    'timeout'
    >>> len(endpoint.requests)
    2
    """

    def __init__(self, script: Script, *, latency_s: float = 0.0, clock: Clock = LOOP_CLOCK) -> None:
        self._clock = clock
        self._function: Callable[[ModelRequest], ScriptedAnswer | Awaitable[ScriptedAnswer]] | None = None
        self._answers: Iterator[ScriptedAnswer] | None = None
        self._constant: ScriptedAnswer | None = None
        if isinstance(script, (str, dict, ModelReply, RequestFailure, Exception)):
            self._constant = script
        elif callable(script):
            self._function = script
        else:
            self._answers = iter(script)
        self._latency_s = latency_s
        self.requests: list[ModelRequest] = []
        """All requests, in order."""
        self.in_flight = 0
        self.most_in_flight = 0
        """The most requests in flight at once so far."""
        self.retries = 0
        self.first_failure: RequestFailure | None = None

    @property
    def limit(self) -> int:
        """The requests in flight, because a script has no limit."""
        return max(1, self.in_flight)

    @property
    def requests_sent(self) -> int:
        """Requests so far."""
        return len(self.requests)

    async def send(self, request: ModelRequest, *, planned: float | None = None) -> ModelReply:
        """The script's next answer."""
        if planned is not None:
            await self._clock.sleep_until(planned)
        stamps = Stamps(time())
        stamps.sent = self._clock.now()
        stamps.planned = stamps.sent if planned is None else planned
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self._latency_s:
                await self._clock.sleep_until(stamps.sent + self._latency_s)
            answer = await self._next(request)
        finally:
            self.in_flight -= 1
        stamps.first_byte = stamps.last_byte = self._clock.now()
        reply = _reply(answer, request, stamps)
        if self.first_failure is None and reply.failure is not None and reply.failure.kind == "rejected":
            self.first_failure = reply.failure
        return reply

    async def aclose(self) -> None:
        """Nothing to close."""

    async def _next(self, request: ModelRequest) -> ScriptedAnswer:
        if self._constant is not None:
            return self._constant
        try:
            if self._function is not None:
                answer = self._function(request)
                return await answer if inspect.isawaitable(answer) else answer
            assert self._answers is not None
            return next(self._answers)
        except StopIteration:
            used = len(self.requests) - 1
            return RequestFailure("bad_reply", f"the script is used up: it had {used} answers. Add more")
        except Exception as error:
            return error


def _reply(answer: ScriptedAnswer, request: ModelRequest, stamps: Stamps) -> ModelReply:
    if isinstance(answer, ModelReply):
        return answer
    if isinstance(answer, str):
        message: JsonObject = {"content": answer}
        answer = {"choices": [{"message": message, "text": answer, "finish_reason": "stop"}]}
    if isinstance(answer, Exception):
        answer = RequestFailure(_kind(answer), f"{type(answer).__name__}: {answer}")
    if isinstance(answer, RequestFailure):
        return _failed(answer, stamps)
    reply = read_reply(answer, request.route, stamps, raw_text=bool(request.body.get("echo")))
    if isinstance(reply, BadReply):
        return _failed(RequestFailure("bad_reply", reply.message, 200), stamps)
    return reply


def _failed(failure: RequestFailure, stamps: Stamps) -> ModelReply:
    times = stamps.times(failed=stamps.last_byte)
    return ModelReply("failed", failure=failure, started_at=stamps.started_at, times=times)


def _kind(error: Exception) -> FailureKind:
    if isinstance(error, TimeoutError):
        return "timeout"
    return "connection" if isinstance(error, OSError) else "server_error"
