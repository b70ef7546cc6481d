"""`dataset(…)`: reads typed rows in a workflow. Each batch is a durable step, so that a resumed run reads the same rows."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from msgspec import Struct, field

from benchwright.core import DatasetError, JsonObject, JsonValue, Row
from benchwright.workflows._concurrency import OnWorkerError, YieldOrder, iter_async_with_concurrency
from benchwright.workflows._context import WorkflowContext
from benchwright.workflows._sources import DatasetSource, RowSource, choose_source

if TYPE_CHECKING:
    from pydantic import BaseModel

    RowT = TypeVar("RowT", bound=BaseModel)
else:
    RowT = TypeVar("RowT")
U = TypeVar("U")

_log = logging.getLogger("benchwright.dataset")

LISTED_SKIPS = 20
"""The most reasons of skipped rows that are kept."""
_MOST_ROWS_PER_BATCH = 10_000


class RowError(DatasetError):
    """A row does not fit its type."""

    __module__ = "benchwright"


class DatasetStats(Struct):
    """Counts of the last pass over a dataset."""

    read: int = 0
    """Rows read from the source."""
    yielded: int = 0
    """Rows that fitted their type."""
    skipped: int = 0
    """Rows that did not fit and were left out."""
    reasons: list[str] = field(default_factory=list)
    """The reasons of the first few."""


async def dataset(
    ctx: WorkflowContext,
    source: str | Path | DatasetSource,
    row_type: type[RowT],
    *,
    batch_size: int = 100,
    on_error: Literal["skip", "fail"] = "fail",
    transform: Callable[[dict[str, Any]], RowT] | None = None,
    config: str | None = None,
    split: str | None = None,
    revision: str | None = None,
    max_rows: int | None = None,
    name: str | None = None,
) -> Dataset[RowT]:
    """Open a dataset in a workflow.

    Args:
        ctx: The workflow's context.
        source: `hf://owner/name` or `huggingface://owner/name`, a path, or a `DatasetSource`.
        row_type: A pydantic model that every row is validated with.
        batch_size: Rows per batch; each batch is a step.
        on_error: `fail` stops at the first row that does not fit, `skip` leaves it out and counts it.
        transform: Turns the raw row into a `row_type`, instead of validating the raw row.
        config: Configuration of a hub dataset; None: the default one.
        split: Split of a hub dataset; None: the first existing one of test, validation, eval and train.
        revision: Branch, tag or commit of a hub dataset; resolved once, then used to the end.
        max_rows: Stop after this many good rows.
        name: Distinguishes datasets of one run; without it, the second and further ones are numbered.

    Raises ValueError or TypeError for arguments that cannot be used, before anything is recorded.
    """
    _check(row_type, batch_size, on_error, transform, max_rows, name)
    rows = choose_source(source, ctx.client, config, split, revision)
    prefix = _prefix(ctx, name)
    resolved = False

    async def initialize() -> JsonObject:
        nonlocal resolved
        resolved = True
        return await rows.initialize()

    request: JsonObject = {
        "source": source if isinstance(source, str) else _identity(source),
        "config": config,
        "split": split,
        "revision": revision,
        "batch_size": batch_size,
    }
    metadata = await ctx.step(step_key=f"{prefix}init", input_value=request, execute=initialize)
    opened = Dataset(ctx, rows, metadata, prefix, row_type, batch_size, on_error, transform, max_rows)
    if not resolved:
        rows.restore(metadata)
        recorded = metadata.get("notes")
        opened.notes += recorded if isinstance(recorded, list) else []
    await opened.report_notes()
    return opened


class Dataset(Generic[RowT]):
    """Typed rows. Every `iter_rows()` starts at the first row."""

    def __init__(
        self,
        ctx: WorkflowContext,
        source: RowSource,
        metadata: JsonObject,
        prefix: str,
        row_type: type[RowT],
        batch_size: int,
        on_error: str,
        transform: Callable[[dict[str, Any]], RowT] | None,
        max_rows: int | None,
    ) -> None:
        self.metadata = metadata
        """Facts from opening the dataset: for hub datasets commit, config, split and number of rows."""
        self.stats = DatasetStats()
        """Rows that the last pass read, yielded and skipped."""
        self.notes: list[str] = []
        """Notes for readers of the rows: how commit and split were chosen if they were not given, a hub that could not be
        reached, damage that was repaired. Each is also an event of the run."""
        self._ctx = ctx
        self._source = source
        self._prefix = prefix
        self._batch_size = batch_size
        self._skips = on_error == "skip"
        self._convert = _converter(row_type, transform)
        self._max_rows = max_rows
        total = metadata.get("total_rows")
        self._total = total if isinstance(total, int) else None

    async def iter_rows(self) -> AsyncIterator[RowT]:
        """The rows in order, each validated; batches are fetched as they are needed."""
        stats = self.stats = DatasetStats()
        convert = self._convert
        async for batch in self._batches(stats):
            for raw in batch:
                number = stats.read
                stats.read += 1
                try:
                    row = convert(raw)
                except Exception as error:  # any exception of a transform means that the row does not fit
                    reason = f"row {number}{self._where()}: {_reason(error)}"
                    if not self._skips:
                        raise RowError(
                            f'{reason}\nCorrect the data or row_type, give a transform, or skip such rows: on_error="skip"'
                        ) from error
                    stats.skipped += 1
                    if len(stats.reasons) < LISTED_SKIPS:
                        stats.reasons.append(reason)
                    continue
                stats.yielded += 1
                yield row
                if stats.yielded == self._max_rows:
                    break
        if not stats.read and self._max_rows != 0:
            await self._tell("the dataset has no rows")
        await self._tell_skips(stats)

    def __aiter__(self) -> AsyncIterator[RowT]:
        return self.iter_rows()

    async def _batches(self, stats: DatasetStats) -> AsyncIterator[list[Row]]:
        """Batches until the end, or until there are enough good rows; no further batch is read."""
        while self._max_rows is None or stats.yielded < self._max_rows:
            count = self._batch_size
            if self._max_rows is not None:
                count = min(count, self._max_rows - stats.yielded)
            if self._total is not None:
                count = min(count, self._total - stats.read)
            if count <= 0:
                return
            batch = await self._batch(stats.read, count)
            await self.report_notes()
            if not batch:
                return
            yield batch

    async def _batch(self, offset: int, count: int) -> list[Row]:
        loaded: list[Row] | None = None

        async def load() -> JsonValue:
            nonlocal loaded
            loaded = await self._source.load(offset, count)
            return loaded if self._source.keeps_rows else {"rows": len(loaded)}  # type: ignore[return-value]  # rows are JSON; list is invariant

        request: JsonObject = {
            "source": self.metadata["identity"],
            "offset": offset,
            "batch_size": count,
        }
        recorded = await self._ctx.step(
            step_key=f"{self._prefix}batch-{offset}", input_value=request, execute=load
        )
        if self._source.keeps_rows:
            return recorded  # type: ignore[no-any-return]  # what was recorded, on the first pass as on a replay
        if loaded is None:  # recorded by an earlier start, so the rows are read again
            loaded = await self._source.load(offset, count)
            if len(loaded) != recorded["rows"]:
                raise DatasetError(
                    f"batch {offset} of {self.metadata['identity']} had {recorded['rows']} rows when it was recorded and "
                    f"has {len(loaded)} now; the data have changed. Restore them, or start a new run"
                )
        return loaded

    async def report_notes(self) -> None:
        """Report new notes of the source, as events of the run and as lines on the terminal."""
        for note in self._source.notes():
            await self._tell(note)

    async def _tell(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
            _log.warning("%s: %s", self.metadata["identity"], note)
            await self._ctx.event("dataset.note", note, {"dataset": self.metadata["identity"]})

    async def _tell_skips(self, stats: DatasetStats) -> None:
        if not stats.skipped:
            return
        message = f"{stats.skipped} of {stats.read} rows of {self.metadata['identity']} were skipped"
        reasons: list[JsonValue] = list(stats.reasons)
        await self._ctx.event(
            "dataset.rows_skipped",
            message,
            {"read": stats.read, "skipped": stats.skipped, "reasons": reasons},
        )
        await self._ctx.emit(
            "dataset_rows_skipped",
            float(stats.skipped),
            "rows",
            tags={"dataset": str(self.metadata["identity"])},
        )

    def _where(self) -> str:
        split = self.metadata.get("split")
        return f" of split {split}" if split else ""


def map_dataset(
    dataset: Dataset[RowT],
    fn: Callable[[RowT], Awaitable[U]],
    *,
    max_concurrency: int | None = 8,
    yield_order: YieldOrder = "input",
    max_items: int | None = None,
    buffer: int | None = None,
    drop_none: bool = False,
    on_error: OnWorkerError = "raise",
) -> AsyncIterator[U]:
    """Call `fn` for every row, several at once, and yield the results.

    The default is eight at once; `max_concurrency=None` sets no limit. The other arguments are those of
    `iter_async_with_concurrency`.
    """

    def worker(_: int, row: RowT) -> Awaitable[U]:
        return fn(row)

    return iter_async_with_concurrency(
        dataset.iter_rows(),
        worker,
        max_concurrency=max_concurrency,
        yield_order=yield_order,
        max_items=max_items,
        buffer=buffer,
        drop_none=drop_none,
        on_error=on_error,
    )


def _converter(
    row_type: type[RowT], transform: Callable[[dict[str, Any]], RowT] | None
) -> Callable[[dict[str, Any]], RowT]:
    if transform is None:
        return row_type.model_validate

    def convert(raw: dict[str, Any]) -> RowT:
        row = transform(raw)
        if not isinstance(row, row_type):
            raise TypeError(f"transform returned {type(row).__name__}, not {row_type.__name__}")
        return row

    return convert


def _reason(error: Exception) -> str:
    """What is wrong with the row, column by column if pydantic reports it."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return f"{type(error).__name__}: {error}"
    found = [f"column {'.'.join(map(str, e['loc'])) or '(row)'}: {e['msg']}" for e in error.errors()[:3]]
    more = error.error_count() - len(found)
    return "; ".join(found) + (f"; and {more} more" if more > 0 else "")


