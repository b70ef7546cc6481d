"""Searches for the largest load that keeps the limits: chooses the next level to probe, and evaluates all probes.

Both are pure functions of the probes so far. A probe is a stage of the test; it passed if enough of its requests kept every limit.
A single probe near the boundary may pass or fail by chance, so both ends of the last bracket are probed several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, exp, floor, inf, isqrt, log, sqrt
from typing import Any, Literal, TypeAlias

from msgspec import Struct, convert, to_builtins

from benchwright.core import JsonObject
from benchwright.perf._values import LoadSearch, LoadSettings

SearchStatus: TypeAlias = Literal["found", "at_least", "too_few", "not_met", "client_limit", "unfinished"]
"""How a search ended. `at_least`: the highest allowed level passed; `too_few`: a level passed, but with too few requests to show
the share; `not_met`: the lowest failed; `client_limit`: the client reached its limit before the server; `unfinished`: probes or
time ran out, or the user stopped it."""
ANSWERS: frozenset[SearchStatus] = frozenset({"found", "at_least"})
"""The statuses of a search that found a load."""
EndedBy: TypeAlias = Literal["max_probes", "search_seconds", "stopped"]

DEVIATIONS = 1.0
FAR, NEAR = 0.5, 5.0
"""Requests beyond the limits that a probe at the boundary has on average, until one has failed and afterwards. So it has 500
requests for a share of 0.99."""
FILLING = 0.25
"""The first part of a probe, which does not count: the server's queue is still filling."""
_LONGEST_PROBE = 30.0
"""The longest probe, in multiples of the time that was set."""
_TIMES_THE_LIMIT = 15.0
_CONFIDENCE = 0.95
PRECISION = 0.05
"""The bracket is narrow enough if its ends differ by no more than this share."""

_STEEPNESS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
"""Possible widths of the boundary: the share of load over which probes change from passing to failing."""
_GRID = 400


def most_misses(requests: int, share: float, *, deviations: float) -> int:
    """The most requests beyond the limits with which a probe passes: so many standard deviations less than the share allows, because
    a probe at the boundary itself would pass by chance every second time.

    >>> most_misses(400, 0.99, deviations=0), most_misses(400, 0.99, deviations=1), most_misses(50, 0.99, deviations=1)
    (4, 2, 0)
    """
    allowed = (1 - share) * requests + 1e-9
    return max(0, floor(allowed - deviations * sqrt(allowed)))


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


def probe_seconds(
    settings: LoadSettings, level: float, *, near: bool, answered: float | None
) -> float | None:
    """How long a probe lasts: at least as long as set, and until it has enough requests to tell one level from the next, or, at
    the highest level, to show the share. In a closed loop, the rate is about that of the probe before, `answered`. `near`: a
    probe has failed. None: until it has its number of requests."""
    search, rate = settings.search, level if settings.open_loop else answered
    if search is None or not search.sized or settings.seconds is None or not rate:
        return settings.seconds
    needed = (NEAR if near else FAR) / max(1e-4, 1 - settings.slo_share)
    if level >= search.highest:
        needed = max(needed, requests_of_probe(search.share, search.repeats))
    longest = max((limit for _, limit in settings.slo), default=0.0)
    waits = _TIMES_THE_LIMIT * longest if near else 0.0  # until a queue that grows slowly reaches the limit
    return max(settings.seconds, min(max(needed / rate, waits), _LONGEST_PROBE * settings.seconds))


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


class SearchResult(Struct, frozen=True, kw_only=True):
    """The result of a search."""

    status: SearchStatus
    level: float | None
    """The largest level whose probes passed, by majority; None: none did."""
    passed: tuple[int, int]
    """Probes at this level: how many passed, of how many."""
    failing_level: float | None
    """The smallest level above it whose probes failed; None: none did."""
    failed: tuple[int, int]
    """Probes at that level: how many failed, of how many."""
    ci95: tuple[float, float] | None
    """95 % interval of the load at which half of the probes pass; None: nothing failed, or nothing passed."""
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
        found: JsonObject = to_builtins(self)
        return found

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> SearchResult:
        """Read the form of `to_json`."""
        return convert(stored, cls)


class _Tally(Struct):
    passed: int = 0
    probes: int = 0
    requests: int = 0
    misses: int = 0
    share: float | None = None

    @property
    def good(self) -> bool:
        """Whether most probes passed and, if there are several, they have so few misses together that chance does not explain it."""
        if 2 * self.passed <= self.probes:
            return False
        if self.share is None or self.probes == 1:
            return True
        return self.misses <= most_misses(self.requests, self.share, deviations=DEVIATIONS)


class _Bracket(Struct, frozen=True):
    """The highest level that passed below the lowest one that failed."""

    good: float | None
    bad: float | None


def next_level(probes: Sequence[Probe], search: LoadSearch, *, whole: bool) -> float | None:
    """The level of the next probe: doubling until one fails, then halving the bracket, then repeats at both ends.

    None: nothing is left to learn, or the client was the limit twice in a row. `whole`: levels are whole numbers.
    """
    if probes and probes[-1].client_limit:
        # Probe again, because a short disturbance of this machine is not a limit.
        return None if _client_gave_out(probes) else probes[-1].level
    tallies = _tallies(probes, search.share)
    bracket = _bracket(tallies)
    if bracket.bad is None:
        if bracket.good is None:
            return search.lowest
        if bracket.good < search.highest:
            return min(search.highest, 2 * bracket.good)
        ends = [bracket.good]
    elif bracket.good is None:
        ends = [bracket.bad]
    else:
        middle = _between(bracket.good, bracket.bad, whole=whole)
        if middle is not None:
            return middle
        ends = [bracket.bad, bracket.good]
    waiting = [
        level
        for level in ends
        if tallies[level].probes < search.repeats
        or (
            search.sized and level == bracket.good and tallies[level].requests < requests_needed(search.share)
        )
    ]
    return min(waiting, key=lambda level: tallies[level].probes, default=None)


