"""Measures the client during a test, to tell whether figures describe the server or the client."""

from __future__ import annotations

import asyncio
import gc
import math
import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic, process_time
from typing import Any, TypeVar, get_args

from msgspec import Struct

from benchwright.core import percent
from benchwright.perf._values import ClientHealth, DurationSpread, Verdict

_Result = TypeVar("_Result")
_EVERY_S = 0.02
"""Seconds between two checks of the event loop."""

LIMIT_CPU, STRAINED_CPU = 0.92, 0.75
"""Shares of one core above which the client was the limit, or close to it."""
LIMIT_LAG_S, STRAINED_LAG_S = 0.020, 0.008
"""99th percentiles of the event loop's lag above which the client distorts times."""
LIMIT_LATE_S, STRAINED_LATE_S = 0.050, 0.015
"""99th percentiles of lateness against the schedule."""
_SHORTEST_S = 1.0
"""The shortest stage whose share of CPU time is judged."""
_ENOUGH = 20
"""The fewest checks or requests for a 99th percentile."""
_GC_THRESHOLDS = (50_000, 50, 100)
"""Thresholds of garbage collection during a test. A request leaves a few dozen objects, hardly any of them in a cycle."""


class WorkerHealth(Struct, frozen=True, array_like=True):
    """The measurements of one process about itself in one stage."""

    lags: tuple[float, ...] = ()
    """How late the event loop ran timers, in seconds."""
    lateness: tuple[float, ...] = ()
    """How late requests were sent."""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    gc_s: float = 0.0
    others: float = 0.0
    """Cores that other processes of the machine used."""
    stolen: float = 0.0
    """Share of the machine's CPU time that its host gave to others."""


