"""Searches for the largest load that keeps the limits: chooses the next probe, and evaluates all probes.

Everything here is a pure function of the probes so far, so a search can be played through on a server that exists on paper. A probe is
a stage of the test. What counts is how many of its requests missed the limits: a curve through all probes says where the share that may
miss is reached. The search goes on near this load until its 95 % interval is narrow, and answers with a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, exp, floor, log, log2
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct, convert
from msgspec.structs import replace

from benchwright.core import JsonObject, as_json, ready
from benchwright.perf._boundary import (
    SHARE_OF_TIME,
    TAIL,
    Boundary,
    Probe,
    allowed_misses,
    fails,
    find_boundary,
    memory,
    mostly_passed,
    not_refuted,
    passed,
    probes_at,
    search_of,
    shown,
)
from benchwright.perf._schedule import RANDOM
from benchwright.perf._values import LoadSearch, LoadSettings

SearchStatus: TypeAlias = Literal[
    "found", "bounded", "at_least", "too_few", "not_met", "client_limit", "unfinished"
]
"""How a search ended. `bounded`: probes or time ran out before the interval was narrow, but its lower end is known; `at_least`: the highest
allowed level passed; `too_few`: a level passed, but with too few requests to show the share; `not_met`: the lowest failed;
`client_limit`: the client reached its limit before the server; `unfinished`: probes or time ran out before a level was known to pass
or one failed, or the user stopped it. A search that ended before any level failed has no answer unless the level was confirmed by as many probes as an
answer."""
_ANSWERS: frozenset[SearchStatus] = frozenset({"found", "bounded", "at_least"})
"""The statuses of a search that found a load."""
EndedBy: TypeAlias = Literal["max_probes", "search_seconds", "stopped"]

FAR, AGAIN, NEAR, NEAREST = 0.2, 3.0, 2.0, 40.0
"""Requests beyond the limits that a probe at the boundary has on average: until one has failed, if it is repeated because it may have failed by
chance, at least afterwards, and at most. So it has 20, 300, 200 and 4,000 requests for a share of 0.99."""
FILLING = 0.25
"""The first part of a probe, which does not count: the server's queue is still filling."""
_LEAST_OF_TIME = 0.05
"""A probe near the boundary may last this share of the whole time, however little is left."""
_CONFIDENCE = 0.95
PRECISION, _ON_PAPER = 0.15, 0.1
"""The interval is narrow enough if its ends differ by no more than this share; the second, if a queue on paper told it."""
_MARGIN = 0.99
"""The answer is at most this share of the interval's lower end, because a probe of a finite length cannot see a queue that grows still
more slowly."""
_UNCONFIRMED = 0.95
"""The answer is at most this share of what requests showed, if the search ended before probes could confirm it."""
_STEPS = 35
"""Levels between a load and twice the load in an open loop, 2 % apart. So probes near the boundary repeat levels."""
_FAMILIAR = 0.98
"""A level that was probed is taken instead of one that is at most this much higher."""
_WIDE, _BESIDE, _AROUND = 1.25, 0.05, 0.2
"""In a narrower interval than the first, probes lie so far beside the boundary; requests count as near it within the last. The last two
are differences of logarithms."""


def requests_needed(share: float | None) -> int:
    """The fewest requests that show this share with a confidence of 95 %, if all of them keep the limits. No number can show that
    all requests keep them: a share of 1 is a statement on the counted requests only.

    >>> requests_needed(0.99), requests_needed(0.9), requests_needed(1.0), requests_needed(None)
    (299, 29, 1, 1)
    """
    if share is None or not 0 < share < 1:
        return 1
    return ceil(log(1 - _CONFIDENCE) / log(share) - 1e-9)


