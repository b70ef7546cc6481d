"""Searches for the largest load that keeps the limits: chooses the next probe, and evaluates all probes.

Everything here is a pure function of the probes so far, so a search can be played through on a server that exists on paper. A probe is
a stage of the test. What counts is how many of its requests missed the limits: a curve through all probes says where the share that may
miss is reached. The search goes on near this load until its 95 % interval is narrow, and answers with a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, exp, floor, log, log1p, log2
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct, convert

from benchwright.core import JsonObject, as_json
from benchwright.perf._values import LoadSearch, LoadSettings

SearchStatus: TypeAlias = Literal[
    "found", "bounded", "at_least", "too_few", "not_met", "client_limit", "unfinished"
]
"""How a search ended. `bounded`: probes or time ran out before the interval was narrow, but its lower end is known; `at_least`: the highest
allowed level passed; `too_few`: a level passed, but with too few requests to show the share; `not_met`: the lowest failed;
`client_limit`: the client reached its limit before the server; `unfinished`: probes or time ran out before a level was known to pass
or one failed, or the user stopped it."""
ANSWERS: frozenset[SearchStatus] = frozenset({"found", "bounded", "at_least"})
"""The statuses of a search that found a load."""
EndedBy: TypeAlias = Literal["max_probes", "search_seconds", "stopped"]

FAR, NEAR, NEAREST = 0.2, 2.0, 40.0
"""Requests beyond the limits that a probe at the boundary has on average: until one has failed, at least afterwards, and at most. So it
has 20, 200 and 4,000 requests for a share of 0.99."""
FILLING = 0.25
"""The first part of a probe, which does not count: the server's queue is still filling."""
_SHARE_OF_TIME = 0.25
"""A probe takes at most this share of the time that is left, so that there are several near the boundary."""
_LEAST_OF_TIME = 0.05
"""A probe near the boundary may last this share of the whole time, however little is left."""
_TIMES_THE_LIMIT = 15.0
"""A probe near the boundary lasts so many times the largest limit, until a queue that grows slowly reaches it."""
_RELAXATIONS = 4.0
"""It also lasts so many times the square of the time that a request may wait, times the rate: about ten times as long as a busy queue
needs to forget how it began."""
_CONFIDENCE = 0.95
_TAIL = 0.05
"""Probability that the largest load is below the answer."""
PRECISION = 0.15
"""The interval is narrow enough if its ends differ by no more than this share."""
_MARGIN = 0.99
"""The answer is at most this share of the interval's lower end, because a probe of a finite length cannot see a queue that grows still
more slowly."""
_STEPS = 35
"""Levels between a load and twice the load in an open loop, 2 % apart. So probes near the boundary repeat levels."""
_NARROWER = 1.5
"""In a wider interval than this, probes last as short as possible."""
_WIDE, _BESIDE, _AROUND = 1.25, 0.05, 0.2
"""In a narrower interval than the first, probes lie so far beside the boundary; requests count as near it within the last. The last two
are differences of logarithms."""
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


def requests_needed(share: float | None) -> int:
    """The fewest requests that show this share with a confidence of 95 %, if all of them keep the limits. No number can show that
    all requests keep them: a share of 1 is a statement on the counted requests only.

    >>> requests_needed(0.99), requests_needed(0.9), requests_needed(1.0), requests_needed(None)
    (299, 29, 1, 1)
    """
    if share is None or not 0 < share < 1:
        return 1
    return ceil(log(1 - _CONFIDENCE) / log(share) - 1e-9)


def requests_of_probe(share: float | None, repeats: int) -> int:
    """Requests that each probe of a level must send, so that all of them together have `requests_needed`.

    >>> requests_of_probe(0.99, 3)
    134
    """
    return ceil(ceil(requests_needed(share) / repeats) / (1 - FILLING))


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
    """How much longer than usual a request may take before it misses a limit."""
    seconds: float = 0.0
    """How long it took."""
    failed: int = 0
    """Requests without a latency."""
    tail: tuple[float, float] | None = None
    """The share of misses by the latencies of the slowest requests, and how many independent misses would tell it as well."""


