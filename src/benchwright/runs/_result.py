"""The result of a run, for Python and for the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchwright.core import (
    MetricSummary,
    NotFoundError,
    Row,
    RunFile,
    RunStatus,
    RunSummary,
    open_artifacts,
    suggest,
)
from benchwright.engine import RunStart, StopCause
from benchwright.reports import sample_rows
from benchwright.results import ResultView, benchmark_view
from benchwright.store import RunRecord, Store, named_run


class RunResult(ResultView, frozen=True, kw_only=True):
    """One finished, failed or stopped run."""

    @property
    def run_id(self) -> int:
        """Number in the workspace; `benchwright show` takes it."""
        return self.run.id

    @property
    def name(self) -> str:
        """Normalised benchmark name."""
        return self.run.name

    @property
    def model(self) -> str:
        """Model id."""
        return self.run.model or ""

    @property
    def demo(self) -> bool:
        """Whether the demo model answered, embedded or as a server; its numbers say nothing about a real model."""
        return self.run.demo

    @property
    def status(self) -> RunStatus:
        """completed, failed or interrupted."""
        return self.run.status

    @property
    def folder(self) -> Path:
        """Where results.yml and the other files are."""
        return self.run.folder

    @property
    def metrics(self) -> dict[str, MetricSummary]:
        """The metrics by name."""
        return self.summary.metrics

    def __getitem__(self, metric: str) -> float:
        """The value of one metric: `result["correct"]`."""
        known = self.summary.metrics
        if metric not in known:
            names = ", ".join(known) or "none"
            raise KeyError(f"no metric {metric!r} in this run.{suggest(metric, known)} It has: {names}")
        return known[metric].value

    def __iter__(self) -> Iterator[str]:
        """Names of the metrics."""
        return iter(self.summary.metrics)

    def __repr__(self) -> str:
        """The same line as `str`; `to_json` has everything."""
        return f"<RunResult {self}>"

    def __str__(self) -> str:
        """One line: the benchmark, the model and the main figures."""
        return f"run {self.run_id}, {self.status}: {self.sentence}"

    def samples(self) -> list[Row]:
        """Prompts, replies and scores, with one row per sample and repeat, like `samples.parquet`; messages, scores and
        metadata are values rather than JSON. For many samples, `arrow()` takes less memory."""
        return sample_rows(self.arrow())

    def arrow(self) -> Any:
        """The samples as a `pyarrow.Table`, for pandas, polars or duckdb."""
        import pyarrow.parquet as pq

        files = open_artifacts(self.folder)
        if not files.exists(RunFile.SAMPLES):
            raise NotFoundError(
                f"run {self.run_id} has no file {files.location(RunFile.SAMPLES)}; write its samples again: "
                f"benchwright export {self.run_id}"
            )
        with files.open(RunFile.SAMPLES) as data:
            return pq.read_table(data, use_threads=False)

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        from benchwright.reports import in_notebook  # terminals do not need it

        return in_notebook(self)


def recorded(store: Store, run: str | int | RunResult) -> RunRecord:
    """Find a run by number, `last`, name or folder, or by its result."""
    if not isinstance(run, RunResult):
        return named_run(store, str(run))
    found = named_run(store, str(run.run_id))
    if found.folder != run.folder:
        raise NotFoundError(
            f"the result is of {run.folder}, and run {run.run_id} of the workspace {store.workspace.root} is another "
            "one. Name the workspace of the result: workspace=…"
        )
    return found


def called(run: str | int | RunResult) -> str:
    """The name of a run in messages."""
    return str(run.run_id if isinstance(run, RunResult) else run)


def result_of(run: RunRecord, start: RunStart, problems: Sequence[str] = ()) -> RunResult:
    """The result of a run that this process started. With `problems`, some of the requested output is missing."""
    code = exit_code_of(start.summary, start.cause)
    return RunResult(
        run=benchmark_view(run),
        summary=start.summary,
        exit_code=code or (1 if problems else 0),
        stopped_because=start.reason,
        first_failure=start.first_failure,
        requests_sent=start.requests_sent,
        retries=start.retries,
        sent_again=start.sent_again,
        from_cache=start.from_cache,
        seconds=start.seconds,
        samples_per_s=start.done / start.seconds if start.seconds > 0 else 0.0,
        report_problems=tuple(problems),
    )


def recorded_result(run: RunRecord) -> RunResult | None:
    """The result of a run that ended earlier; None while there is none. The requests of its last start are not known."""
    if run.summary is None:
        return None
    summary = RunSummary.from_json(run.summary)
    failed, why = run.status == "failed", run.error or ""
    return RunResult(
        run=benchmark_view(run),
        summary=summary,
        exit_code=exit_code_of(summary, None),
        stopped_because="" if failed else why,
        first_failure=why if failed else "",
        requests_sent=0,
        seconds=0.0,
    )


def exit_code_of(summary: RunSummary, cause: StopCause | None) -> int:
    """The exit code: 0 done · 1 no number resulted · 3 finished but not comparable · 130 interrupted."""
    if cause == "interrupted":
        return 130
    if cause == "client_error":
        return 1
    if summary.failed == summary.evaluated:
        return 1
    if not summary.metrics and not summary.unscored:
        return 1
    return 0 if summary.comparable else 3