class SearchResult(Struct, frozen=True, kw_only=True):
    status: SearchStatus
    level: float | None
    """The load that the estimate exceeds with a probability of 95 %, or 98.5 % by a queue on paper, rounded down. A search that
    ended by itself has probed it; None: no load does."""
    passed: tuple[int, int]
    """Probes at this level, or without one at `held`: how many passed, of how many."""
    failing_level: float | None
    """The smallest level above it at which most probes failed; None: none did."""
    failed: tuple[int, int]
    """Probes at that level: how many failed, of how many."""
    ci95: tuple[float, float] | None
    """95 % interval of the largest load that meets the limits; None: nothing failed, or nothing passed."""
    sure: float | None
    """Probability that this load is at least `level`."""
    probes: tuple[Probe, ...]
    held: float | None = None
    """The largest level below `failing_level` that passed, by its probes together or by most of them; an answer or not."""
    requests: int = 0
    """Requests that count, over all probes at `level`, or without one at `held`."""
    needed: int = 0
    """How many of them show the share of requests that must keep the limits."""
    ended_by: EndedBy | None = None
    """What ended the search while there was more to learn; None: nothing did."""
    next_level: float | None = None
    """The level that it would have probed next."""
    next_seconds: float | None = None
    """How long that probe would have sent; None: unknown, or `ended_by` is not `search_seconds`."""

    @property
    def answered(self) -> bool:
        """Whether it found a load."""
        return self.status in _ANSWERS

    def to_json(self) -> JsonObject:
        """All fields by name."""
        found: JsonObject = as_json(self)
        return found

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> SearchResult:
        """Read the form of `to_json`."""
        return convert(stored, ready(cls))

    @staticmethod
    def requests_of_probe(share: float | None, repeats: int) -> int:
        """Requests that each probe of a level must send, so that all of them together have `requests_needed`.

        >>> SearchResult.requests_of_probe(0.99, 3)
        134
        """
        return ceil(ceil(requests_needed(share) / repeats) / (1 - FILLING))


class NextProbe(NamedTuple):
    """What a search does next."""

    level: float
    seconds: float | None
    """How long it sends; None: until it has its number of requests."""


def next_probe(probes: Sequence[Probe], settings: LoadSettings) -> NextProbe | None:
    """The next probe: at twice the load until a level fails by more than chance, then around the boundary until its interval is narrow, then at the answer.

    None: nothing is left to learn, or the client was the limit twice in a row.
    """
    search = search_of(settings)
    if probes and probes[-1].client_limit:
        # Probe again, because a short disturbance of this machine is not a limit.
        last = probes[-1].level
        return None if _client_gave_out(probes) else NextProbe(last, _seconds(settings, last, probes))
    counted = [probe for probe in probes if not probe.client_limit]
    if not counted:
        return NextProbe(search.lowest, _seconds(settings, search.lowest, ()))
    if not _has_end(counted, search):
        top = max(probe.level for probe in counted)
        if fails(probes_at(counted, top), search) is None:
            level = top
        elif top < search.highest:
            level = min(search.highest, 2 * top)
        elif _waits(search, probes_at(counted, top)):
            level = top
        else:
            return None
        return NextProbe(level, _seconds(settings, level, counted))
    boundary = find_boundary(counted, settings)
    answer = _settled(boundary, counted, settings)
    if answer is None:
        level = _telling_level(counted, boundary, settings)
    else:
        level = answer
        if not _waits(search, probes_at(counted, answer)):
            failing = _failing_level(counted, answer)
            # On paper, all probes near the boundary count, whichever level failed.
            above = _just_above(boundary, counted, answer, settings)
            if above is not None:
                level = above
            elif (
                failing is None
                or boundary.on_paper
                or not _may_be_chance(search, probes_at(counted, failing))
            ):
                return None
            else:
                level = failing
    return NextProbe(level, _seconds(settings, level, counted, boundary, settled=answer is not None))


