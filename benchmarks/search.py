"""Searches for the largest load on simulated servers, in virtual time: how far is each answer from the true capacity?

`python -m benchmarks.search [SEEDS [SECONDS [SERVER…]]]` tries every server of `HELD_OUT` and `UNSEEN` in `tests/perf/simulated_servers.py`, or those named, with so many
seeds (10), and lets each search take at most so many virtual seconds (600, as a search does by default). Ten searches took 71 s on a busy machine, so
name servers or give fewer seeds if you cannot wait.

`python -m benchmarks.search random [CASES [FIRST_SEED [PROCESSES]]]` tries so many random servers (320), each with a time from 20 to 300 seconds: of all answers, how
many are above the truth, and how many within a tenth below it? What is true is counted in long runs at the answer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from random import Random
from typing import NamedTuple

from tests.perf.simulated_servers import HELD_OUT, SERVERS, UNSEEN, disturbed_server, misses_in_the_long_run
from tests.perf.test_search import search_on_paper

from benchwright.perf import SearchResult

FIRST_SEED = 703
"""The seeds below it were looked at while the search was written."""
WANTED = (0.90, 1.003)
TOO_HIGH = 1.003
TIMES = (20, 30, 45, 60, 90, 120, 200, 300)
LONG_RUN = 400_000


def main(seeds: int = 10, seconds: float = 600, *names: str) -> None:
    """Print a line for each server."""
    known = {**HELD_OUT, **UNSEEN, **SERVERS}
    everything: list[float] = []
    for name in names or (*HELD_OUT, *UNSEEN):
        server = known[name]
        found = [search_on_paper(server, FIRST_SEED + seed, seconds=seconds) for seed in range(seeds)]
        shares = sorted((result.level or 0.0) / server.capacity for result, _, _ in found)
        everything += shares
        took, requests = (sum(each[place] for each in found) / seeds for place in (1, 2))
        print(
            f"{name:38} {shares[0]:.2f} {shares[seeds // 2]:.2f} {shares[-1]:.2f}  {_judged(shares)}, "
            f"{_found([result for result, _, _ in found], server.capacity)}, {requests:,.0f} requests, {took / 60:.1f} min"
        )
    print(f"all: {_judged(everything)}")


def _judged(shares: Sequence[float]) -> str:
    inside = sum(WANTED[0] <= share <= WANTED[1] for share in shares)
    above = sum(share > TOO_HIGH for share in shares)
    return f"{inside} of {len(shares)} within {WANTED[0]} to {WANTED[1]}, {above} above {TOO_HIGH}"


def _found(results: Sequence[SearchResult], capacity: float) -> str:
    ends = [result.ci95 for result in results if result.ci95 is not None]
    inside = sum(low <= capacity <= high for low, high in ends)
    return f"{sum(result.status == 'found' for result in results)} found, {inside} of {len(ends)} intervals hold it"


class Case(NamedTuple):
    """One random search."""

    seed: int
    server: str
    seconds: int
    status: str
    level: float | None
    too_high: bool
    close: bool
    """Whether a tenth more is too much."""


def random_case(seed: int) -> Case:
    """Search the largest load of a random server in a random time, from a random start."""
    dice = Random(f"case {seed}")
    name, server = disturbed_server(seed)
    seconds = dice.choice(TIMES)
    # `capacity` is the rate at which all slots are busy; the largest load within the limits is lower.
    lowest = 1.0 if server.closed else float(f"{server.capacity * 2 ** -dice.uniform(1, 6):.3g}")
    found, _, _ = search_on_paper(server, seed, seconds=seconds, lowest=lowest)
    allowed = 1 - server.share
    too_high = close = False
    if found.level is not None:
        least = found.level if server.closed else found.level / TOO_HIGH
        too_high = misses_in_the_long_run(server, least, LONG_RUN) > allowed
        more = max(found.level + 1, found.level / WANTED[0]) if server.closed else found.level / WANTED[0]
        close = not too_high and misses_in_the_long_run(server, more, LONG_RUN) > allowed
    return Case(seed, name, seconds, found.status, found.level, too_high, close)


def random_cases(cases: int = 320, first: int = 60_000, processes: int = 2) -> None:
    """Print every answer that is too high, and the shares for each time."""
    ended: list[Case] = []
    with ProcessPoolExecutor(processes) as pool:
        for number, case in zip(count(1), pool.map(random_case, range(first, first + cases)), strict=False):
            ended.append(case)
            if case.too_high:
                print(f"too high: {case}", flush=True)
            if not number % 50:
                print(f"{number} cases, {sum(each.too_high for each in ended)} too high", flush=True)
    for seconds in (*TIMES, None):
        own = [case for case in ended if seconds in (case.seconds, None)]
        answers = [case for case in own if case.level is not None]
        print(
            f"{'all' if seconds is None else f'{seconds} s':6} {len(own):4} searches, {len(answers)} answers, "
            f"{sum(case.too_high for case in own)} too high, {sum(case.close for case in own)} within a tenth below the truth, "
            f"{sum(case.status == 'found' for case in own)} found"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["random"]:
        random_cases(*map(int, sys.argv[2:5]))
    else:
        main(*map(int, sys.argv[1:3]), *sys.argv[3:])
