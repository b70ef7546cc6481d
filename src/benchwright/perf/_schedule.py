"""Computes when requests of an open loop are sent: pure functions of the settings and their seed.

Times are seconds after the start of the stage. Nothing here reads a clock, so the same settings always give the same
schedule, and any part of it can be computed before the first request.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from math import floor, fsum

from benchwright.core import LoadProfile, UsageError
from benchwright.perf._values import LoadSettings, PhaseName


def arrivals(settings: LoadSettings, stage: int = 0, offsets: Sequence[float] = ()) -> Iterator[float]:
    """The planned times of one stage, in order: as many as the stage has requests, or until its seconds have passed.

    >>> list(arrivals(LoadSettings(profile="constant", levels=(2.0,), requests=4)))
    [0.0, 0.5, 1.0, 1.5]
    """
    return (at for at, _ in schedule(settings, stage, offsets))


def schedule(
    settings: LoadSettings, stage: int = 0, offsets: Sequence[float] = (), level: float | None = None
) -> Iterator[tuple[float, PhaseName]]:
    """The same with the phase of each request: cool-down requests follow the measured ones at the same rate.

    `offsets` are the times of a trace, in order. `level` is that of the stage if the settings do not have it, because a search
    finds it during the test.
    """
    level = settings.levels[stage] if level is None else level
    if settings.profile == "trace":
        times: Iterator[float] = (offset / level for offset in offsets)
    elif settings.profile in _GAPS:
        times = _random(settings, level, stage)
    else:
        times = _LAWS[settings.profile](settings, level)
    return _with_phases(times, settings, random_count(settings, level) or settings.requests)


def _with_phases(
    times: Iterator[float], settings: LoadSettings, most: int | None
) -> Iterator[tuple[float, PhaseName]]:
    seconds = None if settings.profile == "ramp" else settings.seconds
    after = 0
    for number, at in enumerate(times):
        if (most is None or number < most) and (seconds is None or at < seconds):
            yield at, "measured"
        elif after < settings.cooldown:
            after += 1
            yield at, "cooldown"
        else:
            return


def _dice(settings: LoadSettings, stage: int) -> random.Random:
    """The random generator of a stage, the same in every test with this seed."""
    return random.Random(f"{settings.seed}/{stage}")


def _constant(settings: LoadSettings, rate: float) -> Iterator[float]:
    # A product, not a sum, because a million additions of a tenth do not give exactly a hundred thousand.
    return (number / rate for number in count())


def _poisson_gaps(settings: LoadSettings, rate: float, dice: random.Random) -> Callable[[], float]:
    return partial(dice.expovariate, rate)


def _gamma_gaps(settings: LoadSettings, rate: float, dice: random.Random) -> Callable[[], float]:
    """Gaps of mean 1/rate; their coefficient of variation is 1/√burstiness."""
    shape = settings.burstiness
    return partial(dice.gammavariate, shape, 1 / (shape * rate))


_GAPS: dict[str, Callable[[LoadSettings, float, random.Random], Callable[[], float]]] = {
    LoadProfile.POISSON: _poisson_gaps,
    LoadProfile.GAMMA: _gamma_gaps,
}
RANDOM = frozenset(_GAPS)
"""Profiles whose requests come at random times."""


def _random(settings: LoadSettings, rate: float, stage: int) -> Iterator[float]:
    """Random gaps that keep the rate: with n measured requests, the n − 1 gaps between them are scaled to last (n − 1)/rate. For a
    Poisson process, that is its law under the condition that its first and last arrival are so far apart. The first arrival is
    uniform in the first 1/rate, so that n requests fit into n/rate. Later ones are not scaled.

    The gaps are drawn twice, first to add them up and then one by one, because a million of them need not be in memory."""
    law = _GAPS[settings.profile]
    count = random_count(settings, rate)
    draw, factor = law(settings, rate, _dice(settings, stage)), 1.0
    if count > 1 and (length := fsum(draw() for _ in range(count - 1))) > 0:
        factor = (count - 1) / rate / length
    start = random.Random(f"{settings.seed}/{stage}/start").random() / rate
    return _spaced(start, law(settings, rate, _dice(settings, stage)), factor, count)


def _spaced(at: float, draw: Callable[[], float], factor: float, count: int) -> Iterator[float]:
    yield at
    for _ in range(count - 1):
        at += factor * draw()
        yield at
    while True:
        at += draw()
        yield at


def random_count(settings: LoadSettings, rate: float) -> int:
    """The measured requests of a stage with random gaps, as many as fit into its time at this rate."""
    if settings.profile not in _GAPS:
        return 0
    counts = [] if settings.requests is None else [settings.requests]
    if settings.seconds is not None:
        counts.append(max(1, floor(settings.seconds * rate * (1 + 1e-12))))
    return min(counts, default=1)


def _burst(settings: LoadSettings, rate: float) -> Iterator[float]:
    """Groups of `burst_size` requests at intervals that keep the rate."""
    size = settings.burst_size or max(1, round(rate))
    return (number // size * size / rate for number in count())


def _ramp(settings: LoadSettings, rate: float) -> Iterator[float]:
    """The rate rises or falls from `ramp_start` to `ramp_end`, by equal steps (linear) or equal factors (exponential) in equal
    times. The n-th request is sent when the integral of the rate reaches n."""
    _, end = _ends(settings)
    seconds = ramp_seconds(settings)
    total = settings.requests
    if total is None:
        total = math.floor(_sent_until(settings, seconds, seconds))
    inverse = _inverse(settings, seconds)
    yield from (inverse(number) for number in range(total))
    last = seconds  # later requests keep the last rate
    yield from (last + number / end for number in range(settings.cooldown))


def ramp_seconds(settings: LoadSettings) -> float:
    """How long the ramp takes: the given time, or the time until the given number of requests has been sent."""
    if settings.seconds is not None:
        return settings.seconds
    assert settings.requests is not None
    return settings.requests / _sent_until(settings, 1.0, 1.0)


def _sent_until(settings: LoadSettings, at: float, seconds: float) -> float:
    """Requests sent until `at`, of a ramp that takes `seconds`."""
    start, end = _ends(settings)
    share = at / seconds
    if settings.ramp == "linear":
        return at * (start + (end - start) * share / 2)
    growth = math.log(end / start)
    return at * start if growth == 0 else start * seconds / growth * math.expm1(growth * share)


def _inverse(settings: LoadSettings, seconds: float) -> Callable[[float], float]:
    """When this many requests have been sent."""
    start, end = _ends(settings)
    if settings.ramp == "linear":
        slope = (end - start) / seconds
        # The form of the root that avoids subtracting nearly equal numbers.
        return lambda sent: 2 * sent / (start + math.sqrt(start * start + 2 * slope * sent))
    growth = math.log(end / start)
    if growth == 0:
        return lambda sent: sent / start
    return lambda sent: seconds / growth * math.log1p(sent * growth / (start * seconds))


def _ends(settings: LoadSettings) -> tuple[float, float]:
    assert settings.ramp_start is not None  # checked with the settings
    assert settings.ramp_end is not None
    return settings.ramp_start, settings.ramp_end


_LAWS: dict[str, Callable[[LoadSettings, float], Iterator[float]]] = {
    LoadProfile.CONSTANT: _constant,
    LoadProfile.BURST: _burst,
    LoadProfile.RAMP: _ramp,
}


def check_schedule(settings: LoadSettings) -> None:
    """Raise UsageError for settings that give no schedule."""
    if not settings.levels:
        raise UsageError("a load test needs at least one level")
    what = "rate" if settings.open_loop else "concurrency"
    if settings.profile == "trace":
        what = "speed"
    for level in settings.levels:
        if not (math.isfinite(level) and level > 0):
            raise UsageError(f"{what} is {level:g}; expected a number above 0")
        if not settings.open_loop and level != int(level):
            raise UsageError(f"concurrency is {level:g}; expected a whole number")
    if settings.profile == "ramp":
        if settings.ramp_start is None or settings.ramp_end is None:
            raise UsageError("profile ramp needs the rate at its start and at its end: --rate 1,20")
        if settings.requests is None and settings.seconds is None:
            raise UsageError("profile ramp needs --requests or --seconds")
