"""What the store hands out: runs, steps, events."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from benchwright.core import BenchwrightError, JsonObject, JsonValue, RunKind, RunStatus
from benchwright.store._texts import load_json


class StoreError(BenchwrightError):
    """The store cannot be used."""

    __module__ = "benchwright"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What came of a damaged store."""

    kept: Path
    """Where the damaged file is now."""
    rows: dict[str, int]
    """Rows that were read and copied, by table."""
    lost: int
    """Places in the file where rows could not be read."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run as the database has it."""

    id: int
    """Number in the workspace."""
    name: str
    """Normalised benchmark name."""
    target: str
    """What the user named as TARGET."""
    model: str
    """Model id."""
    status: RunStatus
    """Where the run stands. A run whose owner died reads as `interrupted`."""
    folder: Path
    """Where its files are written."""
    settings: JsonObject
    """Everything that a resume needs, frozen at the start; no secrets."""
    manifest: JsonObject
    """Hashes, fingerprints, versions, seed."""
    summary: JsonObject | None
    """The final numbers, or of the partial run that stopped."""
    error: str | None
    """Why it failed or stopped."""
    created_at: float
    """Wall clock, seconds since the epoch."""
    finished_at: float | None
    """Wall clock of the last end, if it ended."""
    kind: str = RunKind.BENCHMARK
    """What was run: a `RunKind`, or a kind that a newer version wrote. The summary of a workflow is `{steps: {status: count}, metrics: {name: {value, count, …}}}`."""
    input: JsonValue = None
    """What a workflow was given."""
    output: JsonValue = None
    """What a workflow's handler returned."""
    tags: JsonObject | None = None
    """The user's own labels."""
    starts: int = 1
    """Times the run was started or resumed."""
    worked: float | None = None
    """Seconds that processes worked on it, over all starts that ended; None: recorded by an older version."""


class StepOutput(NamedTuple):
    """What a resumed or cached step needs."""

    input_hash: bytes
    """As recorded."""
    output: bytes
    """The result as JSON."""


class CallStep(NamedTuple):
    """One recorded call."""

    input_hash: bytes
    """As recorded."""
    input: bytes | None
    """The request, as recorded."""
    output: bytes
    """The reply as JSON."""


class SampleSteps(NamedTuple):
    """The recorded steps of one sample and repeat, side by side."""

    sample: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    score_input: bytes | None
    """The row, as JSON."""
    score: bytes
    """The result, as JSON."""
    call_input: bytes | None
    """Body of the sample's first call, if it made one."""
    call_output: bytes | None
    """Reply to the sample's last call, if it made one."""


class Event(Struct, frozen=True):
    """Something that happened to a run."""

    kind: str
    """`run.started`, `run.resumed`, `run.changed`, `run.stopped`, `run.finished`, `warning`; of workflows also `run.completed`,
    `run.failed`, `run.interrupted`, `step.started`, `step.completed`, `step.failed`, `step.interrupted`, and words
    of the user's."""
    message: str
    """In plain words."""
    created_at: float
    """Wall clock."""
    id: int = 0
    """Number in the workspace: the order in which events were recorded."""
    step_id: int | None = None
    """The workflow step it is about, if it is about one."""
    data: JsonValue = None
    """Further facts."""


EVENT_COLUMNS = "kind, message, created_at, id, step_id, data"


def event_of(row: tuple[Any, ...]) -> Event:
    """An event from its columns."""
    kind, message, created_at, number, step_id, data = row
    return Event(kind, message, created_at, number, step_id, load_json(data))
