"""Limits that a request must keep (`--slo ttft=200ms,itl=30ms,e2e=2s`), and how many kept them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import exp, fsum, inf, sqrt
from typing import Any, TypeVar

from msgspec import Struct

from benchwright.core import SECONDS_OF, JsonObject, UsageError, suggest
from benchwright.perf._backlog import Trace
from benchwright.perf._boundary import allowed_misses
from benchwright.perf._columns import compute as pc, constant
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


class SloResult(Struct, frozen=True):
    """How many requests kept all limits."""

    limits: dict[str, tuple[float, int]]
    """Each limit in milliseconds, and the requests that kept it."""
    met: int
    sent: int
    needed_share: float = 0.99
    """The share of requests that must keep all limits."""

    @property
    def enough(self) -> bool:
        """Whether as many requests kept all limits as must."""
        return self.sent - self.met <= (1 - self.needed_share) * self.sent + 1e-9

    def to_json(self) -> JsonObject:
        """`{met, sent, needed_share, limits: {name: {limit_ms, met, share}}}`."""
        limits: JsonObject = {
            name: {"limit_ms": limit, "met": met, "share": round(met / self.sent, 6) if self.sent else 0.0}
            for name, (limit, met) in self.limits.items()
        }
        return {"met": self.met, "sent": self.sent, "needed_share": self.needed_share, "limits": limits}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> SloResult:
        """Read the form of `to_json`."""
        limits = {name: (each["limit_ms"], each["met"]) for name, each in stored["limits"].items()}
        return cls(limits, stored["met"], stored["sent"], stored.get("needed_share", 0.99))


def judge_slo(limits: Limits, measurable: Requests, sent: int, needed_share: float) -> SloResult | str:
    """Judge requests with latencies; all other sent requests miss the limits. Returns the reason if this is not possible."""
    results: dict[str, tuple[float, int]] = {}
    kept = None
    for name, limit in limits:
        metric = LIMITS[name]
        assert metric.values is not None
        values = metric.values(measurable)
        streamed = pc.is_valid(measurable["first_token"])
        short = pc.and_(_excused(name, measurable), streamed).true_count
        if len(measurable) and not values.is_valid().true_count and not short:
            return f"the limit {name} {metric.needs}"
        met = _met(name, limit, measurable)
        results[name] = round(limit * 1000, 6), met.true_count
        kept = met if kept is None else pc.and_(kept, met)
    return SloResult(results, 0 if kept is None else kept.true_count, sent, needed_share)


class Tail(Struct, frozen=True):
    """The share of misses by the latencies of the slowest requests, whose excess is taken to be exponential. Few requests miss a limit, but many
    come close."""

    share: float
    misses: float
    """How many independent misses would tell the share as well."""


class ProbeEvidence(Struct, frozen=True):
    """What the later part of a probe shows; in the first quarter, the server's queue is still filling."""

    sent: int
    met: int
    """Requests within all limits."""
    rise: float | None = None
    """How much longer requests took in the second half than in the first, as a share; None: no more than chance, or in a closed
    loop."""
    spread: float = 1.0
    """Variance of the misses, in multiples of that of independent requests."""
    room_s: float | None = None
    """How much longer than the median a request may take before it misses a limit: the largest over the limits. Negative: the
    median misses all of them."""
    failed: int = 0
    """Requests without a latency."""
    scatter: float | None = None
    """Variance of the latencies over the square of their mean; None: no more than one, or in a closed loop."""
    tail: Tail | None = None
    """What the slowest requests suggest; None: too few, or most miss the limits."""


def probe_evidence(
    limits: Limits, sent: Requests, measurable: Requests, *, open_loop: bool, share: float
) -> ProbeEvidence:
    """Judge a probe by its requests after the first quarter, in the order of sending."""
    if pc.min(sent["sent"]).as_py() is None:
        return ProbeEvidence(0, 0)
    times = pc.coalesce(sent["planned"], sent["sent"])
    first = pc.quantile(times, q=FILLING)[0].as_py()
    counts = pc.fill_null(pc.greater_equal(times, first), True)
    later = sent.where(counts)["number"].take(pc.sort_indices(times.filter(counts))).to_pylist()
    own = measurable.where(pc.greater_equal(pc.coalesce(measurable["planned"], measurable["sent"]), first))
    used = dict(zip(own["number"].to_pylist(), _used(limits, own), strict=True))
    taken = numbers(own.in_order("sent").seconds("planned", "last_content").drop_null()) if open_loop else []
    rooms = [limit - middle for name, limit in limits if (middle := _median(name, own)) is not None]
    return evidence_of([used.get(number) for number in later], taken, max(rooms, default=None), share=share)


def probe_trace(limits: Limits, sent: Requests, measurable: Requests) -> Trace:
    """The requests of a probe with planned times, in the order of these."""
    times = sent["planned"]
    order = pc.sort_indices(times)
    used = dict(zip(measurable["number"].to_pylist(), _used(limits, measurable), strict=True))
    ordered = sent["number"].take(order).to_pylist()
    parts = [used.get(number) for number in ordered]
    own = measurable["number"].to_pylist()
    ended = dict(zip(own, measurable["ended"].to_pylist(), strict=True))
    rooms = dict(zip(own, _rooms(limits, measurable), strict=True))
    return Trace(
        numbers(times.take(order)),
        [inf if part is None else part for part in parts],
        [None if used.get(number) is None else ended[number] for number in ordered],
        [rooms.get(number, -inf) for number in ordered],
    )


