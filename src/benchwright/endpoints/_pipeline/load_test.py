"""Pipelines in load tests: which steps they may have, and a model that opens itself with its pipeline in any process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from benchwright.config import Caching, PipelineSettings, ProgressTracking, RaiseClientErrors
from benchwright.core import Artifacts, UsageError
from benchwright.endpoints._endpoint import OpenableSettings, OpenEndpoint, SendPolicy, TimedEndpoint
from benchwright.endpoints._open import open_endpoint
from benchwright.endpoints._pipeline.open import open_pipeline
from benchwright.endpoints._settings import EndpointSettings
from benchwright.endpoints._transport import AroundHttp

if TYPE_CHECKING:
    from benchwright.endpoints._clock import Clock
    from benchwright.endpoints._gate import SendGate
    from benchwright.endpoints._limiter import Limiter

_CURE = "Leave it out, or give the load test a pipeline of its own; --pipeline '{}' switches it off"


def check_load_pipeline(settings: PipelineSettings, workers: int) -> None:
    """Raise UsageError for steps that a load test cannot have. Steps may change and observe requests and replies."""
    caching: Caching | None = settings.find(Caching)
    if caching is not None and caching.reuse_cached_responses:
        raise UsageError(
            f"the pipeline takes replies from a cache, and a load test sends every request. {_CURE}"
        )
    if settings.find(ProgressTracking) is not None:
        raise UsageError(f"progress_tracking counts samples, and a load test has requests. {_CURE}")
    if settings.find(RaiseClientErrors) is not None:
        raise UsageError(f"raise_client_errors stops at an error, and a load test counts errors. {_CURE}")
    own = [entry.name for entry in settings.steps if entry.own is not None]
    if own and workers > 1:
        raise UsageError(
            f"step {own[0]} is an object of this process; leave --workers out, or install it as a plugin"
        )


class PipelinedModel(Struct, frozen=True):
    """Implements `OpenableSettings`. Can be sent to other processes."""

    model: EndpointSettings | OpenableSettings
    """The model itself."""
    pipeline: PipelineSettings
    """The steps around it."""
    files: Artifacts
    """Where the log goes."""

    def open(
        self, *, gate: SendGate | None, limiter: Limiter | None, policy: SendPolicy, clock: Clock
    ) -> TimedEndpoint:
        """Open the endpoint with its pipeline."""
        model = self.model

        def opened(around: AroundHttp | None) -> OpenEndpoint:
            return open_endpoint(model, gate=gate, limiter=limiter, policy=policy, clock=clock, around=around)

        url = model.url if isinstance(model, EndpointSettings) else "demo"
        return open_pipeline(self.pipeline, model, self.files, opened, url=url)  # type: ignore[return-value]
