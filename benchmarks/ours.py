"""benchwright on the same files, through its own command line, each time in a workspace never used before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks import data
from benchmarks.processes import BenchError, Command, StubAddress, Usage, fresh_folder, measure

QA_BENCH = """\
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import exact_match


@benchmark(name="bench-qa", dataset={rows!r}, prompt={prompt!r}, target_field="answer")
@scorer
def score(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""
CHOICE_BENCH = """\
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import multiple_choice_acc


@benchmark(
    name="bench-choice",
    dataset={rows!r},
    prompt={prompt!r},
    target_field="answer",
    endpoint_type="completions_logprob",
    choices_field="choices",
)
@scorer
def score(sample: ScorerInput) -> dict:
    return multiple_choice_acc(sample)
"""
GENERATED_BENCH = """\
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import contains


def rows():
    for index in range({count}):
        first, second = index % 97, index % 89
        yield {{"id": index, "first": first, "second": second, "answer": str(first + second)}}


@benchmark(name="bench-generated", dataset=rows, prompt="What is {{first}} + {{second}}?", target_field="answer")
@scorer
def score(sample: ScorerInput) -> dict:
    return contains(sample)
"""


@dataclass(frozen=True, slots=True)
class Ours:
    """benchwright, as installed beside the Python that runs this."""

    work: Path
    """Where the runs' workspaces live."""
    program: Path
    """The installed command."""

    def qa(
        self,
        rows: Path,
        stub: StubAddress,
        *,
        in_flight: int,
        count: int,
        stream: bool = False,
        pipeline: str = "",
    ) -> Usage:
        """Generation over the chat route; every reply must be in the store afterwards."""
        folder = self._workspace("qa", QA_BENCH.format(rows=str(rows), prompt=data.QA_PROMPT))
        further = [*(["--stream"] if stream else []), *(["--pipeline", pipeline] if pipeline else [])]
        used = self._run(folder, stub, in_flight, *further)
        _expect(folder, "correct" if count > 1 else None, calls=count)
        return used

    def choices(self, rows: Path, stub: StubAddress, *, in_flight: int, count: int) -> Usage:
        """Log-likelihood of every choice over the completions route."""
        folder = self._workspace("choice", CHOICE_BENCH.format(rows=str(rows), prompt=data.CHOICE_PROMPT))
        used = self._run(folder, stub, in_flight, "--model-type", "completions_logprob")
        _expect(folder, "acc", calls=count)
        return used

    def calls(self, stub: StubAddress, *, in_flight: int, count: int) -> Usage:
        """The published rows of `simple`, with native calls."""
        folder = fresh_folder(self.work, "ours-calls")
        model = ["--model-url", stub.base_url, "--model-id", "stub", "--parallelism", str(in_flight)]
        used = measure([*self._command(folder, "bfcl_simple"), *model], cwd=folder)
        _expect(folder, None, calls=count)
        return used

    def generated(self, count: int) -> Usage:
        """`count` rows that no file holds, against the in-process demo model."""
        folder = self._workspace("generated", GENERATED_BENCH.format(count=count))
        used = measure([*self._command(folder), "--model", "demo", "--parallelism", "64"], cwd=folder)
        _expect(folder, None, calls=count)
        return used

    def demo(self, rows: Path, bench: str) -> Usage:
        """A file of questions, or the benchmark around it, against the in-process demo model."""
        folder = self._workspace("questions", bench)
        command = self._command(folder) if bench else self._command(folder, rows)
        return measure([*command, "--model", "demo", "--parallelism", "64"], cwd=folder)

    def check(self, rows: Path) -> Usage:
        """`benchwright check` of a file of questions."""
        return measure([self.program, "check", rows, "--json"], cwd=fresh_folder(self.work, "ours-check"))

    def help(self) -> Usage:
        """`benchwright --help`."""
        return measure([self.program, "--help"], cwd=fresh_folder(self.work, "ours-help"))

    def _workspace(self, name: str, bench: str) -> Path:
        folder = fresh_folder(self.work, f"ours-{name}")
        (folder / "bench.py").write_text(bench, encoding="utf-8")
        return folder

    def _command(self, folder: Path, target: Path | str = "bench.py") -> Command:
        return [
            self.program,
            "run",
            target,
            "--workspace",
            folder,
            "--output-dir",
            folder / "out",
            "--json",
        ]

    def _run(self, folder: Path, stub: StubAddress, in_flight: int, *further: str) -> Usage:
        model = ["--model-url", stub.base_url, "--model-id", "stub", "--parallelism", str(in_flight)]
        return measure([*self._command(folder), *model, *further], cwd=folder)


def _expect(folder: Path, score: str | None, *, calls: int) -> None:
    """Written results, the known accuracy, and one durable record per reply; else the figure means nothing."""
    results = folder / "out" / "results.yml"
    if not results.exists():
        raise BenchError(f"benchwright wrote no {results}")
    database = folder / ".benchwright" / "benchwright.db"
    with closing(sqlite3.connect(database)) as store:
        (kept,) = store.execute(
            "SELECT count(*) FROM steps WHERE key LIKE 'call/%' OR call_output IS NOT NULL"
        ).fetchone()
    if kept != calls:
        raise BenchError(f"benchwright recorded {kept} replies of {calls}; see {folder}")
    if score is None:
        return
    import yaml

    written = yaml.safe_load(results.read_text(encoding="utf-8"))
    metrics = [metric for task in written["results"]["tasks"].values() for metric in task["metrics"].values()]
    values = [metric["scores"][score]["value"] for metric in metrics if score in metric["scores"]]
    if not any(abs(value - data.ACCURACY) < 1e-9 for value in values):
        raise BenchError(f"benchwright: {score} is {values}, not {data.ACCURACY}; see {folder}")
