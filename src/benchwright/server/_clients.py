"""Which processes execute the runs that a server records: so that the runs of dead ones can go on, and of live ones not."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchwright.core import RunOwnedError
from benchwright.store import DEAD_AFTER_S, Owner


@dataclass(slots=True)
class _Client:
    process: Owner
    """Who it says it is."""
    seen: float
    """When it was last heard of, on the monotonic clock."""


class Clients:
    """The process behind each run, where it has named itself."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._by_run: dict[int, _Client] = {}

    def remember(self, run_id: int, process: Owner) -> None:
        """This process executes the run."""
        self._by_run[run_id] = _Client(process, self._now())

    def heard_of(self, run_id: int) -> None:
        """A sign of life of whoever executes the run."""
        if client := self._by_run.get(run_id):
            client.seen = self._now()

    def forget(self, run_id: int) -> None:
        """The run has ended."""
        self._by_run.pop(run_id, None)

    def gone(self, run_id: int, successor: Owner) -> bool:
        """Whether another process executed the run and is dead. `RunOwnedError` while it lives."""
        client = self._by_run.get(run_id)
        if client is None or client.process == successor:
            return False
        if self._alive(client):
            raise RunOwnedError(
                f"run {run_id} is being executed by process {client.process.pid} on {client.process.host}. "
                f"Wait for it, or stop it first (kill -INT {client.process.pid})."
            )
        return True

    def _alive(self, client: _Client) -> bool:
        if client.process.host == socket.gethostname():
            return client.process.alive(None)
        return self._now() - client.seen < DEAD_AFTER_S  # in a container of its own, say
