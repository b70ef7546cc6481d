"""The requests of a load test as columns: 100,000 requests with 3 million events take about 40 MB, without a Python object
for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from msgspec import structs

from benchwright.core import encode_json
from benchwright.perf._columns import column, compute as pc
from benchwright.perf._distributions import numbers
from benchwright.perf._token_check import with_checked_tokens
from benchwright.perf._values import RequestOutcome, RequestRecord

BATCH = 4_096
"""Records converted at a time."""

_COLUMNS = {
    "number": "int64", "stage": "int32", "phase": "string", "row": "int64", "conversation": "int64", "turn": "int32",
    "worker": "int32", "url": "int32", "planned": "instant", "sent": "instant", "first_byte": "instant",
    "first_event": "instant", "first_token": "instant", "first_answer": "instant", "last_content": "instant",
    "ended": "instant", "arrivals": "times", "event_tokens": "counts", "outcome": "string", "error": "string",
    "http_status": "int32", "input_tokens": "int64", "output_tokens": "int64", "cached_tokens": "int64",
    "reasoning_tokens": "int64", "token_source": "string", "requested_tokens": "int64", "finish_reason": "string",
    "prompt_hash": "string", "scores": "string", "delayed_s": "float64", "attempts": "int32",
    "reply": "string", "score_outcome": "string", "score_error": "string", "served": "string",
    "reported_tokens": "int64", "sent_at": "float64", "reply_id": "string", "request_id": "string",
}  # fmt: skip
"""Types of the fields of `RequestRecord`. A test fails for a field without a type here."""

TIMES = tuple(name for name, kind in _COLUMNS.items() if kind == "instant")
"""Fields that are instants; their columns in files end in `_s`: `sent_s`."""
TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
"""Fields that are counts of tokens, by the server or by this client."""


def request_schema() -> Any:
    """The columns, under their names in `requests.parquet`: columns in seconds end in `_s`."""
    import pyarrow as pa

    kinds = {"instant": pa.float64(), "times": pa.list_(pa.float64()), "counts": pa.list_(pa.int32())}
    return pa.schema(
        [
            pa.field(column_name(name), kinds[kind] if kind in kinds else pa.type_for_alias(kind))
            for name, kind in _COLUMNS.items()
        ]
    )


def column_name(field: str) -> str:
    """
    >>> column_name("sent"), column_name("outcome")
    ('sent_s', 'outcome')
    """
    return f"{field}_s" if field in TIMES or field == "arrivals" else field


def request_table(records: Iterable[RequestRecord]) -> Any:
    """The Arrow table of records, in the order of the plan."""
    import pyarrow as pa

    schema = request_schema()
    names = [field.name for field in structs.fields(RequestRecord)]
    batches = []
    for batch in _batches(records):
        columns = dict(zip(names, zip(*map(structs.astuple, batch), strict=True), strict=True))
        columns["scores"] = tuple(
            None if scores is None else encode_json(scores).decode() for scores in columns["scores"]
        )
        arrays = [column(columns[name], field.type) for name, field in zip(_COLUMNS, schema, strict=True)]
        batches.append(pa.record_batch(arrays, schema=schema))
    table = pa.Table.from_batches(batches, schema=schema)
    return with_checked_tokens(
        table.sort_by([("stage", "ascending"), ("number", "ascending")]).combine_chunks()
    )


def _batches(records: Iterable[RequestRecord]) -> Iterator[list[RequestRecord]]:
    left = iter(records)
    while batch := list(islice(left, BATCH)):
        yield batch


class Requests:
    """Some requests of a table, with values computed from their columns. All arrays are Arrow arrays; null is unknown."""

    def __init__(self, table: Any) -> None:
        self.table = table

    @classmethod
    def of(cls, records: Iterable[RequestRecord]) -> Requests:
        """Make from records in any order."""
        return cls(request_table(records))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, field: str) -> Any:
        """The column of a field of `RequestRecord`."""
        import pyarrow as pa

        column = self.table[column_name(field)]
        if column.num_chunks == 1:
            return column.chunk(0)
        return column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)

    def where(self, mask: Any) -> Requests:
        """The requests for which an Arrow array of bools is true. If all are, nothing is copied."""
        if mask.true_count == len(self):
            return self
        return Requests(self.table.filter(mask).combine_chunks())

    def at(self, places: Sequence[int]) -> Requests:
        """The requests at some places, in order."""
        import pyarrow as pa

        return Requests(self.table.take(column(places, pa.int64())).combine_chunks())

    def in_order(self, field: str) -> Requests:
        """The requests sorted by a time, and equal times by number."""
        times = self[field]
        if len(times) < 2 or (
            not times.null_count and pc.all(pc.less(times.slice(0, len(times) - 1), times.slice(1))).as_py()
        ):
            return self
        keys = [(column_name(field), "ascending"), ("number", "ascending")]
        return Requests(self.table.sort_by(keys).combine_chunks())

    def seconds(self, start: str, end: str) -> Any:
        """Seconds from one instant to another; null if either is unknown."""
        return pc.subtract(self[end], self[start])

    def stages(self) -> list[int]:
        """Indices of the stages that have requests."""
        return sorted(pc.unique(self["stage"]).to_pylist())

    def stage(self, number: int, phase: str | None = "measured") -> Requests:
        """The requests of one stage; of all its phases if `phase` is None."""
        mask = pc.equal(self["stage"], number)
        return self.where(mask if phase is None else pc.and_(mask, pc.equal(self["phase"], phase)))

    @cached_property
    def sent(self) -> Requests:
        """The requests that were sent, including those whose connection failed, which have no time of sending."""
        given_up = pc.equal(self["outcome"], RequestOutcome.CANCELLED.value)
        never = pc.or_(
            pc.equal(self["outcome"], RequestOutcome.NOT_SENT.value),
            pc.and_(given_up, pc.is_null(self["sent"])),
        )
        return self.where(pc.invert(never))

    @cached_property
    def completed(self) -> Requests:
        """The requests with a complete reply."""
        return self.where(pc.equal(self["outcome"], RequestOutcome.OK.value))

    @cached_property
    def events(self) -> Any:
        """The number of content events of each."""
        return pc.list_value_length(self["arrivals"])

    @cached_property
    def streamed_tokens(self) -> Any:
        """The output tokens of each that its events carry: all but reasoning that the server counted and did not send."""
        thought, tokens = self["reasoning_tokens"], self["output_tokens"]
        seen = pc.subtract(tokens, thought)
        silent = pc.and_(
            pc.and_(pc.greater(thought, 0), pc.equal(self["first_token"], self["first_answer"])),
            pc.and_(pc.greater(self.events, 0), pc.greater_equal(seen, self.events.cast(seen.type))),
        )
        return pc.if_else(pc.fill_null(silent, False), seen, tokens)

    @property
    def gaps(self) -> Any:
        """Seconds between neighbouring content events of the same request, all requests one after the other."""
        return self._gaps[0]

    @property
    def gap_requests(self) -> Any:
        """Index of the request of each gap."""
        return self._gaps[1]

    @cached_property
    def _gaps(self) -> tuple[Any, Any]:
        import pyarrow as pa

        arrivals = self["arrivals"]
        times, request = pc.list_flatten(arrivals), pc.list_parent_indices(arrivals)
        if len(times) < 2:
            return pa.nulls(0, pa.float64()), pa.nulls(0, pa.int64())
        later, earlier = request.slice(1), request.slice(0, len(request) - 1)
        same = pc.equal(later, earlier)
        gaps = pc.subtract(times.slice(1), times.slice(0, len(times) - 1))
        return gaps.filter(same), later.filter(same)

    def longest_gaps(self) -> Any:
        """The longest gap of each request; null if it has none."""
        import pyarrow as pa

        # Slices of memory instead of `group_by`, which loads pyarrow.dataset and with it pandas.
        seconds, at = numbers(self.gaps), 0
        found: list[float | None] = []
        for events in self.events.to_pylist():
            count = max(0, (events or 0) - 1)
            found.append(max(seconds[at : at + count]) if count else None)
            at += count
        return column(found, pa.float64())
