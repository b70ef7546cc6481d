"""Decides when a run stops early: budgets, signals, hopeless starts. The feed asks before each sample."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from benchwright.core import RequestFailure

if TYPE_CHECKING:
    from benchwright.engine._group import RunGroup

StopCause: TypeAlias = Literal["interrupted", "budget", "hopeless", "failures", "client_error"]
"""Ctrl-C, a budget, a start in which every request failed, more failures than allowed, or a single failure of a kind that
the user does not accept."""

RETRYING: ContextVar[Callable[[RequestFailure], bool] | None] = ContextVar("retrying", default=None)
"""Decides whether a failed request may be sent again; set if costs have a limit."""


class Budget(Struct, frozen=True):
    """Limits on what one run may spend. None means no limit."""

    max_requests: int | None = None
    """Requests sent, retries included."""
    max_tokens_total: int | None = None
    """Prompt and completion tokens together, as the server counts them; estimated if it does not."""
    max_minutes: float | None = None
    """Wall-clock minutes since the run (or its resumption) started."""
    max_cost: float | None = None
    """What the runs of one command may cost together, in the currency of the prices."""


class Stop:
    """Decides whether the run starts another sample. Stopping is clean: samples in flight finish."""

    def __init__(self, budget: Budget, since: str = "") -> None:
        """`since` says, in the reason of a stop by the budget, from when on it counts."""
        self._budget = budget
        self._since = since
        self.unlimited = (budget.max_requests, budget.max_tokens_total, budget.max_minutes) == (
            None,
            None,
            None,
        )
        """Whether there is no budget, so that requests need no permission. The endpoint limits costs."""
        self.deadline = None if budget.max_minutes is None else time.monotonic() + budget.max_minutes * 60
        self._sent = 0
        self._tokens = 0
        self.limits_tokens = budget.max_tokens_total is not None
        """Whether the tokens of replies are limited."""
        self.estimated = False
        """Whether tokens had to be estimated, because a server does not count them."""
        self.cause: StopCause | None = None
        self.reason = ""
        self._urgent = False
        self._now: asyncio.Future[None] | None = None

    def request(self, cause: StopCause, reason: str) -> None:
        """Start no more samples. The first cause stays."""
        if self.cause is None:
            self.cause = cause
            self.reason = f"{reason}{self._since}" if cause == "budget" else reason

    def request_at_once(self, cause: StopCause, reason: str) -> None:
        """Start no more samples, and give up those in flight as soon as a failed one is recorded."""
        if self.cause is None:
            self.request(cause, reason)
            self._urgent = True

    def failure_recorded(self) -> None:
        """Note that a failed sample is recorded."""
        if self._urgent and self._now is not None and not self._now.done():
            self._now.set_result(None)

    def interrupt(self) -> None:
        """Stop at the user's request, which takes precedence over a budget."""
        self.cause = None
        self.request("interrupted", "interrupted")

    def may_send(self) -> bool:
        """Reserve one request, or stop the run because the budget is spent."""
        budget = self._budget
        if budget.max_requests is not None and self._sent >= budget.max_requests:
            self.request("budget", f"stopped by --max-requests {budget.max_requests}")
            return False
        if budget.max_tokens_total is not None and self._tokens >= budget.max_tokens_total:
            # The reason names no figure, because requests in flight still add to it.
            self.request("budget", f"stopped by --max-tokens-total {budget.max_tokens_total}")
            return False
        if self.out_of_time():
            return False
        self._sent += 1
        return True

    @property
    def stopped(self) -> bool:
        """Whether the run starts nothing more. Failed attempts are then not repeated either."""
        return self.cause is not None or self.out_of_time()

    def spent(self, tokens: int) -> None:
        """Account for a reply's tokens."""
        self._tokens += tokens

    def spent_about(self, tokens: int) -> None:
        """Account for a reply whose tokens were not counted."""
        self.estimated = True
        self._tokens += tokens

    def out_of_time(self) -> bool:
        """Whether the run's deadline has passed."""
        if self.deadline is None or time.monotonic() < self.deadline:
            return False
        self.request("budget", f"stopped by --max-minutes {self._budget.max_minutes:g}")
        return True

    @contextmanager
    def listening(self, group: RunGroup) -> Iterator[asyncio.Future[None]]:
        """React to Ctrl-C or SIGTERM. Once: finish what is in flight. Twice: the yielded future is done; stop at once."""
        now = self._now = asyncio.get_running_loop().create_future()

        def received() -> None:
            if self.cause != "interrupted":
                self.interrupt()
            elif not now.done():
                now.set_result(None)

        with group.listening(received):
            try:
                yield now
            finally:
                now.cancel()


class RetryGate:
    """Tells endpoints whether they may repeat a failed attempt. A stopping run finishes what is in flight but starts no
    further attempts, and each attempt counts against the budget."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    def may_send(self, failed: RequestFailure | None = None) -> bool:
        """Reserve one more attempt after the one that failed."""
        if self._stop.stopped or (
            failed is not None and (again := RETRYING.get()) is not None and not again(failed)
        ):
            return False
        return self._stop.may_send()

    @property
    def deadline(self) -> float | None:
        """When the run's time is up, on the monotonic clock."""
        return self._stop.deadline

    @property
    def stopped(self) -> bool:
        """Whether nothing more will be sent."""
        return self._stop.stopped
