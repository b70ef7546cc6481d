"""Load tests against a stub that logs its own truth, next to a bare asyncio probe in the same minute.

`python -m benchmarks.load` sends 1,900 requests, 64 in flight, to a server whose first token comes after 50 ms and 31 more events
20 ms apart. For each client: how far its times to the first token are from the server's own (mean, 99th percentile), requests per
second, CPU seconds per 1,000 requests, and seconds from the command to the first request. `--peers` adds
the other load generators that install here: aiperf, guidellm, evalscope.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from benchmarks.load_peers import PEERS, RUN_S, Peer, program_folder, reported

PROGRAM = Path(sys.executable).with_name("benchwright")


@dataclass(frozen=True)
class Client:
    """What one client measured, and what it cost."""

    name: str
    requests: int
    errors_ms: list[float]
    rate: float
    cpu_s: float
    first_s: float | None = None
    sending_cpu_s: float | None = None
    verdict: str = ""

    def row(self) -> str:
        ordered = sorted(self.errors_ms)
        p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
        sending = self.cpu_s if self.sending_cpu_s is None else self.sending_cpu_s
        first = "" if self.first_s is None else f"{self.first_s:6.2f} s"
        return (
            f"{self.name:14}{statistics.fmean(ordered):+9.2f} ms{p99:+9.2f} ms{self.rate:9.1f}/s"
            f"{1000 * sending / self.requests:8.2f} s{1000 * self.cpu_s / self.requests:8.2f} s{first:>10}  {self.verdict}"
        )


@contextmanager
def stub(first_ms: float, gap_ms: float, events: int) -> Iterator[int]:
    """The server as a process of its own; gives its port."""
    words = ["--first-ms", str(first_ms), "--gap-ms", str(gap_ms), "--events", str(events)]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.load_stub", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def truth_of(port: int) -> dict[int, list[float]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/truth") as reply:
        return {int(number): times for number, times in json.load(reply).items()}


def _cpu(
    command: list[str], cwd: str | None = None, env: dict[str, str] | None = None
) -> tuple[str, float, float]:
    """Output, CPU seconds of the whole process, and when it was started."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), monotonic()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=env, timeout=RUN_S
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stderr}\n{done.stdout[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, cpu, began


def probe(port: int, requests: int, in_flight: int, rate: int, *, stream: bool = True) -> Client:
    numbers = map(str, (port, requests, in_flight, rate, int(stream)))
    output, cpu, began = _cpu([sys.executable, "-m", "benchmarks.load_probe", *numbers])
    found = json.loads(output)
    truth = truth_of(port)
    errors = [1000 * (ttft - (truth[int(n)][1] - truth[int(n)][0])) for n, ttft in found["ttft"].items()]
    first = min(times[0] for times in truth.values()) - began
    return Client("probe", requests, errors, requests / found["wall_s"], cpu, first, found["cpu_s"])


def ours(port: int, requests: int, *flags: str) -> Client:
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(f'{{"question": "Say something about {number}"}}\n' for number in range(requests))
        Path(folder, "rows.jsonl").write_text(rows, encoding="utf-8")
        command = [
            str(PROGRAM), "perf", "rows.jsonl", "--model-url", f"http://127.0.0.1:{port}/v1", "--model-id", "m",
            "--requests", str(requests), "--quiet", "--json", *flags,
        ]  # fmt: skip
        _, cpu, began = _cpu(command, cwd=folder)
        from benchwright.perf import recorded_requests, recorded_stages
        from benchwright.store import find_workspace, open_store

        with open_store(find_workspace(Path(folder), None)) as store:
            records = list(recorded_requests(store, 1))
            (stage,) = recorded_stages(store, 1)
    truth = truth_of(port)
    errors = []
    for record in records:
        came, first, _ = truth[record.row]
        seen = record.first_token if "--no-stream" not in flags else record.ended
        if seen is not None and record.sent is not None:
            errors.append(1000 * (seen - record.sent - (first - came)))
    begun = min(times[0] for times in truth.values()) - began
    sending = sum(stage.health.cpu_shares) * (stage.ended - stage.started)
    wall = stage.ended - stage.started
    return Client(
        "benchwright", requests, errors, len(records) / wall, cpu, begun, sending, stage.health.verdict
    )


def peer_row(peer: Peer, requests: int, in_flight: int, events: int) -> str:
    """The line of another load generator: its mean and 99th percentile less those of the stub."""
    name = peer.tool.name
    programs = program_folder(peer)
    if isinstance(programs, str):
        return f"{name:14}{programs}"
    with stub(50, 20, events) as port:
        found = reported(peer, programs, port, requests, in_flight, _cpu)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/log") as reply:
            log = [times for times in json.load(reply) if times[1]]
    if isinstance(found, str) or not log:
        return f"{name:14}{found if isinstance(found, str) else 'did not run: it sent nothing'}"
    figures, cpu, began = found
    served = sorted(1000 * (first - came) for came, first, _ in log)
    p99 = served[min(len(served) - 1, int(0.99 * len(served)))]
    came, ended = min(times[0] for times in log), max(times[2] for times in log)
    return (
        f"{name:14}{figures.mean - statistics.fmean(served):+9.2f} ms{figures.p99 - p99:+9.2f} ms{len(log) / (ended - came):9.1f}/s"
        f"{'':10}{1000 * cpu / len(log):8.2f} s{came - began:8.2f} s  {len(log):,} requests came"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--requests", type=int, default=1900)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--events", type=int, default=32)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--rate", type=int, default=0, help="whole requests per second, instead of streams in flight"
    )
    parser.add_argument("--peers", action="store_true", help="measure other load generators too")
    arguments = parser.parse_args()
    load = f"{arguments.rate} per second" if arguments.rate else f"{arguments.in_flight} in flight"
    print(f"load average {os.getloadavg()[0]:.1f}; {arguments.requests} requests, {load}")
    print(
        f"{'client':14}{'reply error' if arguments.rate else 'TTFT error':>12}{'p99':>12}{'rate':>11}{'CPU/1000':>10}{'all CPU':>10}{'to first':>10}"
    )
    flags = ("--concurrency", str(arguments.in_flight), "--workers", str(arguments.workers))
    if arguments.rate:
        flags = ("--rate", str(arguments.rate), "--profile", "constant", "--no-stream", *flags[2:])
    clients: list[Callable[[int], Client]] = [
        lambda port: probe(port, arguments.requests, arguments.in_flight, arguments.rate),
        lambda port: ours(port, arguments.requests, *flags),
    ]
    for _ in range(arguments.rounds):
        for client in clients:
            with stub(50, 20, arguments.events) as port:
                print(client(port).row(), flush=True)
        for peer in PEERS if arguments.peers else ():
            print(peer_row(peer, arguments.requests, arguments.in_flight, arguments.events), flush=True)


if __name__ == "__main__":
    main()