def search_result(probes: Iterable[Probe], settings: LoadSettings, *, stopped: bool = False) -> SearchResult:
    """Evaluate all probes. `stopped`: by something other than the limits of the search."""
    probes, search = tuple(probes), search_of(settings)
    counted = [probe for probe in probes if not probe.client_limit]
    following = next_probe(probes, settings)
    boundary = None
    if counted and _has_end(counted, search):
        boundary = find_boundary(counted, settings)
    good = _answer(counted, boundary, settings)
    least = None
    if boundary is not None and following is not None:
        least = shown(counted, settings)
        good = _supported(good, least, boundary, counted, settings)
    status = _status(probes, search, good, boundary, following)
    bad = _failing_level(counted, good or 0.0)
    held = good
    if held is None or held not in {probe.level for probe in counted}:
        held = _held_level(counted, bad)
    if (
        boundary is None
        and status not in _ANSWERS
        and good is not None
        and _waits(search, probes_at(counted, good))
    ):
        good = None  # the last level of a climb: a few requests in a short time cannot confirm it
    shown_at = held if good is None else good
    at_good = [] if shown_at is None else probes_at(counted, shown_at)
    at_bad = [] if bad is None else probes_at(counted, bad)
    requests, needed = sum(probe.requests for probe in at_good), requests_needed(search.share)
    if status in ("found", "at_least") and requests < needed:
        status = "too_few"
    ended_by: EndedBy | None = None
    if following is not None:
        ended_by = (
            "stopped" if stopped else "max_probes" if len(probes) >= search.most_probes else "search_seconds"
        )
    of_time = following is not None and ended_by == "search_seconds" and settings.requests is None
    interval = sure = None
    if boundary is not None and good is not None:
        low, high, sure = boundary.low, boundary.high, boundary.at_least(good)
        # Only probes refute a load: a search that ended early has no narrow interval, and the curve is an assumption.
        if following is not None:
            low, high = min(low, good), max(high, not_refuted(counted, good, settings))
        elif not boundary.on_paper:
            low, high = min(low, good), max(high, bad or high)
        if least is not None and good <= least:
            sure = max(sure, _CONFIDENCE)
        interval = (_digits(low), _digits(high))
    return SearchResult(
        status=status,
        level=good,
        passed=(sum(probe.passed for probe in at_good), len(at_good)),
        failing_level=bad,
        failed=(sum(not probe.passed for probe in at_bad), len(at_bad)),
        ci95=interval,
        sure=None if sure is None else round(sure, 4),
        probes=tuple(replace(probe, trace=None) for probe in probes),
        held=held,
        requests=requests,
        needed=needed,
        ended_by=ended_by,
        next_level=None if following is None else following.level,
        next_seconds=following.seconds if of_time and following is not None else None,
    )


def _supported(
    estimate: float | None,
    least: float | None,
    boundary: Boundary,
    counted: Sequence[Probe],
    settings: LoadSettings,
) -> float | None:
    """The answer of a search that ended early, so that no probes have confirmed its estimate: at most what requests showed (`least`). Without
    chance in their times, and without a queue on paper, a level that passed is enough. An estimate may lower it, and is no evidence for more."""
    if boundary.on_paper:
        found = None if estimate is None or least is None else min(estimate, least)
    else:
        most = None if settings.profile in RANDOM else passed(counted, settings)
        lower = None if estimate is None or most is None else min(estimate, most)
        found = max(filter(None, (lower, least)), default=None)
    if found is None:
        return None
    load = _UNCONFIRMED * found
    level = _familiar(load, counted, settings) if settings.open_loop else float(round(load))
    return level if level >= search_of(settings).lowest else None


