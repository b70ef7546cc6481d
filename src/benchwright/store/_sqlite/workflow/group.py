"""Records that go into one commit, and how they are written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from benchwright.core import RunStatus
from benchwright.store._sqlite.workflow.open_steps import OpenStep
from benchwright.store._sqlite.workflow.statements import (
    PUT_STEP,
    PUT_STEP_IF_LEASED,
    EventRow,
    PointRow,
    close_run,
    ended_message,
    put_events,
    put_points,
    started_message,
    supersede_points,
)
from benchwright.store._workflow_records import Lease

HeldEvent: TypeAlias = tuple[Lease, "EventRow | OpenStep", bool]
"""An event as it is held: its row, or, for a step that begins or (True) ends, the step, which has all that
the event says. A plain tuple, because two are made per step."""


class Closing(NamedTuple):
    """The end of a run."""

    lease: Lease
    """Whose end."""
    status: RunStatus
    """How it ended."""
    output: bytes | None
    """What it gave (JSON)."""
    error: str | None
    """Why it failed or stopped."""


class Group:
    """Steps, points and events of any number of runs."""

    __slots__ = ("closing", "events", "points", "steps")

    def __init__(self) -> None:
        self.steps: dict[int, OpenStep] = {}
        self.points: list[tuple[Lease, PointRow]] = []
        self.events: list[HeldEvent] = []
        self.closing: Closing | None = None

    def leases(self) -> set[Lease]:
        """Whose records these are."""
        leases = {step.lease for step in self.steps.values()}
        leases.update(lease for lease, _ in self.points)
        leases.update(event[0] for event in self.events)
        if self.closing is not None:
            leases.add(self.closing.lease)
        return leases

    def pages(self) -> int:
        """About how many pages of log the group takes."""
        size = sum(len(step.input or b"") + len(step.output or b"") for step in self.steps.values())
        return 4 + size // 4_000 + (len(self.steps) + len(self.points) + len(self.events)) // 16

    def lone_step(self) -> OpenStep | None:
        """The step, if the group holds one step and events only, and the step needs no more than its own record."""
        if len(self.steps) != 1 or self.points or self.closing is not None:
            return None
        (step,) = self.steps.values()
        return None if step.replaces else step

    def write(self, connection: sqlite3.Connection, leased: Callable[[Lease], bool]) -> None:
        """Write everything whose lease still holds, in one transaction."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            tokens = {lease.token for lease in self.leases() if leased(lease)}
            steps = [step for step in self.steps.values() if step.lease.token in tokens]
            connection.executemany(PUT_STEP, [step.row() for step in steps])
            if self.points:
                put_points(connection, [row for lease, row in self.points if lease.token in tokens])
            for step in steps:
                if step.replaces and step.status == "completed":
                    supersede_points(connection, step.lease.run_id, step.key, step.id, step.attempt)
            if self.events:
                put_events(
                    connection, [event_row(event) for event in self.events if event[0].token in tokens]
                )
            closing = self.closing
            if closing is not None and closing.lease.token in tokens:
                close_run(connection, closing.lease.run_id, closing.status, closing.output, closing.error)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def event_row(event: HeldEvent) -> EventRow:
    """An event as it is written."""
    lease, what, ended = event
    if isinstance(what, EventRow):
        return what
    if not ended:
        message = started_message(what.key, what.generation, what.attempt)
        return EventRow(lease.run_id, what.id, "step.started", message, None, what.started_at)
    message = ended_message(what.key, what.attempt, what.error)
    return EventRow(lease.run_id, what.id, f"step.{what.status}", message, None, what.finished_at)


def write_lone(connection: sqlite3.Connection, step: OpenStep) -> bool:
    """Write one step in one statement, which is a transaction of its own; False: its lease is gone."""
    lease = step.lease
    return connection.execute(PUT_STEP_IF_LEASED, (*step.row(), lease.run_id, lease.token)).rowcount > 0
