"""Settings of the demo model: how good it is, how fast it is, and how often it fails; and the deterministic draws,
the same on every machine, that decide whether an attempt fails."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec import field

from benchwright.core import RequestFailure, UsageError, suggest
from benchwright.endpoints import ModelSettings

if TYPE_CHECKING:
    from benchwright.endpoints import Clock, Limiter, SendGate, SendPolicy, TimedEndpoint

DEMO_VERSION = 2
"""Version of the demo model's answers; raised if it answers the same request differently. Part of its fingerprint."""

ONE = 1 << 32
"""Number of values that a 32-bit draw can take."""


FAULTS: dict[str, tuple[float, RequestFailure]] = {
    # HTTP 429 with a Retry-After header
    "rate_limited": (
        4.0,
        RequestFailure(
            "rate_limited", "status 429: the demo model is over capacity, as it was set to be", 429
        ),
    ),
    "server_error": (
        2.0,
        RequestFailure("server_error", "status 500: the demo model was set to fail", 500),
    ),
    "unavailable": (
        1.0,
        RequestFailure("server_error", "status 503: the demo model was set to be unavailable", 503),
    ),
    # the connection is closed without an answer
    "dropped": (1.0, RequestFailure("connection", "the demo model was set to drop the connection", None)),
    # without streaming, a body shorter than announced
    "half_stream": (
        1.0,
        RequestFailure("broken_stream", "the demo model was set to break off in the middle", None),
    ),
    # status 200 with a web page
    "html": (
        1.0,
        RequestFailure("bad_reply", "the demo model was set to send a web page instead of JSON", 200),
    ),
    # no answer for `hang_s`, then a closed connection; off unless requested, because it makes runs slow
    "timeout": (0.0, RequestFailure("timeout", "the demo model was set not to answer in time", None)),
}
"""The kinds of fault, each with its usual weight and its failed reply in this process."""


def fault_mix(text: str) -> dict[str, float]:
    """The weights of the kinds of fault in `kind` or `kind=weight,kind=weight`; those that are not named have 0.

    >>> [kind for kind, weight in fault_mix("html, half-stream=2").items() if weight]
    ['half_stream', 'html']
    """
    weights = dict.fromkeys(FAULTS, 0.0)
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, weight = part.partition("=")
        name = name.strip().replace("-", "_")
        if name not in weights:
            kinds = ", ".join(weights)
            raise UsageError(f"unknown fault kind {name!r}.{suggest(name, weights)} Known kinds: {kinds}")
        try:
            weights[name] = float(weight) if weight else 1.0
        except ValueError:
            raise UsageError(f"weight of {name!r} is {weight!r}; expected a number, as in {name}=2") from None
    return weights


