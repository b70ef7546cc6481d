"""How full a closed loop stays when replies are short, next to a bare asyncio client on the same server.

`python -m benchmarks.refill [MS…]` keeps 64 requests in flight against replies of so many milliseconds (10, 20 and 50), with the bare
client and with ours in turn. The server counts how many requests it has open, from when one has come until its last byte is written;
the first and last tenth of the time is left out. Prints both means, their ratio, and what of a core each client used.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.load import Client, ours, probe, stub, truth_of

IN_FLIGHT = 64


class Filled(NamedTuple):
    """One client in one round."""

    open: float
    """Requests that the server had open, on average."""
    core: float
    """Share of a core that the client used while it sent."""


def filled(port: int, client: Client) -> Filled:
    """What the server counted in the middle of the time."""
    spans = [(times[0], times[2]) for times in truth_of(port).values()]
    begin, end = min(came for came, _ in spans), max(ended for _, ended in spans)
    begin, end = begin + (end - begin) / 10, end - (end - begin) / 10
    inside = sum(max(0.0, min(ended, end) - max(came, begin)) for came, ended in spans)
    core = (client.sending_cpu_s or 0.0) * client.rate / client.requests
    return Filled(inside / (end - begin), core)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refill", description=__doc__)
    parser.add_argument("milliseconds", type=float, nargs="*", default=[10, 20, 50])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="about how long each client sends")
    parser.add_argument("--stream", action="store_true", help="replies of one event instead of whole ones")
    arguments = parser.parse_args()
    print(
        f"load average {os.getloadavg()[0]:.1f}; {IN_FLIGHT} in flight, median of {arguments.rounds} rounds"
    )
    print(
        f"{'reply':>8}{'probe':>8}{'ours':>8}{'ratio':>8}{'core of probe':>16}{'core of ours':>14}  ratios of rounds"
    )
    flags = ("--concurrency", str(IN_FLIGHT), *(() if arguments.stream else ("--no-stream",)))
    for reply_ms in arguments.milliseconds:
        requests = round(IN_FLIGHT * arguments.seconds * 1000 / reply_ms)
        clients: tuple[Callable[[int], Client], ...] = (
            lambda port, n=requests: probe(port, n, IN_FLIGHT, 0, stream=arguments.stream),
            lambda port, n=requests: ours(port, n, *flags),
        )
        found: list[list[Filled]] = [[], []]
        for number in range(arguments.rounds):
            for place in (0, 1) if number % 2 else (1, 0):
                with stub(reply_ms, 0, 1) as port:
                    client = clients[place](port)
                    found[place].append(filled(port, client))
        bare, own = (statistics.median(each.open for each in side) for side in found)
        cores = [statistics.median(each.core for each in side) for side in found]
        ratios = " ".join(f"{b.open / a.open:.3f}" for a, b in zip(*found, strict=True))
        print(
            f"{reply_ms:>5g} ms{bare:8.2f}{own:8.2f}{own / bare:8.3f}{cores[0]:15.0%} {cores[1]:13.0%}   {ratios}",
            flush=True,
        )
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
