"""The limits of the pages: what the server and a browser take for each on 1,000,000 samples and 2,000 runs.

`python -m benchmarks.pages [--store FOLDER] [--samples N] [--runs N]` makes a store (or uses one that `benchmarks.large_store` made),
starts `benchwright serve` and a bare Starlette route that answers with the same bytes, and prints limit, measured time, CPU time of the
server, the bare route, and the load of the machine. Then it opens the pages in Chromium and watches runs of 10,000 rows (see
`benchmarks.open_pages`), unless `--no-browser` is given. It takes about five minutes.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import open_pages
from benchmarks.large_store import RUNS, SAMPLES, make

_REPEATS = 5
_READ_FOR_S = 10.0
_TICKS = os.sysconf("SC_CLK_TCK")


class Page(NamedTuple):
    """A row of the table of limits."""

    what: str
    path: str
    limit_ms: float
    first: bool = False
    """Whether the first request counts; otherwise the median of later ones does."""


def pages(samples: int) -> list[Page]:
    """What is measured, in this order: the first of a kind includes the making of its index."""
    middle = samples // 2 * 10_000
    return [
        Page("runs page, 2,000 runs", "/api/runs?limit=100", 300),
        Page("run's page, all samples", "/api/runs/1/details", 300),
        Page("samples, first page", "/api/runs/1/samples?limit=50&cut=300", 300),
        Page("samples, wrong ones, from the middle", f"/api/runs/1/samples?limit=50&verdict=wrong&after={middle}", 300),
        Page("samples by latency", "/api/runs/1/samples?limit=50&sort=latency_s&descending=true", 300),
        Page("wrong samples by f1", "/api/runs/1/samples?limit=50&sort=metric:f1&verdict=wrong", 300),
        Page("samples with f1 between 0.5 and 0.51", "/api/runs/1/samples?limit=50&metric=f1&above=0.5&below=0.51", 300),
        Page("labelled samples", "/api/runs/1/samples?limit=50&labelled=any", 300),
        Page("text that no sample has", "/api/runs/1/samples?limit=50&text=nowhere", 500),
        Page("search over all runs", "/api/search?q=nowhere", 500),
        Page("a sample", f"/api/runs/1/samples/{samples // 2}/0", 300),
        Page("history of a name", "/api/history?name=questions_3", 300),
        Page("slices by a column of texts, first", "/api/runs/1/slices?by=topic", 2000, first=True),
        Page("slices by a column of texts, again", "/api/runs/1/slices?by=topic", 100),
        Page("slices by a column of numbers, first", "/api/runs/1/slices?by=level", 2000, first=True),
        Page("slices of f1, first", "/api/runs/1/slices?by=topic&metric=f1", 2000, first=True),
        Page("compare of two runs of a tenth, first", "/api/compare?runs=2,3", 2000, first=True),
        Page("compare of two runs of a tenth, again", "/api/compare?runs=2,3", 300),
    ]  # fmt: skip


class Server:
    """A server in a process of its own."""

    def __init__(self, url: str, token: str, pid: int, open_url: str = "") -> None:
        self.url, self.token, self.pid, self.open_url = url, token, pid, open_url
        self._host = url.removeprefix("http://")
        self._connection = self.connect()

    def connect(self) -> http.client.HTTPConnection:
        """A new connection."""
        return http.client.HTTPConnection(self._host, timeout=300)

    def get(self, path: str, connection: http.client.HTTPConnection | None = None) -> bytes:
        """The body of an answer."""
        using = connection or self._connection
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            using.request("GET", path, headers=headers)
            answer = using.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # it was idle for too long
            using.close()
            using.request("GET", path, headers=headers)
            answer = using.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
        return body

    def timed(self, path: str) -> tuple[float, float, bytes]:
        """Wall and CPU milliseconds of one request, and its body."""
        cpu, began = self.cpu_s, time.perf_counter()
        body = self.get(path)
        return 1e3 * (time.perf_counter() - began), 1e3 * (self.cpu_s - cpu), body

    def watch(self, ready: Callable[[], object], until: threading.Event) -> None:
        """Read live updates, as an open page does."""
        connection = self.connect()
        connection.request("GET", "/api/live", headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        answer.read1(65536)
        ready()
        until.wait()
        connection.close()

    @property
    def cpu_s(self) -> float:
        """CPU time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory_mb(self, name: str = "VmRSS") -> float:
        """Resident memory, or another row of its status."""
        rows = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(row.split()[1]) for row in rows if row.startswith(name)) * 1024 / 1e6


@contextmanager
def ours(place: Path) -> Iterator[Server]:
    """`benchwright serve` on a workspace."""
    program = [
        Path(sys.executable).with_name("benchwright"),
        "serve",
        "--port",
        "0",
        "--json",
        "--workspace",
        place,
    ]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
            yield Server(told["url"], told["token"], process.pid, told["open_url"])
        finally:
            process.terminate()


