"""Searches for the largest load that keeps the limits: chooses the next level to probe, and evaluates all probes.

Both are pure functions of the probes so far. A probe is a stage of the test; it passed if enough of its requests kept every limit.
A single probe near the boundary may pass or fail by chance, so both ends of the last bracket are probed several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, floor, inf, isqrt, log, sqrt
from typing import Any, Literal, TypeAlias

from msgspec import Struct, convert, to_builtins

from benchwright.core import JsonObject
from benchwright.perf._values import LoadSearch

SearchStatus: TypeAlias = Literal["found", "at_least", "not_met", "client_limit", "unfinished"]
"""How a search ended. `at_least`: the highest allowed level passed; `not_met`: the lowest failed; `client_limit`: the client
reached its limit before the server; `unfinished`: probes or time ran out, or the user stopped it."""

DEVIATIONS = 1.0
FAR, NEAR = 0.5, 5.0
"""Requests beyond the limits that a probe at the boundary has on average, until one has failed and afterwards. So it has 500
requests for a share of 0.99."""
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
    waiting = [level for level in ends if tallies[level].probes < search.repeats]
    return min(waiting, key=lambda level: tallies[level].probes, default=None)


def search_result(probes: Iterable[Probe], search: LoadSearch, *, whole: bool) -> SearchResult:
    """Evaluate all probes."""
    probes = tuple(probes)
    tallies = _tallies(probes, search.share)
    bracket = _bracket(tallies)
    good, bad = bracket.good, bracket.bad
    at_good, at_bad = tallies.get(good or 0.0, _Tally()), tallies.get(bad or 0.0, _Tally())
    ci95, sure = _boundary(tallies, good) if good is not None and bad is not None else (None, None)
    return SearchResult(
        status=_status(probes, search, bracket, whole),
        level=good,
        passed=(at_good.passed, at_good.probes),
        failing_level=bad,
        failed=(at_bad.probes - at_bad.passed, at_bad.probes),
        ci95=ci95,
        sure=sure,
        probes=probes,
    )


def _status(probes: Sequence[Probe], search: LoadSearch, bracket: _Bracket, whole: bool) -> SearchStatus:
    if _client_gave_out(probes):
        return "client_limit"
    if not probes or next_level(probes, search, whole=whole) is not None:
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
