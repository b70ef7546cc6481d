"""A pipeline as an endpoint: requests pass its steps on the way to the model, and replies pass them in reverse order."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.core import ModelReply, ModelRequest, RequestFailure, redact
from benchwright.pipeline._step import PreparedRequest, Step

if TYPE_CHECKING:
    from benchwright.endpoints import OpenEndpoint
    from benchwright.pipeline._exchange_log import ExchangeLog

_MOST_NOTES = 5
_PLAIN = (ModelRequest, ModelReply)
"""Results of steps that need not be awaited."""


class PipelineEndpoint:
    """Implements `TimedEndpoint` around another endpoint."""

    def __init__(
        self,
        steps: Sequence[Any],
        endpoint: OpenEndpoint,
        *,
        log: ExchangeLog | None = None,
        by_http: bool = True,
    ) -> None:
        """`steps` implement the parts of `Step` that they need. For an endpoint that speaks HTTP, the transport writes the
        log."""
        self._endpoint = endpoint
        self._before = [
            (step, step.on_request, _observes(step)) for step in steps if hasattr(step, "on_request")
        ]
        self._after = [
            (step, step.on_reply, _observes(step)) for step in reversed(steps) if hasattr(step, "on_reply")
        ]
        self._log = log
        self._by_http = by_http
        self.notes: list[str] = []
        """Errors of steps that only observe."""

    async def prepare(self, request: ModelRequest) -> PreparedRequest:
        """The request in the form that is sent and recorded. Never raises: a failing step gives a failed reply as the answer."""
        if isinstance(request, PreparedRequest):
            return request
        answer: ModelReply | None = None
        for step, on_request, observes in self._before:
            try:
                result = on_request(request)
                if type(result) not in _PLAIN and isawaitable(result):
                    result = await result
            except (Exception, SystemExit) as error:
                if observes:
                    self._note(step, error)
                    continue
                answer = _failed(step, error)
                break
            if observes:
                continue
            if isinstance(result, ModelReply):
                answer = result
                break
            if not isinstance(result, ModelRequest):
                answer = _failed(
                    step, TypeError(f"on_request returned {type(result).__name__}, not a request or a reply")
                )
                break
            request = result
        return PreparedRequest(
            request.route, request.body, request.payload, request.repeat, request.record, answer
        )

    async def send(self, request: ModelRequest, *, planned: float | None = None) -> ModelReply:
        """The reply, after all steps."""
        if type(request) is not PreparedRequest:
            request = await self.prepare(request)
        reply = request.answer
        if reply is None:
            if planned is None:
                reply = await self._endpoint.send(request)
            else:
                reply = await self._endpoint.send(request, planned=planned)  # type: ignore[call-arg]
            if self._log is not None and (reply.failure is not None or not self._by_http):
                self._log.ended(request, reply, by_http=self._by_http)
        for step, on_reply, observes in self._after:
            try:
                result = on_reply(request, reply)
                if type(result) not in _PLAIN and isawaitable(result):
                    result = await result
            except (Exception, SystemExit) as error:
                if observes:
                    self._note(step, error)
                else:
                    reply = _unusable(reply, step, error)
                continue
            if observes:
                continue
            if not isinstance(result, ModelReply):
                reply = _unusable(
                    reply, step, TypeError(f"on_reply returned {type(result).__name__}, not a reply")
                )
                continue
            reply = result
        return reply

    async def aclose(self) -> None:
        """Close the endpoint and the log."""
        await self._endpoint.aclose()
        self.close_log()

    def close_log(self) -> None:
        """Close only the log."""
        if self._log is not None:
            self._log.close()
            self.notes += [note for note in self._log.notes if note not in self.notes]

    @property
    def in_flight(self) -> int:
        """Requests in flight now."""
        return self._endpoint.in_flight

    @property
    def limit(self) -> int:
        """Number of requests allowed at once, now."""
        return self._endpoint.limit

    @property
    def requests_sent(self) -> int:
        """Requests sent so far."""
        return self._endpoint.requests_sent

    @property
    def retries(self) -> int:
        """Attempts beyond the first of their request."""
        return self._endpoint.retries

    @property
    def first_failure(self) -> RequestFailure | None:
        """The first permanent failure."""
        return self._endpoint.first_failure

    def __getattr__(self, name: str) -> Any:
        """Attributes that only some endpoints have."""
        return getattr(self._endpoint, name)

    def _note(self, step: Step, error: BaseException) -> None:
        """Note the failure of a step that only observes."""
        note = f"step {_name(step)} failed: {_words(error)}"
        if note not in self.notes and len(self.notes) < _MOST_NOTES:
            self.notes.append(note)


def _observes(step: Step) -> bool:
    return bool(getattr(step, "observes", False))


def _name(step: Step) -> str:
    return getattr(step, "name", None) or type(step).__name__


def _words(error: BaseException) -> str:
    return redact(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def _failed(step: Step, error: BaseException) -> ModelReply:
    failure = RequestFailure("step", f"step {_name(step)} failed, and nothing was sent: {_words(error)}")
    return ModelReply("failed", failure=failure, attempts=0)


def _unusable(reply: ModelReply, step: Step, error: BaseException) -> ModelReply:
    """The failure for a reply that a step could not handle. An earlier failure is kept, because it tells more."""
    if reply.failure is not None:
        return reply
    failure = RequestFailure("step", f"step {_name(step)} failed: {_words(error)}")
    return replace(reply, status="failed", text="", failure=failure)
