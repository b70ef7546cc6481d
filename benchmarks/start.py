"""A run of one row: what starting costs, and when the first request arrives."""

from __future__ import annotations

from functools import partial

from benchmarks.figures import Figure, Series, series
from benchmarks.ours import Ours
from benchmarks.processes import stub
from benchmarks.rounds import Bench, Side

CPU_S = 0.30
FIRST_REQUEST_S = 0.25


def start(bench: Bench) -> list[Figure]:
    """CPU time of the whole process, and the time from the command to its first request."""
    row = bench.qa_file(1)
    sides = {"after": Side()} | ({"before": Side()} if bench.before else {})
    with stub(0) as at:

        def take(name: str, ours: Ours) -> None:
            sides[name].take(at, 1, partial(ours.qa, row, at, in_flight=1, count=1))

        # The first round fills file caches and byte code.
        for number in range(1 + bench.rounds(15)):
            if number == 1:
                sides = {name: Side() for name in sides}
            take("after", bench.ours)
            if bench.before:
                take("before", bench.before)
    note = f"one row, {len(sides['after'].usages)} rounds"
    found = []
    for what, wanted, of in (
        ("CPU time of a run of one row", CPU_S, _cpu),
        ("from the command to its first request", FIRST_REQUEST_S, _first_request),
    ):
        ours = of(sides["after"])
        other = f"before {of(sides['before']).middle:.3f} s" if bench.before else ""
        spread = f"{note}; {ours.spread} s"
        found.append(
            Figure(what, f"{ours.middle:.3f} s", other, ours.middle, "s", wanted, at_least=False, note=spread)
        )
    return found


def _cpu(side: Side) -> Series:
    return series([used.cpu_s for used in side.usages])


def _first_request(side: Side) -> Series:
    pairs = zip(side.usages, side.stats, strict=True)
    return series([seen.first - used.started for used, seen in pairs if seen.first is not None])
