"""The result of a suite: every pair with its run, and all runs side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from benchwright.core import JsonObject, Note, NoteGrade, NotFoundError, as_json, suggest, worst_exit_code
from benchwright.results import (
    Pair,
    RunResult,
    SideBySide,
    SideRun,
    WorkRun,
    WorkTable,
    WorkTask,
    plural,
)
from benchwright.runs._jobs import INTERRUPTED
from benchwright.store import Store


class PairResult(Pair, frozen=True):
    """The result of one model on one dataset."""

    run_id: int
    """Number of the run in the workspace."""
    result: RunResult | None = None
    """Its result; None if the run failed or never began."""
    error: str = ""
    """Why it has no result."""
    exit_code: int = 0
    """The exit code of a command that ran only this pair."""

    @property
    def not_begun(self) -> bool:
        """Whether the suite was interrupted before this pair began. Such a pair did not fail: no request was sent."""
        return self.result is None and self.exit_code == INTERRUPTED

    def __str__(self) -> str:
        """Return one line: the pair, and its result or why it has none."""
        ending = self.error if self.result is None else self.result
        return f"{self.model}, {self.dataset}: {ending}"

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        names: JsonObject = {"suite_model": self.model, "suite_dataset": self.dataset}
        if self.result is not None:
            return {**names, **self.result.to_json()}
        status = "not begun" if self.not_begun else "failed"
        return {
            **names,
            "run_id": self.run_id,
            "status": status,
            "exit_code": self.exit_code,
            "error": self.error,
        }


class SuiteResult(Struct, frozen=True, kw_only=True):
    """The results of every pair of a suite."""

    name: str
    """Name of the suite: its file without the ending, or its datasets joined by `+`."""
    pairs: tuple[PairResult, ...]
    """In the order of the models, then of the datasets."""
    comparison: SideBySide
    """All runs side by side."""
    notes: tuple[str, ...] = ()
    """Notes from before the runs."""
    work_folder: Path | None = None
    """The work folder that was written, if one was."""

    @property
    def exit_code(self) -> int:
        """The exit code of the worst pair."""
        return worst_exit_code([pair.exit_code for pair in self.pairs])

    def __iter__(self) -> Iterator[PairResult]:
        """Iterate over the pairs."""
        return iter(self.pairs)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.pairs)

    def __getitem__(self, names: tuple[str, str]) -> RunResult:
        """Return the result of one pair, the model first: `result["local", "test_mcq"]`."""
        for pair in self.pairs:
            if (pair.model, pair.dataset) == names and pair.result is not None:
                return pair.result
        known = [f"{pair.model}, {pair.dataset}" for pair in self.pairs if pair.result is not None]
        near = suggest(", ".join(names), known)
        raise NotFoundError(f"no result for {names!r}.{near} There are: {'; '.join(known) or 'none'}")

    def __repr__(self) -> str:
        """Return a short form; `str` has a line for each pair, `to_json` everything."""
        return f"<SuiteResult {self.name}: {plural(len(self.pairs), 'pair')}, exit code {self.exit_code}>"

    def __str__(self) -> str:
        """Return a line for each pair: the model, the dataset and the result."""
        lines = [f"suite {self.name}: {plural(len(self.pairs), 'pair')}", *map(str, self.pairs)]
        return "\n  ".join(lines)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from benchwright.reports import in_notebook  # imported late: only notebooks need it

        return in_notebook(self.comparison)

    def to_json(self) -> JsonObject:
        """As `--json` prints it: `{suite, notes, work_folder, results, verdicts, comparison, exit_code}`."""
        told = [Note("", note, NoteGrade.INFORMATION) for note in self.notes]
        return {
            "suite": self.name,
            "notes": as_json([*told, *self.comparison.notes]),
            "work_folder": None if self.work_folder is None else str(self.work_folder),
            "results": [pair.to_json() for pair in self.pairs],
            "verdicts": list(self.comparison.verdicts),
            "comparison": list(self.comparison.to_json()),
            "exit_code": self.exit_code,
        }


def compared(store: Store, pairs: tuple[PairResult, ...], summarizer: str | None) -> SideBySide:
    """Compare the pairs side by side, from what is recorded now."""
    runs = [SideRun(pair.model, pair.dataset, store.run(pair.run_id), pair.error) for pair in pairs]
    table = WorkTable.of(
        [WorkRun.of(store, WorkTask(pair.model, pair.dataset, pair.run_id)) for pair in pairs]
    )
    return SideBySide.of(runs, all_metrics=summarizer != "headline", verdicts=table.verdicts)