def search_result(
    probes: Iterable[Probe], search: LoadSearch, *, whole: bool, stopped: bool = False
) -> SearchResult:
    """Evaluate all probes. `stopped`: by something other than the limits of the search."""
    probes = tuple(probes)
    tallies = _tallies(probes, search.share)
    bracket = _bracket(tallies)
    good, bad = bracket.good, bracket.bad
    at_good, at_bad = tallies.get(good or 0.0, _Tally()), tallies.get(bad or 0.0, _Tally())
    ci95, sure = _boundary(tallies, good) if good is not None and bad is not None else (None, None)
    needed, following = requests_needed(search.share), next_level(probes, search, whole=whole)
    status = _status(probes, search, bracket, following)
    if status in ANSWERS and at_good.requests < needed:
        status = "too_few"
    ended_by: EndedBy | None = None
    if following is not None:
        ended_by = (
            "stopped" if stopped else "max_probes" if len(probes) >= search.most_probes else "search_seconds"
        )
    return SearchResult(
        status=status,
        level=good,
        passed=(at_good.passed, at_good.probes),
        failing_level=bad,
        failed=(at_bad.probes - at_bad.passed, at_bad.probes),
        ci95=ci95,
        sure=sure,
        probes=probes,
        requests=at_good.requests,
        needed=needed,
        ended_by=ended_by,
        next_level=following,
    )


def _status(
    probes: Sequence[Probe], search: LoadSearch, bracket: _Bracket, following: float | None
) -> SearchStatus:
    if _client_gave_out(probes):
        return "client_limit"
    if bracket.bad is None and bracket.good is not None and bracket.good >= search.highest:
        return "at_least"  # more probes of this level would not change the answer's kind
    if not probes or following is not None:
        return "unfinished"
    if bracket.good is None:
        return "not_met"
    return "at_least" if bracket.bad is None else "found"


def _client_gave_out(probes: Sequence[Probe]) -> bool:
    """Whether the client was the limit in two probes in a row."""
    return len(probes) > 1 and all(probe.client_limit for probe in probes[-2:])


def _tallies(probes: Iterable[Probe], share: float | None) -> dict[float, _Tally]:
    found: dict[float, _Tally] = {}
    for probe in probes:
        if not probe.client_limit:
            tally = found.setdefault(probe.level, _Tally(share=share))
            tally.probes += 1
            tally.passed += probe.passed
            tally.requests += probe.requests
            tally.misses += round((1 - probe.share) * probe.requests)
    return found


def _bracket(tallies: dict[float, _Tally]) -> _Bracket:
    bad = min((level for level, tally in tallies.items() if not tally.good), default=None)
    below = inf if bad is None else bad
    good = max((level for level, tally in tallies.items() if tally.good and level < below), default=None)
    return _Bracket(good, bad)


def _between(good: float, bad: float, *, whole: bool) -> float | None:
    """The level to probe inside a bracket; None if it is narrow enough."""
    if bad <= good * (1 + PRECISION):
        return None
    if whole:
        middle = max(int(good) + 1, isqrt(int(good) * int(bad)))
        return float(middle) if middle < bad else None
    return float(f"{sqrt(good * bad):.4g}")


def _boundary(tallies: dict[float, _Tally], level: float) -> tuple[tuple[float, float], float]:
    """The 95 % interval of the load at which half of the probes pass, and the probability that it is `level` or more.

    The probability of passing falls with the logarithm of the load along a logistic curve. Its place and steepness are
    estimated by Bayes' rule, with uniform priors: over places between half of the lowest and twice the highest probe, and
    over the widths above.
    """
    start, end = log(min(tallies) / 2), log(max(tallies) * 2)
    step = (end - start) / _GRID
    places = [start + (number + 0.5) * step for number in range(_GRID)]
    weights = [sum(_likelihood(tallies, place, width) for width in _STEEPNESS) for place in places]
    total = sum(weights)
    reached, low, high = 0.0, None, end
    for place, weight in zip(places, weights, strict=True):
        reached += weight / total
        if low is None and reached >= 0.025:
            low = place - step / 2
        if reached >= 0.975:
            high = place + step / 2
            break
    above = sum(weight for place, weight in zip(places, weights, strict=True) if place >= log(level)) / total
    assert low is not None
    return (float(f"{exp(low):.4g}"), float(f"{exp(high):.4g}")), round(above, 4)


def _likelihood(tallies: dict[float, _Tally], place: float, width: float) -> float:
    found = 0.0
    for level, tally in tallies.items():
        x = (log(level) - place) / width
        # log(1 / (1 + e^x)), and log(1 - that), without overflow
        rest = log(1 + exp(-abs(x)))
        found -= tally.passed * (max(x, 0.0) + rest) + (tally.probes - tally.passed) * (max(-x, 0.0) + rest)
    return exp(found)
