"""Behind a server that takes 20 ms: how much of in flight ÷ latency is reached."""

from __future__ import annotations

from functools import partial

from benchmarks.bare_loops import bare_loop
from benchmarks.figures import Figure, shown
from benchmarks.processes import stub
from benchmarks.rounds import ROWS, Bench, Side

LATENCY_MS = 20
WANTED = {64: 88.0, 256: 60.0}
"""Per cent of the ideal rate, by requests in flight."""


def latency(bench: Bench) -> list[Figure]:
    """Share of the ideal rate; a bare loop beside it shows what this machine and the stub allow."""
    rows = bench.qa_file(ROWS)
    found = []
    with stub(LATENCY_MS) as at:
        for in_flight, wanted in WANTED.items():
            ours, bare = Side(), Side()
            for _ in range(bench.rounds(5)):
                ours.take(at, in_flight, partial(bench.ours.qa, rows, at, in_flight=in_flight, count=ROWS))
                bare.take(at, in_flight, partial(bare_loop, "transport", rows, at, bench.work, in_flight))
            ideal = in_flight / (LATENCY_MS / 1000)
            held = ours.stats[-1].mean_latency_ms or 0.0
            found.append(
                Figure(
                    f"share of the ideal rate, {in_flight} in flight, {LATENCY_MS} ms",
                    f"{shown(ours.rate.middle)}/s",
                    f"ideal {ideal:,.0f}/s; bare loop {100 * bare.rate.middle / ideal:.0f} %",
                    100 * ours.rate.middle / ideal,
                    "%",
                    wanted,
                    note=f"{ROWS:,} rows, {len(ours.usages)} rounds, {ours.rate.spread}/s; held {held:.2f} ms",
                )
            )
    return found
