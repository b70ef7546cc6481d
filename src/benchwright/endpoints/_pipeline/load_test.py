"""A model that opens itself with its pipeline in any process, for load tests."""

from __future__ import annotations

from typing import Any

from benchwright.config import PipelineSettings
from benchwright.core import Artifacts
from benchwright.endpoints._endpoint import ModelSettings, TimedEndpoint
from benchwright.endpoints._pipeline.pipeline import Pipeline


class PipelinedModel(ModelSettings, frozen=True):
    """Can be sent to other processes."""

    model: ModelSettings
    """The model itself."""
    pipeline: PipelineSettings
    """The steps around it."""
    files: Artifacts
    """Where the log goes."""

    def open(self, **arguments: Any) -> TimedEndpoint:
        """Open the endpoint with its pipeline."""
        pipeline = Pipeline(self.pipeline, self.model, self.files)
        opened = self.model.open(**{**arguments, "around": pipeline.http})
        return pipeline.wrap(opened)  # type: ignore[return-value]
