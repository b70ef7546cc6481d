"""Writes workflow records in an event loop: many records per commit, and one commit for a trivial step.

The beginning of a step is committed a few turns of the loop later; its end is awaited. So a step that is over before the
loop turns is one record in one commit. If no other step is running, the commit is made at once, in the loop's thread:
without a sync to disk it takes less time than switching to another thread.

Events of steps that simply begin and complete add nothing to the step's record. The writer writes them in bulk, at most
200 ms later, and if a run is killed meanwhile, they are restored from its records when it is claimed."""

from __future__ import annotations

import asyncio

from benchwright.core import BenchwrightError, JsonObject, JsonValue, RunStatus, StepStatus
from benchwright.store._driver import Driver, Transaction
from benchwright.store._owner import Lease, let_go, lost_lease
from benchwright.store._records import storable_json, storable_message
from benchwright.store._statements.leases import check_lease
from benchwright.store._statements.open_steps import (
    Group,
    HeldEvent,
    KnownSteps,
    OpenStep,
    write_lone,
)
from benchwright.store._statements.schema import connected
from benchwright.store._statements.workflow_statements import (
    decision_of,
    end_step,
    event_row,
    input_of,
    point_row,
    take_ids,
)
from benchwright.store._workflow_records import (
    BeginDecision,
    InputChangedError,
    RunClosedError,
    StepRequest,
    StepState,
    check_end,
    owner_text,
    plan_begin,
    with_inputs,
)

_GATHER_TURNS = 4
"""Turns of the loop for which records wait for others while other steps are running."""
_EVENTS_WAIT_S = 0.2
"""How long events of ordinary steps may wait."""
_EVENTS_HELD = 1_000
"""The most events that wait."""
_IDS_AT_ONCE = 256
"""Step numbers reserved at a time. Unused numbers are lost, which does not matter."""
_COMMITS_WITHOUT_TURN = 64
"""The most steps recorded in a row before other tasks in the loop get a turn."""
_CHECKPOINT_PAGES = 1_000
"""Pages of log between checkpoints (4 MB). They are made in a thread, because they sync to disk."""
_CHECKPOINT_HERE_PAGES = 4_000
"""If the thread does not keep up, SQLite checkpoints by itself at 16 MB of log, so the disk needs no more space."""


