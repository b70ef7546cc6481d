"""Sends the requests of one phase of a stage from one process, at their times, and records each as it ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import ModelReply
from benchwright.endpoints import TimedEndpoint
from benchwright.perf._alarm import open_alarm
from benchwright.perf._health import HealthMeter, WorkerHealth
from benchwright.perf._open_conversations import OpenConversations
from benchwright.perf._plan import RequestPlan
from benchwright.perf._records import Sending, record_of, unsent_record
from benchwright.perf._schedule import schedule
from benchwright.perf._values import LoadSettings, PhaseName, RequestOutcome, RequestRecord, StopCause

_NAP_S = 0.25
"""The longest sleep between two requests, so that a stop is noticed."""
_QUICK, _TOGETHER_S = 1000.0, 0.001
"""From this rate of a process on, it waits so long after a request is due, and sends all that are due by then: to wake up for each takes as much
CPU time as to send it."""
_LAUNCHES_PER_TURN = 16
"""The most requests sent in a row, if several are due, before replies are read again."""
_WATCHDOG_S = 10.0
"""How long after its timeout a request may still be in flight."""
_HOPELESS = 32
"""Failures without a single reply after which a test stops."""
_ENOUGH_FOR_SHARE = 20
"""Requests that must have ended before their share of errors can stop a test."""


class PhaseTask(Struct, frozen=True):
    """The task of one process in one phase of a stage."""

    stage: int
    phase: PhaseName
    """The phase of its first requests; in a closed loop, the cool-down requests follow."""
    zero: float
    """When the test's clock started, by the clock of the machine, which all processes share, like `start_at`."""
    wall: float
    """How far the wall clock was ahead of the machine's then."""
    start_at: float
    """When the phase begins."""
    base: int
    """Number of the phase's first request."""
    level: float | None = None
    """Requests in flight or per second; None: as in the settings."""
    worker: int = 0
    workers: int = 1
    closed: int | None = None
    """Requests that this process keeps in flight; None: the schedule decides."""
    slots: int = 1
    """Requests that all processes together keep in flight."""
    cap: int | None = None
    """The most requests in flight of this process."""
    requests: int | None = None
    """Requests of all processes; None: until the time is up."""
    cooldown: int = 0
    """Cool-down requests of all processes."""
    seconds: float | None = None


class PhaseResult(Struct, frozen=True, array_like=True):
    """The result of one process in one phase."""

    numbers: int = 0
    """Request numbers that it used."""
    offered: int = 0
    delayed: int = 0
    delayed_s: float = 0.0
    ended: float = 0.0
    """When its last request ended, by the machine's clock."""
    stopped_by: StopCause = "requests"
    health: WorkerHealth = WorkerHealth()


