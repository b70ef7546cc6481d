"""Estimates from all probes of a search the largest load that meets the limits.

If the server is a queue with slots, one on paper with its own service times tells it (`_slots.py`). Else requests that came at random times are
sent through a simpler queue, once probes are close (`_backlog.py`). Else a curve through the shares of misses of all probes says where the share
that may miss is reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from math import exp, floor, fsum, inf, log, log1p
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from benchwright.core import LoadProfile
from benchwright.perf import _slots
from benchwright.perf._backlog import Trace, estimate
from benchwright.perf._schedule import RANDOM
from benchwright.perf._values import LoadSearch, LoadSettings
from benchwright.stats import binomial_tail

TAIL = 0.05
"""Probability of an error where a level is shown or refuted."""
_TOO_HIGH = 0.015
"""Probability that the largest load is below the answer, if a queue on paper told it."""
_BESIDE = 3.0
"""Probes up to so many times above or below the boundary tell service times."""
_WIDE = 2.0
"""In a wider interval than this, probes are too far away for the queue on paper."""
_NEAR = 0.2
"""Probes closer than this to the boundary, as a logarithm, go through the queue on paper, unless they are flooded."""

TIMES_THE_LIMIT = 15.0
"""A probe near the boundary lasts so many times the largest limit, until a queue that grows slowly reaches it."""
_LONG_ENOUGH = 5.0
"""A probe that supports an answer lasts at least so many times the largest limit."""
_RELAXATIONS = 4.0
"""It also lasts so many times the square of the time that a request may wait, times the rate: about ten times as long as a busy queue
needs to forget how it began."""
SHARE_OF_TIME = 0.25
"""A probe takes at most this share of the time that is left, so that there are several near the boundary."""

_PRIOR_SPREAD, _PRIOR_MISSES = 5.0, 5.0
"""The spread that is assumed until misses tell it, and how many misses outweigh it."""
_PRIOR_BURSTS = 2.0
"""Bursts of misses that outweigh the assumption that latencies beyond the tail are exponential."""
_WORTH_OF_TAIL = 1 / 3
"""What the latencies of the slowest requests tell counts for less than it seems, because their law is an assumption."""
_FEW_FAIL = 0.2
"""Up to this share of misses may have failed for the latencies of the others to tell how many will miss."""
_MOST_TELLING = 15.0
"""No probe counts for more misses when spreads are averaged, because one long burst has many."""
_STEEPNESS = (4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0, 256.0, 1024.0)
"""Possible powers of the load with which the share of misses grows near the boundary."""
_TELLING = 8.0
"""The share of misses is a power of the load while it is at most this many times more or less than allowed; beyond, a probe tells
only on which side of the boundary it is."""
_FLOODED = 0.6
"""The largest share of misses that the curve predicts: a server far beyond the boundary misses most limits, so that a probe with few misses is
not there."""
_GRID = 120
_SHORT = 0.8
"""A server that answers a smaller share of the rate is flooded."""
_REGULAR = 0.01
"""Latencies that scatter less do not slow a queue down."""


class Probe(Struct, frozen=True):
    """One judged probe."""

    stage: int
    level: float
    passed: bool
    share: float
    """Share of sent requests within all limits."""
    requests: int
    why: str = ""
    """Why it failed."""
    client_limit: bool = False
    """Whether the client was the limit, so that the probe tells nothing about the server."""
    overload: bool = False
    """Whether the server did not keep up, however many requests met the limits so far."""
    spread: float = 1.0
    """Variance of its misses, in multiples of that of independent requests: in a queue, misses come in rows."""
    answered: float | None = None
    """Requests per second that were answered."""
    room_s: float | None = None
    """How much longer than usual a request may take before it misses a limit; negative: the usual one misses it."""
    seconds: float = 0.0
    """How long it took."""
    failed: int = 0
    """Requests without a latency."""
    scatter: float | None = None
    """Variance of the latencies over the square of their mean, in an open loop."""
    tail: tuple[float, float] | None = None
    """The share of misses by the latencies of the slowest requests, and how many independent misses would tell it as well."""
    trace: Trace | None = None
    """Its requests, in an open loop; not part of the result."""


class Boundary(NamedTuple):
    """What the probes say together about the largest load that meets the limits: its possible logarithms with their probabilities."""

    places: Sequence[float]
    weights: Sequence[float]
    on_paper: bool
    """Whether a queue on paper told it."""

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return exp(_quantile(self.places, self.weights, 0.025))

    @property
    def middle(self) -> float:
        """The median."""
        return exp(_quantile(self.places, self.weights, 0.5))

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval."""
        return exp(_quantile(self.places, self.weights, 0.975))

    @property
    def sure(self) -> float:
        """The load that it is at least with a probability of 98.5 %; of 95 % by a curve, above which a probe must have failed."""
        return exp(_quantile(self.places, self.weights, _TOO_HIGH if self.on_paper else TAIL))

    def at_least(self, load: float) -> float:
        """The probability that it is at least this load."""
        above = fsum(
            each for place, each in zip(self.places, self.weights, strict=True) if place >= log(load)
        )
        return above / fsum(self.weights)


