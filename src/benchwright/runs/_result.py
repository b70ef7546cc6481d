"""The result of a run, for Python and for the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchwright.core import (
    JsonObject,
    MetricSummary,
    NotFoundError,
    Row,
    RunFile,
    RunStatus,
    RunSummary,
    light_dataclass,
    suggest,
)
from benchwright.engine import Performed, StopCause
from benchwright.reports import ResultView, RunView, benchmark_view, plural, sample_rows
from benchwright.store import RunRecord, Store


@light_dataclass(frozen=True, slots=True, repr=False)
class RunResult:
    """One finished, failed or stopped run."""

    run_id: int
    """Number in the workspace; `benchwright show` takes it."""
    name: str
    """Normalised benchmark name."""
    model: str
    """Model id."""
    demo: bool
    """Whether the demo model answered, embedded or as a server; its numbers say nothing about a real model."""
    status: RunStatus
    """completed, failed or interrupted."""
    folder: Path
    """Where results.yml and the other files are."""
    summary: RunSummary
    """The numbers."""
    exit_code: int
    """The exit code of the command: 0 done, 1 failed, 3 not comparable, 130 interrupted."""
    stopped_because: str
    """Why the run stopped early; empty if it did not."""
    first_failure: str
    """The most common failure in plain words, the earliest of equals; empty if there was none."""
    requests_sent: int
    """Requests of this start, including retries."""
    retries: int
    """How many of them repeated a failed attempt."""
    sent_again: int
    """How many of them repeated one that was lost on a connection which the server was closing."""
    from_cache: int
    """Calls answered by earlier runs."""
    seconds: float
    """Wall-clock time spent on requests."""
    samples_per_s: float
    """Samples finished per second of that time."""
    run: RunView
    """The run, as lists show it."""
    report_problems: tuple[str, ...] = ()
    """Errors of reports of installed packages, one text for each; the exit code is then not 0."""

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
        values = ", ".join(f"{name} {metric.value:.4g}" for name, metric in self.summary.metrics.items())
        counted = f"{plural(self.summary.evaluated, 'sample')}, {self.summary.failed} failed"
        return f"run {self.run_id} {self.name} on {self.model}: {values or 'no score'} ({counted}; {self.status})"

    def samples(self) -> list[Row]:
        """Prompts, replies and scores, with one row per sample and repeat, like `samples.parquet`; messages, scores and
        metadata are values rather than JSON. For many samples, `arrow()` takes less memory."""
        return sample_rows(self.arrow())

    def arrow(self) -> Any:
        """The samples as a `pyarrow.Table`, for pandas, polars or duckdb."""
        import pyarrow.parquet as pq

        path = self.folder / RunFile.SAMPLES
        if not path.is_file():
            raise NotFoundError(
                f"run {self.run_id} has no file {path}; write its samples again: benchwright export {self.run_id}"
            )
        return pq.read_table(path, use_threads=False)

    @property
    def view(self) -> ResultView:
        """The result as reports show it."""
        shown = replace(
            self.run,
            name=self.name,
            model=self.model or None,
            demo=self.demo,
            status=self.status,
            folder=self.folder,
        )
        return ResultView(
            run=shown,
            summary=self.summary,
            exit_code=self.exit_code,
            stopped_because=self.stopped_because,
            first_failure=self.first_failure,
            requests_sent=self.requests_sent,
            retries=self.retries,
            sent_again=self.sent_again,
            from_cache=self.from_cache,
            seconds=self.seconds,
            samples_per_s=self.samples_per_s,
            report_problems=self.report_problems,
        )

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        from benchwright.reports import result_fragment  # terminals do not need it

        return result_fragment(self.view)

    def to_json(self) -> JsonObject:
        """As `--json` prints it: the run as in `list` and `show`, its summary, and what this start did."""
        return self.view.to_json()


def recorded(store: Store, run: str | int | RunResult) -> RunRecord:
    """Find a run by number, `last`, name or folder, or by its result."""
    if not isinstance(run, RunResult):
        return store.find_run(str(run))
    found = store.find_run(str(run.run_id))
    if found.folder != run.folder:
        raise NotFoundError(
            f"the result is of {run.folder}, and run {run.run_id} of the workspace {store.workspace.root} is another "
            "one. Name the workspace of the result: workspace=…"
        )
    return found


def called(run: str | int | RunResult) -> str:
    """The name of a run in messages."""
    return str(run.run_id if isinstance(run, RunResult) else run)


def result_of(run: RunRecord, performed: Performed) -> RunResult:
    """Combine the result of the engine and the record of the store."""
    view = benchmark_view(run)
    return RunResult(
        run_id=run.id,
        name=run.name,
        model=run.model,
        demo=view.demo,
        status=run.status,
        folder=run.folder,
        summary=performed.summary,
        exit_code=exit_code_of(performed.summary, performed.cause),
        stopped_because=performed.reason,
        first_failure=performed.first_failure,
        requests_sent=performed.requests_sent,
        retries=performed.retries,
        sent_again=performed.sent_again,
        from_cache=performed.from_cache,
        seconds=performed.seconds,
        samples_per_s=performed.done / performed.seconds if performed.seconds > 0 else 0.0,
        run=view,
    )


def recorded_result(run: RunRecord) -> RunResult | None:
    """The result of a run that ended earlier; None while there is none. The requests of its last start are not known."""
    if run.summary is None:
        return None
    summary = RunSummary.from_json(run.summary)
    view = benchmark_view(run)
    return RunResult(
        run_id=run.id,
        name=run.name,
        model=run.model,
        demo=view.demo,
        status=run.status,
        folder=run.folder,
        summary=summary,
        exit_code=exit_code_of(summary, None),
        stopped_because=(run.error or "") if run.status != "failed" else "",
        first_failure=(run.error or "") if run.status == "failed" else "",
        requests_sent=0,
        retries=0,
        sent_again=0,
        from_cache=0,
        seconds=0.0,
        samples_per_s=0.0,
        run=view,
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
