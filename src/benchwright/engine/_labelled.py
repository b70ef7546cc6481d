"""What people's labels make of a run's figures, by scoring only the samples that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from benchwright.core import RunSummary, SampleRecord, UsageError, encode_json, load_exact_json, row_hash
from benchwright.engine._corrections import LabelCounts
from benchwright.engine._feed import WorkItem
from benchwright.engine._findings import ServerFindings
from benchwright.engine._group import RunGroup
from benchwright.engine._ledger import CallLedger
from benchwright.engine._progress import Progress
from benchwright.engine._replay import NoModel, RecordedReplies, replayed
from benchwright.engine._stop import Stop
from benchwright.engine._summarise import summarise
from benchwright.engine._worker import RunContext, SampleWorker
from benchwright.store import RunRecord, SampleSteps, Store

if TYPE_CHECKING:
    from benchwright.engine._prepare import Prepared


async def summary_with_labels(prepared: Prepared, store: Store, run: RunRecord) -> RunSummary:
    """The figures that scoring a run again with the labels of the settings would give, if its other samples kept their scores. Records
    nothing and asks no model. Raises UsageError if a sample cannot be scored here."""
    settings = prepared.settings
    rows = {row for row, *_ in (*(settings.labels or ()), *(run.settings.get("labels") or ()))}  # type: ignore[misc]
    found = [each for each in store.scored(run.id) if each[2].hex() in rows]
    again = await _scored_again(prepared, store, run, [(index, repeat) for index, repeat, *_ in found])
    return summarise(
        cast(Store, _Corrected(store, again)),
        run.id,
        rows=prepared.row_count,
        repeats=settings.repeats,
        failure_threshold=settings.failure_threshold,
        spec=prepared.spec,
        notes=[],
        origins=prepared.rows.reader.origins(),
        copies=bool(prepared.rows.scan.copies),
        pass_k=settings.pass_k,
        labels=LabelCounts(),
    )


async def _scored_again(
    prepared: Prepared, store: Store, run: RunRecord, places: list[tuple[int, int]]
) -> dict[tuple[int, int], bytes]:
    settings, askable = prepared.settings, prepared.rows
    stop, progress = Stop(settings.budget), Progress(settings.benchmark)
    ledger = CallLedger(stop=stop, progress=progress)
    context = RunContext(stop, progress, RunGroup(), ServerFindings.of_run(store, run, RunGroup()), ledger)
    echo: Any = run.manifest.get("echo")
    tokens = int(echo["max_tokens"]) if isinstance(echo, dict) else 0
    worker = SampleWorker(
        askable.but(echo_tokens=tokens) if tokens else askable,
        settings,
        NoModel(),
        context,
        ledger=RecordedReplies(ledger, store, run.id, elsewhere=settings.endpoint.reusable),
        echo_tokens=tokens,
        answering=replayed,
    )
    found: dict[tuple[int, int], bytes] = {}
    async with worker:
        for steps in _steps(store, run.id, places):
            record = await worker.do(WorkItem(steps.sample, steps.repeat, _row(steps)))
            if not isinstance(record, SampleRecord):
                raise UsageError("a limit of the run forbids to score its samples again")
            found[steps.sample, steps.repeat] = record.score_text()
    return found


def _steps(store: Store, run_id: int, places: list[tuple[int, int]]) -> Iterator[SampleSteps]:
    wanted = set(places)
    for index in dict.fromkeys(index for index, _ in places):
        yield from (each for each in store.samples(run_id, index) if (each.sample, each.repeat) in wanted)


def _row(steps: SampleSteps) -> Any:
    """The row of a sample, which must be the one that the run read."""
    text = steps.score_input or b"{}"
    row: Any = load_exact_json(text)
    if row_hash(encode_json(row)) != row_hash(text):
        raise UsageError(
            f"the row of sample {steps.sample}/{steps.repeat} is more than its record tells; read its data again"
        )
    return row


class _Corrected:
    """A store in which some samples have other scores."""

    def __init__(self, store: Store, again: Mapping[tuple[int, int], bytes]) -> None:
        self._store, self._again = store, again

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """As the store does."""
        for index, repeat, digest, output in self._store.scored(run_id):
            yield index, repeat, digest, self._again.get((index, repeat), output)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
