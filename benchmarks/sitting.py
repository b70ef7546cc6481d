"""CPU time of five commands beside that of an earlier version, in one sitting.

`python -m benchmarks.sitting --before FOLDER`, where `FOLDER` is the `src` folder of the earlier version. Both sides run on this
Python and take turns, so that a busy machine slows both; which side goes first changes with every round. What counts is user and
system time of the whole process. The simulator that streams are read from is one process of the newer version, for both sides.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import data
from benchmarks.figures import series
from benchmarks.ours import QA_BENCH
from benchmarks.processes import Command, environment, fresh_folder, measure

LARGEST = 1.03
"""How much more than the earlier version a command may take."""


class Tree(NamedTuple):
    """One side: a source tree, and the workspace in which its `list` has something to list."""

    source: Path
    work: Path
    listed: Path

    def cpu_ms(self, *arguments: str | Path, cwd: Path | None = None) -> float:
        """CPU time of one command, in a folder never used before if none is given."""
        command: Command = [sys.executable, "-m", "benchwright", *arguments]
        folder = cwd or fresh_folder(self.work, "run")
        ends = (0, 3) if "perf" in arguments else (0,)  # 3: the client was the limit, as on a busy machine
        return measure(command, cwd=folder, extra={"PYTHONPATH": str(self.source)}, ends=ends).cpu_s * 1000


@contextmanager
def _simulator() -> Iterator[str]:
    command = [sys.executable, "-m", "benchwright", "simulate", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as process:
        assert process.stdout is not None
        try:
            (url,) = [word for word in process.stdout.readline().split() if word.startswith("http")][:1]
            yield url
        finally:
            process.kill()


def _commands(work: Path, url: str) -> dict[str, Callable[[Tree], float]]:
    def bench(count: int) -> Path:
        rows = data.write_rows(work / f"rows-{count}.jsonl", data.qa_rows(count))
        path = work / f"bench_{count}.py"
        path.write_text(QA_BENCH.format(rows=str(rows), prompt=data.QA_PROMPT), encoding="utf-8")
        return path

    few, streamed, many = bench(3), bench(600), bench(3000)
    server = ("--model-url", url, "--model-id", "demo", "--parallelism", "64", "--json")
    prompts = (
        "perf",
        work / "rows-600.jsonl",
        "--model-url",
        url,
        "--model-id",
        "demo",
        "--concurrency",
        "64",
    )
    return {
        "run of 3 rows": lambda side: side.cpu_ms("run", few, "--model", "demo", "--json"),
        "run of 3,000 rows, 64 in flight": lambda side: side.cpu_ms(
            "run", many, "--model", "demo", "--parallelism", "64", "--json"
        ),
        "run of 600 streams, 64 in flight": lambda side: side.cpu_ms("run", streamed, "--stream", *server),
        "load test of 600 streams, 64 in flight": lambda side: side.cpu_ms(*prompts, "--quiet", "--json"),
        "--help": lambda side: side.cpu_ms("--help"),
        "list": lambda side: side.cpu_ms("list", cwd=side.listed),
    }


def _side(name: str, source: Path, work: Path) -> Tree:
    listed = fresh_folder(work, f"{name}-listed")
    side = Tree(source.resolve(), work / name, listed)
    rows = data.write_rows(work / "listed.jsonl", data.qa_rows(3))
    bench = work / "bench_listed.py"
    bench.write_text(QA_BENCH.format(rows=str(rows), prompt=data.QA_PROMPT), encoding="utf-8")
    for _ in range(3):
        side.cpu_ms("run", bench, "--model", "demo", "--json", cwd=listed)
    return side


def main() -> int:
    """Measure, and print one line for each command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sitting", description=__doc__)
    parser.add_argument(
        "--before", type=Path, metavar="FOLDER", required=True, help="the earlier `src` folder"
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", action="append", metavar="WORDS", help="only commands whose name has them")
    given = parser.parse_args()
    now = Path(__file__).resolve().parents[1] / "src"
    print(f"load average {os.getloadavg()[0]:.1f}, {given.rounds} rounds; CPU time in ms, median (least)")
    print(f"{'':40}{'before':>16}{'now':>16}{'ratio':>8}{'(least)':>9}")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder, _simulator() as url:
        work = Path(folder)
        before, after = _side("before", given.before, work), _side("now", now, work)
        for name, command in _commands(work, url).items():
            if given.only and not any(words in name for words in given.only):
                continue
            took: dict[Tree, list[float]] = {before: [], after: []}
            for side in took:  # not counted: fills file caches and byte code
                command(side)
            for number in range(given.rounds):
                for side in (before, after) if number % 2 else (after, before):
                    took[side].append(command(side))
            old, new = (series(took[side]) for side in (before, after))
            ratio = new.middle / old.middle
            worst = max(worst, ratio)
            print(
                f"{name:40}{old.middle:8.1f} ({min(old.values):5.0f}){new.middle:8.1f} ({min(new.values):5.0f})"
                f"{ratio:8.3f}{min(new.values) / min(old.values):9.3f}",
                flush=True,
            )
    print(f"load average {os.getloadavg()[0]:.1f}; wanted: no ratio above {LARGEST}")
    return 0 if worst <= LARGEST else 1


if __name__ == "__main__":
    sys.exit(main())
