"""Connects a run to its request pipeline. Does nothing for runs without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchwright.config import PipelineSettings, RaiseClientErrors
from benchwright.core import Artifacts, ModelReply, ModelRequest, SampleRecord
from benchwright.endpoints import (
    ModelSettings,
    OpenEndpoint,
    Pipeline,
)

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
        self._pipeline: Pipeline

    def opened(self, model: ModelSettings, endpoint: Callable[[Pipeline], OpenEndpoint]) -> OpenEndpoint:
        """The endpoint of a model, within the pipeline for it."""
        self._pipeline = Pipeline(self._settings, model, self._files)
        return self._pipeline.wrap(endpoint(self._pipeline))

    def replaying(self, endpoint: OpenEndpoint) -> OpenEndpoint:
        """Wrap the endpoint of a run that calls no model: the steps change requests, so that recorded replies are found."""
        self._pipeline = Pipeline(self._settings)
        return self._pipeline.wrap(endpoint)

    def ledger(self, ledger: Ledger, stop: Stop) -> Ledger:
        """Return a ledger that applies the request steps before `ledger`."""
        if self._pipeline.passes_all and self._stops is None:
            return ledger
        return PipelinedCalls(ledger, self._pipeline, self._stops, stop)

    def counted(self, do: Doing, progress: Progress) -> Doing:
        """Wrap the work on a sample so that samples are counted if progress is posted, continuing from earlier starts."""
        poster = self._pipeline.poster
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
        self._pipeline.close_log()
        if self._pipeline.poster is not None:
            await self._pipeline.poster.aclose(lambda: stop.cause == "interrupted")

    @property
    def notes(self) -> list[str]:
        """Errors of steps that only observe."""
        poster = self._pipeline.poster
        return [*self._pipeline.notes, *([poster.note] if poster is not None and poster.note else [])]


class PipelinedCalls:
    """A `Ledger` in front of another one: calls are looked up, sent and recorded as the steps have changed them."""

    def __init__(
        self, ledger: Ledger, pipeline: Pipeline, stops: RaiseClientErrors | None, stop: Stop
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
        request = await self._pipeline.prepare(request)
        reply = await self._ledger.call(key, request, endpoint, identity, sample)
        failure = reply.failure
        if failure is not None and self._stops is not None and self._stops.stops(failure.http_status):
            self._stop.request_at_once("client_error", f"stopped by raise_client_errors: {failure.message}")
        return reply
