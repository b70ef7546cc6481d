"""What runs that are under way in one event loop share: Ctrl-C, and one limit per endpoint."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchwright.core import BenchwrightError
from benchwright.endpoints import DemoSettings, EndpointSettings

if TYPE_CHECKING:
    from benchwright.endpoints import Limiter


class InterruptedRunError(BenchwrightError):
    """Ctrl-C before the first sample was asked, or twice."""

    exit_code = 130


class RunGroup:
    """Runs of one event loop, one or several at a time."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._limiters: dict[str, Limiter] = {}
        self.interrupted = False
        """Whether Ctrl-C or SIGTERM has come: then nothing more begins."""

    @contextmanager
    def open(self) -> Iterator[None]:
        """Handle Ctrl-C and SIGTERM from here on: a loop has one handler per signal, however many runs listen."""
        loop = asyncio.get_running_loop()
        handled = []
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, self._received)
                handled.append(number)
            except (ValueError, RuntimeError, NotImplementedError):
                pass  # not the main thread: whoever embeds us handles signals
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)
            for limiter in self._limiters.values():
                limiter.close()

    @contextmanager
    def listening(self, received: Callable[[], None]) -> Iterator[None]:
        """Have `received` called for every signal; at once, if one has come already."""
        self._listeners.append(received)
        if self.interrupted:
            received()
        try:
            yield
        finally:
            self._listeners.remove(received)

    def limiter(self, settings: EndpointSettings | DemoSettings) -> Limiter:
        """The places of one endpoint. Its parallelism is a promise to the server, which several runs keep together."""
        from benchwright.endpoints import Limiter

        key = f"{type(settings).__name__} {settings.fingerprint()}"
        limiter = self._limiters.get(key)
        if limiter is None:
            rate = settings.requests_per_minute if isinstance(settings, EndpointSettings) else None
            limiter = self._limiters[key] = Limiter(settings.parallelism, rate)
        limiter.widen(settings.parallelism)
        return limiter

    def _received(self) -> None:
        self.interrupted = True
        for listener in list(self._listeners):
            listener()