class PhaseLoop:
    """One phase in one event loop."""

    def __init__(
        self,
        settings: LoadSettings,
        task: PhaseTask,
        plan: RequestPlan,
        endpoints: Sequence[TimedEndpoint],
        ended: Callable[[RequestRecord], None],
    ) -> None:
        if task.seconds is not None and task.seconds != settings.seconds:  # a probe of a search
            settings = replace(settings, seconds=task.seconds)
        self._settings, self._task, self._plan, self._endpoints = settings, task, plan, endpoints
        self._ended = ended
        self._meter = HealthMeter()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting: deque[Sending] = deque()
        self._resting: list[asyncio.Future[Sending | None]] = []  # tasks that wait for a request
        self._used = 0  # numbers of this process
        self._measured = 0  # times of the schedule so far, of all processes
        self._cause: StopCause | None = None
        self._loop = asyncio.get_running_loop()
        self._through: asyncio.Future[None] = self._loop.create_future()
        self._idle = asyncio.Event()
        self._conversations = OpenConversations(settings, self._one, self._not_sent, self._offer)
        self._stop_at: float | None = None
        self._over = False
        self._last_end = 0.0
        self._offered = self._delayed = self._done = self._failed = 0
        self._delayed_s = 0.0
        self.in_flight = 0
        """Requests in flight."""

    def stop(self, cause: StopCause) -> None:
        """Send nothing more; what is in flight may end."""
        if self._cause is None:
            self._cause = cause
        self._conversations.stop()
        self._sent_all()
        if cause in ("interrupt", "errors") and self._stop_at is None:
            self._stop_at = monotonic()

    def abort(self) -> None:
        """Give up what is in flight."""
        self.stop("interrupt")
        self._loop.call_soon(self._cancel)  # after the start of those that were launched in this turn

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def run(self) -> PhaseResult:
        """Send everything, and wait for the last reply."""
        task = self._task
        if task.closed is None:  # now, because it may take a while to compute
            self._times = schedule(self._settings, task.stage, self._plan.offsets, task.level)
        self._alarm = open_alarm()
        try:
            await self._until(task.start_at)
            self._meter.start()  # earlier delays are not part of the phase
            try:
                if task.closed is None:
                    await self._follow_schedule()
                else:
                    await self._keep_busy(task.closed)
                await self._wait_for_replies()
                self._leave_waiting()
            finally:
                health = self._meter.stop()
        finally:
            self._alarm.close()
            for rest in self._resting:
                if not rest.done():
                    rest.set_result(None)
            if self.in_flight:  # a defect has ended the phase
                self._cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
        return PhaseResult(
            numbers=self._used,
            offered=self._offered,
            delayed=self._delayed,
            delayed_s=self._delayed_s,
            ended=self._last_end or monotonic(),
            stopped_by=self._cause or "requests",
            health=health,
        )

    # -- open loop --

    async def _follow_schedule(self) -> None:
        own_rate = (self._task.level or 0.0) / self._task.workers
        self._together_s = _TOGETHER_S if own_rate >= _QUICK else 0.0
        self._coming = self._own_times()
        self._following = next(self._coming, None)
        self._send_due()
        await self._through
        wanted, seconds = self._settings.requests, self._settings.seconds
        if self._cause is None and seconds is not None and (wanted is None or self._measured < wanted):
            await self._until(self._task.start_at + seconds)
            self.stop("seconds")  # requests that still wait for the cap are not sent

    def _own_times(self) -> Iterator[tuple[int, float, PhaseName]]:
        """The number, the time and the phase of each request of this process, in order."""
        task, start = self._task, self._task.start_at
        for number, (at, phase) in enumerate(self._times):
            self._measured += phase == "measured"
            if number % task.workers == task.worker:
                yield number, start + at, phase

    def _send_due(self) -> None:
        """Send the requests whose time has come, and return here at the time of the next."""
        try:
            for _ in range(_LAUNCHES_PER_TURN):
                following = self._following
                if following is None or self._cause is not None:
                    self._sent_all()
                    return
                number, due, phase = following
                if due > monotonic():
                    self._alarm.call_at(due + self._together_s, self._send_due)
                    return
                self._offer_request(number, due, phase)
                self._following = next(self._coming, None)
            self._loop.call_soon(self._send_due)
        except Exception as error:  # raised where the phase is awaited
            self._sent_all(error)

    def _offer_request(self, number: int, due: float, phase: PhaseName) -> None:
        sending = self._sending(number, phase, due)
        self._used = number + 1
        cap = self._task.cap
        if cap is not None and (self.in_flight >= cap or self._waiting):
            self._waiting.append(sending)
        else:
            self._launch(sending)

    def _sent_all(self, error: Exception | None = None) -> None:
        """End the sending of the schedule."""
        if self._through.done():
            return
        if error is None:
            self._through.set_result(None)
        else:
            self._through.set_exception(error)

    async def _until(self, due: float) -> None:
        """Wait until `due`, or until soon after a stop; never return early otherwise."""
        while (now := monotonic()) < due and self._cause is None:
            await self._alarm.at(min(due, now + _NAP_S))

    def _launch(self, sending: Sending) -> None:
        self.in_flight += 1
        if self._resting:
            self._resting.pop().set_result(sending)
            return
        task = self._loop.create_task(self._carry(sending))
        self._tasks.add(task)
        task.add_done_callback(self._carrier_ended)

    async def _carry(self, sending: Sending | None) -> None:
        """Send one request after the other. A task that rests between two requests is cheaper than a new one for each."""
        while sending is not None:
            try:
                await self._send(sending)
            finally:
                self.in_flight -= 1
            sending = self._next_waiting()
            if sending is not None:
                self.in_flight += 1
                continue
            if not self.in_flight:
                self._idle.set()
            rest: asyncio.Future[Sending | None] = self._loop.create_future()
            self._resting.append(rest)
            sending = await rest

    def _next_waiting(self) -> Sending | None:
        """The request that has waited longest for the cap."""
        if not self._waiting or self._cause is not None:
            return None
        sending = self._waiting.popleft()
        assert sending.planned is not None
        sending.delayed_s = max(0.0, monotonic() - sending.planned)
        self._delayed += 1
        self._delayed_s += sending.delayed_s
        return sending

    def _carrier_ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if (sending := self._next_waiting()) is not None:
            self._launch(sending)
        elif not self.in_flight:
            self._idle.set()
        _raise_defect(task)

    def _leave_waiting(self) -> None:
        """Record requests that the cap held back until the end as not sent."""
        now = monotonic()
        for sending in self._waiting:
            sending.delayed_s = now - (sending.planned or now)
            self._delayed += 1
            self._delayed_s += sending.delayed_s
            why = "held back until the test stopped: as many requests as allowed were in flight"
            self._ended(unsent_record(sending, RequestOutcome.NOT_SENT, why, self._task.zero, now))

    # -- closed loop --

    async def _keep_busy(self, slots: int) -> None:
        task = self._task
        self._supply = self._numbers()
        if task.seconds is not None:
            left = task.start_at + task.seconds - monotonic()
            timer = self._loop.call_later(max(0.0, left), self._time_up)
        began = (
            monotonic()
        )  # all slots are free from now on; a late start of the phase is not a request's lateness
        for _ in range(slots):
            self.in_flight += 1
            slot = self._loop.create_task(self._slot(began))
            self._tasks.add(slot)
            slot.add_done_callback(self._slot_ended)
        await self._wait_for_replies()
        if task.seconds is not None:
            timer.cancel()

    def _time_up(self) -> None:
        self._over = True
        self._conversations.stop()

    def _numbers(self) -> Iterator[tuple[int, PhaseName]]:
        """The requests that slots take in turn: measured ones until there are enough or the time is up, then cool-down ones.

        A request belongs to the process that has its slot, so each process sends as many as its slots allow, and together they
        send every row.
        """
        task, after = self._task, 0
        for number in count():
            if number % task.slots % task.workers != task.worker:
                continue
            if self._cause not in (None, "seconds"):
                return
            if task.requests is not None and number >= task.requests:
                if number >= task.requests + task.cooldown:
                    return
                yield number, "cooldown"
            elif self._over:
                self._cause = "seconds"
                if after >= task.cooldown:
                    return
                after += task.workers
                yield number, "cooldown"
            else:
                yield number, task.phase

    async def _slot(self, free_at: float) -> None:
        for number, phase in self._supply:
            self._used = number + 1
            sending = self._sending(number, phase, None)
            sending.free_at = free_at
            if sending.entry.conversation is not None or not self._may_book_later():
                await self._send(sending)
                free_at = monotonic()
                continue
            reply = await self._reply(sending)
            free_at = monotonic()
            # The callback runs once this slot has sent its next request and waits, because a short reply takes as long to book as to come.
            self._loop.call_soon(self._book, sending, reply, free_at)

    def _may_book_later(self) -> bool:
        """Whether no reply can stop the test, so that none has to be judged before the next request is sent."""
        return self._settings.stop_error_share is None and self._failed < self._done

    def _slot_ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self.in_flight -= 1
        if not self._tasks:
            self._idle.set()
        _raise_defect(task)

    # -- both --

    def _sending(self, place: int, phase: PhaseName, planned: float | None) -> Sending:
        task = self._task
        number = task.base + place
        self._offer(phase)
        url = number % len(self._endpoints)
        entry = self._plan.at(number, place)
        sending = Sending(number * self._plan.stride, task.stage, phase, entry, planned, task.worker, url)
        if entry.conversation is not None:
            sending.conversation, sending.turn = number, entry.conversation.first_turn
        return sending

    def _offer(self, phase: PhaseName) -> None:
        self._offered += phase == "measured"

    def _not_sent(self, sending: Sending, why: str) -> None:
        self._ended(unsent_record(sending, RequestOutcome.NOT_SENT, why, self._task.zero, monotonic()))

    def _send(self, sending: Sending) -> Coroutine[Any, Any, object]:
        """Send one request, or a whole conversation."""
        if sending.entry.conversation is None:
            return self._one(sending)
        return self._conversations.converse(sending, sending.entry.conversation)

    async def _one(self, sending: Sending) -> ModelReply | None:
        """Send one request. Returns the reply; None if there is no usable one."""
        reply = await self._reply(sending)
        return reply if self._book(sending, reply, monotonic()).ok else None

    async def _reply(self, sending: Sending) -> ModelReply:
        try:
            return await self._endpoints[sending.url].send(sending.entry.request)
        except asyncio.CancelledError:
            why = (
                "abandoned: the test was stopped"
                if self._cause == "interrupt"
                else "abandoned by the watchdog"
            )
            now = self._last_end = monotonic()
            self._ended(unsent_record(sending, RequestOutcome.CANCELLED, why, self._task.zero, now))
            raise

    def _book(self, sending: Sending, reply: ModelReply, ended_at: float) -> RequestRecord:
        task, times = self._task, reply.times
        wanted = sending.planned if sending.planned is not None else sending.free_at
        if times.planned is not None and wanted is not None and not sending.delayed_s:
            # Measured until its turn came, not until it was sent, because a new connection takes the server's time.
            self._meter.lateness.append(times.planned - wanted)
        record = record_of(sending, reply, task.zero, keep_reply=self._settings.score, wall=task.wall)
        self._last_end = max(self._last_end, ended_at)
        self._count(record)
        self._ended(record)
        return record

    def _count(self, record: RequestRecord) -> None:
        self._done += 1
        if record.ok:
            return
        self._failed += 1
        share = self._settings.stop_error_share
        if self._failed == self._done >= _HOPELESS or (
            share is not None and self._done >= _ENOUGH_FOR_SHARE and self._failed > share * self._done
        ):
            self.stop("errors")

    async def _wait_for_replies(self) -> None:
        """Wait for replies. Every request has a timeout; if one fails, the watchdog ends the request."""
        patience = self._settings.request_timeout_s + _WATCHDOG_S
        done, since = self._done, monotonic()
        while self.in_flight:
            self._idle.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_NAP_S):
                    await self._idle.wait()
            now = monotonic()
            if self._done != done or self._conversations.thinking:
                done, since = self._done, now
            drained = self._stop_at is not None and now - self._stop_at > self._settings.drain_s
            if drained or now - since > patience:
                self._cause = self._cause or "watchdog"
                await asyncio.sleep(0)  # as in `abort`
                self._cancel()
                if self._tasks:
                    await asyncio.wait(list(self._tasks))


def _raise_defect(task: asyncio.Task[Any]) -> None:
    """Raise an exception in the event loop, which reports it. Servers cannot cause one, so it is a defect."""
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error
