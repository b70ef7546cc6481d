"""Watches over a program until it ends: progress, signals passed on, time limit, heartbeat."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from msgspec import Struct

from benchwright.core import BenchwrightError
from benchwright.store import HEARTBEAT_S, Lease, Store
from benchwright.workflows._child import Child, Stream

_EVERY_S = 0.5
_SHARE = 20
"""Looking takes at most one part in so many: a run of a million steps is looked at less often."""


class ProgramProgress(Struct, frozen=True):
    """Where a run stands."""

    run_id: int
    """Number of the run."""
    name: str
    """Its name."""
    steps: dict[str, int]
    """Steps per status."""
    metrics: dict[str, float]
    """Each metric's mean so far."""
    seconds: float
    """Since the start."""
    stopping: str = ""
    """Why it is being stopped."""


class ProgramWatcher(Protocol):
    """Shows a run."""

    def output(self, stream: Stream, data: bytes) -> None:
        """The program printed something. Called from other threads."""
        ...

    def begun(self, run_id: int) -> None:
        """The run is on record."""
        ...

    def progress(self, progress: ProgramProgress) -> None:
        """A new picture."""
        ...


class Looker:
    """Takes a picture of a run now and then."""

    def __init__(self, store: Store, lease: Lease, name: str, watcher: ProgramWatcher) -> None:
        self._store = store
        self._run_id = lease.run_id
        self._name = name
        self._watcher = watcher
        self._began = time.monotonic()
        self._next = self._began + _EVERY_S

    def look(self, stopping: str) -> None:
        """Take one, if it is time."""
        now = time.monotonic()
        if now < self._next:
            return
        steps = self._store.workflow_step_counts(self._run_id)
        metrics = {name: totals.mean for name, totals in self._store.metric_totals(self._run_id).items()}
        seconds = now - self._began
        self._watcher.progress(ProgramProgress(self._run_id, self._name, steps, metrics, seconds, stopping))
        self._next = time.monotonic() + max(_EVERY_S, _SHARE * (time.monotonic() - now))


_STEP_S = 0.1
_GRACE_S = 10.0
"""How long a program that is out of time gets to put its things in order."""
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ending(Struct, frozen=True):
    """How a program ended."""

    status: int
    """Exit status; negative: ended by that signal."""
    stopped_by: signal.Signals | None
    """The signal that we got and passed on."""
    timed_out: bool
    """Whether its time was up."""
    seconds: float
    """How long it ran."""

    @property
    def signal(self) -> str | None:
        """Name of the signal that ended it."""
        if self.status >= 0:
            return None
        try:
            return signal.Signals(-self.status).name
        except ValueError:  # a real-time signal
            return str(-self.status)


class Supervisor:
    """Waits for one program. The first signal is passed on to it, the second kills it."""

    def __init__(
        self, child: Child, store: Store, lease: Lease, *, timeout: float | None, looker: Looker | None
    ) -> None:
        self._child = child
        self._store = store
        self._lease = lease
        self._timeout = timeout
        self._looker = looker
        self._stopped_by: signal.Signals | None = None
        self._beat_due = time.monotonic() + HEARTBEAT_S

    def wait(self) -> Ending:
        """Until it has ended."""
        began = time.monotonic()
        timed_out = killed = False
        with self._signals():
            while (status := self._child.wait(_STEP_S)) is None:
                spent = time.monotonic() - began
                if self._timeout is not None and spent > self._timeout and not timed_out:
                    timed_out = True
                    self._child.signal(signal.SIGTERM)
                if timed_out and not killed and spent > (self._timeout or 0) + _GRACE_S:
                    killed = True
                    self._child.signal(signal.SIGKILL)
                self._tend(timed_out)
        return Ending(status, self._stopped_by, timed_out, time.monotonic() - began)

    def _tend(self, timed_out: bool) -> None:
        try:
            if time.monotonic() >= self._beat_due:
                self._beat_due = time.monotonic() + HEARTBEAT_S
                self._store.beat_workflow(self._lease)
            if self._looker is not None:
                stopping = "its time is up" if timed_out else "stopping" if self._stopped_by else ""
                self._looker.look(stopping)
        except BenchwrightError:
            pass  # the end of the run reports what cannot be read or written now

    @contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # What is ignored stays ignored: `nohup`, and jobs that a script puts into the background.
        heeded = [number for number in _PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._pass_on) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _pass_on(self, number: int, frame: object) -> None:
        if self._stopped_by is None:
            self._stopped_by = signal.Signals(number)
            self._child.signal(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)
        else:
            self._child.signal(signal.SIGKILL)
