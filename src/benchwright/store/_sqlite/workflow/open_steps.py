"""A step while it is under way: what the writer knows of it before and beside the database."""

from __future__ import annotations

import time

from benchwright.core import StepStatus
from benchwright.store._workflow.decisions import StepRequest, StepState
from benchwright.store._workflow.records import Lease


class OpenStep:
    """One attempt, from its beginning to the commit of its end. One is made per step, so it is kept small."""

    __slots__ = (
        "_began", "attempt", "error", "failures", "finished_at", "generation", "id", "input", "input_hash", "key", "lease",
        "output", "owner", "started_at", "status",
    )  # fmt: skip

    def __init__(
        self, step_id: int, lease: Lease, request: StepRequest, generation: int, attempt: int, owner: str,
        failures: int,
    ) -> None:  # fmt: skip
        self.id = step_id
        self.lease = lease
        self.key = request.key
        self.input_hash = request.input_hash
        self.input = request.input
        self.generation = generation
        self.attempt = attempt
        self.owner = owner
        self.failures = failures
        self.status: StepStatus = "running"
        self.output: bytes | None = None
        self.error: str | None = None
        self.started_at = self.finished_at = time.time()
        self._began = time.monotonic()

    @property
    def replaces(self) -> bool:
        """Whether an earlier attempt or generation was recorded."""
        return self.attempt > 1 or self.generation > 1

    def end(self, status: StepStatus, output: bytes | None, error: str | None) -> None:
        """The attempt is over. The time it took is that of the monotonic clock: the other may have jumped."""
        self.status = status
        self.output = output
        self.error = error
        self.failures += status == "failed"
        self.finished_at = self.started_at + time.monotonic() - self._began

    def state(self) -> StepState:
        """As decisions see it."""
        return StepState(
            self.id, self.generation, self.attempt, self.input_hash, self.status, self.output, self.owner,
            self.failures,
        )  # fmt: skip

    def row(self) -> tuple[object, ...]:
        """As the table has it."""
        return (
            self.id, self.lease.run_id, self.key, self.generation, self.attempt, self.input_hash, self.input,
            self.status, self.output, self.error, self.owner, self.started_at,
            None if self.status == "running" else self.finished_at, self.failures,
        )  # fmt: skip
