"""Searches for the largest load on simulated servers, in virtual time: how far is each answer from the true capacity?

`python -m benchmarks.search [SEEDS [SECONDS [SERVER…]]]` tries every server of `HELD_OUT` and `UNSEEN` in `tests/perf/simulated_servers.py`, or those named, with so many
seeds (10), and lets each search take at most so many virtual seconds (600, as a search does by default). The name `random` stands for 40 random
servers in an open loop. Ten searches took 71 s on a busy machine, so name servers or give fewer seeds if you cannot wait.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.perf.simulated_servers import HELD_OUT, SERVERS, UNSEEN, capacity_of, random_server
from tests.perf.test_search import search_on_paper

from benchwright.perf import SearchResult

FIRST_SEED = 703
"""The seeds below it were looked at while the search was written."""
RANDOM_SERVERS = 40
WANTED = (0.90, 1.003)
TOO_HIGH = 1.003


def main(seeds: int = 10, seconds: float = 600, *names: str) -> None:
    """Print a line for each server."""
    known = {**HELD_OUT, **UNSEEN, **SERVERS}
    if "random" in names:
        drawn = [random_server(seed) for seed in range(RANDOM_SERVERS)]
        known = {
            name: server._replace(capacity=capacity_of(server)) for name, server in drawn if not server.closed
        }
        names = (*known,)
    everything: list[float] = []
    for name in names or (*HELD_OUT, *UNSEEN):
        server = known[name]
        lowest = (
            float(f"{server.capacity / 10:.3g}") if name not in {**HELD_OUT, **UNSEEN, **SERVERS} else None
        )
        found = [
            search_on_paper(server, FIRST_SEED + seed, seconds=seconds, lowest=lowest)
            for seed in range(seeds)
        ]
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


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
