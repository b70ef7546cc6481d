"""What concurrent runs in one event loop share: Ctrl-C, and one limit per endpoint."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from benchwright.engine._watchdog import Watchdog

if TYPE_CHECKING:
    from benchwright.endpoints import Limiter
    from benchwright.engine._cost_limit import CostMeter
    from benchwright.engine._settings import AnyModel


class StopAtOnce(BaseException):
    """Raised inside a worker by the second Ctrl-C, if its code or a scorer does not return to the event loop."""


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_QUICK_SWITCH_S = 0.0001
_stopped_twice = False
_open: list[RunGroup] = []


_masked: list[set[int]] = []


def _before_fork() -> None:
    """Keep signals back: one that came to the new process before it has its own handlers would be lost."""
    if _open:
        _masked.append(signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS))


def _in_parent() -> None:
    if _masked:
        signal.pthread_sigmask(signal.SIG_SETMASK, _masked.pop())


def _in_child() -> None:
    """Let a forked process, such as a worker of `multiprocessing`, end by signals as any other: they are none for the run."""
    for group in _open:
        group.leave()
    _in_parent()


os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)


class RunGroup:
    """Runs of one event loop, one or several at a time."""

    @staticmethod
    def stopped_twice() -> bool:
        """Whether the user has pressed Ctrl-C twice in this process."""
        return _stopped_twice

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._limiters: dict[str, Limiter] = {}
        self._handled = 0
        self._heard = 0
        self._workers: CodeType | None = None
        self._working = 0
        self._watchdog: Watchdog | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._refused: dict[str, set[str]] = {}
        self._meters: dict[str, CostMeter] = {}
        self.interrupted = False
        """Whether Ctrl-C, SIGTERM or SIGHUP has arrived: then nothing new starts."""
        self.signal = ""
        """The name of the first signal; empty if there is none yet, or if the caller interrupted."""

    @contextmanager
    def open(self) -> Iterator[None]:
        """Handle Ctrl-C, SIGTERM and a closed terminal inside the block. An event loop has one handler per signal, no matter
        how many runs listen."""
        self._loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        switch = sys.getswitchinterval()
        for number in _SIGNALS:
            if number == signal.SIGHUP and before[number] is signal.SIG_IGN:  # by nohup
                continue
            try:
                signal.signal(number, self._arrived)
            except ValueError:
                break  # not the main thread: the embedding program handles signals
            signal.siginterrupt(number, False)
            self._before[number] = before[number]
        if self._before:
            self._watchdog = Watchdog([*self._before], self._loop, self._hear)
        _open.append(self)
        try:
            yield
        finally:
            _open.remove(self)
            self._loop = None
            self._unwatch()
            sys.setswitchinterval(switch)
            self._restore()
            for limiter in self._limiters.values():
                limiter.close()

    def leave(self) -> None:
        """Forget the signals and the watchdog, in a process that inherited them."""
        self._loop = None
        if self._watchdog is not None:
            self._watchdog.leave()
            self._watchdog = None
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            with suppress(TypeError):  # the handler is not Python's
                signal.signal(number, handler)
        self._before = {}

    @contextmanager
    def listening(self, received: Callable[[], None]) -> Iterator[None]:
        """Call `received` for every signal; at once if one has already arrived."""
        self._listeners.append(received)
        if self.interrupted:
            received()
        try:
            yield
        finally:
            self._listeners.remove(received)

    def limiter(self, settings: AnyModel) -> Limiter:
        """The limiter of one endpoint. All runs that use the endpoint share its parallelism."""
        from benchwright.endpoints import Limiter

        key = f"{type(settings).__name__} {settings.fingerprint()}"
        limiter = self._limiters.get(key)
        if limiter is None:
            limiter = self._limiters[key] = Limiter(settings.parallelism, settings.requests_per_minute)
        limiter.widen(settings.parallelism)
        return limiter

    def cost_meter(self, currency: str) -> CostMeter:
        """The cost meter that all runs share, because a cost limit applies to the entire command."""
        from benchwright.engine._cost_limit import CostMeter

        if currency not in self._meters:
            self._meters[currency] = CostMeter()
        return self._meters[currency]

    def refused_settings(self, fingerprint: str) -> set[str]:
        """Settings that one endpoint refuses. All runs share what one of them has learned."""
        return self._refused.setdefault(fingerprint, set())

    @contextmanager
    def working(self, worker: CodeType) -> Iterator[list[asyncio.Task[None]]]:
        """Watch for signals while users' code may run in tasks of `worker`.

        Tasks that the caller adds to the list have not ended and stay watched.
        """
        self._workers = worker
        self._working += 1
        left: list[asyncio.Task[None]] = []
        try:
            yield left
        finally:
            self._working -= not left
            if self._handled > 1 and not self._working:
                self._unwatch()  # the summary runs no users' code and may take long

    def interrupt(self) -> None:
        """Do what Ctrl-C does; from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._received)

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal in the main thread at any point, even inside a scorer that does not return."""
        global _stopped_twice
        self.signal = self.signal or signal.Signals(number).name
        self._handled += 1
        if self._handled > 1:
            _stopped_twice = True
            # A computing scorer thread yields only every 5 ms, and the run still has a hundred small tasks to do.
            sys.setswitchinterval(_QUICK_SWITCH_S)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._hear, self._handled)
        # The task tells whether a worker is at work. Walking over frames inside a signal handler can crash Python.
        task = asyncio.current_task(self._loop) if self._handled > 1 and self._loop is not None else None
        if task is not None and getattr(task.get_coro(), "cr_code", None) is self._workers:
            raise StopAtOnce

    def _hear(self, signals: int) -> None:
        """Tell the listeners of the signals so far: as many as the watchdog counts, or as Python's handler does, which is called
        once for two that arrive together."""
        global _stopped_twice
        while self._heard < signals:
            self._heard += 1
            _stopped_twice = _stopped_twice or self._heard > 1
            self._received()

    def _received(self) -> None:
        self.interrupted = True
        for listener in list(self._listeners):
            listener()

    def _unwatch(self) -> None:
        if self._watchdog is not None:
            self._watchdog.close()
            self._watchdog = None
