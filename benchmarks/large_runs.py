"""What `compare`, `gate` and `bless` cost on large runs: CPU time and peak memory of each command."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from random import Random

from msgspec.structs import replace

from benchmarks.figures import Figure, shown
from benchmarks.processes import Usage, measure
from benchmarks.rounds import Bench
from benchwright.core import Outcome, RunSummary, SampleRecord, StepValues, encode_json
from benchwright.stats import Aggregator
from benchwright.store import Store, find_workspace, open_store

ROWS = 200_000
_CATEGORIES = ("art", "law", "math", "med", "tax")
_POLICY = """
[[threshold]]
metric = "correct"
min = 0.7
bound = "lower"

[[regression]]
metric = "*"
bound = "upper"
margin = 0.01

[[regression]]
metric = "correct"
bound = "upper"
slices = "category"
margin = 0.05
"""


def large_runs(bench: Bench) -> list[Figure]:
    """CPU seconds and peak memory of each command, with rows in the same order, in another order, and repeated."""
    rows = ROWS // 20 if bench.quick else ROWS
    found = []
    for order in ("same order", "other order", "half the rows, two repeats"):
        with tempfile.TemporaryDirectory(dir=bench.work) as folder:
            place = Path(folder)
            root = {"PYTHONPATH": str(Path(__file__).parent.parent)}
            fill_it = [sys.executable, "-m", "benchmarks.large_runs", place, str(rows), order]
            measure(fill_it, cwd=place, extra=root)
            (place / "policy.toml").write_text(_POLICY, encoding="utf-8")
            workspace = ["--workspace", str(place)]
            for name, arguments in (
                ("compare", ["compare", "1", "2"]),
                ("bless", ["bless", "1", "--as", "main"]),
                ("gate against a run", ["gate", "2", "--baseline", "1", "--policy", str(place / "policy.toml")]),
                ("gate against a name", ["gate", "2", "--baseline", "main", "--policy", str(place / "policy.toml")]),
                ("compare with a name", ["compare", "main", "2"]),
            ):  # fmt: skip
                used = measure([bench.ours.program, *arguments, *workspace], cwd=place)
                found += _figures(f"{name}, {rows:,} rows × 2, {order}", used)
    return found


def _figures(name: str, used: Usage) -> list[Figure]:
    note = f"{used.wall_s:.1f} s of wall time"
    return [
        Figure(f"CPU of {name}", f"{used.cpu_s:.2f} s", "", used.cpu_s, "s", 5, at_least=False, note=note),
        Figure(f"memory of {name}", f"{shown(used.peak_mb)} MB", "", used.peak_mb, "MB", 200, at_least=False),
    ]


def fill(place: Path, rows: int, order: str) -> None:
    """Record two runs of these rows."""
    workspace = find_workspace(place, place)
    workspace.create()
    with open_store(workspace) as store:
        for number in (1, 2):
            asyncio.run(_record(store, place, number, rows, order))


async def _record(store: Store, place: Path, number: int, rows: int, order: str) -> None:
    dice = Random(number)
    repeats = 2 if "repeats" in order else 1
    numbers = list(range(rows // repeats))
    if order == "other order":
        dice.shuffle(numbers)
    sums, steps = Aggregator(), []
    manifest = {"dataset": {"fingerprint": "sha256:0"}, "benchmark": {"hash": "0", "own_hash": "0"}}
    made = store.create_run(
        name="large", target="large", model="m", folder=place / f"run{number}", settings={}, manifest=manifest
    )
    writer = store.step_writer(made.id)
    for index, row in enumerate(numbers):
        for repeat in range(repeats):
            scores = {"correct": dice.random() < 0.75, "f1": round(dice.random(), 4), "parsed": True}
            sums.add(index, scores)
            steps.extend(_steps(index, repeat, row, scores))
        if len(steps) >= 10_000:
            await writer.append(steps)
            steps = []
    if steps:
        await writer.append(steps)
    await writer.close()
    count = rows // repeats * repeats
    store.finish_run(
        made.id, "completed", summary=summary_of_sums(sums, rows // repeats, repeats, count).to_json()
    )


def _steps(index: int, repeat: int, row: int, scores: dict[str, object]) -> tuple[StepValues, ...]:
    text = {"question": f"question number {row}: what is {row} + 1?", "category": _CATEGORIES[row % 5]}
    record = SampleRecord(
        index,
        repeat,
        encode_json(text),
        Outcome.SCORED,
        str(row + 1),
        scores,
        started_at=1.0,
        finished_at=2.0,
    )
    return record.to_steps()


def summary_of_sums(sums: Aggregator, rows: int, repeats: int, count: int) -> RunSummary:
    """The summary of a run in which every sample was scored."""
    metrics = {
        name: replace(each, with_failures=each.value, with_failures_count=each.count)
        for name, each in sums.summaries().items()
    }
    return RunSummary(
        rows=rows,
        repeats=repeats,
        evaluated=count,
        outcomes={"scored": count},
        metrics=metrics,
        failed=0,
        comparable=True,
        partial=False,
        notes=[],
        headline="correct",
    )


if __name__ == "__main__":  # in a process of its own, whose memory the measured ones do not inherit
    fill(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
