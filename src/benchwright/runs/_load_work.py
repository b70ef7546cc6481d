"""What a load test does in its life: sends its requests on schedule, scores the replies if it is asked to, and writes its
files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import (
    HidesFields,
    Information,
    JsonObject,
    JsonValue,
    NoteGrade,
    RunStatus,
    StepValues,
    known_secrets,
    open_artifacts,
)
from benchwright.endpoints import ModelSettings
from benchwright.engine import InterruptedRunError, Prepared, RunLife, StopAtOnce
from benchwright.perf import (
    BatchThread,
    EndedRequest,
    Journals,
    LoadProgress,
    LoadSettings,
    LoadTest,
    RequestPlan,
    RequestRecord,
    ServerWatch,
    StoreSink,
    open_crew,
    recorded_requests,
    recorded_stages,
    stage_step,
)
from benchwright.runs._jobs import Running
from benchwright.runs._load_cost import load_cost
from benchwright.runs._load_scores import score_replies
from benchwright.store import RunRecord, Store, StoreError

if TYPE_CHECKING:  # figures and reports are loaded after the last request, so that nothing delays the first
    from benchwright.perf import LoadSummary
    from benchwright.results import LoadView

_SHOW_EVERY_S = 0.25
"""Seconds between two updates of a watcher."""
_BEAT_EVERY = 1_000
"""Records that are read before the clock is looked at."""


class LoadWork:
    """Implements `Work` for a load test whose data were read and whose requests were built."""

    resuming = False
    resumable = False
    _view: LoadView
    _summary: LoadSummary
    _exit_code: int
    _progress: LoadProgress

    def __init__(
        self,
        prepared: Prepared,
        settings: LoadSettings,
        requests: RequestPlan,
        endpoints: tuple[ModelSettings, ...],
        *,
        format: str | None,
        server_metrics: bool,
    ) -> None:
        self.prepared = prepared
        self.settings = settings
        self.requests = requests
        self.endpoints = endpoints
        """The servers, which get requests in turn."""
        self.trackers: Sequence[str] = prepared.settings.trackers or ()
        self._format = format
        self._server_metrics = server_metrics

    def start(self, life: RunLife) -> None:
        """Start the run."""
        prepared = self.prepared
        notes = (*prepared.notes, *prepared.prices.notes(time.time()))
        informing = {
            str(note): NoteGrade.INFORMATION.value for note in notes if isinstance(note, Information)
        }
        life.start({**prepared.manifest, "notes": list(map(str, notes)), "note_grades": {**informing}})

    async def perform(self, life: RunLife, run: Running) -> None:
        """Send everything, summarise the results, and write the files."""
        try:
            cause = await self._send(life, run)
            if (
                cause == "abort"
            ):  # figures and files take seconds; whoever presses Ctrl-C twice does not want to wait
                raise _stopped_at_once(life)
            if self.settings.score:
                async with life.beating(lambda: None, self._progress.told, _SHOW_EVERY_S):
                    await score_replies(life.store, life.run.id, self.prepared, run.group)
            with run.group.working(_CODE_OF_FIGURES):
                self._sum_up(life, cause)
        except StopAtOnce:
            raise _stopped_at_once(life) from None
        except StoreError as error:
            raise error.for_load_test(life.run.id) from error

    async def reported(self) -> list[str]:
        """Nothing: load tests have no reports of plugins."""
        return []

    def counted(self, progress: LoadProgress) -> tuple[int, int | None, int]:
        """Requests, warm-ups included."""
        return progress.ended_so_far, wanted(self.settings), progress.failed_so_far

    def details(self, store: Store, run: RunRecord) -> JsonObject:
        """As `show --json` prints it."""
        from benchwright.results import LoadView

        return LoadView.recorded(store, run).to_json()

    def result(self, run: RunRecord, problems: Sequence[str]) -> LoadResult:
        """With the figures."""
        return LoadResult(
            run_id=run.id,
            name=run.name,
            model=run.model,
            status=run.status,
            folder=run.folder,
            summary=self._summary,
            exit_code=self._exit_code or (1 if problems else 0),
            stopped_because=run.error or "",
            view=self._view,
            report_problems=tuple(problems),
        )

    async def _send(self, life: RunLife, run: Running) -> str | None:
        """Send everything. On return, all ended requests are recorded. Returns why the test stopped early, `abort` after a second
        Ctrl-C, or None."""
        settings, record, watcher = self.settings, life.run, run.watcher
        self._progress = progress = LoadProgress(run.label, settings)
        journals = Journals(open_artifacts(record.folder), record.id)
        journals.remove()  # of a test that had the folder and the number before
        journal = journals.of(0)
        sink = StoreSink(life.store, record.id)
        thread: BatchThread[StepValues | EndedRequest] = BatchThread(sink, journal=journal)

        def ended(request: RequestRecord) -> None:
            step = EndedRequest.of(request, test.wall + test.zero)
            thread.put(step)
            journal.write(EndedRequest.without_secrets(step.stored, secrets))
            test.ended(request)
            progress.add(request)

        crew = await open_crew(settings, self.requests, self._opened_as(record), ended, journals)
        secrets = known_secrets()  # those of the models too
        server = ServerWatch(self.endpoints if self._server_metrics else ())
        test = LoadTest(
            settings, crew, server=server,
            stage_ended=lambda stage: thread.put(stage_step(stage, test.wall + test.zero)),
            phase_begins=progress.begin,
            inside=not self.endpoints[0].by_http and settings.workers == 1,
        )  # fmt: skip
        signals = 0

        def interrupted() -> None:
            nonlocal signals
            signals += 1
            progress.stopping = "stopping: waiting for requests in flight (Ctrl-C again stops at once)"
            if signals == 1:
                test.stop()
            else:
                test.abort()

        def show() -> None:
            progress.in_flight = crew.in_flight
            if watcher is not None:
                watcher.show(progress)
            if thread.failure is not None:  # records cannot be written
                test.abort()

        try:
            with run.group.working(_CODE_OF_FIGURES), run.group.listening(interrupted):
                async with life.beating(show, progress.told, _SHOW_EVERY_S):
                    await test.run()
        finally:
            await server.aclose()
            await crew.close()
            await asyncio.to_thread(thread.close)
            progress.ended = True
            if watcher is not None:
                watcher.show(progress)
        journals.remove()  # else workers ended before their requests had, and theirs have what the store has not
        return "abort" if signals > 1 else test.cause

    def _opened_as(self, run: RunRecord) -> Sequence[ModelSettings]:
        """The servers, each wrapped in the pipeline of the test."""
        pipeline = self.prepared.settings.steps
        if pipeline is None:
            return self.endpoints
        from benchwright.endpoints import PipelinedModel

        return [PipelinedModel(each, pipeline, open_artifacts(run.folder)) for each in self.endpoints]

    def _sum_up(self, life: RunLife, cause: str | None) -> None:
        """Compute the figures of what is recorded, and write the files."""
        from benchwright.perf import Requests, summarise
        from benchwright.reports import write_load_files
        from benchwright.results import LoadView, low_scores

        store, run_id = life.store, life.run.id
        requests = Requests.of(self._beating(life, recorded_requests(store, run_id)))
        summary = summarise(
            requests, self.settings, recorded_stages(store, run_id), partial=cause is not None
        )
        life.beat(self._progress.told)
        self._summary = summary = replace(summary, cost=load_cost(requests, self.prepared.prices.model))
        status, code = ended_as(summary, cause)
        if code in (0, 3) and low_scores(summary, self.settings):
            code = 1
        self._exit_code = code
        why = _WHY.get(cause or "", "")
        if status == "failed":
            why = why or "every request failed"
        life.end(status, why or None, summary=summary.to_json())
        self._view = LoadView.of(life.run, summary, stopped_because=why, events=store.events(run_id))
        write_load_files(self._view, requests, format=self._format)

    def _beating(self, life: RunLife, records: Iterable[RequestRecord]) -> Iterator[RequestRecord]:
        """The records of a long test take a while: another process must not take the run for dead."""
        for record in records:
            if not record.number % _BEAT_EVERY:
                life.beat(self._progress.told)
            yield record


_CODE_OF_FIGURES = LoadWork._sum_up.__code__
"""Where a second Ctrl-C may arrive while nothing returns to the event loop."""


def _stopped_at_once(life: RunLife) -> InterruptedRunError:
    return InterruptedRunError(
        f"stopped at once; no files were written. Figures of the requests that had ended: benchwright show {life.run.id}"
    )


class LoadResult(HidesFields, Struct, frozen=True):
    """One load test that has ended."""

    hidden = ("view",)

    run_id: int
    """Number in the workspace; `benchwright show` takes it."""
    name: str
    """Name of the data or the benchmark."""
    model: str
    """Model id."""
    status: RunStatus
    """completed, failed or interrupted."""
    folder: Path
    """Where its files are."""
    summary: LoadSummary
    """The figures."""
    exit_code: int
    """The exit code of the command: 0 done, 1 failed, 3 not comparable, 130 interrupted."""
    stopped_because: str
    """Why the test stopped early; empty if it did not."""
    view: LoadView
    """The test as reports show it."""
    report_problems: tuple[str, ...] = ()
    """Errors of trackers."""

    def __str__(self) -> str:
        """One line: the target, the model and the main figures."""
        counted = f"{self.summary.sent} requests, {self.summary.failed} failed"
        return f"load test {self.run_id} {self.name} on {self.model}: {counted} ({self.status})"

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        from benchwright.reports import in_notebook  # terminals do not need it

        return in_notebook(self.view)

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        problems: list[JsonValue] = [*self.report_problems]
        return {**self.view.to_json(), "report_problems": problems, "exit_code": self.exit_code}


_WHY = {
    "interrupt": "interrupted; the figures cover the requests that had ended",
    "errors": "stopped: too many requests failed",
    "watchdog": "stopped by the watchdog: requests were under way long after their timeout",
}


def ended_as(summary: LoadSummary, cause: str | None) -> tuple[RunStatus, int]:
    """Status and exit code: 1 if nothing was answered, 3 if the figures are not comparable."""
    if cause == "interrupt":
        return "interrupted", 130
    if summary.sent == summary.failed:
        return "failed", 1
    if summary.search is not None and summary.search.status == "not_met":
        return "completed", 1
    return "completed", 0 if summary.comparable else 3


def wanted(load: LoadSettings) -> int | None:
    """The most distinct requests that are needed; None if unknown."""
    if load.requests is None or load.search is not None:
        return None
    return load.warmup + len(load.levels) * (load.requests + load.cooldown)
