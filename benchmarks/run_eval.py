"""`run_eval` on the same rows, through benchwright and through NeMo Evaluator 0.2.8, against one stub on loopback.

`python -m benchmarks.run_eval` prints for each program and each number of requests in flight: samples a second from the command to
its end, and while requests are sent; CPU seconds and peak memory of all of its processes. Then our best against its best.
NeMo Evaluator is installed from PyPI into an environment of its own under `.bench/`, where its own command compiles the benchmark.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import data, ours, venvs
from benchmarks.processes import BenchError, Command, StubAddress, environment, fresh_folder, stub

OLDER = venvs.Tool(
    "nemo_evaluator", ("nemo-evaluator==0.2.8",), "BENCH_NEMO_EVALUATOR_PYTHON", ("nemo-evaluator",)
)
WORK = venvs.HOME / "run_eval"
PROGRAM = Path(sys.executable).with_name("benchwright")
WANTED_RATE, WANTED_MEMORY = 50, 1 / 5
_LONGEST_S = 240
_SAMPLED_EVERY_S = 0.05


@dataclass(frozen=True)
class Round:
    """What one command took."""

    name: str
    in_flight: int
    rows: int
    wall_s: float
    steady: float | None
    cpu_s: float
    tree_mb: float

    @property
    def rate(self) -> float:
        """Samples a second, from the command to its end."""
        return self.rows / self.wall_s

    def line(self) -> str:
        """For the table."""
        steady = "–" if self.steady is None else f"{self.steady:,.0f}"
        return (
            f"{self.name:16}{self.in_flight:>10}{self.rate:>14,.1f}{steady:>12}{self.wall_s:>9.2f}{self.cpu_s:>9.2f}"
            f"{self.tree_mb:>9.0f}"
        )


def tree_bytes(root: int) -> int:
    """Resident bytes of a process and of all below it. What several share counts for each of them."""
    children: dict[int, list[int]] = defaultdict(list)
    sizes: dict[int, int] = {}
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                children[int(fields[1])].append(int(entry.name))
                sizes[int(entry.name)] = int(fields[21]) * page
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        total += sizes.get(process, 0)
        waiting += children[process]
    return total


def timed(command: Command, cwd: Path, extra: dict[str, str]) -> tuple[float, float, float, int]:
    """Seconds, CPU seconds and peak megabytes of a command with all of its processes, and its exit code."""
    began, peak = time.perf_counter(), 0
    with (cwd / "output.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=cwd, env=environment(extra), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        ended = threading.Event()

        def sample() -> None:
            nonlocal peak
            while not ended.wait(_SAMPLED_EVERY_S):
                peak = max(peak, tree_bytes(process.pid))
                if time.perf_counter() - began > _LONGEST_S:
                    process.kill()

        watcher = threading.Thread(target=sample)
        watcher.start()
        _, status, used = os.wait4(process.pid, 0)
        ended.set()
        watcher.join()
        process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - began
    peak = max(peak, used.ru_maxrss * 1024)  # a short run may end between two samples
    return wall_s, used.ru_utime + used.ru_stime, peak / 1e6, process.returncode


def one_round(
    name: str,
    rows: int,
    in_flight: int,
    at: StubAddress,
    command: Callable[[Path], Command],
    extra: dict[str, str],
) -> Round:
    """Run a command in a folder of its own. BenchError unless every row was sent and the known accuracy was found."""
    folder = fresh_folder(WORK, name.replace(" ", "-"))
    at.reset()
    wall_s, cpu_s, peak_mb, code = timed(command(folder), folder, extra)
    seen = at.stats(in_flight)
    if seen.count < rows:
        raise BenchError(f"{name} sent {seen.count} of {rows} requests; see {folder / 'output.log'}")
    if code or _accuracy(folder / "out" / "results.yml") != data.ACCURACY:
        raise BenchError(f"{name} ended with {code}, or with wrong results; see {folder}")
    return Round(name, in_flight, rows, wall_s, seen.steady_per_s, cpu_s, peak_mb)


def _accuracy(results: Path) -> float | None:
    """The score that a program wrote; both have the same form."""
    import yaml

    if not results.is_file():
        return None
    tasks = yaml.safe_load(results.read_text(encoding="utf-8"))["results"]["tasks"]
    return float(tasks["bench_qa"]["metrics"]["pass@1"]["scores"]["correct"]["value"])


def our_side(rows: Path, at: StubAddress, in_flight: int) -> Callable[[Path], Command]:
    """`benchwright run_eval`."""

    def command(folder: Path) -> Command:
        (folder / "bench.py").write_text(ours.QA_BENCH.format(rows=str(rows), prompt=data.QA_PROMPT))
        return [PROGRAM, "run_eval", "--eval_type", "bench.py", *_flags(at, in_flight)]

    return command


def compiled(python: Path, rows: Path, home: Path) -> None:
    """Have the older program make a package of the same benchmark."""
    home.mkdir(parents=True, exist_ok=True)
    source = ours.QA_BENCH.format(rows=str(rows), prompt=data.QA_PROMPT)
    bench = home / "bench.py"
    bench.write_text(source.replace("from benchwright", "from nemo_evaluator.contrib.byob"))
    command: list[str | Path] = [
        python.with_name("nemo-evaluator-byob"),
        bench,
        "--install-dir",
        home / "packages",
    ]
    done = subprocess.run(
        command,
        env=environment(_around(python, home)),
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    if done.returncode:
        raise BenchError(
            f"the older program did not compile the benchmark: {done.stdout}{done.stderr}"[-2000:]
        )


def older_side(python: Path, at: StubAddress, in_flight: int) -> Callable[[Path], Command]:
    """`nemo-evaluator run_eval`."""

    def command(folder: Path) -> Command:
        # Release 0.2.8 writes its results one folder below the place where it then reads them, and would end there without
        # results.yml. A link leads from one to the other, so that it does all of its work.
        link = folder / "out" / "byob_results.json"
        link.parent.mkdir()
        link.symlink_to(Path("bench_qa") / link.name)
        program = python.with_name("nemo-evaluator")
        return [program, "run_eval", "--eval_type", "byob_bench_qa.bench_qa",
                *_flags(at, in_flight, "/chat/completions")]  # fmt: skip

    return command


def _flags(at: StubAddress, in_flight: int, route: str = "") -> list[str]:
    return [
        "--model_id", "stub", "--model_type", "chat", "--model_url", f"{at.base_url}{route}", "--output_dir", "out",
        "--overrides", f"config.params.parallelism={in_flight}",
    ]  # fmt: skip


def _around(python: Path, home: Path) -> dict[str, str]:
    """It starts the first `python` of the path, writes to the home folder, and reports its use to its makers unless told not to."""
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "NEMO_EVALUATOR_TELEMETRY_LEVEL": "0"}


def main() -> int:
    """Measure and print; 1 if a figure is not met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run_eval")
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[32, 64, 128], help="our settings")
    parser.add_argument("--older-in-flight", type=int, nargs="+", default=[16, 64], help="its settings")
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    rows = data.write_rows(WORK / f"qa-{given.rows}.jsonl", data.qa_rows(given.rows))
    python, home = venvs.python_of(OLDER, timeout_s=600), WORK / "home"
    compiled(python, rows, home)
    print(f"{given.rows:,} rows, load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores", flush=True)
    print(
        f"{'':16}{'in flight':>10}{'samples/s':>14}{'sending/s':>12}{'wall s':>9}{'CPU s':>9}{'tree MB':>9}"
    )
    sides: dict[str, list[Round]] = {"benchwright": [], "nemo-evaluator": []}
    with stub(0) as at:
        for _ in range(given.rounds):
            for in_flight in given.in_flight:
                command = our_side(rows, at, in_flight)
                sides["benchwright"].append(one_round("benchwright", given.rows, in_flight, at, command, {}))
                print(sides["benchwright"][-1].line(), flush=True)
            for in_flight in given.older_in_flight:
                command = older_side(python, at, in_flight)
                found = one_round("nemo-evaluator", given.rows, in_flight, at, command, _around(python, home))
                sides["nemo-evaluator"].append(found)
                print(found.line(), flush=True)
    return _compared(sides["benchwright"], sides["nemo-evaluator"])


def _compared(own: list[Round], older: list[Round]) -> int:
    rate = max(each.rate for each in own) / max(each.rate for each in older)
    middle = median(each.rate for each in own) / median(each.rate for each in older)
    memory = max(each.tree_mb for each in own) / min(each.tree_mb for each in older)
    cpu = min(each.cpu_s for each in older) / min(each.cpu_s for each in own)
    print(
        f"samples/s: {rate:.1f} × best against best, {middle:.1f} × by medians (wanted: at least {WANTED_RATE})"
    )
    print(f"memory:    1/{1 / memory:.1f} (wanted: less than 1/{1 / WANTED_MEMORY:.0f})")
    print(f"CPU:       1/{cpu:.1f}; load {os.getloadavg()[0]:.1f} after")
    return 0 if rate >= WANTED_RATE and memory < WANTED_MEMORY else 1


if __name__ == "__main__":
    raise SystemExit(main())