def _check(
    row_type: object, batch_size: object, on_error: object, transform: object, max_rows: object, name: object
) -> None:
    from pydantic import BaseModel

    if not (isinstance(row_type, type) and issubclass(row_type, BaseModel)):
        raise TypeError(f"row_type is {row_type!r}; expected a class that inherits from pydantic.BaseModel")
    if (
        isinstance(batch_size, bool)
        or not isinstance(batch_size, int)
        or not 1 <= batch_size <= _MOST_ROWS_PER_BATCH
    ):
        raise ValueError(
            f"batch_size is {batch_size!r}; expected a whole number from 1 to {_MOST_ROWS_PER_BATCH}"
        )
    if max_rows is not None and (isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 0):
        raise ValueError(
            f"max_rows is {max_rows!r}; expected a whole number of 0 or more, or None for all rows"
        )
    if on_error not in ("skip", "fail"):
        raise ValueError(f"on_error is {on_error!r}; expected 'skip' or 'fail'")
    if transform is not None and not callable(transform):
        raise TypeError(f"transform is {type(transform).__name__}; expected a function of the raw row")
    if name is not None and (not isinstance(name, str) or not name or ":" in name):
        raise ValueError(f"name is {name!r}; expected a text without ':'")


def _prefix(ctx: WorkflowContext, name: str | None) -> str:
    """Prefix of this dataset's step keys: short for the first dataset; further ones have a name or number."""
    names: set[str] = ctx.scratch.setdefault("datasets", set())
    if name is None:
        number = sum(1 for known in names if known == "" or known.isdigit()) + 1
        name = "" if number == 1 else str(number)
    if name in names:
        raise ValueError(f"this run already has a dataset named {name!r}; give each its own name")
    names.add(name)
    return f"dataset:{name}:" if name else "dataset-"


def _identity(source: object) -> str:
    return str(source) if isinstance(source, Path) else str(getattr(source, "source_id", source))