def run_quickly(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine to its end in the fastest available event loop."""
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(work)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Exclude existing objects from garbage collection, and collect the others rarely, because a full collection stops the
    event loop for tens of milliseconds. This takes as long itself, so it must be done before the clock starts."""
    gc.collect()
    gc.freeze()
    thresholds = gc.get_threshold()
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


class HealthMeter:
    """Watches the event loop that it was started in, until it is stopped."""

    def __init__(self) -> None:
        self.lateness: list[float] = []
        """Filled by the sender."""
        self._lags: list[float] = []
        self._gc_s = 0.0
        self._gc_began = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to watch."""
        gc.callbacks.append(self._collected)
        self._loop = asyncio.get_running_loop()
        self._wall, self._cpu, self._machine = monotonic(), process_time(), _machine_times()
        self._set()

    def stop(self) -> WorkerHealth:
        """Stop, and return the measurements."""
        if self._timer is not None:
            self._timer.cancel()
        gc.callbacks.remove(self._collected)
        cpu, wall = process_time() - self._cpu, monotonic() - self._wall
        busy, stolen, whole = (now - then for now, then in zip(_machine_times(), self._machine, strict=True))
        return WorkerHealth(
            lags=tuple(self._lags),
            lateness=tuple(self.lateness),
            cpu_s=cpu,
            wall_s=wall,
            gc_s=self._gc_s,
            others=max(0.0, (busy - cpu) / wall) if wall > 0 else 0.0,
            stolen=stolen / whole if whole > 0 else 0.0,
        )

    def _set(self) -> None:
        self._due = monotonic() + _EVERY_S
        self._timer = self._loop.call_later(_EVERY_S, self._look)

    def _look(self) -> None:
        # Timers of uvloop have a resolution of a millisecond and may fire early.
        self._lags.append(max(0.0, monotonic() - self._due))
        self._set()

    def _collected(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._gc_began = monotonic()
        else:
            self._gc_s += monotonic() - self._gc_began


def spread_of(values: Sequence[float]) -> DurationSpread:
    """Number, mean, 99th percentile and maximum.

    >>> spread_of([0.0, 1.0, 2.0])
    DurationSpread(n=3, mean=1.0, p99=1.98, max=2.0)
    """
    if not values:
        return DurationSpread()
    ordered = sorted(values)
    place = 0.99 * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    p99 = ordered[low] + (ordered[high] - ordered[low]) * (place - low)
    return DurationSpread(len(ordered), math.fsum(ordered) / len(ordered), p99, ordered[-1])


_BUSY_CLIENT = 0.5
"""Share of a core below which a late client did not lack CPU time of its own: something else had it."""
_STOLEN = 0.05


def _cure(workers: Sequence[WorkerHealth], busiest: float) -> str:
    """What helps: more processes only if this one was busy itself."""
    if busiest >= _BUSY_CLIENT or not all(worker.wall_s for worker in workers):
        return _more_hands(len(workers))
    stolen = max((worker.stolen for worker in workers), default=0.0)
    others = max((worker.others for worker in workers), default=0.0)
    used = f"The client used only {percent(busiest)} of a core"
    if stolen >= _STOLEN:
        return f"{used}, and the host gave {percent(stolen)} of this machine's CPU time to others: use another machine"
    if others >= _BUSY_CLIENT:
        return f"{used}, while other processes used {others:.1f} cores of {_cores()}: close them, or use another machine"
    return f"{used}: something else held it up. Close what else runs on this machine, or use another one"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _machine_times() -> tuple[float, float, float]:
    """CPU seconds of the whole machine so far, from `/proc/stat`: busy, stolen, and all; zeros on systems without it."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(word) for word in file.readline().split()[1:9]]
        second = os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0, 0.0, 0.0
    user, nice, system, idle, wait, irq, soft, stolen = ticks
    busy = user + nice + system + irq + soft
    return busy / second, stolen / second, (busy + idle + wait + stolen) / second


def _more_hands(workers: int) -> str:
    cores = _cores()
    if workers < cores:
        return f"Use more processes: --workers {min(cores, 2 * workers)}"
    return f"Use a machine with more than these {cores} cores"


_INSIDE = "the model answers in the client's own process, so their delays cannot be separated"
_TOO_SHORT = (
    f"the test was too short: this needs {_ENOUGH * _EVERY_S:g} s and, with a schedule, {_ENOUGH} requests"
)


def ms_beside(seconds: float, *bounds: float) -> str:
    """A time in milliseconds, with enough digits to differ from each bound that it does not equal.

    >>> ms_beside(0.05, 0.008), ms_beside(0.0083, 0.008), ms_beside(0.00799, 0.008), ms_beside(0.008, 0.008)
    ('50.0 ms', '8.3 ms', '7.99 ms', '8.0 ms')
    """
    found = ""
    for digits in range(1 if seconds < 0.1 else 0, 7):
        found = f"{seconds * 1000:.{digits}f}"
        if all(float(found) != bound * 1000 for bound in bounds if bound != seconds):
            break
    return f"{found} ms"


def delay_words(lag_s: float, late_s: float | None) -> str:
    """The delays of a client that kept up, beside what would be too much. `late_s`: against the schedule; None: there is none."""
    words = f"event-loop delay was {ms_beside(lag_s, STRAINED_LAG_S)} at p99 (warning above {STRAINED_LAG_S * 1000:g} ms)"
    if late_s is None:
        return words
    late = f"{ms_beside(late_s, STRAINED_LATE_S)} late at p99 (warning above {STRAINED_LATE_S * 1000:g} ms)"
    return f"{words}, and requests were sent {late}"


def _bounds(strained: float, limit: float) -> str:
    return f"warning above {strained * 1000:g} ms, limit {limit * 1000:g} ms"


def long_enough(workers: Sequence[WorkerHealth]) -> bool:
    """Whether the stage is long enough to judge the share of CPU time."""
    return all(worker.wall_s >= _SHORTEST_S for worker in workers)


def judged(workers: Sequence[WorkerHealth], *, open_loop: bool, inside: bool = False) -> ClientHealth:
    """The health of all workers in one stage, with its verdict. `inside`: the model answers in the same process, so its CPU
    time and delays cannot be separated. `ok` means that all applicable rules were checked and met."""
    lag = spread_of([value for worker in workers for value in worker.lags])
    late = spread_of([value for worker in workers for value in worker.lateness])
    shares = tuple(worker.cpu_s / worker.wall_s if worker.wall_s > 0 else 0.0 for worker in workers)
    reasons: list[str] = []
    worst = 0
    busiest = max(shares, default=0.0)
    checks: tuple[tuple[float, float, float, str], ...] = (
        (busiest, STRAINED_CPU, LIMIT_CPU, f"the client used {percent(busiest)} of a core"),
        (
            lag.p99,
            STRAINED_LAG_S,
            LIMIT_LAG_S,
            f"event-loop delay was {ms_beside(lag.p99, STRAINED_LAG_S, LIMIT_LAG_S)} at p99 ({_bounds(STRAINED_LAG_S, LIMIT_LAG_S)})",
        ),
        (
            late.p99 if open_loop else 0.0,
            STRAINED_LATE_S,
            LIMIT_LATE_S,
            f"requests were sent {ms_beside(late.p99, STRAINED_LATE_S, LIMIT_LATE_S)} late at p99 ({_bounds(STRAINED_LATE_S, LIMIT_LATE_S)})",
        ),
    )
    known = (
        long_enough(workers) and not inside,
        lag.n >= _ENOUGH and not inside,
        late.n >= _ENOUGH and not inside,
    )
    for (value, strained, limit, reason), judge in zip(checks, known, strict=True):
        if judge and value >= strained:
            worst = max(worst, 2 if value >= limit else 1)
            reasons.append(reason)
    if reasons:  # they have one cure
        reasons[-1] += f". {_cure(workers, busiest)}"
    verdict: Verdict = get_args(Verdict)[worst]
    if not worst and (not known[1] or (open_loop and not known[2])):
        verdict = "not_judged"
        reasons.append(_INSIDE if inside else _TOO_SHORT)
    return ClientHealth(
        lag=lag,
        lateness=late,
        cpu_shares=shares,
        gc_s=math.fsum(worker.gc_s for worker in workers),
        verdict=verdict,
        reasons=tuple(reasons),
    )
