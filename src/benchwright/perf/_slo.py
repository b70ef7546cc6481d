"""Limits that a request must keep (`--slo ttft=200ms,itl=30ms,e2e=2s`), and how many kept them."""

from __future__ import annotations

import re
from math import fsum, inf, sqrt
from typing import Any

from msgspec import Struct

from benchwright.core import SECONDS_OF, JsonObject, UsageError, suggest
from benchwright.perf._columns import compute as pc
from benchwright.perf._distributions import numbers
from benchwright.perf._metrics import LIMITS
from benchwright.perf._requests import Requests
from benchwright.perf._search import FILLING

Limits = tuple[tuple[str, float], ...]
"""Names and largest allowed values in seconds, as in `LoadSettings.slo`."""

_LIMIT = re.compile(
    r"\s*(?P<name>[a-z0-9_-]+)\s*[=:]\s*(?P<number>[0-9]*\.?[0-9]+)\s*(?P<unit>[a-zµ]*)\s*", re.I
)
_OTHER_NAMES = {"e2el": "e2e", "latency": "e2e"}


def parse_slo(text: str) -> Limits:
    """Parse limits as users write them: separated by commas or blanks, with `:` or `=`, a bare number in milliseconds.

    >>> parse_slo("ttft=200ms,itl:30 e2e=2s")
    (('ttft', 0.2), ('itl', 0.03), ('e2e', 2.0))
    """
    parts = [part for part in re.split(r"[,;]|(?<=[0-9a-zµ])\s+(?=[a-z])", text.strip(), flags=re.I) if part.strip()]  # fmt: skip
    if not parts:
        raise UsageError("--slo needs limits, such as ttft=200ms,itl=30ms,e2e=2s")
    found: dict[str, float] = {}
    for part in parts:
        match = _LIMIT.fullmatch(part)
        if match is None:
            raise UsageError(
                f"--slo {part.strip()!r} is not a limit; write NAME=NUMBER and ms or s: ttft=200ms"
            )
        name = match["name"].lower().replace("-", "_")
        name = _OTHER_NAMES.get(name, name)
        if name not in LIMITS:
            raise UsageError(
                f"--slo knows no {match['name']!r}.{suggest(name, LIMITS)} It takes {', '.join(sorted(LIMITS))}"
            )
        unit = match["unit"].lower() or "ms"
        if unit not in SECONDS_OF:
            raise UsageError(f"--slo {part.strip()!r}: the unit is ms or s, not {match['unit']!r}")
        if name in found:
            raise UsageError(f"--slo has {name} twice")
        limit = float(match["number"]) * SECONDS_OF[unit]
        if limit <= 0:
            raise UsageError(f"--slo {part.strip()!r}: a limit is above 0")
        found[name] = round(limit, 9)
    return tuple(found.items())


class LimitResult(Struct, frozen=True):
    """One limit."""

    name: str
    limit_ms: float
    met: int
    """Requests that kept it."""
    share: float
    """Share of all sent requests."""


class SloResult(Struct, frozen=True):
    """How many requests kept all limits."""

    limits: tuple[LimitResult, ...]
    met: int
    sent: int

    def to_json(self) -> JsonObject:
        """`{met, sent, limits: {name: {limit_ms, met, share}}}`."""
        limits: JsonObject = {
            each.name: {"limit_ms": each.limit_ms, "met": each.met, "share": each.share}
            for each in self.limits
        }
        return {"met": self.met, "sent": self.sent, "limits": limits}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> SloResult:
        """Read the form of `to_json`."""
        limits = tuple(LimitResult(name, **each) for name, each in stored["limits"].items())
        return cls(limits, stored["met"], stored["sent"])


def judge_slo(limits: Limits, measurable: Requests, sent: int) -> SloResult | str:
    """Judge requests with latencies; all other sent requests miss the limits. Returns the reason if this is not possible."""
    results, kept = [], None
    for name, limit in limits:
        metric = LIMITS[name]
        assert metric.values is not None
        values = metric.values(measurable)
        streamed = pc.is_valid(measurable["first_token"]).true_count
        if len(measurable) and not values.is_valid().true_count and not (metric.one_token and streamed):
            return f"the limit {name} {metric.needs}"
        met = _met(name, limit, measurable)
        count = met.true_count
        results.append(
            LimitResult(name, round(limit * 1000, 6), count, round(count / sent, 6) if sent else 0.0)
        )
        kept = met if kept is None else pc.and_(kept, met)
    return SloResult(tuple(results), 0 if kept is None else kept.true_count, sent)


class ProbeEvidence(Struct, frozen=True):
    """What the later part of a probe shows; in the first quarter, the server's queue is still filling."""

    sent: int
    met: int
    """Requests within all limits."""
    rise: float | None = None
    """How much longer requests took in the second half than in the first, as a share; None: no more than chance, or in a closed
    loop."""


def probe_evidence(limits: Limits, sent: Requests, measurable: Requests, *, open_loop: bool) -> ProbeEvidence:
    """Judge a probe by its requests after the first quarter, in the order of sending."""
    begun = pc.min(sent["sent"]).as_py()
    if begun is None:
        return ProbeEvidence(0, 0)
    times = pc.coalesce(sent["planned"], sent["sent"])
    first = pc.quantile(times, q=FILLING)[0].as_py()
    later = sent.where(pc.fill_null(pc.greater_equal(times, first), True))
    own = measurable.where(
        pc.greater_equal(pc.coalesce(measurable["planned"], measurable["sent"]), first)
    ).in_order("sent")
    return ProbeEvidence(len(later), len(within(limits, own)), _rise(own) if open_loop else None)


def _rise(own: Requests) -> float | None:
    taken = numbers(own.seconds("planned", "last_content").drop_null())
    half = len(taken) // 2
    if half < _HALF:
        return None
    means = [fsum(part) / len(part) for part in (taken[:half], taken[half:])]
    spread = fsum((value - means[0]) ** 2 for value in taken[:half]) / (half - 1)
    error = sqrt(2 * spread / half) / means[0] if means[0] > 0 else inf
    rise = means[1] / means[0] - 1 if means[0] > 0 else 0.0
    return round(rise, 6) if rise > max(_RISE, 3 * error) else None


_HALF = 40
_RISE = 0.15


def within(limits: Limits, measurable: Requests) -> Requests:
    """The requests with latencies that keep all limits."""
    for name, limit in limits:
        measurable = measurable.where(_met(name, limit, measurable))
    return measurable


def _met(name: str, limit: float, measurable: Requests) -> Any:
    metric = LIMITS[name]
    assert metric.values is not None
    return pc.fill_null(pc.less_equal(metric.values(measurable), limit), metric.one_token)