@contextmanager
def bare(body: bytes) -> Iterator[Server]:
    """A Starlette route that answers with these bytes."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.pages", "--bare"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(body)
            process.stdin.close()
            yield Server(process.stdout.readline().decode().strip(), "", process.pid)
        finally:
            process.terminate()


def serve_bare() -> None:
    """Answer every request with what standard input holds."""
    import socket

    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    body = sys.stdin.buffer.read()
    listening = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/", lambda request: Response(body, media_type="application/json"))])
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])


def measure(server: Server, page: Page) -> None:
    """Print one row."""
    first = server.timed(page.path)
    if page.first:
        wall, cpu, body = first
        yardstick = ""
    else:
        rounds = [server.timed(page.path) for _ in range(_REPEATS)]
        wall, cpu = (statistics.median(each[at] for each in rounds) for at in (0, 1))
        body = first[2]
        with bare(body) as other:
            other.timed("/")
            yardstick = f"{statistics.median(other.timed('/')[0] for _ in range(_REPEATS)):.1f}"
    first_ms = "" if page.first else f"{first[0]:,.0f}"
    row(page.what, page.limit_ms, wall, "ms", f"{cpu:,.0f}", yardstick, first_ms, f"{len(body) / 1e3:,.0f}")


def row(what: str, limit: float, value: float, unit: str, *more: str) -> None:
    """Print a limit, what was measured, and whether it holds."""
    verdict = "ok" if value <= limit else "MISSED"
    cells = "".join(f" {each:>8}" for each in more)
    print(
        f"{what:42}{limit:>7,g}{value:>10,.1f} {unit:3} {verdict:6} {os.getloadavg()[0]:5.1f}{cells}",
        flush=True,
    )


def others_wait(server: Server) -> None:
    """How long the runs page takes while the first figure index is made, at once and in pieces, and while slices are computed."""
    ways = {
        "the first order by f1": "/api/runs/1/samples?limit=50&sort=metric:f1",
        "slices that find no column": "/api/runs/1/slices?by=answer_is_missing",
    }
    for what, path in ways.items():
        slowest, done = [0.0], threading.Event()

        def ask(path: str = path, done: threading.Event = done) -> None:
            connection = server.connect()
            connection.request("GET", path, headers={"Authorization": f"Bearer {server.token}"})
            connection.getresponse().read()
            done.set()

        thread = threading.Thread(target=ask)
        began = time.perf_counter()
        thread.start()
        while not done.wait(0.05):
            slowest.append(server.timed("/api/runs?limit=100")[0])
        thread.join()
        took = time.perf_counter() - began
        row(f"runs page during {what}", 300, max(slowest), "ms", f"{took:,.1f} s")


def first_order(server: Server) -> None:
    """How the first order by another figure tells how far it is: the longest that a page waits for the next word."""
    began, waits, told = time.perf_counter(), [0.0], 0
    while True:
        wall, _, body = server.timed("/api/runs/1/samples?limit=50&sort=completion_tokens&patience_s=1")
        waits.append(wall)
        if json.loads(body)["indexed"] is None:
            break
        told += 1
    took = time.perf_counter() - began
    row("first order by tokens: next word of it", 2000, max(waits), "ms", f"{took:,.1f} s", f"{told} words")


def live(server: Server) -> None:
    """What open pages cost."""
    with open_pages.readers(server):
        cpu = server.cpu_s
        time.sleep(_READ_FOR_S)
        share = 100 * (server.cpu_s - cpu) / _READ_FOR_S
    row(f"{open_pages.READERS} open pages, share of a core", 10, share, "%")


def report(samples: int = 800) -> None:
    """Time and size of the page of a run of this many samples."""
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(f"{number} + 1 = ?,{number + 1}\n" for number in range(samples))
        (Path(folder) / "q.csv").write_text("question,answer\n" + rows)
        program = Path(sys.executable).with_name("benchwright")
        subprocess.run(
            [program, "run", "q.csv", "--workspace", "."], cwd=folder, check=True, capture_output=True
        )
        told = subprocess.run(
            [sys.executable, "-c", _REPORT], cwd=folder, check=True, capture_output=True, text=True
        )
        cpu_ms, size = map(float, told.stdout.split())
    row(f"report.html of {samples} samples, CPU", 30, cpu_ms, "ms")
    row(f"report.html of {samples} samples, size", 1000, size / 1e3, "kB")


_REPORT = """
import time
from pathlib import Path
from statistics import median
from benchwright.reports.files.run_files import run_report
from benchwright.results import kind_of
from benchwright.store import find_workspace, open_store

with open_store(find_workspace(Path(), Path())) as store:
    run = store.run(1)
    took = []
    for _ in range(6):
        details, samples = kind_of(run).samples(store, run)
        began = time.process_time()
        page = run_report(details, samples, details.result)
        took.append(1e3 * (time.process_time() - began))
print(median(took[1:]), len(page))
"""


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--store", type=Path, help="a folder whose store `benchmarks.large_store` made")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--no-browser", action="store_true", help="leave out what Chromium measures")
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.bare:
        serve_bare()
        return
    with tempfile.TemporaryDirectory() as folder:
        place = given.store or Path(folder)
        if given.store is None:
            began = time.perf_counter()
            make(place, given.samples, given.runs)
            print(
                f"made {given.samples:,} samples and {given.runs:,} runs in {time.perf_counter() - began:.0f} s"
            )
        print(
            f"{'':42}{'limit':>7}{'measured':>10} {'':10} {'load':>5}{'CPU ms':>9}{'bare ms':>9}{'first ms':>9}{'kB':>9}"
        )
        with ours(place) as server:
            server.get("/api/runs?limit=1")
            open_pages.label(server, given.samples)
            others_wait(server)
            first_order(server)
            for page in pages(given.samples):
                measure(server, page)
            live(server)
            row(
                "memory of the server after this walk",
                300,
                server.memory_mb(),
                "MB",
                f"{server.memory_mb('VmHWM'):,.0f} peak",
            )
        report()
        if not given.no_browser:
            open_pages.measure(place, given.samples)


if __name__ == "__main__":
    main()
