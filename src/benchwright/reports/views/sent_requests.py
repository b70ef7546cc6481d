"""Views of the requests of a load test: a list, and one in full."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct, to_builtins

from benchwright.core import (
    JsonObject,
    ModelReply,
    NotFoundError,
    Outcome,
    UsageError,
    load_json,
    reply_from_json,
)
from benchwright.perf import RequestRecord
from benchwright.reports.views.command import row_command
from benchwright.reports.views.load import settings_of
from benchwright.reports.views.runs import PartsRequest
from benchwright.store import RunRecord, Store


class RequestList(Struct, frozen=True):
    """Some requests of a load test."""

    run_id: int
    requests: tuple[RequestRecord, ...]
    in_full: bool = False
    """Whether one was requested by its number."""
    data: str = ""
    """The data whose rows were sent, as the user named them."""
    row_command: str | None = None
    """The command that shows the row of the one request in full as it is sent; None if there is none."""

    def to_json(self) -> JsonObject:
        """`{run_id, data, requests: [fields of the record]}`; `row` of a request counts the rows of the data from 0."""
        return {
            "run_id": self.run_id,
            "data": self.data,
            "requests": [_record_json(each) for each in self.requests],
        }


def _record_json(record: RequestRecord) -> JsonObject:
    """The fields of a record by name."""
    return {name: to_builtins(getattr(record, name)) for name in record.__struct_fields__}


def kept_reply(record: RequestRecord) -> ModelReply | None:
    """The reply; only a test that scores replies keeps them."""
    return None if record.reply is None else reply_from_json(load_json(record.reply))


def load_parts(store: Store, run: RunRecord, request: PartsRequest) -> RequestList:
    """The first requests of those that flags of `show` request."""
    if _by_reply(request) and not settings_of(run).score:
        raise UsageError(
            f"run {run.id} is a load test without --score: its replies were neither kept nor scored. "
            "List requests with --steps, failed ones with --failed"
        )
    records = _recorded(store, run)
    if request.wrong:
        decides = _deciding(run, _recorded(store, run))
        records = (each for each in records if (each.scores or {}).get(decides) == 0)
    found = (each for each in records if _requested(each, request))
    return RequestList(run.id, tuple(islice(found, request.limit)), data=run.target)


def _recorded(store: Store, run: RunRecord) -> Iterator[RequestRecord]:
    from benchwright.perf import recorded_requests  # not for lists of runs: it knows how requests are made

    return recorded_requests(store, run.id)


def _by_reply(request: PartsRequest) -> bool:
    """Whether it depends on replies or their scores."""
    given = (request.outcome, request.metric, request.text)
    return request.wrong or request.unparsed or any(each is not None for each in given)


def _deciding(run: RunRecord, records: Iterator[RequestRecord]) -> str:
    """The score that says whether a reply is right: `correct`, else `acc`, else the first with no values but 0 and 1.
    Raises UsageError if there is none."""
    binary: dict[str, bool] = {}
    for record in records:
        for name, value in (record.scores or {}).items():
            binary[name] = binary.get(name, True) and value in (0, 1)
    found = [name for name in ("correct", "acc", *binary) if binary.get(name)]
    if found or not binary:
        return found[0] if found else ""
    raise UsageError(
        f"run {run.id} has no score that is right or wrong. "
        f"List replies by a score: --where '{next(iter(binary))}<0.5'; scores: {', '.join(binary)}"
    )


def _requested(record: RequestRecord, request: PartsRequest) -> bool:
    if request.failed and record.ok:
        return False
    if request.unparsed and record.score_outcome != Outcome.UNPARSED.value:
        return False
    if request.outcome is not None and record.score_outcome != request.outcome:
        return False
    if request.metric is not None:
        value = (record.scores or {}).get(request.metric)
        if value is None or (request.above is not None and value <= request.above):
            return False
        if request.below is not None and value >= request.below:
            return False
    if request.text is None:
        return True
    reply = kept_reply(record)
    return reply is not None and request.text.lower() in reply.text.lower()


def load_part(store: Store, run: RunRecord, number: str) -> RequestList:
    """One request by its number."""
    if not number.isdecimal():
        raise UsageError(f"requests of a load test have numbers from 0 on, not {number!r}")
    for record in _recorded(store, run):
        if record.number == int(number):
            shows = row_command(run, record.row)
            return RequestList(run.id, (record,), in_full=True, data=run.target, row_command=shows)
    raise NotFoundError(f"run {run.id} has no request {number}. See: benchwright show {run.id} --steps")
