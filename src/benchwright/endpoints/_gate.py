"""Tells endpoints whether a run may send more; checked before every attempt after the first of a request."""

from __future__ import annotations

from typing import Protocol

from benchwright.core import ModelReply, RequestFailure
from benchwright.endpoints._clock import LOOP_CLOCK, Clock

POLL_S = 0.25
"""How often a waiting request checks whether the run is stopping: often enough for Ctrl-C, at negligible cost."""


class SendGate(Protocol):
    """Knows the budget of a run. May also have `stopped: bool`, which is True once the run is stopping: waits then end, and
    nothing is tried again."""

    @property
    def deadline(self) -> float | None:
        """When the run must be over, by the endpoint's clock (`time.monotonic()`); None if there is never such a time. No
        attempt starts later or lasts longer."""
        ...

    def may_send(self, failed: RequestFailure | None = None) -> bool:
        """Reserve one more request, after an attempt that `failed`. False: send no more."""
        ...


class Allowance:
    """Answers the questions of endpoints, with or without a gate."""

    __slots__ = ("_clock", "_gate", "gated", "limited")

    def __init__(self, gate: SendGate | None, clock: Clock = LOOP_CLOCK) -> None:
        self._gate = gate
        self._clock = clock
        self.gated = gate is not None
        """Whether there is a gate at all."""
        self.limited = gate is not None and gate.deadline is not None
        """Whether the run has a deadline."""

    @property
    def over(self) -> bool:
        """Whether nothing may be started any more."""
        gate = self._gate
        return gate is not None and (bool(getattr(gate, "stopped", False)) or self.left_s() <= 0)

    def left_s(self) -> float:
        """Seconds until the run's deadline; infinite without one."""
        gate = self._gate
        if gate is None or (deadline := gate.deadline) is None:
            return float("inf")
        return deadline - self._clock.now()

    def may_send(self, failed: RequestFailure) -> bool:
        """Reserve one more request, if the run continues."""
        gate = self._gate
        return gate is None or (not self.over and gate.may_send(failed))

    async def pause(self, seconds: float) -> bool:
        """Wait, at most until the run is over. Returns whether the run continues."""
        clock = self._clock
        until = clock.now() + seconds
        if self._gate is None:
            await clock.sleep_until(until)
            return True
        while not self.over:
            now = clock.now()
            left = until - now
            await clock.sleep_until(now + max(0.0, min(left, POLL_S, self.left_s())))
            if left <= POLL_S:
                return not self.over
        return False

    @staticmethod
    def not_sent(started_at: float) -> ModelReply:
        """The reply to a request that was waiting for its turn when the run ended."""
        failure = RequestFailure("budget", "not sent: the run ended while the request waited for its turn")
        return ModelReply("failed", failure=failure, attempts=0, started_at=started_at)
