"""Failures of the demo model: which attempt fails, and how. Decided by the seed and the request, not by dice."""

from __future__ import annotations

from collections import OrderedDict

from benchwright.core import FailureKind, RequestFailure
from benchwright.demo._chance import ONE, Chance, limit_of
from benchwright.demo._settings import DemoSettings, FaultKind

_MAX_REMEMBERED = 65_536
"""Requests whose number of attempts is remembered; older ones start again at the first attempt."""

_IN_PROCESS: dict[FaultKind, tuple[FailureKind, int | None, str]] = {
    "rate_limited": ("rate_limited", 429, "status 429: the demo model was told to refuse for lack of room"),
    "server_error": ("server_error", 500, "status 500: the demo model was told to fail"),
    "unavailable": ("server_error", 503, "status 503: the demo model was told to be unavailable"),
    "dropped": ("connection", None, "the demo model was told to drop the connection"),
    "half_stream": ("broken_stream", None, "the demo model was told to break off in the middle"),
    "html": ("bad_reply", 200, "the demo model was told to send a web page instead of JSON"),
    "timeout": ("timeout", None, "the demo model was told not to answer in time"),
}


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


def failure_of(kind: FaultKind) -> RequestFailure:
    """A fault as a failed reply holds it."""
    failure, status, message = _IN_PROCESS[kind]
    return RequestFailure(failure, message, status)