class SearchResult(Struct, frozen=True, kw_only=True):
    """The result of a search."""

    status: SearchStatus
    level: float | None
    """The load that the estimate exceeds with a probability of 95 %, rounded down. A search that
    ended by itself has probed it; None: no load does."""
    passed: tuple[int, int]
    """Probes at this level: how many passed, of how many."""
    failing_level: float | None
    """The smallest level above it at which most probes failed; None: none did."""
    failed: tuple[int, int]
    """Probes at that level: how many failed, of how many."""
    ci95: tuple[float, float] | None
    """95 % interval of the largest load that meets the limits; None: nothing failed, or nothing passed."""
    sure: float | None
    """Probability that this load is at least `level`."""
    probes: tuple[Probe, ...]
    requests: int = 0
    """Requests that count, over all probes at `level`."""
    needed: int = 0
    """How many of them show the share of requests that must keep the limits."""
    ended_by: EndedBy | None = None
    """What ended the search while there was more to learn; None: nothing did."""
    next_level: float | None = None
    """The level that it would have probed next."""
    next_seconds: float | None = None
    """How long that probe would have sent; None: unknown, or `ended_by` is not `search_seconds`."""

    def to_json(self) -> JsonObject:
        """All fields by name."""
        found: JsonObject = as_json(self)
        return found

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> SearchResult:
        """Read the form of `to_json`."""
        return convert(stored, cls)


class NextProbe(NamedTuple):
    """What a search does next."""

    level: float
    seconds: float | None
    """How long it sends; None: until it has its number of requests."""


class _Boundary(NamedTuple):
    """What the probes say together about the largest load that meets the limits."""

    low: float
    middle: float
    high: float
    """The median, and the ends of the 95 % interval."""
    sure: float
    """The load that it is at least with a probability of 95 %."""
    at_least: Callable[[float], float]
    """The probability that it is at least this load."""


def next_probe(probes: Sequence[Probe], settings: LoadSettings) -> NextProbe | None:
    """The next probe: at twice the load until one fails, then around the boundary until its interval is narrow, then at the answer.

    None: nothing is left to learn, or the client was the limit twice in a row.
    """
    search = _search_of(settings)
    if probes and probes[-1].client_limit:
        # Probe again, because a short disturbance of this machine is not a limit.
        last = probes[-1].level
        return None if _client_gave_out(probes) else NextProbe(last, _seconds(settings, last, probes))
    counted = [probe for probe in probes if not probe.client_limit]
    if not counted:
        return NextProbe(search.lowest, _seconds(settings, search.lowest, ()))
    if all(probe.passed for probe in counted):
        top = max(probe.level for probe in counted)
        if top < search.highest:
            level = min(search.highest, 2 * top)
        elif _waits(search, _at(counted, top)):
            level = top
        else:
            return None
        return NextProbe(level, _seconds(settings, level, counted))
    boundary = _boundary(counted, settings)
    answer = _settled(boundary, counted, settings)
    if answer is None:
        level = _telling_level(counted, boundary, settings)
    else:
        ends = [answer, _failing_level(counted, answer)]
        waiting = [end for end in ends if end is not None and _waits(search, _at(counted, end))]
        if not waiting:
            return None
        level = min(waiting, key=lambda end: len(_at(counted, end)))
    return NextProbe(level, _seconds(settings, level, counted, boundary, settled=answer is not None))


