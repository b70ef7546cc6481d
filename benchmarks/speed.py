"""Rates without latency, and whole processes: against lm_eval and inspect-ai."""

from __future__ import annotations

from functools import partial

from benchmarks.figures import Figure, shown
from benchmarks.processes import stub
from benchmarks.rounds import IN_FLIGHT, ROWS, Bench, Side

STEADY = "steady samples/s, 64 in flight, 0 ms"


def speed(bench: Bench) -> list[Figure]:
    """Steady rate, whole process and peak memory, all sides in turn."""
    rows = bench.qa_file(ROWS)
    few = 200 if bench.quick else 500
    ours, before, theirs, api, slow = Side(), Side(), Side(), Side(), Side()
    with stub(0) as at:
        run_ours = partial(bench.ours.qa, rows, at, in_flight=IN_FLIGHT, count=ROWS)
        run_lm_eval = bench.lm_eval and partial(bench.lm_eval.qa, rows, at, in_flight=IN_FLIGHT)
        # Discarded: the first round fills file caches, byte code and lm_eval's dataset cache.
        for number in range(bench.rounds(6)):
            if number == 1:
                ours, before, theirs = Side(), Side(), Side()
            ours.take(at, IN_FLIGHT, run_ours)
            if bench.before:
                run_before = partial(bench.before.qa, rows, at, in_flight=IN_FLIGHT, count=ROWS)
                before.take(at, IN_FLIGHT, run_before)
            if run_lm_eval:
                theirs.take(at, IN_FLIGHT, run_lm_eval)
        if bench.lm_eval:
            api.take(at, IN_FLIGHT, partial(bench.lm_eval.qa_without_index, rows, at, in_flight=IN_FLIGHT))
        if bench.inspect:
            slow.take(at, IN_FLIGHT, partial(bench.inspect.qa, rows, at, in_flight=IN_FLIGHT, limit=few))
    note = f"{ROWS:,} rows, {len(ours.usages)} rounds"
    found = [_against_before(ours, before, note)] if bench.before else []
    if bench.lm_eval:
        found += _against_lm_eval(ours, theirs, api, note)
    if bench.inspect:
        found.append(_against_inspect(ours, slow, few))
    peak = ours.peak.middle
    found.append(
        Figure("peak resident memory", f"{shown(peak)} MB", "", peak, "MB", 150, at_least=False, note=note)
    )
    return found


def _against_lm_eval(ours: Side, theirs: Side, api: Side, note: str) -> list[Figure]:
    rate, wall = f"{shown(ours.rate.middle)}/s", f"{ours.wall.middle:.2f} s"
    faster = ours.rate.middle / theirs.rate.middle
    other = f"lm_eval {shown(theirs.rate.middle)}/s"
    rates = f"{note}; ours {ours.rate.spread}, lm_eval {theirs.rate.spread}; {ours.stub_share}"
    walls = f"{note}; ours {ours.wall.spread} s, lm_eval {theirs.wall.spread} s"
    told = "for information: lm_eval's Python API, which can leave out its index of built-in tasks"
    sooner = theirs.wall.middle / ours.wall.middle
    sooner_api = api.wall.middle / ours.wall.middle
    whole = "whole process, start to written results"
    return [
        Figure(STEADY, rate, other, faster, "×", 2.5, note=rates),
        Figure(f"{STEADY}: the aim", rate, other, faster, "×", 5),
        Figure(whole, wall, f"lm_eval {theirs.wall.middle:.2f} s", sooner, "×", 25, note=walls),
        Figure(whole, wall, f"lm_eval, API {api.wall.middle:.2f} s", sooner_api, "×", note=told),
    ]


def _against_before(ours: Side, before: Side, note: str) -> Figure:
    return Figure(
        STEADY,
        f"{shown(ours.rate.middle)}/s",
        f"before {shown(before.rate.middle)}/s",
        ours.rate.middle / before.rate.middle,
        "×",
        1,
        note=f"{note}; ours {ours.rate.spread}, before {before.rate.spread}; "
        f"whole process {ours.wall.middle:.2f} s, before {before.wall.middle:.2f} s",
    )


def _against_inspect(ours: Side, slow: Side, few: int) -> Figure:
    return Figure(
        STEADY,
        f"{shown(ours.rate.middle)}/s",
        f"inspect-ai {shown(slow.rate.middle)}/s",
        ours.rate.middle / slow.rate.middle,
        "×",
        50,
        note=f"inspect-ai on {few} rows, once: it is slow",
    )