def search_of(settings: LoadSettings) -> LoadSearch:
    assert settings.search is not None
    return settings.search


def probes_at(probes: Iterable[Probe], level: float) -> list[Probe]:
    return [probe for probe in probes if probe.level == level]


def mostly_passed(probes: Sequence[Probe]) -> bool:
    """Whether more probes passed than failed."""
    return 2 * sum(probe.passed for probe in probes) > len(probes)


def fails(probes: Sequence[Probe], search: LoadSearch) -> bool | None:
    """Whether a level fails the limits, by all its probes together; None: its misses may be chance, so that it must be probed again.

    It fails if so many misses are improbable at the share that is allowed, or if the server did not keep up twice. If two probes leave it
    open, a higher level tells more; at the highest, they fail.
    """
    if refuted(probes, search):
        return True
    requests, misses = _together(probes)
    behind = sum(probe.overload for probe in probes)
    if requests and misses <= allowed_misses(search.share) * requests + 1e-9 and 2 * behind < len(probes):
        return False
    if len(probes) < min(2, search.repeats):
        return None
    return not requests or 2 * behind >= len(probes) or probes[0].level >= search.highest


def refuted(probes: Sequence[Probe], search: LoadSearch, spread: float = 1.0) -> bool:
    """Whether the probes of a level refute that it meets the limits, with a confidence of 95 %: by an exact binomial test of all their
    requests. So many requests as `spread` says count as one. If all requests must keep the limits, a miss is enough."""
    requests, misses = _together(probes)
    if search.share is not None and search.share >= 1:
        return misses > 0
    number = round(requests / spread)
    return binomial_tail(floor(misses / spread), number, allowed_misses(search.share)) <= TAIL


def shown(counted: Sequence[Probe], settings: LoadSettings) -> float | None:
    """The largest level whose requests show the share with a confidence of 95 %, though misses come in rows, below all levels that fail.
    Requests of higher levels below these count too: at less load, no more of them would have missed."""
    spread = _pooled_spread(counted, *_telling(settings))
    passing = _passing(counted, settings)
    for place in reversed(range(len(passing))):
        pool: list[Probe] = []
        for own in passing[place:]:
            pool += own
            requests, misses = _together(pool)
            kept, number = floor((requests - misses) / spread), floor(requests / spread)
            few = binomial_tail(kept, number, 1 - allowed_misses(search_of(settings).share)) > TAIL
            if not few and _is_long(pool, settings):
                return passing[place][0].level
    return None


def passed(counted: Sequence[Probe], settings: LoadSettings) -> float | None:
    """The largest level that mostly passed, below all levels that fail."""
    levels = [own[0].level for own in _passing(counted, settings) if _is_long(own, settings)]
    return max(levels, default=None)


def _passing(counted: Sequence[Probe], settings: LoadSettings) -> list[list[Probe]]:
    """The probes of each level that mostly passed, below all that fail by more than chance, from the lowest level to the highest."""
    levels = (probes_at(counted, level) for level in sorted({probe.level for probe in counted}))
    below = takewhile(lambda own: not fails(own, search_of(settings)), levels)
    return [*filter(mostly_passed, below)]


def _is_long(probes: Sequence[Probe], settings: LoadSettings) -> bool:
    """Whether a queue that grows would have reached the limit in one of the probes."""
    longest = max((limit for _, limit in settings.slo), default=0.0)
    return max(probe.seconds for probe in probes) >= _LONG_ENOUGH * longest


def not_refuted(counted: Sequence[Probe], above: float, settings: LoadSettings) -> float:
    """The end of the loads above this one that no probe refutes: the smallest level that is refuted though misses come in rows, or, without
    one, the largest that was probed. Requests of levels between count too: with more load, no fewer of them would have missed."""
    search = search_of(settings)
    spread = _pooled_spread(counted, *_telling(settings))
    levels = sorted({probe.level for probe in counted if probe.level > above})
    for place, level in enumerate(levels):
        pool = probes_at(counted, level)
        if mostly_passed(pool):
            continue
        for lower in (None, *reversed(levels[:place])):
            pool = pool if lower is None else [*pool, *probes_at(counted, lower)]
            if refuted(pool, search, spread):
                return level
    return max(levels, default=above)


def _together(probes: Sequence[Probe]) -> tuple[int, int]:
    """Requests and misses of some probes."""
    return sum(probe.requests for probe in probes), sum(round(_misses(probe)) for probe in probes)