def _rooms(limits: Limits, own: Requests) -> list[float]:
    """How much longer each request might have waited for its begin; minus infinity: it missed a limit that waits do not change."""
    parts = []
    for name, limit in limits:
        if LIMITS[name].one_token:  # a time between tokens, which a wait does not change
            parts.append(pc.if_else(_met(name, limit, own), inf, -inf))
        else:
            parts.append(pc.coalesce(pc.subtract(limit, _values(name, own)), -inf))
    found: list[float] = pc.min_element_wise(*parts).to_pylist()
    return found


def _used(limits: Limits, own: Requests) -> list[float | None]:
    """The largest part of a limit that each request used: more than 1, it missed one. None: it has no value and misses."""
    parts = []
    for name, limit in limits:
        part = pc.divide(_values(name, own), limit)
        # Compared as everywhere else, so that rounding does not decide.
        met = _met(name, limit, own)
        part = pc.if_else(met, pc.min_element_wise(part, 1.0), pc.max_element_wise(part, _JUST_MISSED))
        nothing = pc.if_else(_excused(name, own), 0.0, constant(None, part.type))
        parts.append(pc.coalesce(part, nothing))
    found: list[float | None] = pc.max_element_wise(*parts, skip_nulls=False).to_pylist()
    return found


def _median(name: str, own: Requests) -> float | None:
    median: float | None = pc.quantile(_values(name, own), q=0.5)[0].as_py()
    return median


def evidence_of(
    used: Sequence[float | None], taken: Sequence[float], room_s: float | None = None, *, share: float
) -> ProbeEvidence:
    """Judge requests in the order of sending: which part of its limit each used, None if it has no latency, and, in an open loop, how
    long each took. `share` of them must keep the limits."""
    kept = [each is not None and each <= 1 for each in used]
    return ProbeEvidence(
        sent=len(used),
        met=sum(kept),
        rise=_rise(taken),
        spread=round(_spread(kept, _GAP / allowed_misses(share)), 4),
        room_s=None if room_s is None else round(room_s, 6),
        failed=used.count(None),
        scatter=_scatter(taken),
        tail=_tail([each for each in used if each is not None]),
    )


def _scatter(taken: Sequence[float]) -> float | None:
    if len(taken) < 2 or not (mean := fsum(taken) / len(taken)):
        return None
    return round(fsum((each / mean - 1) ** 2 for each in taken) / (len(taken) - 1), 6)


def _tail(used: Sequence[float]) -> Tail | None:
    least = sorted(used)[int(len(used) * (1 - _SLOWEST))] if used else 1.0
    beyond = [each - least for each in used if each > least]
    if least >= 1 or len(beyond) < _FEWEST:
        return None
    mean = fsum(beyond) / len(beyond)
    far = (1 - least) / mean
    independent = len(beyond) / _spread([each <= least for each in used], _GAP_OF_TAIL / _SLOWEST)
    return Tail(len(beyond) / len(used) * exp(-min(far, 50.0)), independent / (1 + far * far))


def _spread(kept: Sequence[bool], gap: float) -> float:
    """By the rows in which misses come: rows are independent, so the variance of their sum is the sum of their squares. Fewer than
    `gap` requests within the limits do not end a row.

    >>> _spread([False, False, True, False] + 9 * [True] + [False], gap=3)
    2.5
    """
    rows: list[int] = []
    before = None
    for number, each in enumerate(kept):
        if not each:
            if before is not None and number - before <= gap:
                rows[-1] += 1
            else:
                rows.append(1)
            before = number
    return sum(row * row for row in rows) / sum(rows) if rows else 1.0


def _rise(taken: Sequence[float]) -> float | None:
    """By the means of blocks: in a queue, the times of neighbours are alike."""
    if len(taken) < 2 * _HALF:
        return None
    means = [fsum(part) / len(part) for part in _parts(taken, 2 * _RISING)]
    halves = means[:_RISING], means[_RISING:]
    first, second = (fsum(half) / _RISING for half in halves)
    if first <= 0:
        return None
    squares = [
        (each - mean) ** 2 for half, mean in zip(halves, (first, second), strict=True) for each in half
    ]
    error = sqrt(fsum(squares) / (_RISING - 1) / _RISING)
    return round(second / first - 1, 6) if second - first > max(_RISE * first, _SURE * error) else None


_Item = TypeVar("_Item")


def _parts(values: Sequence[_Item], count: int) -> list[Sequence[_Item]]:
    edges = [len(values) * part // count for part in range(count + 1)]
    return [values[start:end] for start, end in pairwise(edges)]


_SLOWEST, _FEWEST, _GAP_OF_TAIL = 0.15, 8, 0.75
"""The share of requests that is the tail, the fewest that are one, and `_GAP` for them."""
_JUST_MISSED = 1 + 1e-9
_GAP = 0.3
"""Requests between two misses of the same row, in multiples of the mean at the boundary if all were independent."""
_HALF, _RISING = 40, 8
"""Requests and blocks of each half."""
_RISE, _SURE = 0.05, 4.0
"""The least rise that counts, as a share, and in standard errors."""


def within(limits: Limits, measurable: Requests) -> Requests:
    """The requests with latencies that keep all limits."""
    for name, limit in limits:
        measurable = measurable.where(_met(name, limit, measurable))
    return measurable


def _met(name: str, limit: float, measurable: Requests) -> Any:
    return pc.coalesce(pc.less_equal(_values(name, measurable), limit), _excused(name, measurable))


def _excused(name: str, measurable: Requests) -> Any:
    """Whether a request without a value keeps the limit: if its reply is too short for one, not if its tokens are unknown."""
    metric = LIMITS[name]
    known = pc.is_valid(measurable["output_tokens" if metric.counts else "number"])
    return pc.and_(known, metric.one_token)


def _values(name: str, measurable: Requests) -> Any:
    metric = LIMITS[name]
    assert metric.values is not None
    return metric.values(measurable)
