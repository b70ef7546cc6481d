"""A bare file of questions: as quick as the same rows through `@benchmark`, and checked in flat memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.figures import Figure, series, shown
from benchmarks.processes import BenchError
from benchmarks.rounds import Bench

RUN_ROWS = 20_000
CHECK_FEW, CHECK_MANY = 1_000, 100_000
BENCH_FILE = """\
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import exact_match


@benchmark(
    name="same-rows",
    dataset={rows!r},
    prompt="{{question}}\\n\\nA) {{A}}\\nB) {{B}}\\nC) {{C}}\\nD) {{D}}\\nReply with the letter of the correct option only.",
    target_field="answer",
)
@scorer
def score(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""


def sums(count: int) -> Iterator[list[object]]:
    """Sums with four options each; the same ones every time."""
    random = Random(20)
    for _ in range(count):
        numbers = [random.randrange(100, 1000) for _ in range(4)]
        right = sum(numbers)
        options = [right, right - 10, right + 18, right + 40]
        random.shuffle(options)
        yield ["+".join(map(str, numbers)) + "=", *options, "ABCD"[options.index(right)]]


def write_sums(path: Path, count: int) -> Path:
    """A CSV file of multiple choice."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "A", "B", "C", "D", "answer"])
        table.writerows(sums(count))
    return path


def questions(bench: Bench) -> list[Figure]:
    """Both ways in turn, on the in-process demo model; then the check of a long file and of a short one."""
    return [_rate(bench), *_check(bench)]


def _rate(bench: Bench) -> Figure:
    count = 4_000 if bench.quick else RUN_ROWS
    rows = write_sums(bench.work / f"sums-{count}.csv", count)
    bare, decorated, seen = [], [], set()
    for _ in range(bench.rounds(5)):
        for target, rates in (("", bare), (BENCH_FILE.format(rows=str(rows)), decorated)):
            printed = bench.ours.demo(rows, target).output
            result = json.loads(printed[printed.index("{") :])["results"][0]
            metric = result["summary"]["metrics"]["accuracy" if not target else "correct"]
            if result["summary"]["outcomes"]["scored"] != count:
                raise BenchError(f"{count} rows, but: {result['summary']['outcomes']}")
            rates.append(result["samples_per_s"])
            seen.add(metric["value"])
    if len(seen) != 1:
        raise BenchError(f"the two ways do not agree: {sorted(seen)}")
    mine, other = series(bare), series(decorated)
    return Figure(
        f"samples/s of a file of {count:,} questions",
        f"{shown(mine.middle)}/s",
        f"@benchmark {shown(other.middle)}/s",
        mine.middle / other.middle,
        "×",
        wanted=0.7,
        note=f"in-process demo model, {len(bare)} rounds; {mine.spread}, @benchmark {other.spread}",
    )


def _check(bench: Bench) -> list[Figure]:
    short = bench.ours.check(write_sums(bench.work / f"sums-{CHECK_FEW}.csv", CHECK_FEW))
    long = bench.ours.check(write_sums(bench.work / f"sums-{CHECK_MANY}.csv", CHECK_MANY))
    return [
        Figure(
            f"memory of checking {CHECK_MANY:,} rows over {CHECK_FEW:,}",
            f"{shown(long.peak_mb)} MB",
            f"{CHECK_FEW:,} rows {shown(short.peak_mb)} MB",
            long.peak_mb - short.peak_mb,
            "MB",
            wanted=60,
            at_least=False,
            note=f"`benchwright check`; {CHECK_MANY:,} rows took {long.wall_s:.1f} s",
        )
    ]