def search_result(probes: Iterable[Probe], settings: LoadSettings, *, stopped: bool = False) -> SearchResult:
    """Evaluate all probes. `stopped`: by something other than the limits of the search."""
    probes, search = tuple(probes), _search_of(settings)
    counted = [probe for probe in probes if not probe.client_limit]
    following = next_probe(probes, settings)
    boundary = None
    if counted and not all(probe.passed for probe in counted):
        boundary = _boundary(counted, settings)
    good = _answer(counted, boundary, settings)
    bad = _failing_level(counted, good or 0.0)
    at_good = [] if good is None else _at(counted, good)
    at_bad = [] if bad is None else _at(counted, bad)
    requests, needed = sum(probe.requests for probe in at_good), requests_needed(search.share)
    status = _status(probes, search, good, boundary, following)
    if status in ("found", "at_least") and requests < needed:
        status = "too_few"
    ended_by: EndedBy | None = None
    if following is not None:
        ended_by = (
            "stopped" if stopped else "max_probes" if len(probes) >= search.most_probes else "search_seconds"
        )
    of_time = following is not None and ended_by == "search_seconds" and settings.requests is None
    known = boundary is not None and good is not None
    return SearchResult(
        status=status,
        level=good,
        passed=(sum(probe.passed for probe in at_good), len(at_good)),
        failing_level=bad,
        failed=(sum(not probe.passed for probe in at_bad), len(at_bad)),
        ci95=(_digits(boundary.low), _digits(boundary.high)) if boundary is not None and known else None,
        sure=round(boundary.at_least(good), 4) if boundary is not None and good is not None else None,
        probes=probes,
        requests=requests,
        needed=needed,
        ended_by=ended_by,
        next_level=None if following is None else following.level,
        next_seconds=following.seconds if of_time and following is not None else None,
    )


def _search_of(settings: LoadSettings) -> LoadSearch:
    assert settings.search is not None
    return settings.search


def _status(
    probes: Sequence[Probe],
    search: LoadSearch,
    good: float | None,
    boundary: _Boundary | None,
    following: NextProbe | None,
) -> SearchStatus:
    if _client_gave_out(probes):
        return "client_limit"
    if good is not None and good >= search.highest:
        return "at_least"  # more probes of this level would not change the answer's kind
    if not probes or (following is not None and (good is None or boundary is None)):
        return "unfinished"
    return "not_met" if good is None else "found" if following is None else "bounded"


def _client_gave_out(probes: Sequence[Probe]) -> bool:
    """Whether the client was the limit in two probes in a row."""
    return len(probes) > 1 and all(probe.client_limit for probe in probes[-2:])


def _at(probes: Iterable[Probe], level: float) -> list[Probe]:
    return [probe for probe in probes if probe.level == level]


def _mostly_passed(probes: Sequence[Probe]) -> bool:
    return 2 * sum(probe.passed for probe in probes) > len(probes)


def _failing_level(counted: Sequence[Probe], above: float) -> float | None:
    """The smallest level above this one at which most probes failed."""
    levels = {probe.level for probe in counted if probe.level > above}
    return min((level for level in levels if not _mostly_passed(_at(counted, level))), default=None)


def _waits(search: LoadSearch, probes: Sequence[Probe]) -> bool:
    """Whether a level at an end needs more probes of its own: one alone may have failed, or passed, by chance."""
    few = search.sized and sum(probe.requests for probe in probes) < requests_needed(search.share)
    return len(probes) < search.repeats or (few and _mostly_passed(probes))


def _answer(counted: Sequence[Probe], boundary: _Boundary | None, settings: LoadSettings) -> float | None:
    """The largest level that passed, if none failed; else a level at the lower end of the interval."""
    if boundary is None:
        return max((probe.level for probe in counted), default=None)
    search = _search_of(settings)
    answer = _settled(boundary, counted, settings) or _lower_end(boundary, counted, settings)
    own = _at(counted, answer)
    if answer < search.lowest or (own and not _mostly_passed(own)):
        return None
    return min(answer, search.highest)


def _settled(boundary: _Boundary, counted: Sequence[Probe], settings: LoadSettings) -> float | None:
    """The answer, once the interval is narrow; None: it is not."""
    search = _search_of(settings)
    low, _, high = boundary[:3]
    if low < search.lowest and all(probe.level >= search.lowest and not probe.passed for probe in counted):
        return search.lowest  # no level passed; the lowest decides
    answer = _lower_end(boundary, counted, settings)
    neighbours = not settings.open_loop and boundary.at_least(answer + 1) <= _TAIL
    if high > low * (1 + PRECISION) and not neighbours:
        return None
    return min(max(answer, search.lowest), search.highest)


