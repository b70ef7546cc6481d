"""The interface between a workflow and its record (the store in this process, a server over HTTP, or a test double), and the
errors of workflows besides those of the store."""

from __future__ import annotations

import time
from typing import Protocol

from benchwright.core import BenchwrightError, JsonObject, JsonValue, RunProgress, RunStatus
from benchwright.store import BeginDecision, StepRequest


class StepCounts:
    """Counts the steps of a run in its process, for its heartbeat. Steps with a recorded output count as done."""

    __slots__ = ("_started", "done", "failed", "running")

    def __init__(self) -> None:
        self.done = self.failed = self.running = 0
        self._started = time.monotonic()

    def begun(self, decision: BeginDecision) -> None:
        """Count a step that begins, or whose output is known."""
        if decision.kind == "run":
            self.running += 1
        else:
            self.done += 1

    def ended(self, *, failed: bool = False) -> None:
        self.running -= 1
        self.done += 1
        self.failed += failed

    def told(self) -> RunProgress:
        """As other processes see it. Nobody knows how many steps there will be."""
        rate = self.done / max(time.monotonic() - self._started, 1e-9)
        return RunProgress.of("steps", self.done, None, self.failed, self.running, rate)


class Recorder(Protocol):
    """Records one run. Belongs to one event loop. When a method returns, its data is recorded, not only sent."""

    @property
    def run_id(self) -> int:
        """Number of the run."""
        ...

    async def begin(self, request: StepRequest) -> BeginDecision:
        """Decide about a step: execute it, or use its recorded output.

        Raises `InputChangedError`, `StepHeldError`, or `RunOwnedError` if the run was taken over.
        """
        ...

    async def complete(self, step_id: int, attempt: int, output: bytes) -> None:
        """Record a step's output (JSON)."""
        ...

    async def fail(self, step_id: int, attempt: int, error: str, *, interrupted: bool = False) -> None:
        """Record why an attempt failed. `interrupted`: it was cancelled, which is not the step's fault; this must then be
        recorded without waiting for the event loop, if possible."""
        ...

    async def emit(
        self,
        name: str,
        value: float,
        *,
        unit: str | None = None,
        tags: JsonObject | None = None,
        step_id: int | None = None,
        attempt: int = 0,
        slot: int | None = None,
    ) -> None:
        """Record a metric point. Inside a step it is recorded with the step; outside, when this returns.

        `slot` numbers the points of one name in one place, so that a resumed run replaces the same points.
        """
        ...

    async def event(
        self, kind: str, message: str, *, data: JsonValue = None, step_id: int | None = None
    ) -> None:
        """Record an event."""
        ...

    async def set_output(self, output: bytes) -> None:
        """Record the result of the handler (JSON); the run continues."""
        ...

    async def finish(
        self, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        """End the run; open steps become `interrupted`."""
        ...

    async def heartbeat(self) -> None:
        """Report that the process is alive; called every few seconds while the run continues."""
        ...

    async def close(self) -> None:
        """Release resources. The run stays unchanged."""
        ...


class WorkflowError(BenchwrightError):
    """A workflow could not be run, or requested something that cannot be done."""

    __module__ = "benchwright"


class ApiError(WorkflowError):
    """The server refused a request. The text is its message."""

    __module__ = "benchwright"

    def __init__(
        self, message: str, *, status: int | None = None, code: str | None = None, retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status; None if there was no answer."""
        self.code = code
        """The server's code for it: `input_changed`, `step_held`, `stale_attempt`, `run_closed`, …"""
        self.retryable = retryable
        """Whether the same request may succeed later."""


class StepTimeoutError(WorkflowError, TimeoutError):
    """A step took longer than its `timeout`."""

    __module__ = "benchwright"


class MissingKeyError(WorkflowError, RuntimeError):
    """The environment variable of an API key is not set."""

    __module__ = "benchwright"


def error_message(error: object) -> str:
    """The message of an error; its class if there is none.

    >>> error_message(ValueError("no such row")), error_message(KeyError()), error_message("plain")
    ('no such row', 'KeyError', 'plain')
    """
    return str(error) or type(error).__name__
