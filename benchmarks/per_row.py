"""What one more row costs: the difference between a long and a short run, in which start-up cancels out."""

from __future__ import annotations

from benchmarks.bare_loops import bare_cpu_us, bare_loop
from benchmarks.figures import Figure, series, shown
from benchmarks.processes import stub
from benchmarks.rounds import IN_FLIGHT, Bench

CEILINGS = {
    "pyreqwest": ("pyreqwest", 1.6),
    "transport": ("our own HTTP transport", None),
    "hand_written": ("bare asyncio", None),
}
"""Bare loops by name: what they run on, and how much more a row of ours may cost."""


def per_row(bench: Bench) -> list[Figure]:
    """CPU per row against the bare loops, and memory growth."""
    few, many = (4_000, 14_000) if bench.quick else (10_000, 50_000)
    short, long = bench.qa_file(few), bench.qa_file(many)
    costs, growths, earlier = [], [], []
    bare: dict[str, list[float]] = {name: [] for name in CEILINGS}
    with stub(0) as at:
        for _ in range(bench.rounds(5)):
            small = bench.ours.qa(short, at, in_flight=IN_FLIGHT, count=few)
            large = bench.ours.qa(long, at, in_flight=IN_FLIGHT, count=many)
            costs.append(1e6 * (large.cpu_s - small.cpu_s) / (many - few))
            growths.append((large.peak_mb - small.peak_mb) / (many - few) * 10_000)
            if bench.before:
                small = bench.before.qa(short, at, in_flight=IN_FLIGHT, count=few)
                large = bench.before.qa(long, at, in_flight=IN_FLIGHT, count=many)
                earlier.append(1e6 * (large.cpu_s - small.cpu_s) / (many - few))
            for name, seen in bare.items():
                seen.append(bare_cpu_us(bare_loop(name, long, at, bench.work, IN_FLIGHT)))
    cost, growth = series(costs), series(growths)
    note = f"from {few:,} to {many:,} rows, {len(costs)} rounds"
    found = []
    for name, (what, wanted) in CEILINGS.items():
        floor = series(bare[name])
        found.append(
            Figure(
                f"CPU per row over a bare loop on {what}",
                f"{shown(cost.middle)} µs",
                f"bare loop {shown(floor.middle)} µs",
                cost.middle / floor.middle,
                "×",
                wanted,
                at_least=False,
                note=f"{note}; ours {cost.spread} µs, bare {floor.spread} µs",
            )
        )
    if earlier:
        past = series(earlier)
        found.append(
            Figure(
                "CPU per row over the earlier version's",
                f"{shown(cost.middle)} µs",
                f"before {shown(past.middle)} µs",
                cost.middle / past.middle,
                "×",
                0.75,
                at_least=False,
                note=f"{note}; ours {cost.spread} µs, before {past.spread} µs",
            )
        )
    mine = f"{growth.middle:.2f} MB"
    found.append(
        Figure(
            "memory growth per 10,000 rows",
            mine,
            "",
            growth.middle,
            "MB",
            2,
            at_least=False,
            note=f"{note}; {growth.spread} MB",
        )
    )
    return found
