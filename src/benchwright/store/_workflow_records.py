"""What the store returns of workflows: leases, decisions, steps, metric points, pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, field

from benchwright.core import JsonObject, StepStatus

T = TypeVar("T")

InputChange: TypeAlias = Literal["fail", "rerun"]
"""What to do when a step's input is not the recorded one: refuse, or supersede the old step and keep it."""


class Lease(Struct, frozen=True):
    """The right to write to one workflow run, until somebody else takes it."""

    run_id: int
    """Number of the run."""
    token: str
    """A random word that the run's record holds too; a writer whose word is no longer there is refused."""


class WorkflowStep(Struct, frozen=True):
    """One step as recorded."""

    id: int
    """Number in the workspace, growing in the order in which steps were first begun."""
    run_id: int
    """Its run."""
    key: str
    """The user's name for it, unique in its run."""
    generation: int
    """1, or more when an earlier one was superseded."""
    attempt: int
    """How often this generation was begun."""
    input_hash: str
    """SHA-256 of the input's canonical JSON, 64 hexadecimal digits."""
    input: bytes | None
    """That JSON; None when only its hash is known."""
    status: StepStatus
    """Where it stands."""
    output: bytes | None
    """JSON, when completed."""
    error: str | None
    """Why the last attempt failed or was interrupted."""
    started_at: float
    """Wall clock of the last attempt's start."""
    finished_at: float | None
    """Wall clock of its end."""


class BeginDecision(NamedTuple):
    """What to do about a step: execute it, or take the recorded output. A named tuple: one is made per step."""

    kind: Literal["run", "reuse"]
    """`run`: execute, then complete or fail with this attempt number. `reuse`: take `output`."""
    step_id: int
    """Number of the step."""
    attempt: int
    """Attempt that was begun, or that completed the step."""
    output: bytes | None = None
    """Recorded output (JSON); None when the step is to be executed."""
    generation: int = 1
    """Above 1 when older records of the step were superseded."""
    failures: int = 0
    """Earlier attempts of this generation that failed, also those before a kill."""


class MetricPoint(Struct, frozen=True):
    """One value of a metric, as it was emitted."""

    id: int
    """Number in the workspace, growing."""
    run_id: int
    """Its run."""
    step_id: int | None
    """The step that emitted it; None: the run as a whole."""
    name: str
    """What was measured."""
    value: float
    """A finite number."""
    unit: str | None
    """In words, if given."""
    tags: JsonObject | None
    """The user's own labels."""
    created_at: float
    """Wall clock."""


class MetricTotals(Struct, frozen=True):
    """All points of one metric of a run, summed up."""

    count: int
    """Points."""
    mean: float
    """Their mean; the value itself when there is one."""
    last: float
    """The newest."""
    min: float
    """Smallest."""
    max: float
    """Largest."""
    unit: str | None
    """Of the newest."""

    def to_json(self) -> JsonObject:
        """As the summary of a run records it: the mean is its `value`."""
        return {
            "value": self.mean,
            "count": self.count,
            "last": self.last,
            "min": self.min,
            "max": self.max,
            "unit": self.unit,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> MetricTotals:
        """The reverse of `to_json`."""
        return cls(**{"mean" if name == "value" else name: value for name, value in record.items()})


class Page(Generic[T], Struct, frozen=True):
    """Part of a list."""

    items: list[T] = field(default_factory=list)
    """In order of their numbers."""
    next: int | None = None
    """The `after` of the next page; None on the last page."""
