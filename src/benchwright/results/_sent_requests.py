"""Views of the requests of a load test: a list, and one in full."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from benchwright.core import JsonObject, ModelReply, NotFoundError, UsageError, as_json, load_json
from benchwright.perf import RequestRecord
from benchwright.results._command import row_command
from benchwright.results._load import settings_of
from benchwright.store import RunRecord, SampleFilter, SampleOrder, Store


class RequestList(Struct, frozen=True):
    """Some requests of a load test."""

    run_id: int
    requests: tuple[RequestRecord, ...]
    in_full: bool = False
    """Whether one was requested by its number."""
    data: str = ""
    """The data whose rows were sent, as the user named them."""
    next: int | None = None
    """Where the list continues: the `after` of the next page; None if these are all."""
    row_command: str | None = None
    """The command that shows the row of the one request in full as it is sent; None if there is none."""

    def to_json(self) -> JsonObject:
        """`{run_id, data, requests: [fields of the record], next}`; `row` of a request counts the rows of the data from 0."""
        return {
            "run_id": self.run_id,
            "data": self.data,
            "requests": [_record_json(each) for each in self.requests],
            "next": self.next,
        }

    @staticmethod
    def reply_of(record: RequestRecord) -> ModelReply | None:
        """The reply; only a test that scores replies keeps them."""
        return None if record.reply is None else ModelReply.from_json(load_json(record.reply))


def _record_json(record: RequestRecord) -> JsonObject:
    """The fields of a record by name."""
    return {name: as_json(getattr(record, name)) for name in record.__struct_fields__}


def load_parts(
    store: Store, run: RunRecord, where: SampleFilter, after: int | None, limit: int, order: SampleOrder
) -> RequestList:
    """A page of the requests that pass a filter: without a score means failed, a verdict is that of the deciding score."""
    if order.by is not None or where.column is not None:
        raise UsageError(
            f"run {run.id} is a load test: its requests are listed in their order, and have no columns. See --where 'METRIC<VALUE'"
        )
    if _by_reply(where) and not settings_of(run).score:
        raise UsageError(
            f"run {run.id} is a load test without --score: its replies were neither kept nor scored. "
            "List requests with --steps, failed ones with --failed"
        )
    records = _recorded(store, run)
    if where.verdict is not None:
        decides, wanted = _deciding(run, _recorded(store, run)), float(where.verdict == "right")
        records = (each for each in records if (each.scores or {}).get(decides) == wanted)
    start = -1 if after is None else after
    passing = (each for each in records if each.number > start and _passes(each, where))
    found = tuple(islice(passing, limit))
    more = next(passing, None) is not None
    return RequestList(run.id, found, data=run.target, next=found[-1].number if more else None)


def _recorded(store: Store, run: RunRecord) -> Iterator[RequestRecord]:
    from benchwright.perf import recorded_requests  # not for lists of runs: it knows how requests are made

    return recorded_requests(store, run.id)


def _by_reply(where: SampleFilter) -> bool:
    """Whether it depends on replies or their scores."""
    return any(each is not None for each in (where.verdict, where.outcome, where.metric, where.text))


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


def _passes(record: RequestRecord, where: SampleFilter) -> bool:
    if where.scored not in (None, record.ok):
        return False
    if where.outcome not in (None, record.score_outcome):
        return False
    if where.metric is not None:
        value = (record.scores or {}).get(where.metric)
        low, high = where.bounds
        if value is None or not low < value < high:
            return False
    if where.text is None:
        return True
    reply = RequestList.reply_of(record)
    return reply is not None and where.text.lower() in reply.text.lower()


def load_part(store: Store, run: RunRecord, number: str) -> RequestList:
    """One request by its number."""
    if not number.isdecimal():
        raise UsageError(f"requests of a load test have numbers from 0 on, not {number!r}")
    for record in _recorded(store, run):
        if record.number == int(number):
            shows = row_command(run, record.row)
            return RequestList(run.id, (record,), in_full=True, data=run.target, row_command=shows)
    raise NotFoundError(f"run {run.id} has no request {number}. See: benchwright show {run.id} --steps")