class GroupWriter:
    """Records steps, metrics and events of any number of workflow runs from one event loop.

    The caller has the run's lease. If the lease was taken over, or the disk is full, all writing with that lease ends; other
    runs continue. A writer that is `alone` knows all steps of its runs; one that is not looks every step up, because other
    processes with the same lease record steps too.
    """

    def __init__(self, driver: Driver, *, alone: bool = True) -> None:
        self._loop = asyncio.get_running_loop()
        self._driver = driver
        self._connection = connected(driver, "append", log_pages=_CHECKPOINT_HERE_PAGES)
        self._unwritten: tuple[type[Exception], ...] = (*self._connection.errors, OverflowError, ValueError)
        self._known = KnownSteps(self._connection, alone=alone)
        self._group = Group()
        self._written: asyncio.Future[None] | None = None  # made when a caller waits for the next commit
        self._events_due = False
        self._events_timer: asyncio.TimerHandle | None = None
        self._refused: dict[str, BenchwrightError] = {}  # by lease
        self._closed = False
        self._turns = 0
        self._since_turn = 0
        self._next_id = self._end_id = 0
        self._pages = 0
        self._checkpoint: asyncio.Future[None] | None = None
        self.commits = 0
        """Commits so far."""

    # -- steps --

    def begin(self, lease: Lease, request: StepRequest) -> BeginDecision:
        """Decide about a step. Its beginning is recorded soon, and no later than its end.

        Raises `InputChangedError`, `StepHeldError`, `RunOwnedError`, `StoreError`.
        """
        self._check(lease)
        request = request.storable()
        try:
            state = self._known.state(lease, request.key)
            kind, generation, attempt = plan_begin(state, request, lease.token)
            if state is not None and kind in ("reuse", "same"):
                return decision_of(state, reuse=kind == "reuse")
            again = state if kind == "again" else None
            step_id = self._new_id() if again is None else again.id
        except InputChangedError as error:
            raise with_inputs(error, self._known_input(lease, request.key, state), request.input) from None
        except self._connection.errors as error:
            raise self._refuse(lease, self._connection.not_written(error)) from error
        owner = owner_text(lease.token, request.holder)
        failures = 0 if again is None else again.failures
        step = OpenStep(step_id, lease, request, generation, attempt, owner, failures)
        self._known.begun(step)
        self._group.steps[step_id] = step
        self._event_later((lease, step, False))
        self._commit_soon()
        return BeginDecision("run", step_id, step.attempt, None, step.generation, failures)

    async def complete(self, lease: Lease, step_id: int, attempt: int | None, output: bytes) -> None:
        """Record a step's output. Returns after the commit. A repeated call changes nothing; a stale attempt is refused."""
        self._end(lease, step_id, attempt, "completed", output, None)
        await self.settled(lease)

    async def fail(
        self, lease: Lease, step_id: int, attempt: int | None, error: str, *, interrupted: bool = False
    ) -> None:
        """Record why an attempt failed. Returns after the commit."""
        self._end(lease, step_id, attempt, "interrupted" if interrupted else "failed", None, error)
        self._events_due = True
        if interrupted:  # the caller is being cancelled and may not get another turn
            self._commit()
        await self.settled(lease)

    # -- metrics and events --

    def add_metric(
        self,
        lease: Lease,
        name: str,
        value: float,
        *,
        unit: str | None = None,
        step_id: int | None = None,
        attempt: int = 0,
        tags: JsonObject | None = None,
        slot: int | None = None,
    ) -> None:
        """Append a metric point. `settled` returns when it is committed, which happens soon in any case."""
        row = point_row(
            lease.run_id, name, value, unit=unit, step_id=step_id, attempt=attempt, tags=tags, slot=slot
        )
        self._check(lease)
        self._group.points.append((lease, row))
        self._commit_soon()

    def add_event(
        self, lease: Lease, kind: str, message: str, *, data: JsonValue = None, step_id: int | None = None
    ) -> None:
        """Append an event of a run or of one of its steps."""
        row = event_row(lease.run_id, kind, message, data, step_id)
        self._check(lease)
        self._group.events.append((lease, row, False))
        self._events_due = True
        self._commit_soon()

    async def settled(self, lease: Lease, *, events: bool = False) -> None:
        """Wait until everything appended is committed, with `events` also those of steps, which may wait. Raises the reason if it
        was not."""
        if events and self._group.events:
            self._events_due = True
        if self._known.running == 0:
            self._commit()
            self._since_turn += 1
            if self._since_turn >= _COMMITS_WITHOUT_TURN:
                self._since_turn = 0
                await asyncio.sleep(0)
        elif self._pending():
            self._commit_soon()
            if self._written is None:
                self._written = self._loop.create_future()
            await asyncio.shield(self._written)  # one cancelled caller must not cancel it for the others
        self._check(lease)

    # -- runs --

    def finish(
        self, lease: Lease, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        """End a run: write pending records, open steps, status, output and numbers and release it, in one transaction, synced
        to disk."""
        self._check(lease)
        self._events_due = True
        self._group.closing = lease, status, output, error
        self._commit()
        self._check(lease)
        self._known.forget(lease)
        let_go(lease)

    async def close(self) -> None:
        """Commit what is left and close. The runs stay as they are."""
        self._events_due = bool(self._group.events)
        self._commit()
        self._closed = True
        if self._events_timer is not None:
            self._events_timer.cancel()
        if self._checkpoint is not None:
            await asyncio.wait([self._checkpoint])
        self._connection.close()

    def _end(
        self,
        lease: Lease,
        step_id: int,
        attempt: int | None,
        status: StepStatus,
        output: bytes | None,
        error: str | None,
    ) -> None:
        self._check(lease)
        step = self._known.open(step_id)
        if step is None or step.lease != lease:  # begun by another process, or recorded as ended
            self._commit()
            with Transaction(self._connection) as connection:
                check_lease(connection, lease)
                end_step(connection, lease.run_id, step_id, attempt, status, output, error)
            return
        output = output and storable_json(output)
        if check_end(step.key, step.state(), attempt, status, output) == "done":
            return
        self._known.ended(step, status, output, storable_message(error))
        self._group.steps[step_id] = step
        self._event_later((lease, step, True))

    def _known_input(self, lease: Lease, key: str, state: StepState | None) -> bytes | None:
        step = self._known.by_key(lease, key)
        return step.input if step is not None else input_of(self._connection, state)

    def _new_id(self) -> int:
        if self._next_id >= self._end_id:
            self._next_id = take_ids(self._connection, _IDS_AT_ONCE)
            self._end_id = self._next_id + _IDS_AT_ONCE
        self._next_id += 1
        return self._next_id - 1

    def _event_later(self, event: HeldEvent) -> None:
        events = self._group.events
        events.append(event)
        if len(events) >= _EVENTS_HELD:
            self._events_due = True
        elif self._events_timer is None:
            self._events_timer = self._loop.call_later(_EVENTS_WAIT_S, self._events_waited)

    def _events_waited(self) -> None:
        self._events_timer = None
        self._events_due = bool(self._group.events)
        self._commit()

    def _pending(self) -> bool:
        group = self._group
        return bool(group.steps or group.points or self._events_due or group.closing is not None)

    def _commit_soon(self) -> None:
        if self._turns == 0:
            self._turns = _GATHER_TURNS
            self._loop.call_soon(self._gather)

    def _gather(self) -> None:
        self._since_turn = 0
        self._turns -= 1
        if self._turns == 0:
            self._commit()
        else:
            self._loop.call_soon(self._gather)

    def _commit(self) -> None:
        if self._closed or not self._pending():
            return
        group = self._group
        lone = None if self._events_due or self._refused else group.lone_step()
        try:
            if lone is not None:  # the group stays, with its waiting events
                pages = 4 + len(lone.output or b"") // 4_000
                group.steps = {}
                if not write_lone(self._connection, lone):
                    self._refuse(lone.lease, self._lost(lone.lease))
                self._known.recorded(lone)
            else:
                self._group = Group()
                if not self._events_due:
                    self._group.events, group.events = group.events, []
                self._events_due = False
                pages = group.pages()
                group.write(self._connection, self._leased)
            self.commits += 1
        except self._unwritten as error:  # passed on to waiting callers
            for lease in {lone.lease} if lone is not None else group.leases():
                self._refuse(lease, self._connection.not_written(error))
        if lone is None:
            for step in group.steps.values():
                self._known.recorded(step)
        if self._written is not None and not self._written.done():
            self._written.set_result(None)
        self._written = None
        self._checkpoint_when_due(pages)

    def _leased(self, lease: Lease) -> bool:
        if lease.token in self._refused:
            return False
        row = self._connection.execute("SELECT lease FROM runs WHERE id = ?", (lease.run_id,)).fetchone()
        if row is not None and row[0] == lease.token:
            return True
        self._refuse(lease, self._lost(lease))
        return False

    def _lost(self, lease: Lease) -> BenchwrightError:
        row = self._connection.execute(
            "SELECT owner, status FROM runs WHERE id = ?", (lease.run_id,)
        ).fetchone()
        return lost_lease(lease.run_id, *(row or (None, None)))

    def _check(self, lease: Lease) -> None:
        if self._closed:
            raise RunClosedError(f"run {lease.run_id} is no longer recorded here: it has ended")
        if self._refused and (why := self._refused.get(lease.token)) is not None:
            raise why

    def _refuse(self, lease: Lease, why: BenchwrightError) -> BenchwrightError:
        self._refused[lease.token] = why
        return why

    def _checkpoint_when_due(self, pages: int) -> None:
        self._pages += pages
        if self._pages >= _CHECKPOINT_PAGES and (self._checkpoint is None or self._checkpoint.done()):
            self._pages = 0
            self._checkpoint = self._loop.run_in_executor(None, self._driver.tidy)
