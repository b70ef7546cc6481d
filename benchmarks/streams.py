"""Streamed replies: how much of the unstreamed rate they reach."""

from __future__ import annotations

from functools import partial

from benchmarks.figures import Figure, shown
from benchmarks.ours import Ours
from benchmarks.processes import stub
from benchmarks.rounds import IN_FLIGHT, ROWS, Bench, Side
from benchmarks.stub import STREAM_EVENTS

WANTED = 60.0
"""Per cent of the unstreamed rate."""


def streams(bench: Bench) -> list[Figure]:
    """The steady rate of streams against the steady rate of whole replies, rounds alternating."""
    rows = bench.qa_file(ROWS)
    found = []
    with stub(0) as at:
        versions: list[tuple[str, Ours, float | None]] = [("", bench.ours, WANTED)]
        if bench.before:
            versions.append((", before", bench.before, None))
        sides = [(Side(), Side()) for _ in versions]
        for _ in range(bench.rounds(5)):
            for (_, ours, _), (streamed, whole) in zip(versions, sides, strict=True):
                for side, stream in ((streamed, True), (whole, False)):
                    run = partial(ours.qa, rows, at, in_flight=IN_FLIGHT, count=ROWS, stream=stream)
                    side.take(at, IN_FLIGHT, run)
        for (when, _, wanted), (streamed, whole) in zip(versions, sides, strict=True):
            found.append(
                Figure(
                    f"streams of {STREAM_EVENTS} events over whole replies{when}",
                    f"{shown(streamed.rate.middle)}/s",
                    f"whole replies {shown(whole.rate.middle)}/s",
                    100 * streamed.rate.middle / whole.rate.middle,
                    "%",
                    wanted,
                    note=f"{ROWS:,} rows, {len(streamed.usages)} rounds; streams {streamed.rate.spread}/s; "
                    f"{streamed.stub_share}",
                )
            )
    return found
