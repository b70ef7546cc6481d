"""How the run of a program ended, and what `--json` says of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from benchwright.core import RUN_STATUSES, JsonObject, JsonValue, RunStatus


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """One start of a program as a workflow."""

    run_id: int
    """Number of the run."""
    workflow_name: str
    """Its name."""
    input: JsonValue
    """What the program was given."""
    warning: str | None
    """What the user may not have meant."""
    command: tuple[str, ...]
    """What was started."""
    base_url: str | None
    """The server beside it; None: none."""
    server_started_by_us: bool
    """Whether that server was started for this run."""
    status: RunStatus
    """How the run ended."""
    success: bool
    """Whether it completed."""
    exit_code: int | None
    """Exit status of the program; None: a signal ended it, or it was not started."""
    signal: str | None
    """That signal."""
    duration_seconds: float
    """How long this start took."""
    stdout: str
    """What it printed, or the last mebibyte of it."""
    stderr: str
    """The same of its errors."""
    error: str | None
    """Why it failed."""
    metrics: dict[str, float]
    """Each metric's mean."""
    steps: dict[str, int]
    """Steps per status."""
    output: JsonValue
    """What the workflow returned."""
    folder: Path
    """Folder of the run's files."""

    @property
    def exit_status(self) -> int:
        """What a command that did this should exit with."""
        return RUN_STATUSES[self.status].exit_code

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        told: JsonObject = {**asdict(self), "command": [*self.command], "folder": str(self.folder)}
        return told
