"""What the store has of a load test: its requests, its figures, and single requests for people to look at."""

from __future__ import annotations

from itertools import islice

from msgspec import Struct, to_builtins

from benchwright.core import JsonObject, NotFoundError, UsageError
from benchwright.perf import (
    LoadSummary,
    RequestRecord,
    Requests,
    summarise,
)
from benchwright.reports.views.load import LoadView, load_details, settings_of
from benchwright.reports.views.runs import PartsRequest
from benchwright.store import RunRecord, Store


class RequestList(Struct, frozen=True):
    """Some requests of a load test."""

    run_id: int
    requests: tuple[RequestRecord, ...]
    in_full: bool = False
    """Whether one was requested by its number."""

    def to_json(self) -> JsonObject:
        """`{run_id, requests: [fields of the record]}`."""
        return {"run_id": self.run_id, "requests": [record_json(each) for each in self.requests]}


def record_json(record: RequestRecord) -> JsonObject:
    """The fields of a record by name."""
    return {name: to_builtins(getattr(record, name)) for name in record.__struct_fields__}


def load_requests(store: Store, run_id: int) -> Requests:
    """All recorded requests, as columns."""
    from benchwright.perf import recorded_requests  # not for lists: it knows how requests are made

    return Requests.of(recorded_requests(store, run_id))


def recorded_summary(store: Store, run: RunRecord, requests: Requests | None = None) -> LoadSummary:
    """The figures on record; of a test that was killed, those of what had ended."""
    if run.summary is not None:
        return LoadSummary.from_json(run.summary)
    from benchwright.perf import recorded_stages

    found = load_requests(store, run.id) if requests is None else requests
    return summarise(found, settings_of(run), recorded_stages(store, run.id), partial=True)


def recorded_load(store: Store, run: RunRecord) -> LoadView:
    """A load test in full, with its events."""
    why = "" if run.summary is not None else "it has not ended: figures are of the requests recorded so far"
    return load_details(run, recorded_summary(store, run), stopped_because=why, events=store.events(run.id))


def load_parts(store: Store, run: RunRecord, request: PartsRequest) -> RequestList:
    """The first requests, or the first that failed."""
    if request.wrong or request.unparsed or request.outcome is not None:
        raise UsageError(
            f"run {run.id} is a load test: its requests have no verdicts. List them with --steps, failed ones with --failed"
        )
    from benchwright.perf import recorded_requests

    records = (each for each in recorded_requests(store, run.id) if not (request.failed and each.ok))
    return RequestList(run.id, tuple(islice(records, request.limit)))


def load_part(store: Store, run: RunRecord, wanted: str) -> RequestList:
    """One request by its number."""
    if not wanted.isdecimal():
        raise UsageError(f"requests of a load test have numbers from 0 on, not {wanted!r}")
    from benchwright.perf import recorded_requests

    for record in recorded_requests(store, run.id):
        if record.number == int(wanted):
            return RequestList(run.id, (record,), in_full=True)
    raise NotFoundError(f"run {run.id} has no request {wanted}. See: benchwright show {run.id} --steps")
