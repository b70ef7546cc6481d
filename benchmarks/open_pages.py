"""The limits of pages in a browser: first paint, and live updates while a run of 10,000 rows goes on, for `benchmarks.pages`.

`python -m benchmarks.open_pages --store FOLDER` measures them alone, on a store that `benchmarks.large_store` made. Chromium is at
`CHROMIUM`, or where the distribution has it.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.request import Request, urlopen

from benchwright.stats import t_quantile

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from benchmarks.pages import Server

PAINT_MS = 1_000
LIVE_MS = 1_000
READERS = 50
_REPEATS = 5
_ROWS = 10_000
_ROUNDS = 10
_SEEN = """
window.seen = [];
window.shown = 0;
new MutationObserver(() => {
  const main = document.querySelector("main");
  if (!window.shown && main?.getAttribute("aria-busy") === "false" && main.querySelector("h1"))
    requestAnimationFrame(() => { window.shown ||= performance.now(); });
  const done = Number(document.querySelector("[data-json='progress.done']")?.textContent?.replace(/[^0-9]/g, "") || 0);
  if (done && window.seen.at(-1)?.[0] !== done) window.seen.push([done, Date.now()]);
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
"""
"""Notes when the page is drawn, and when it shows which progress."""
_WAIT = "() => new Promise((done) => { const look = () => window.shown ? done(window.shown) : requestAnimationFrame(look); look(); })"


class Row(NamedTuple):
    """A row of the table of limits."""

    what: str
    limit: float
    value: float
    unit: str
    more: tuple[str, ...] = ()


def paints(samples: int) -> dict[str, str]:
    """The pages whose first paint is measured, as `#` has them."""
    return {
        "runs": "/runs",
        "a run": "/runs/1",
        "samples": "/runs/1/samples",
        "wrong samples by f1": "/runs/1/samples?verdict=wrong&sort=metric%3Af1",
        "labelled samples": "/runs/1/samples?labelled=any",
        "a sample": f"/runs/1/samples/{samples // 2}/0",
        "a labelled sample": "/runs/1/samples/7/0",
        "compare": "/compare?runs=2,3",
    }


@contextmanager
def browser_tab(open_url: str) -> Iterator[Page]:
    """A tab of Chromium that is let in."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        tab.add_init_script(_SEEN)
        tab.set_default_timeout(120_000)
        tab.goto(open_url)
        tab.wait_for_selector("main[aria-busy=false] h1")
        yield tab
        browser.close()


def opened(tab: Page, address: str) -> float:
    """Open a page anew; the milliseconds until it is drawn."""
    tab.goto("about:blank")
    tab.goto(address)
    tab.wait_for_selector("main[aria-busy=false] h1")
    return float(tab.evaluate(_WAIT))


def label(server: Server, samples: int) -> None:
    """Label a few rows of run 1."""
    for row in (*range(7, samples, samples // 100), samples - 1):
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        body = json.dumps({"kind": "ambiguous"}).encode()
        urlopen(Request(f"{server.url}/api/runs/1/samples/{row}/0/labels", body, headers)).close()


def first_paints(server: Server, tab: Page, samples: int) -> Iterator[Row]:
    """Milliseconds from the request for a page to the frame that shows its content, assets included."""
    for what, path in paints(samples).items():
        took = [opened(tab, f"{server.url}/#{path}") for _ in range(_REPEATS + 1)]
        yield Row(f"browser: {what}", PAINT_MS, statistics.median(took[1:]), "ms", (f"{took[0]:,.0f} first",))


class Run:
    """A run of many rows on the demo model, in a process of its own."""

    def __init__(self, place: Path) -> None:
        rows = "".join(f"{number} + 1 = ?,{number + 1}\n" for number in range(_ROWS))
        (place / "rows.csv").write_text("question,answer\n" + rows)
        program = Path(sys.executable).with_name("benchwright")
        self._command = [program, "run", "rows.csv", "--workspace", ".", "--no-cache", "--parallelism", "8"]
        self._place = place

    def measured(self) -> tuple[float, float]:
        """Wall and CPU seconds of one run."""
        began, before = time.perf_counter(), os.times()
        subprocess.run(self._command, cwd=self._place, check=True, capture_output=True)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return time.perf_counter() - began, cpu


@contextmanager
def readers(server: Server, count: int = READERS) -> Iterator[None]:
    """So many open pages."""
    until, ready = threading.Event(), threading.Barrier(count + 1)
    threads = [threading.Thread(target=server.watch, args=(ready.wait, until)) for _ in range(count)]
    for each in threads:
        each.start()
    ready.wait()
    try:
        yield
    finally:
        until.set()
        for each in threads:
            each.join()


def delays(place: Path, seen: list[tuple[int, float]]) -> list[float]:
    """Milliseconds from the end of each sample of the newest run to the first frame that counts it, sorted."""
    with closing(sqlite3.connect(place / ".benchwright/benchwright.db")) as connection:
        rows = connection.execute(
            "SELECT finished_at FROM steps WHERE run_id = (SELECT max(id) FROM runs) AND key >= 'score/' AND key < 'score0'"
        )
        ended = sorted(1e3 * at for (at,) in rows)
    counts = [done for done, _ in seen]
    found = []
    for number, at in enumerate(ended[: counts[-1]], 1):
        found.append(seen[bisect_left(counts, number)][1] - at)
    return sorted(found)


def live(serve: Callable[[Path], Any]) -> Iterator[Row]:
    """How soon a page shows what is recorded, and what open pages cost a run."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        run = Run(place)
        run.measured()  # makes the workspace
        server = stack.enter_context(serve(place))
        tab = stack.enter_context(browser_tab(server.open_url))
        for count in (0, READERS):
            with readers(server, count):
                opened(tab, f"{server.url}/#/runs")
                cpu, began = server.cpu_s, time.perf_counter()
                thread = threading.Thread(target=run.measured)
                thread.start()
                while thread.is_alive():
                    tab.wait_for_timeout(100)  # the tab must get its turn
                share = 100 * (server.cpu_s - cpu) / (time.perf_counter() - began)
                found = delays(place, tab.evaluate("window.seen"))
            what = f"sample on the page, {count + 1} open"
            worst = found[len(found) * 99 // 100]
            more = (f"{statistics.median(found):,.0f} p50", f"{found[-1]:,.0f} max", f"{share:.1f} % CPU")
            yield Row(f"{what}, p99", LIVE_MS, worst, "ms", more)
        tab.goto("about:blank")
        yield from slowed(run, server)


def slowed(run: Run, server: Server) -> Iterator[Row]:
    """How much longer a run takes with open pages: alternating, the mean of the pairs with its 95 % interval."""
    took: dict[int, list[tuple[float, float]]] = {0: [], READERS: []}
    for number in range(_ROUNDS):
        for count in (0, READERS) if number % 2 else (READERS, 0):
            with readers(server, count):
                took[count].append(run.measured())
    for at, what in ((1, "CPU"), (0, "wall")):
        ratios = [
            100 * (many[at] / alone[at] - 1) for many, alone in zip(took[READERS], took[0], strict=True)
        ]
        alone = statistics.median(each[at] for each in took[0])
        mean, half = statistics.mean(ratios), t_quantile(len(ratios) - 1) * statistics.stdev(ratios)
        half /= len(ratios) ** 0.5
        more = (f"{alone:.2f} s", f"{mean - half:.1f} to {mean + half:.1f}")
        yield Row(f"run slowed by {READERS} pages, {what}", 2, mean, "%", more)


def measure(place: Path, samples: int) -> None:
    """Print what a browser shows, and how soon."""
    from benchmarks.pages import ours, row

    with ours(place) as server, browser_tab(server.open_url) as tab:
        label(server, samples)
        for each in first_paints(server, tab, samples):
            row(each.what, each.limit, each.value, each.unit, *each.more)
        row(
            "memory of the server after these pages",
            300,
            server.memory_mb(),
            "MB",
            f"{server.memory_mb('VmHWM'):,.0f} peak",
        )
    for each in live(ours):
        row(each.what, each.limit, each.value, each.unit, *each.more)


def measure_slowed() -> None:
    """Print how much open pages slow a run, without a browser."""
    from benchmarks.pages import ours, row

    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder))
        run.measured()  # makes the workspace
        with ours(Path(folder)) as server:
            for each in slowed(run, server):
                row(each.what, each.limit, each.value, each.unit, *each.more)


def main() -> None:
    """Measure in a browser only."""
    from benchmarks.large_store import SAMPLES

    parser = argparse.ArgumentParser(prog="python -m benchmarks.open_pages", description=__doc__)
    parser.add_argument("--store", type=Path, help="a folder whose store `benchmarks.large_store` made")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--slowed", action="store_true", help="only how much pages slow a run")
    given = parser.parse_args()
    if given.slowed:
        measure_slowed()
    else:
        measure(given.store, given.samples)


if __name__ == "__main__":
    main()