def _lower_end(boundary: _Boundary, counted: Sequence[Probe], settings: LoadSettings) -> float:
    """The largest level a little below the lower end of the interval at which probes did not mostly fail."""
    if settings.open_loop:
        level = _on_the_grid(boundary.sure * _MARGIN, settings)
    else:
        level = float(floor(boundary.sure))
        while boundary.at_least(level + 1) >= 1 - _TAIL:
            level += 1
    while level > 0 and (own := _at(counted, level)) and not _mostly_passed(own):
        level = _on_the_grid(_MARGIN * level, settings) if settings.open_loop else level - 1
    return level


def _on_the_grid(load: float, settings: LoadSettings) -> float:
    """The largest level of the grid of an open loop that is not above this load."""
    lowest = _search_of(settings).lowest
    step = floor(_STEPS * log2(load / lowest) + 1e-6)
    return _digits(lowest * 2 ** (step / _STEPS))


def _telling_level(counted: Sequence[Probe], boundary: _Boundary, settings: LoadSettings) -> float:
    """The load of the next probe: in the middle of a wide interval, then in turn a little below and above, to learn how steep the
    boundary is."""
    search = _search_of(settings)
    low, middle, high = boundary[:3]
    level = middle
    if high <= _WIDE * low:
        sides = [0, 0]
        for probe in counted:
            if abs(log(probe.level / middle)) < _AROUND:
                sides[probe.level > middle] += probe.requests
        beside = min(_BESIDE, log(high / low) / 2)
        level = middle * exp(beside if sides[1] <= sides[0] else -beside)
    if settings.open_loop:
        return min(max(_on_the_grid(level, settings), search.lowest), search.highest)
    # Whole numbers of which it is not known whether they are too many; else the two beside the boundary, in turn.
    inside = range(ceil(low), floor(high) + 1) or (floor(middle), floor(middle) + 1)
    allowed = [float(each) for each in inside if search.lowest <= each <= search.highest]
    known = {each: sum(probe.requests for probe in _at(counted, each)) for each in allowed}
    closest = sorted(allowed, key=lambda each: abs(log(each / level)))[:2]
    return min(closest, key=known.__getitem__, default=search.lowest)


def _seconds(
    settings: LoadSettings,
    level: float,
    probes: Sequence[Probe],
    boundary: _Boundary | None = None,
    *,
    settled: bool = False,
) -> float | None:
    """How long a probe lasts: at least as long as set, and until it has enough requests to tell one level from the next, or, at
    the highest level, to show the share. In a closed loop, the rate is about that of the probe before."""
    search = _search_of(settings)
    answered = next((probe.answered for probe in reversed(probes) if probe.answered), None)
    rate = level if settings.open_loop else answered
    if not search.sized or settings.seconds is None or not rate:
        return settings.seconds
    allowed, left = allowed_misses(search.share), search.seconds - sum(probe.seconds for probe in probes)
    needed, fits = FAR / allowed, _SHARE_OF_TIME * left
    if settled or level >= search.highest:
        needed = requests_of_probe(search.share, search.repeats)
    elif boundary is not None:
        known = sum(probe.requests for probe in probes if abs(log(probe.level / level)) < _AROUND)
        needed = max(NEAR / allowed, min(known / 2, NEAREST / allowed))
    wanted = needed / rate
    if boundary is not None:
        wanted = max(wanted, _memory(settings, probes, rate))
        least = _LEAST_OF_TIME * search.seconds
        fits = least if boundary.high > _NARROWER * boundary.low else max(least, fits)
    return max(settings.seconds, min(wanted, fits))


