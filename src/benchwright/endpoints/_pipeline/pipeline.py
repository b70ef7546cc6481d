"""A pipeline as an endpoint around an endpoint: requests pass its steps on the way to the model, and replies pass them in
reverse order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import Any, NamedTuple

from msgspec.structs import replace

from benchwright.config import PipelineSettings, ProgressTracking, SystemMessage
from benchwright.core import Artifacts, ConfigError, ModelReply, ModelRequest, RequestFailure, redact
from benchwright.endpoints._endpoint import ModelSettings, OpenEndpoint
from benchwright.endpoints._pipeline.compiled import compiled_steps
from benchwright.endpoints._pipeline.exchange_log import ExchangeLog
from benchwright.endpoints._pipeline.progress import ProgressPoster
from benchwright.endpoints._pipeline.step import PreparedRequest
from benchwright.endpoints._pipeline.transport import HttpSide, header_changes
from benchwright.endpoints._transport import AroundHttp

_MOST_NOTES = 5
_PLAIN = (ModelRequest, ModelReply)
"""Results of steps that need not be awaited."""


class _Hook(NamedTuple):
    """One method of a step."""

    step: str
    """The step's name in messages."""
    method: str
    """`on_request` or `on_reply`."""
    call: Callable[..., Any]
    """The method itself."""
    observes: bool
    """Whether its results are ignored."""
    returns: tuple[type, ...]
    """What it may return."""


def _hooks(steps: Sequence[Any], method: str, *returns: type) -> list[_Hook]:
    return [
        _Hook(
            getattr(step, "name", None) or type(step).__name__,
            method,
            getattr(step, method),
            bool(getattr(step, "observes", False)),
            returns,
        )
        for step in steps
        if hasattr(step, method)
    ]


class Pipeline:
    """The steps around one model. Raises ConfigError for a step that cannot work. Once it wraps an endpoint, it implements
    `TimedEndpoint`, with the counters of that endpoint."""

    in_flight: int
    limit: int
    requests_sent: int
    retries: int
    first_failure: RequestFailure | None

    def __init__(
        self,
        settings: PipelineSettings,
        model: ModelSettings | None = None,
        files: Artifacts | None = None,
        *,
        ranks_choices: bool = False,
    ) -> None:
        """`files` get the log. Without a model the steps only change requests, so that recorded replies are found."""
        if ranks_choices and settings.find(SystemMessage) is not None:
            raise ConfigError(
                "the pipeline adds a system message, and choices are ranked by their place after the prompt, so nothing may "
                "be put in front of it; give the system message to the benchmark, or as the model's `system`"
            )
        steps = compiled_steps(settings)
        self._before = _hooks(steps, "on_request", ModelRequest, ModelReply)
        self._after = _hooks(steps[::-1], "on_reply", ModelReply)
        self._by_http = model is not None and model.by_http
        self._log: ExchangeLog | None = None
        self.http: AroundHttp | None = None
        """What `open_endpoint` puts around the HTTP of the model: it changes headers, and writes the log."""
        self.notes: list[str] = []
        """Errors of steps that only observe."""
        self.poster: ProgressPoster | None = None
        """Counts samples for the URL that follows the run, if one does."""
        if model is None:
            return
        if (progress := settings.find(ProgressTracking)) is not None:
            self.poster = ProgressPoster(progress, files)
        if files is not None and ExchangeLog.wanted(settings):
            self._log = ExchangeLog(settings, files, model.url or model.fingerprint())
        changing = header_changes(settings)
        if changing and not model.by_http:
            raise ConfigError(
                "the pipeline changes headers, and this model answers without HTTP; leave headers_to_… out"
            )
        if model.by_http and (changing or self._log is not None):
            self.http = HttpSide(changing, self._log)

    @property
    def passes_all(self) -> bool:
        """Whether no step needs to be between a run and its model."""
        return not (self._before or self._after or self._log)

    def wrap(self, endpoint: OpenEndpoint) -> OpenEndpoint:
        """The endpoint within the steps."""
        self._endpoint = endpoint
        return endpoint if self.passes_all else self

    def __getattr__(self, name: str) -> Any:
        if name == "_endpoint":
            raise AttributeError("the pipeline wraps no endpoint yet")
        return getattr(self._endpoint, name)

    async def prepare(self, request: ModelRequest) -> PreparedRequest:
        """The request in the form that is sent and recorded. Never raises: a failing step gives a failed reply as the answer."""
        if isinstance(request, PreparedRequest):
            return request
        answer: ModelReply | None = None
        for hook in self._before:
            result = await self._result(hook, request)
            if isinstance(result, ModelRequest):
                request = result
            elif result is not None:
                answer = result if isinstance(result, ModelReply) else _failed(hook, result)
                break
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
        for hook in self._after:
            result = await self._result(hook, request, reply)
            if isinstance(result, ModelReply):
                reply = result
            elif result is not None and reply.failure is None:  # an earlier failure tells more
                reply = _unusable(reply, hook, result)
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

    async def _result(self, hook: _Hook, *given: Any) -> Any:
        """Return what a step returns, or its error; None from a step that only observes."""
        try:
            result = hook.call(*given)
            if type(result) not in _PLAIN and isawaitable(result):
                result = await result
            if not hook.observes and not isinstance(result, hook.returns):
                wanted = "a request or a reply" if ModelRequest in hook.returns else "a reply"
                raise TypeError(f"{hook.method} returned {type(result).__name__}, not {wanted}")
        except (Exception, SystemExit) as error:
            if not hook.observes:
                return error
            note = f"step {hook.step} failed: {_words(error)}"
            if note not in self.notes and len(self.notes) < _MOST_NOTES:
                self.notes.append(note)
        return None if hook.observes else result


def _words(error: BaseException) -> str:
    return redact(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def _failed(hook: _Hook, error: BaseException) -> ModelReply:
    failure = RequestFailure("step", f"step {hook.step} failed, and nothing was sent: {_words(error)}")
    return ModelReply("failed", failure=failure, attempts=0)


def _unusable(reply: ModelReply, hook: _Hook, error: BaseException) -> ModelReply:
    """The failure for a reply that a step could not handle."""
    failure = RequestFailure("step", f"step {hook.step} failed: {_words(error)}")
    return replace(reply, status="failed", text="", failure=failure)