def _status(
    probes: Sequence[Probe],
    search: LoadSearch,
    good: float | None,
    boundary: Boundary | None,
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


def _has_end(counted: Sequence[Probe], search: LoadSearch) -> bool:
    """Whether a level fails the limits, and no higher one passes with as many requests: else the load can still be doubled."""
    most = 0
    for level in sorted({probe.level for probe in counted}, reverse=True):
        own = probes_at(counted, level)
        requests, failing = sum(probe.requests for probe in own), fails(own, search)
        if failing and requests > most:
            return True
        if failing is False:
            most = max(most, requests)
    return False


def _keeps(probes: Sequence[Probe], search: LoadSearch) -> bool:
    """Whether a level is known to pass: by all its probes together, or by most of them."""
    misses = sum((1 - probe.share) * probe.requests for probe in probes)
    few = misses <= allowed_misses(search.share) * sum(probe.requests for probe in probes) + 1e-3
    return fails(probes, search) is False and (few or mostly_passed(probes))


def _failing_level(counted: Sequence[Probe], above: float) -> float | None:
    """The smallest level above this one at which most probes failed."""
    levels = {probe.level for probe in counted if probe.level > above}
    return min((level for level in levels if not mostly_passed(probes_at(counted, level))), default=None)


def _held_level(counted: Sequence[Probe], below: float | None) -> float | None:
    """The largest level below this one at which most probes passed."""
    levels = {probe.level for probe in counted if below is None or probe.level < below}
    return max((level for level in levels if mostly_passed(probes_at(counted, level))), default=None)


def _waits(search: LoadSearch, probes: Sequence[Probe]) -> bool:
    """Whether a level needs more probes of its own: one alone may have passed by chance."""
    few = search.sized and sum(probe.requests for probe in probes) < requests_needed(search.share)
    return len(probes) < search.repeats or (few and mostly_passed(probes))


def _may_be_chance(search: LoadSearch, failed: Sequence[Probe]) -> bool:
    """Whether the probes of a level may have failed by chance: one alone, or a few that disagree."""
    return len(failed) < (search.repeats if any(probe.passed for probe in failed) else min(2, search.repeats))


def _answer(counted: Sequence[Probe], boundary: Boundary | None, settings: LoadSettings) -> float | None:
    """The largest level that passed, if none failed; else a level at the lower end of the interval."""
    search = search_of(settings)
    if boundary is None:
        levels = {probe.level for probe in counted}
        return max((level for level in levels if _keeps(probes_at(counted, level), search)), default=None)
    answer = _settled(boundary, counted, settings) or _lower_end(boundary, counted, settings)
    own = probes_at(counted, answer)
    if answer < search.lowest or (own and not mostly_passed(own)):
        return None
    return min(answer, search.highest)


def _settled(boundary: Boundary, counted: Sequence[Probe], settings: LoadSettings) -> float | None:
    """The answer, once the interval is narrow; None: it is not."""
    search = search_of(settings)
    low, high = boundary.low, boundary.high
    if low < search.lowest and all(probe.level >= search.lowest and not probe.passed for probe in counted):
        return search.lowest  # no level passed; the lowest decides
    if not boundary.on_paper and settings.profile in RANDOM:
        return None  # a few bursts of misses are no curve
    answer = _lower_end(boundary, counted, settings)
    neighbours = not settings.open_loop and boundary.at_least(answer + 1) <= TAIL
    if high > low * (1 + (_ON_PAPER if boundary.on_paper else PRECISION)) and not neighbours:
        return None
    return min(max(answer, search.lowest), search.highest)


def _just_above(
    boundary: Boundary, counted: Sequence[Probe], answer: float, settings: LoadSettings
) -> float | None:
    """The level just above the interval, unless one as close is known to fail: a curve far from any probe that failed is an assumption. On paper,
    the queue tells it."""
    if boundary.on_paper or not mostly_passed(probes_at(counted, answer)):
        return None
    failing, highest = _failing_level(counted, answer), search_of(settings).highest
    if settings.open_loop:
        level = _on_the_grid(max(boundary.high, answer) * 2 ** (1.5 / _STEPS), settings)
    else:
        level = answer + 1
    while (own := probes_at(counted, level)) and mostly_passed(own):
        level = _on_the_grid(level * 2 ** (1.5 / _STEPS), settings) if settings.open_loop else level + 1
    if level >= highest or (failing is not None and failing <= level):
        return None
    return level


def _lower_end(boundary: Boundary, counted: Sequence[Probe], settings: LoadSettings) -> float:
    """The largest level a little below the lower end of the interval at which probes did not mostly fail."""
    if settings.open_loop:
        level = _familiar(boundary.sure * (1 if boundary.on_paper else _MARGIN), counted, settings)
    else:
        level = float(floor(boundary.sure))
        while boundary.at_least(level + 1) >= 1 - TAIL:
            level += 1
    while level > 0 and (own := probes_at(counted, level)) and not mostly_passed(own):
        level = _familiar(_MARGIN * level, counted, settings) if settings.open_loop else level - 1
    return level


def _familiar(load: float, counted: Sequence[Probe], settings: LoadSettings) -> float:
    """A level a little below this load: one that was probed, or one of the grid."""
    known = [probe.level for probe in counted if _FAMILIAR * load <= probe.level <= load]
    return max(known, default=_on_the_grid(load, settings))


def _on_the_grid(load: float, settings: LoadSettings) -> float:
    """The largest level of the grid of an open loop that is not above this load."""
    lowest = search_of(settings).lowest
    step = floor(_STEPS * log2(load / lowest) + 1e-6)
    return _digits(lowest * 2 ** (step / _STEPS))


def _telling_level(counted: Sequence[Probe], boundary: Boundary, settings: LoadSettings) -> float:
    """The load of the next probe: in the middle of a wide interval, then in turn a little below and above, to learn how steep the
    boundary is."""
    search = search_of(settings)
    low, middle, high = boundary.low, boundary.middle, boundary.high
    level = middle
    if high <= _WIDE * low:
        beside = min(_BESIDE, log(high / low) / 2)
        # On paper, a probe at the coming answer tells as much as one above the boundary, and can be the answer itself.
        below, above = middle * exp(-beside), middle * (1.0 if boundary.on_paper else exp(beside))
        between, sides = (below * above) ** 0.5, [0, 0]
        for probe in counted:
            if abs(log(probe.level / middle)) < _AROUND:
                sides[probe.level > between] += probe.requests
        level = above if sides[1] <= sides[0] else below
    if settings.open_loop:
        return min(max(_familiar(level, counted, settings), search.lowest), search.highest)
    # Whole numbers of which it is not known whether they are too many; else the two beside the boundary, in turn.
    inside = range(ceil(low), floor(high) + 1) or (floor(middle), floor(middle) + 1)
    allowed = [float(each) for each in inside if search.lowest <= each <= search.highest]
    known = {each: sum(probe.requests for probe in probes_at(counted, each)) for each in allowed}
    closest = sorted(allowed, key=lambda each: abs(log(each / level)))[:2]
    return min(closest, key=known.__getitem__, default=search.lowest)


def _seconds(
    settings: LoadSettings,
    level: float,
    probes: Sequence[Probe],
    boundary: Boundary | None = None,
    *,
    settled: bool = False,
) -> float | None:
    """How long a probe lasts: at least as long as set, and until it has enough requests to tell one level from the next, or, at
    the highest level, to show the share. In a closed loop, the rate is about that of the probe before."""
    search = search_of(settings)
    answered = next((probe.answered for probe in reversed(probes) if probe.answered), None)
    rate = level if settings.open_loop else answered
    if not search.sized or settings.seconds is None or not rate:
        return settings.seconds
    allowed, left = allowed_misses(search.share), search.seconds - sum(probe.seconds for probe in probes)
    needed, fits = FAR / allowed, SHARE_OF_TIME * left
    if settled or level >= search.highest:
        needed = SearchResult.requests_of_probe(search.share, search.repeats)
    elif boundary is None and (own := probes_at(probes, level)):
        needed = max(AGAIN / allowed, sum(probe.requests for probe in own))
    elif boundary is not None:
        known = sum(probe.requests for probe in probes if abs(log(probe.level / level)) < _AROUND)
        needed = max(NEAR / allowed, min(known / 2, NEAREST / allowed))
    wanted = needed / rate
    if boundary is not None:
        wanted = max(wanted, memory(settings, probes, rate))
        least = _LEAST_OF_TIME * search.seconds
        few = sum(abs(log(probe.level / level)) < _AROUND for probe in probes) < 2
        fits = least if few else max(least, fits)
    return max(settings.seconds, min(wanted, fits))


def _digits(load: float) -> float:
    """A load in four digits."""
    return float(f"{load:.4g}")
