"""A step while it is under way: what the writer knows of it before the database does."""

from __future__ import annotations

import sqlite3
import time

from benchwright.core import StepStatus
from benchwright.store._sqlite.workflow.statements import completed_after, newest_state
from benchwright.store._workflow_records import Lease
from benchwright.store._workflow_rules import StepRequest, StepState


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


_MOST_KEYS = 100_000
"""Keys remembered of a new run (7 MB); beyond that the writer looks them up."""


_MOST_AHEAD = 256
"""Steps that are read together at most."""


class StepsAhead:
    """Completed steps of a resumed run, read before they are begun again.

    A workflow begins its steps in the order in which it first began them, so the numbers after a step are likely to be
    asked for next. A block that was used up doubles the next one; a block that was not, shortens it.
    """

    __slots__ = ("_connection", "_numbers", "_read", "_run_id", "_steps")

    def __init__(self, connection: sqlite3.Connection, run_id: int) -> None:
        self._connection = connection
        self._run_id = run_id
        self._steps: dict[str, StepState] = {}
        self._numbers, self._read = 8, 0

    def state(self, key: str) -> StepState | None:
        """The newest generation of a step."""
        known = self._steps.pop(key, None)
        if known is not None:
            return known
        found = newest_state(self._connection, self._run_id, key)
        if found is not None and found.status == "completed" and self._numbers:
            useful = 2 * len(self._steps) <= self._read
            self._numbers = min(2 * self._numbers, _MOST_AHEAD) if useful else self._numbers // 4
            self._steps = completed_after(self._connection, self._run_id, found.id, self._numbers)
            self._read = len(self._steps)
        return found

    def forget(self, key: str) -> None:
        """The step is begun: what was recorded of it no longer holds."""
        self._steps.pop(key, None)


class KnownSteps:
    """Steps that were begun here and are not yet recorded as ended."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._open: dict[int, OpenStep] = {}
        self._by_key: dict[tuple[int, str], OpenStep] = {}
        self._used: dict[str, set[str] | None] = {}  # by lease; None: look keys up
        self._ahead: dict[str, StepsAhead] = {}  # by lease
        self.running = 0
        """Steps under way."""

    def state(self, lease: Lease, key: str) -> StepState | None:
        """The newest generation of a step.

        A run that had no steps when this writer first saw it has only those that were begun here: nobody else may
        write to it. A key that was not used here need not be looked up, which is a fifth of a trivial step.
        """
        step = self._by_key.get((lease.run_id, key))
        if step is not None:
            return step.state()
        if lease.token not in self._used:
            self._used[lease.token] = None if self._has_steps(lease.run_id) else set()
        used = self._used[lease.token]
        if used is not None and key not in used:
            return None
        ahead = self._ahead.get(lease.token)
        if ahead is None:
            ahead = self._ahead[lease.token] = StepsAhead(self._connection, lease.run_id)
        return ahead.state(key)

    def open(self, step_id: int) -> OpenStep | None:
        """A step by number."""
        return self._open.get(step_id)

    def by_key(self, lease: Lease, key: str) -> OpenStep | None:
        """A step by its key."""
        return self._by_key.get((lease.run_id, key))

    def begun(self, step: OpenStep) -> None:
        """An attempt begins."""
        place = (step.lease.run_id, step.key)
        before = self._by_key.get(place)
        if before is not None and before.status == "running":  # taken over
            self.running -= 1
        self._open[step.id] = self._by_key[place] = step
        self.running += 1
        ahead = self._ahead.get(step.lease.token)
        if ahead is not None:
            ahead.forget(step.key)
        used = self._used.get(step.lease.token)
        if used is not None:
            used.add(step.key)
            if len(used) > _MOST_KEYS:
                self._used[step.lease.token] = None

    def ended(self, step: OpenStep, status: StepStatus, output: bytes | None, error: str | None) -> None:
        """An attempt ends; it stays known until that is recorded."""
        self.running -= step.status == "running"
        step.end(status, output, error)

    def recorded(self, step: OpenStep) -> None:
        """This is in the database."""
        if step.status == "running":
            return
        if self._open.get(step.id) is step:
            del self._open[step.id]
        place = (step.lease.run_id, step.key)
        if self._by_key.get(place) is step:
            del self._by_key[place]

    def forget(self, lease: Lease) -> None:
        """The run is over."""
        for step in [step for step in self._open.values() if step.lease == lease]:
            self.running -= step.status == "running"
            del self._open[step.id]
            self._by_key.pop((lease.run_id, step.key), None)
        self._used.pop(lease.token, None)
        self._ahead.pop(lease.token, None)

    def _has_steps(self, run_id: int) -> bool:
        found = self._connection.execute("SELECT 1 FROM workflow_steps WHERE run_id = ? LIMIT 1", (run_id,))
        return found.fetchone() is not None
