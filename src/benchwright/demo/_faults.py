"""Failures of the demo model: which attempt fails, and how. Decided by the seed and the request, not by dice."""

from __future__ import annotations

from collections import OrderedDict

from benchwright.demo._chance import ONE, Chance, limit_of
from benchwright.demo._settings import DemoSettings, FaultKind

_MAX_REMEMBERED = 65_536
"""Requests whose number of attempts is remembered; older ones start again at the first attempt."""


class Faults:
    """Picks the fault, if any, of each attempt."""

    def __init__(self, settings: DemoSettings) -> None:
        self._chance = Chance(settings.seed ^ 0x5EED)
        self._limit = limit_of(settings.error_rate)
        weights = [(kind, weight) for kind, weight in settings.faults.weights() if weight]
        total = sum(weight for _, weight in weights)
        bounds = []
        reached = 0.0
        for kind, weight in weights:
            reached += weight / total
            bounds.append((kind, int(reached * ONE)))
        self._bounds: list[tuple[FaultKind, int]] = bounds
        self._attempts: OrderedDict[int, int] = OrderedDict()

    def pick(self, payload: bytes, repeat: int, attempt: int) -> FaultKind | None:
        """The fault of one attempt of a request; `attempt` counts from 0."""
        bits = self._chance.bits(f"{repeat}/{attempt}/{payload.decode('utf-8', 'replace')}")
        if (bits & 0xFFFFFFFF) >= self._limit:
            return None
        drawn = bits >> 32
        for kind, bound in self._bounds:
            if drawn < bound:
                return kind
        return self._bounds[-1][0]

    def pick_next(self, payload: bytes) -> FaultKind | None:
        """The same for a server, which sees only bodies: equal bodies are taken for attempts of one request."""
        key = self._chance.bits(payload.decode("utf-8", "replace"))
        attempt = self._attempts.pop(key, -1) + 1
        self._attempts[key] = attempt
        if len(self._attempts) > _MAX_REMEMBERED:
            self._attempts.popitem(last=False)
        return self.pick(payload, 0, attempt)
