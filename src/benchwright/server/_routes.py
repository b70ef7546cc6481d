"""The routes, as a table: what is dispatched, what is checked, and what the OpenAPI document says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from benchwright.core import STEP_STATUSES
from benchwright.sdk import RUN_KINDS
from benchwright.server import _handlers as h
from benchwright.server import _models as m
from benchwright.server._state import ServerState

Handler = Callable[[ServerState, h.Call], Awaitable[BaseModel | dict[str, Any]]]

MOST_PER_PAGE = 1_000
"""Most entries of a page."""
LARGEST_NUMBER = 2**53 - 1
"""Largest number that every JSON reader keeps exactly."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query parameter."""

    name: str
    """Its name."""
    kind: type
    """int or str."""
    default: int | str | None
    """What it is when it is not given."""
    meaning: str
    """One line."""
    choices: tuple[str, ...] = ()
    """The only values allowed."""


_AFTER = Query("after", int, None, "go on behind this number: `next` of the page before")
_LIMIT = Query("limit", int, 100, f"most entries of a page, up to {MOST_PER_PAGE}")
_NAME = Query("name", str, None, "only of this name")
_STATUS = Query("status", str, None, "only steps that stand so", tuple(STEP_STATUSES))
_KIND = Query("kind", str, None, "only runs of this kind", tuple(RUN_KINDS))


@dataclass(frozen=True, slots=True)
class Route:
    """One route."""

    method: str
    """HTTP method."""
    path: str
    """Path; `{run_id}` is a number."""
    handler: Handler
    """What it does."""
    answer: type[BaseModel]
    """What a client is told."""
    body: type[BaseModel] | None = None
    """What a client sends."""
    body_optional: bool = False
    """Whether it may be left out."""
    query: tuple[Query, ...] = ()
    """Query parameters."""
    refusals: tuple[int, ...] = ()
    """Statuses beside 400, 401, 403, 413 and 422."""

    @property
    def summary(self) -> str:
        """One line for the description."""
        return (self.handler.__doc__ or "").strip().rstrip(".")


_RUN = "/runs/{run_id}"
ROUTES: tuple[Route, ...] = (
    Route("GET", "/health", h.health, m.Health),
    Route("POST", "/runs", h.create_run, m.RunCreated, m.CreateRun, refusals=(503,)),
    Route("GET", "/runs", h.list_runs, m.RunPage, query=(_AFTER, _LIMIT, _KIND, _NAME)),
    Route("GET", _RUN, h.get_run, m.RunTold, refusals=(404,)),
    Route("POST", f"{_RUN}/resume", h.resume_run, m.Empty, m.ResumeRun, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/complete", h.complete_run, m.Empty, m.CompleteRun, body_optional=True,
          refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/fail", h.fail_run, m.Empty, m.FailRun, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/output", h.set_output, m.Empty, m.RunOutput, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/heartbeat", h.heartbeat, m.Empty, m.Empty, body_optional=True,
          refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/metrics", h.add_metric, m.Empty, m.Metric, refusals=(404, 409, 503)),
    Route("GET", f"{_RUN}/metrics", h.list_metrics, m.MetricPage, query=(_AFTER, _LIMIT, _NAME), refusals=(404,)),
    Route("POST", f"{_RUN}/events", h.add_event, m.Empty, m.NewEvent, refusals=(404, 409, 503)),
    Route("GET", f"{_RUN}/events", h.list_events, m.EventPage, query=(_AFTER, _LIMIT), refusals=(404,)),
    Route("GET", f"{_RUN}/steps", h.list_steps, m.StepPage, query=(_AFTER, _LIMIT, _STATUS), refusals=(404,)),
    Route("POST", "/steps/begin", h.begin_step, m.Decision, m.BeginStep, refusals=(404, 409, 503)),
    Route("POST", "/steps/complete", h.complete_step, m.Empty, m.CompleteStep, refusals=(404, 409, 503)),
    Route("POST", "/steps/fail", h.fail_step, m.Empty, m.FailStep, refusals=(404, 409, 503)),
    *(
        Route("POST", f"/{noun}/init", h.init_dataset, m.DatasetTold, m.DatasetInit, refusals=(404, 502, 504))
        for noun in ("dataset", "datasets")
    ),
    *(
        Route("POST", f"/{noun}/batch", h.read_batch, m.Rows, m.DatasetBatch, refusals=(404, 502, 504))
        for noun in ("datasets", "dataset")
    ),
)  # fmt: skip
"""Every route."""
