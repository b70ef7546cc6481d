"""Running steps, which the writer knows before the database does, and the records of one commit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from benchwright.core import RunStatus, StepStatus
from benchwright.store._driver import Connection
from benchwright.store._owner import Lease
from benchwright.store._statements.workflow_samples import is_row, put_sample
from benchwright.store._statements.workflow_statements import (
    PUT_STEP,
    PUT_STEP_IF_LEASED,
    EventRow,
    PointRow,
    close_run,
    completed_after,
    ended_message,
    has_steps,
    newest_state,
    put_events,
    put_points,
    started_message,
    supersede_points,
)
from benchwright.store._workflow_records import (
    StepRequest,
    StepState,
    WorkflowStep,
)


class OpenStep:
    """One attempt, from its beginning to the commit of its end. It is small, because one is made per step."""

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
        """End the attempt. Its duration comes from the monotonic clock, because the wall clock may jump."""
        self.status = status
        self.output = output
        self.error = error
        self.failures += status == "failed"
        self.finished_at = self.started_at + time.monotonic() - self._began

    def state(self) -> StepState:
        """The state for decisions."""
        return StepState(
            self.id, self.generation, self.attempt, self.input_hash, self.status, self.output, self.owner,
            self.failures,
        )  # fmt: skip

    def step(self) -> WorkflowStep:
        """As recorded."""
        return WorkflowStep(
            self.id, self.lease.run_id, self.key, self.generation, self.attempt, self.input_hash, self.input, self.status,
            self.output, self.error, self.started_at, self.finished_at,
        )  # fmt: skip

    def row(self) -> tuple[object, ...]:
        """The row for the table."""
        return (
            self.id, self.lease.run_id, self.key, self.generation, self.attempt, self.input_hash, self.input,
            self.status, self.output, self.error, self.owner, self.started_at,
            None if self.status == "running" else self.finished_at, self.failures,
        )  # fmt: skip


_MOST_KEYS = 100_000
"""The most keys remembered for a new run (7 MB); beyond that the writer looks them up."""


_MOST_AHEAD = 256
"""The most steps that are read together."""


class StepsAhead:
    """Completed steps of a resumed run, read before they are begun again.

    A workflow begins its steps in the same order as before, so the steps after one are likely to be needed next. If a block
    was used up, the next one is twice as long; if not, it is shorter.
    """

    __slots__ = ("_connection", "_numbers", "_read", "_run_id", "_steps")

    def __init__(self, connection: Connection, run_id: int) -> None:
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
        """Forget the record of a step that has begun again."""
        self._steps.pop(key, None)


class KnownSteps:
    """Steps that were begun here and are not yet recorded as ended."""

    def __init__(self, connection: Connection, *, alone: bool) -> None:
        self._connection = connection
        self._alone = alone
        self._open: dict[int, OpenStep] = {}
        self._by_key: dict[tuple[int, str], OpenStep] = {}
        self._used: dict[str, set[str] | None] = {}  # by lease; None: look keys up
        self._ahead: dict[str, StepsAhead] = {}  # by lease
        self.running = 0

    def state(self, lease: Lease, key: str) -> StepState | None:
        """The newest generation of a step.

        A run without steps when this writer first saw it has only steps that were begun here, because no other process may
        write to it. A key that was not used here need not be looked up, which saves a fifth of a trivial step.
        """
        step = self._by_key.get((lease.run_id, key))
        if step is not None:
            return step.state()
        if not self._alone:
            return newest_state(self._connection, lease.run_id, key)
        if lease.token not in self._used:
            self._used[lease.token] = None if has_steps(self._connection, lease.run_id) else set()
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
        return self._by_key.get((lease.run_id, key))

    def begun(self, step: OpenStep) -> None:
        """Note that an attempt begins."""
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
        """Note that an attempt ends. It stays known until the end is recorded."""
        self.running -= step.status == "running"
        step.end(status, output, error)

    def recorded(self, step: OpenStep) -> None:
        """Forget a step that is now in the database, and that no other process may end."""
        if step.status == "running":
            if self._alone:
                return
            self.running -= 1
        if self._open.get(step.id) is step:
            del self._open[step.id]
        place = (step.lease.run_id, step.key)
        if self._by_key.get(place) is step:
            del self._by_key[place]

    def forget(self, lease: Lease) -> None:
        """Forget a run that is over."""
        for step in [step for step in self._open.values() if step.lease == lease]:
            self.running -= step.status == "running"
            del self._open[step.id]
            self._by_key.pop((lease.run_id, step.key), None)
        self._used.pop(lease.token, None)
        self._ahead.pop(lease.token, None)


HeldEvent: TypeAlias = tuple[Lease, "EventRow | OpenStep", bool]
"""A waiting event: its row, or the step that begins or (True) ends, from which the row is made. It is a plain tuple,
because two are made per step."""


class Group:
    """Steps, points and events of any number of runs."""

    __slots__ = ("closing", "events", "points", "steps")

    def __init__(self) -> None:
        self.steps: dict[int, OpenStep] = {}
        self.points: list[tuple[Lease, PointRow]] = []
        self.events: list[HeldEvent] = []
        self.closing: tuple[Lease, RunStatus, bytes | None, str | None] | None = None
        """The end of a run: how it ended, its output (JSON), and why it failed or stopped."""

    def leases(self) -> set[Lease]:
        """The leases of these records."""
        leases = {step.lease for step in self.steps.values()}
        leases.update(lease for lease, _ in self.points)
        leases.update(event[0] for event in self.events)
        if self.closing is not None:
            leases.add(self.closing[0])
        return leases

    def pages(self) -> int:
        """The approximate number of log pages that the group takes."""
        size = sum(len(step.input or b"") + len(step.output or b"") for step in self.steps.values())
        return 4 + size // 4_000 + (len(self.steps) + len(self.points) + len(self.events)) // 16

    def lone_step(self) -> OpenStep | None:
        """The step, if the group consists of one step and events, and the step needs only its record."""
        if len(self.steps) != 1 or self.points or self.closing is not None:
            return None
        (step,) = self.steps.values()
        return None if step.replaces or is_row(step.key) else step

    def write(self, connection: Connection, leased: Callable[[Lease], bool]) -> None:
        """Write everything whose lease still holds, in one transaction."""
        connection.begin(durable=self.closing is not None)
        try:
            tokens = {lease.token for lease in self.leases() if leased(lease)}
            steps = [step for step in self.steps.values() if step.lease.token in tokens]
            connection.executemany(PUT_STEP, [step.row() for step in steps])
            if self.points:
                put_points(connection, [row for lease, row in self.points if lease.token in tokens])
            for step in steps:
                if step.replaces and step.status == "completed":
                    supersede_points(connection, step.lease.run_id, step.key, step.id, step.attempt)
                if is_row(step.key):
                    put_sample(connection, step.step())
            if self.events:
                put_events(connection, [held_row(event) for event in self.events if event[0].token in tokens])
            if self.closing is not None:
                lease, status, output, error = self.closing
                if lease.token in tokens:
                    close_run(connection, lease.run_id, status, output, error)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise


def held_row(event: HeldEvent) -> EventRow:
    lease, what, ended = event
    if isinstance(what, tuple):
        return what
    if not ended:
        message = started_message(what.key, what.generation, what.attempt)
        return lease.run_id, what.id, "step.started", message, None, what.started_at
    message = ended_message(what.key, what.attempt, what.error)
    return lease.run_id, what.id, f"step.{what.status}", message, None, what.finished_at


def write_lone(connection: Connection, step: OpenStep) -> bool:
    """Write one step in one statement, which is a transaction. Returns False if its lease is gone."""
    lease = step.lease
    return connection.execute(PUT_STEP_IF_LEASED, (*step.row(), lease.run_id, lease.token)).rowcount > 0
