"""Memory that must not grow with the rows: generated rows against the in-process demo model."""

from __future__ import annotations

from benchmarks.figures import Figure, shown
from benchmarks.rounds import Bench

FEW = 1_000
MANY = 1_000_000
MANY_QUICK = 100_000


def memory(bench: Bench) -> list[Figure]:
    """Peak memory of a long run against that of a short one."""
    many = MANY_QUICK if bench.quick else MANY
    small = bench.ours.generated(FEW)
    large = bench.ours.generated(many)
    note = f"peaks; {many:,} rows took {large.wall_s:.0f} s"
    if bench.quick:
        note += f"; quick: the target is meant for {MANY:,} rows"
    return [
        Figure(
            f"memory of {many:,} generated rows over {FEW:,}",
            f"{shown(large.peak_mb)} MB",
            f"{FEW:,} rows {shown(small.peak_mb)} MB",
            large.peak_mb - small.peak_mb,
            "MB",
            wanted=200,
            at_least=False,
            note=note,
        )
    ]
