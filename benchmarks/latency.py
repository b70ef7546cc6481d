"""Against a server that takes 20 ms: how much of a bare loop's rate is reached."""

from __future__ import annotations

from functools import partial

from benchmarks.bare_loops import bare_loop
from benchmarks.figures import Figure, shown
from benchmarks.processes import stub
from benchmarks.rounds import Bench, Side

LATENCY_MS = 20
WANTED = {64: (97.0, 88.0), 256: (90.0, 60.0)}
"""By requests in flight: per cent of a bare loop on our own transport, and of in flight ÷ latency."""
WAVES = 60
"""Rows per request in flight: enough waves that the first and the last do not count."""


def latency(bench: Bench) -> list[Figure]:
    """Share of the rate of a bare loop on our own transport, and of the ideal rate."""
    found = []
    with stub(LATENCY_MS) as at:
        for in_flight, (of_bare, of_ideal) in WANTED.items():
            count = 10 * (in_flight * WAVES // 10)
            rows = bench.qa_file(count)
            ours, bare, before = Side(), Side(), Side()
            for _ in range(bench.rounds(5)):
                ours.take(at, in_flight, partial(bench.ours.qa, rows, at, in_flight=in_flight, count=count))
                bare.take(at, in_flight, partial(bare_loop, "transport", rows, at, bench.work, in_flight))
                if bench.before:
                    run = partial(bench.before.qa, rows, at, in_flight=in_flight, count=count)
                    before.take(at, in_flight, run)
            ideal = in_flight / (LATENCY_MS / 1000)
            held = ours.stats[-1].mean_latency_ms or 0.0
            note = f"{count:,} rows, {len(ours.usages)} rounds, {ours.rate.spread}/s; held {held:.2f} ms"
            if bench.before:
                share = 100 * before.rate.middle / bare.rate.middle
                note += f"; before {shown(before.rate.middle)}/s, {share:.1f} % of the bare loop"
            rate = f"{shown(ours.rate.middle)}/s"
            found += [
                Figure(
                    f"share of a bare loop, {in_flight} in flight, {LATENCY_MS} ms",
                    rate,
                    f"bare loop on our transport {shown(bare.rate.middle)}/s",
                    100 * ours.rate.middle / bare.rate.middle,
                    "%",
                    of_bare,
                    note=note,
                ),
                Figure(
                    f"share of the ideal rate, {in_flight} in flight, {LATENCY_MS} ms",
                    rate,
                    f"ideal {ideal:,.0f}/s",
                    100 * ours.rate.middle / ideal,
                    "%",
                    of_ideal,
                ),
            ]
    return found