def memory(settings: LoadSettings, probes: Sequence[Probe], rate: float) -> float:
    """How long a probe must last, in seconds, for the queue of the server to forget how it began."""
    longest = TIMES_THE_LIMIT * max((limit for _, limit in settings.slo), default=0.0)
    if settings.open_loop:
        room = max(0.0, *(probe.room_s or 0.0 for probe in probes), 0.0)
        longest = max(longest, _RELAXATIONS * room * room * rate)
    return min(longest, SHARE_OF_TIME * search_of(settings).seconds)


def allowed_misses(share: float | None) -> float:
    """The share of requests that may miss the limits. If all must keep them, one in a thousand decides."""
    return min(0.5, max(1e-3, 1 - (0.5 if share is None else share)))


def find_boundary(counted: Sequence[Probe], settings: LoadSettings) -> Boundary:
    """Where the share of misses reaches what is allowed."""
    curve = _by_curve(counted, settings)
    if (found := _by_slots(counted, curve.middle, settings)) is not None:
        return _normal(*found)
    if curve.high <= _WIDE * curve.low and settings.profile in RANDOM:
        _, most = _telling(settings)
        near = [
            probe
            for probe in counted
            if probe.trace is not None
            and abs(log(probe.level / curve.middle)) < _NEAR
            and not (probe.overload or 1 - probe.share >= most)
        ]
        if near and (found := _on_paper(near, settings)) is not None:
            return _normal(*found)
    return curve


def _normal(middle: float, error: float) -> Boundary:
    places = [middle + error * (0.05 * step - 4) for step in range(161)]
    weights = [exp(-0.5 * ((place - middle) / error) ** 2) for place in places]
    return Boundary(places, weights, on_paper=True)


def _by_slots(counted: Sequence[Probe], middle: float, settings: LoadSettings) -> tuple[float, float] | None:
    near = [
        probe
        for probe in counted
        if probe.trace is not None and middle / _BESIDE < probe.level < _BESIDE * middle
    ]
    probes, failed = [], 0
    for probe in near:
        assert probe.trace is not None
        times, _, ends, rooms = probe.trace
        if not ends:
            return None
        whole = [(at, end, room) for at, end, room in zip(times, ends, rooms, strict=True) if end is not None]
        failed += len(times) - len(whole)
        if whole:
            probes.append(_slots.Served(probe.level, *zip(*whole, strict=True)))
    return _slots.estimate(
        tuple(probes), failed, allowed_misses(search_of(settings).share), _burstiness(settings)
    )


def _burstiness(settings: LoadSettings) -> float:
    """The shape of the gaps between requests: infinite, they are all alike."""
    if settings.profile not in RANDOM:
        return inf
    return settings.burstiness if settings.profile == LoadProfile.GAMMA else 1.0


def _on_paper(near: Sequence[Probe], settings: LoadSettings) -> tuple[float, float] | None:
    traces = [probe.trace for probe in near if probe.trace is not None]
    return estimate(
        traces,
        [probe.level for probe in near],
        allowed_misses(search_of(settings).share),
        _burstiness(settings),
    )


_Level: TypeAlias = tuple[float, float, float, float]
"""A level: the logarithm of its load; how many requests kept the limits and missed them, in numbers of independent ones; and the logarithm of
the largest share of misses that tells anything here. If a level has this share, it may have been any larger one."""


def _by_curve(counted: Sequence[Probe], settings: LoadSettings) -> Boundary:
    """By Bayes' rule. Near the boundary, the share of misses is a power of the load; place and power are unknown, with uniform priors over the
    logarithm of places between half of the lowest and twice the highest probe, and over the powers above.
    """
    allowed = allowed_misses(search_of(settings).share)
    levels = _evidence(counted, settings)
    bounds = log(allowed / _TELLING), log(allowed)
    start, end = levels[0][0] - log(2), levels[-1][0] + log(2)
    if settings.open_loop and (most := _saturated(counted, settings)) is not None:
        end = max(min(end, log(most)), start + log(2))
    places, weights = _posterior(levels, bounds, start, end)
    step = places[1] - places[0]
    start, end = _quantile(places, weights, 1e-4) - step, _quantile(places, weights, 1 - 1e-4) + step
    return Boundary(*_posterior(levels, bounds, start, end), on_paper=False)


def _saturated(counted: Sequence[Probe], settings: LoadSettings) -> float | None:
    """The largest rate at which a queue with such latencies can meet the limits, however few short probes show it: by its throughput when it
    is flooded, the scatter of latencies when it is idle, and the time that a request may wait. None: not known.

    The wait of a busy queue is about exponential, with the mean scatter / 2 / (throughput - rate) if requests come regularly."""
    idle = min(counted, key=lambda probe: probe.level)
    fastest = max(probe.answered or 0.0 for probe in counted)
    _, most = _telling(settings)
    # A probe that waited for one slow reply at its end was not flooded: most requests of a flooded one are late.
    flooded = any(
        (probe.answered or probe.level) < _SHORT * probe.level and (probe.overload or 1 - probe.share >= most)
        for probe in counted
    )
    if not flooded or not idle.room_s or idle.room_s < 0 or (idle.scatter or 0.0) < _REGULAR:
        return None
    allowed = allowed_misses(search_of(settings).share)
    found = fastest - (idle.scatter or 0.0) * log(1 / allowed) / (2 * idle.room_s)
    return found if found > idle.level else None