def _memory(settings: LoadSettings, probes: Sequence[Probe], rate: float) -> float:
    """How long a probe must last, in seconds, for the queue of the server to forget how it began."""
    longest = _TIMES_THE_LIMIT * max((limit for _, limit in settings.slo), default=0.0)
    if settings.open_loop:
        room = max((probe.room_s for probe in probes if probe.room_s is not None), default=0.0)
        longest = max(longest, _RELAXATIONS * room * room * rate)
    return min(longest, _SHARE_OF_TIME * _search_of(settings).seconds)


def _digits(load: float) -> float:
    """A load in four digits."""
    return float(f"{load:.4g}")


def allowed_misses(share: float | None) -> float:
    """The share of requests that may miss the limits. If all must keep them, one in a thousand decides."""
    return min(0.5, max(1e-3, 1 - (0.5 if share is None else share)))


class _Level(NamedTuple):
    place: float
    """Logarithm of the load."""
    kept: float
    missed: float
    """Requests, in numbers of independent ones."""
    most: float
    """Logarithm of the largest share of misses that tells anything here. If a level has this share, it may have been any larger one."""


def _boundary(counted: Sequence[Probe], settings: LoadSettings) -> _Boundary:
    """Where the share of misses reaches what is allowed, by Bayes' rule.

    Near the boundary, the share of misses is a power of the load; place and power are unknown, with uniform priors over the logarithm of
    places between half of the lowest and twice the highest probe, and over the powers above.
    """
    allowed = allowed_misses(_search_of(settings).share)
    least = allowed / _TELLING
    levels = _evidence(counted, settings)
    bounds = log(least), log(allowed)
    start, end = levels[0].place - log(2), levels[-1].place + log(2)
    places, weights = _posterior(levels, bounds, start, end)
    step = places[1] - places[0]
    start, end = _quantile(places, weights, 1e-4) - step, _quantile(places, weights, 1 - 1e-4) + step
    places, weights = _posterior(levels, bounds, start, end)
    total = sum(weights)

    def at_least(load: float) -> float:
        return sum(each for place, each in zip(places, weights, strict=True) if place >= log(load)) / total

    low, middle, high, sure = (exp(_quantile(places, weights, share)) for share in (0.025, 0.5, 0.975, _TAIL))
    return _Boundary(low, middle, high, sure, at_least)


def _evidence(counted: Sequence[Probe], settings: LoadSettings) -> list[_Level]:
    """What all probes of each level say, from the lowest to the highest.

    A probe has a share of misses, and a weight in independent requests: misses are as uncertain as their spread says. If misses are
    late replies, the slowest requests tell the share better than the few that missed. A probe that was shorter than the memory of the
    queue counts less.
    """
    share = _search_of(settings).share
    allowed = allowed_misses(share)
    least, most = allowed / _TELLING, min(_TELLING * allowed, (1 + allowed) / 2)
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
            if _mostly_passed(_at(counted, probe.level)):
                continue  # outvoted: something disturbed this probe
            part = most
        elif late:
            if probe.tail is not None:
                part = min(most, max(least, factor * probe.tail[0]))
                weight = min(max(weight, _WORTH_OF_TAIL * probe.tail[1] / part), float(probe.requests))
            if probe.seconds and (memory := _memory(settings, counted, probe.level)):
                weight *= min(1.0, probe.seconds / memory) ** 0.5
        level[0] += weight * (1 - part)
        level[1] += weight * part
    return [
        _Level(log(level), kept, missed, log(most if missed >= most * (kept + missed) - 1e-9 else _FLOODED))
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
    for level in levels:
        misses = min(level.most, max(least, allowed + power * (level.place - place)))
        found += level.missed * misses + level.kept * log1p(-exp(misses))
    return found


def _quantile(places: Sequence[float], weights: Sequence[float], share: float) -> float:
    step, left = places[1] - places[0], share * sum(weights)
    for place, weight in zip(places, weights, strict=True):
        if weight and left <= weight:
            return place + step * (left / weight - 0.5)
        left -= weight
    return places[-1] + step / 2
