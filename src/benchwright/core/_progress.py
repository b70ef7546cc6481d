"""The progress of a live run, as its process records it with every heartbeat, so that other processes can show it."""

from __future__ import annotations

import math
import time
from typing import Any

from msgspec import Struct, convert

from benchwright.core._json import JsonObject, as_json, ready


class RunProgress(Struct, frozen=True):
    """How far a run has come."""

    phase: str
    """What it is doing."""
    done: int
    """Samples, requests or steps that have ended."""
    total: int | None
    """How many there will be; None: not known."""
    failed: int
    """How many of those that ended failed."""
    in_flight: int
    """Those being worked on."""
    per_s: float
    """How many end per second."""
    seconds_left: float | None
    """About how long it still takes; None: not known."""
    workers: int = 1
    """Processes that work on it."""
    at: float = 0.0
    """Wall clock, seconds since the epoch."""

    @classmethod
    def of(
        cls, phase: str, done: int, total: int | None, failed: int, in_flight: int, per_s: float
    ) -> RunProgress:
        """The progress now, with the time left at this rate."""
        left = None if not total or per_s <= 0 else max(0, total - done) / per_s
        rate = per_s if math.isfinite(per_s) else 0.0
        return cls(
            phase,
            done,
            total or None,
            failed,
            in_flight,
            round(rate, 3),
            left and round(left, 1),
            at=time.time(),
        )

    def to_json(self) -> JsonObject:
        """As it is recorded, and as `list --json`, `show --json` and the server give it."""
        found: JsonObject = as_json(self)
        return found

    @classmethod
    def from_json(cls, record: Any) -> RunProgress | None:
        """Read the recorded form; None if there is none."""
        return None if record is None else convert(record, ready(cls))

    @property
    def share(self) -> float | None:
        """The share that is done; None if the total is not known."""
        return None if not self.total else min(1.0, self.done / self.total)