def _telling(settings: LoadSettings) -> tuple[float, float]:
    """The shares of misses between which the curve is a power of the load."""
    allowed = allowed_misses(search_of(settings).share)
    return allowed / _TELLING, min(_TELLING * allowed, (1 + allowed) / 2)


def _evidence(counted: Sequence[Probe], settings: LoadSettings) -> list[_Level]:
    """What all probes of each level say, from the lowest to the highest.

    A probe has a share of misses, and a weight in independent requests: misses are as uncertain as their spread says. If misses are
    late replies, the slowest requests tell the share better than the few that missed. A probe that was shorter than the memory of the
    queue counts less.
    """
    share = search_of(settings).share
    least, most = _telling(settings)
    spread = _pooled_spread(counted, least, most)
    # Refusals come without warning; only late replies have near misses.
    late = sum(probe.failed for probe in counted) <= _FEW_FAIL * sum(map(_misses, counted))
    factor = _of_tails(counted, most, spread)
    found: dict[float, list[float]] = {}
    for probe in counted:
        level = found.setdefault(probe.level, [0.0, 0.0])
        if not probe.requests:
            continue
        part, weight = _misses(probe) / probe.requests, probe.requests / spread
        if probe.overload or (part and share is not None and share >= 1):
            part = 1.0
        if part >= most:
            if mostly_passed(probes_at(counted, probe.level)):
                continue  # outvoted: something disturbed this probe
            part = most
        elif late:
            if probe.tail is not None:
                part = min(most, max(least, factor * probe.tail[0]))
                weight = min(max(weight, _WORTH_OF_TAIL * probe.tail[1] / part), float(probe.requests))
            if probe.seconds and (long := memory(settings, counted, probe.level)):
                weight *= min(1.0, probe.seconds / long) ** 0.5
        level[0] += weight * (1 - part)
        level[1] += weight * part
    return [
        (log(level), kept, missed, log(most if missed >= most * (kept + missed) - 1e-9 else _FLOODED))
        for level, (kept, missed) in sorted(found.items())
    ]


def _of_tails(counted: Sequence[Probe], most: float, spread: float) -> float:
    """How many times more requests missed the limits than the slowest ones suggested, over all probes that are not flooded."""
    counts = expected = spread * _PRIOR_BURSTS
    for probe in counted:
        if probe.tail is not None and not probe.overload and max(probe.tail[0], 1 - probe.share) < most:
            counts += _misses(probe)
            expected += probe.tail[0] * probe.requests
    return counts / expected


def _misses(probe: Probe) -> float:
    return (1 - probe.share) * probe.requests


def _pooled_spread(counted: Sequence[Probe], least: float, most: float) -> float:
    """The spread of misses, from all probes with misses that are not flooded."""
    weight, spread = _PRIOR_MISSES, _PRIOR_MISSES * _PRIOR_SPREAD
    for probe in counted:
        if least * probe.requests <= (misses := _misses(probe)) < most * probe.requests:
            weight += (telling := min(misses, _MOST_TELLING))
            spread += telling * probe.spread
    return max(1.0, spread / weight)


def _posterior(
    levels: Sequence[_Level], bounds: tuple[float, float], start: float, end: float
) -> tuple[list[float], list[float]]:
    step = (end - start) / _GRID
    places = [start + (number + 0.5) * step for number in range(_GRID)]
    logs = [[_likelihood(levels, bounds, place, power) for power in _STEEPNESS] for place in places]
    largest = max(map(max, logs))
    return places, [sum(exp(each - largest) for each in row) for row in logs]


def _likelihood(levels: Sequence[_Level], bounds: tuple[float, float], place: float, power: float) -> float:
    """The logarithm of the likelihood of all probes."""
    least, allowed = bounds
    found = 0.0
    for load, kept, missed, most in levels:
        misses = min(most, max(least, allowed + power * (load - place)))
        found += missed * misses + kept * log1p(-exp(misses))
    return found


def _quantile(places: Sequence[float], weights: Sequence[float], share: float) -> float:
    step, left = places[1] - places[0], share * sum(weights)
    for place, weight in zip(places, weights, strict=True):
        if weight and left <= weight:
            return place + step * (left / weight - 0.5)
        left -= weight
    return places[-1] + step / 2
