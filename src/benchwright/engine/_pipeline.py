"""Connects a run to its request pipeline. Does nothing for runs without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchwright.config import PipelineSettings, ProgressTracking, RaiseClientErrors
from benchwright.core import Artifacts, ModelReply, ModelRequest, SampleRecord
from benchwright.endpoints import (
    AroundHttp,
    EndpointSettings,
    OpenEndpoint,
    PipelineEndpoint,
    ProgressPoster,
    compiled_steps,
    open_pipeline,
)
from benchwright.engine._settings import ModelSettings

if TYPE_CHECKING:
    from benchwright.endpoints import Endpoint
    from benchwright.engine._calls import Ledger, RequestIdentity, SampleCalls
    from benchwright.engine._execute import Doing
    from benchwright.engine._feed import WorkItem
    from benchwright.engine._progress import Progress
    from benchwright.engine._stop import Stop
    from benchwright.engine._worker import OpenSample


class RunPipeline:
    """The pipeline of one start of a run."""

    def __init__(self, settings: PipelineSettings, files: Artifacts) -> None:
        self._settings, self._files = settings, files
        self._stops: RaiseClientErrors | None = settings.find(RaiseClientErrors)
        self._endpoint: PipelineEndpoint | None = None
        self._poster: ProgressPoster | None = None

    def around(
        self, model: ModelSettings, opened: Callable[[AroundHttp | None], OpenEndpoint]
    ) -> OpenEndpoint:
        """Wrap the endpoint that `opened` returns in the pipeline."""
        progress: ProgressTracking | None = self._settings.find(ProgressTracking)
        self._poster = None if progress is None else ProgressPoster(progress, self._files)
        url = model.url if isinstance(model, EndpointSettings) else model.fingerprint()
        endpoint = open_pipeline(self._settings, model, self._files, opened, url=url)
        self._endpoint = endpoint if isinstance(endpoint, PipelineEndpoint) else None
        return endpoint

    def replaying(self, endpoint: OpenEndpoint) -> OpenEndpoint:
        """Wrap the endpoint of a run that calls no model: the steps change requests, so that recorded replies are found."""
        self._endpoint = PipelineEndpoint(compiled_steps(self._settings), endpoint)
        return self._endpoint

    def ledger(self, ledger: Ledger, stop: Stop) -> Ledger:
        """Return a ledger that applies the request steps before `ledger`."""
        if self._endpoint is None and self._stops is None:
            return ledger
        return PipelinedCalls(ledger, self._endpoint, self._stops, stop)

    def counted(self, do: Doing, progress: Progress) -> Doing:
        """Wrap the work on a sample so that samples are counted if progress is posted, continuing from earlier starts."""
        poster = self._poster
        if poster is None:
            return do

        async def counting(item: WorkItem) -> SampleRecord | OpenSample:
            record = await do(item)
            if isinstance(record, SampleRecord):
                poster.count(progress.recorded)
            return record

        return counting

    async def aclose(self, stop: Stop) -> None:
        """Finish the log and the posts; an interrupted run does not wait for them. The endpoint stays open."""
        if self._endpoint is not None:
            self._endpoint.close_log()
        if self._poster is not None:
            await self._poster.aclose(lambda: stop.cause == "interrupted")

    @property
    def notes(self) -> list[str]:
        """Errors of steps that only observe."""
        notes = [] if self._endpoint is None else [*self._endpoint.notes]
        return notes + ([self._poster.note] if self._poster is not None and self._poster.note else [])


class PipelinedCalls:
    """A `Ledger` in front of another one: calls are looked up, sent and recorded as the steps have changed them."""

    def __init__(
        self, ledger: Ledger, pipeline: PipelineEndpoint | None, stops: RaiseClientErrors | None, stop: Stop
    ) -> None:
        self._ledger, self._pipeline, self._stops, self._stop = ledger, pipeline, stops, stop

    async def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        sample: SampleCalls,
    ) -> ModelReply:
        """Return the reply. A reply that the user does not accept stops the run once its sample is recorded."""
        if self._pipeline is not None:
            request = await self._pipeline.prepare(request)
        reply = await self._ledger.call(key, request, endpoint, identity, sample)
        failure = reply.failure
        if failure is not None and self._stops is not None and self._stops.stops(failure.http_status):
            self._stop.request_at_once("client_error", f"stopped by raise_client_errors: {failure.message}")
        return reply