class DemoSettings(ModelSettings, frozen=True, kw_only=True):
    """The demo model's character. The same settings and requests always give the same answers."""

    kind = "demo"
    invented = True

    skill: float = 0.7
    """Probability, 0 to 1, that a question it can solve is answered rightly."""
    ttft_ms: float = 0.0
    """Simulated time to the first token, milliseconds."""
    itl_ms: float = 0.0
    """Simulated time between tokens, milliseconds."""
    slots: int | None = None
    """Requests that the server answers at once; others wait in order. None: all of them. In process, there is no limit."""
    error_rate: float = 0.0
    """Probability, 0 to 1, that one attempt fails."""
    seed: int = 0
    """Which questions it gets wrong; another seed is another model of the same skill."""
    by_chance: bool = False
    """Whether it answers at random, whatever it could solve: the model `random`. The skill then has no effect."""
    faults: dict[str, float] = field(
        default_factory=lambda: {kind: usual for kind, (usual, _) in FAULTS.items()}
    )
    """What the failures are: relative weights of kinds in `FAULTS`. Only the proportions matter."""
    model_id: str = "demo"
    """Name in its replies."""
    parallelism: int = 16
    """Requests at a time, in process; without simulated latency there is nothing to wait for."""
    max_retries: int = 0
    """Further attempts after a failed one, in process. Over HTTP the client decides."""
    hang_s: float = 30.0
    """How long a `timeout` fault keeps a client waiting over HTTP, seconds."""
    retry_after_s: int = 1
    """What the Retry-After header of a 429 says, seconds."""

    def __post_init__(self) -> None:
        for name in ("skill", "error_rate"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise UsageError(f"demo model: {name} is {value}; expected 0 to 1")
        for name in ("ttft_ms", "itl_ms", "hang_s", "retry_after_s", "max_retries"):
            value = getattr(self, name)
            if not value >= 0:
                raise UsageError(f"demo model: {name} is {value}; expected 0 or more")
        if self.slots is not None and self.slots < 1:
            raise UsageError(f"demo model: slots is {self.slots}; expected 1 or more")
        if self.slots is not None and not self.ttft_ms + self.itl_ms:
            raise UsageError(
                f"demo model: slots is {self.slots}, but replies take no time, so none would wait; "
                "set ttft_ms or itl_ms too (--ttft-ms 100)"
            )
        if min(self.faults.values()) < 0 or not any(self.faults.values()):
            raise UsageError("a fault mix needs weights of 0 or more, at least one above 0")
        if self.parallelism < 1:
            raise UsageError(f"demo model: parallelism is {self.parallelism}; expected 1 or more")

    def fingerprint(self) -> str:
        """The settings that determine its answers. Latency and faults are left out: they change no answer.

        >>> DemoSettings().fingerprint()
        'demo://demo?skill=0.7&seed=0&version=2'
        """
        skill = "by_chance" if self.by_chance else f"skill={self.skill:g}"
        return f"demo://{self.model_id}?{skill}&seed={self.seed}&version={DEMO_VERSION}"

    def open(
        self, *, gate: SendGate | None, limiter: Limiter | None, policy: SendPolicy, clock: Clock, **_: object
    ) -> TimedEndpoint:
        """Open the model as an endpoint in this process, as `open_endpoint` expects it."""
        from benchwright.demo._endpoint import DemoEndpoint  # slow to import; `--help` does not need it

        return DemoEndpoint(self, gate=gate, limiter=limiter, policy=policy, clock=clock)


class Chance:
    """Draws that depend only on the seed and a text."""

    __slots__ = ("_base",)

    def __init__(self, seed: int) -> None:
        self._base = hashlib.blake2b(b"benchwright-demo/%d/" % seed, digest_size=8)

    def bits(self, text: str) -> int:
        """Return 64 bits for a text."""
        state = self._base.copy()  # copying a prepared state is cheaper than hashing the seed again
        state.update(text.encode("utf-8", "surrogatepass"))
        return int.from_bytes(state.digest(), "little")


def limit_of(probability: float) -> int:
    """Return the number below which a 32-bit draw falls with this probability (always for 1.0)."""
    return int(probability * ONE)


def share(value: int) -> float:
    """Mix a 32-bit hash into a number in [0, 1). CRC-32 alone is linear: similar texts give similar values."""
    value = (value ^ (value >> 16)) * 0x7FEB352D & 0xFFFFFFFF
    value = (value ^ (value >> 15)) * 0x846CA68B & 0xFFFFFFFF
    return (value ^ (value >> 16)) / ONE


_MAX_REMEMBERED = 65_536
"""Number of requests whose attempts are remembered; older requests start again at the first attempt."""


class Faults:
    """Chooses the fault, if any, of each attempt."""

    def __init__(self, settings: DemoSettings) -> None:
        self._chance = Chance(settings.seed ^ 0x5EED)
        self._limit = limit_of(settings.error_rate)
        weights = [(kind, settings.faults[kind]) for kind in FAULTS if settings.faults.get(kind)]
        total = sum(weight for _, weight in weights)
        bounds = []
        reached = 0.0
        for kind, weight in weights:
            reached += weight / total
            bounds.append((kind, int(reached * ONE)))
        self._bounds: list[tuple[str, int]] = bounds
        self._attempts: OrderedDict[int, int] = OrderedDict()

    def pick(self, payload: bytes, repeat: int, attempt: int) -> str | None:
        """Choose the fault of one attempt of a request; `attempt` counts from 0."""
        bits = self._chance.bits(f"{repeat}/{attempt}/{payload.decode('utf-8', 'replace')}")
        if (bits & 0xFFFFFFFF) >= self._limit:
            return None
        drawn = bits >> 32
        for kind, bound in self._bounds:
            if drawn < bound:
                return kind
        return self._bounds[-1][0]

    def pick_next(self, payload: bytes) -> str | None:
        """Choose the fault for a server, which sees only bodies: equal bodies are taken for attempts of one request."""
        key = self._chance.bits(payload.decode("utf-8", "replace"))
        attempt = self._attempts.pop(key, -1) + 1
        self._attempts[key] = attempt
        if len(self._attempts) > _MAX_REMEMBERED:
            self._attempts.popitem(last=False)
        return self.pick(payload, 0, attempt)
