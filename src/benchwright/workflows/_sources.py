"""Sources of a workflow's rows: hub datasets, files, a server, or an object of the user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from benchwright.core import DatasetError, JsonObject, JsonValue, Row, is_hub_uri
from benchwright.datasets import HubDataset, open_dataset, with_parameters
from benchwright.workflows._client import BenchwrightClient

WINDOW_ROWS = 2_000
"""Rows read from a cached hub dataset at a time, because opening its files for every small batch would take longer than
reading the rows."""

_PROTOCOL = ("source_id", "initialize", "load_batch")


@runtime_checkable
class DatasetSource(Protocol):
    """Rows from any source of the user: a database, an internal service, files of any kind.

    May also have `restore(metadata)`: a resumed run calls it instead of `initialize`, with the value that
    `initialize` returned.
    """

    @property
    def source_id(self) -> str:
        """Stable identity of the data; part of every batch's input."""
        ...

    async def initialize(self) -> JsonValue:
        """Check that the data exist. The return value is recorded."""
        ...

    async def load_batch(self, offset: int, batch_size: int) -> list[dict[str, JsonValue]]:
        """At most `batch_size` rows, starting at `offset`. An empty batch marks the end; a short one does not."""
        ...


class RowSource(Protocol):
    """The source of a dataset, after the user's argument is resolved."""

    keeps_rows: bool
    """Whether batches are stored with the run. If not, the same rows can be read again."""

    async def initialize(self) -> JsonObject:
        """Decide what to read. The result is recorded, with `identity` and, if known, `total_rows`."""
        ...

    def restore(self, metadata: JsonObject) -> None:
        """Restore that decision from the record."""
        ...

    async def load(self, offset: int, count: int) -> list[Row]:
        """At most `count` rows, starting at `offset`."""
        ...

    def notes(self) -> Sequence[str]:
        """Notes for readers of the rows. May grow while rows are read."""
        ...


def choose_source(
    source: object, client: object, config: str | None, split: str | None, revision: str | None
) -> RowSource:
    """The source that the argument means. Raises TypeError or ValueError before anything is recorded."""
    if not isinstance(source, str | Path):
        return _object_source(source, config=config, split=split, revision=revision)
    text = str(source)
    if is_hub_uri(text):
        pinned = with_parameters(text, config=config, split=split, revision=revision)
        return ServerRows(client, pinned) if isinstance(client, BenchwrightClient) else HubRows(pinned)
    _refuse_hub_arguments(
        f"source {text!r} is not a hub dataset", config=config, split=split, revision=revision
    )
    return FileRows(text)


class HubRows:
    """A dataset of the Hugging Face hub, read in this process and cached on disk."""

    keeps_rows = False

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._dataset: HubDataset | None = None
        self._window: list[Row] = []
        self._window_start = 0

    async def initialize(self) -> JsonObject:
        """Resolve configuration, split and commit, once for the entire run."""
        return await asyncio.to_thread(self._resolve)

    def restore(self, metadata: JsonObject) -> None:
        """Resume with the recorded commit, even if the branch has moved."""
        self._uri = str(metadata["uri"])

    async def load(self, offset: int, count: int) -> list[Row]:
        """Rows by number. Reads ahead, because rows are usually read in order."""
        start = offset - self._window_start
        if start < 0 or start + count > len(self._window):
            self._window = await asyncio.to_thread(self._read, offset, max(count, WINDOW_ROWS))
            self._window_start, start = offset, 0
        rows = self._window[start : start + count]
        # The caller may change the rows it gets, so a later pass reads them again.
        self._window = self._window[start + len(rows) :]
        self._window_start = offset + len(rows)
        return rows

    def notes(self) -> Sequence[str]:
        """How the commit and the split were chosen if the URI did not name them, and damage in the cache."""
        return () if self._dataset is None else self._dataset.notes

    def _resolve(self) -> JsonObject:
        self._dataset = HubDataset(self._uri)
        info = self._dataset.init()
        self._uri = info.uri
        return {"identity": info.uri, **info.to_json()}

    def _read(self, offset: int, count: int) -> list[Row]:
        if self._dataset is None:
            self._dataset = HubDataset(self._uri)
        return self._dataset.batch(offset, count)


class FileRows:
    """A file, or a URI that a fetcher supports. Rows are read in order; a jump back starts over."""

    keeps_rows = False

    def __init__(self, place: str) -> None:
        self._place = place
        self._reader: Any = None
        self._rows: Iterator[Row] | None = None
        self._at = 0
        self._fingerprint: str | None = None

    async def initialize(self) -> JsonObject:
        """Record the fingerprint of the file's content."""
        return await asyncio.to_thread(self._look)

    def restore(self, metadata: JsonObject) -> None:
        """Resume only with the same content; the first batch checks it."""
        self._place = str(metadata["path"])
        self._fingerprint = str(metadata["fingerprint"])

    async def load(self, offset: int, count: int) -> list[Row]:
        """The next rows."""
        return await asyncio.to_thread(self._read, offset, count)

    def notes(self) -> Sequence[str]:
        """The notes of the reader."""
        return () if self._reader is None else tuple(self._reader.notes())

    def _look(self) -> JsonObject:
        reader = self._open()
        path = str(reader.path.resolve()) if reader.path is not None else self._place
        self._fingerprint = reader.fingerprint()
        return {
            "identity": f"{reader.name}@{self._fingerprint}",
            "path": path,
            "fingerprint": self._fingerprint,
            "total_rows": None,
        }

    def _open(self) -> Any:
        if self._reader is None:
            self._reader = open_dataset(self._place)
            if self._fingerprint is not None and self._reader.fingerprint() != self._fingerprint:
                raise DatasetError(
                    f"{self._place} has changed since the run began; the rows read before came from other content. "
                    "Restore the file, or start a new run"
                )
        return self._reader

    def _read(self, offset: int, count: int) -> list[Row]:
        if self._rows is None or offset != self._at:
            reader = self._open()
            self._rows = (row for batch in reader.batches(512) for row in batch.rows)
            self._at = 0
            for _ in range(offset):
                next(self._rows, None)
            self._at = offset
        found = [row for _, row in zip(range(count), self._rows, strict=False)]
        self._at += len(found)
        return found


class ServerRows:
    """A hub dataset read through the dataset server, if only the server's address is known."""

    keeps_rows = False

    def __init__(self, client: BenchwrightClient, uri: str) -> None:
        self._client = client
        self._uri = uri
        self._config: JsonValue = None
        self._split: JsonValue = None
        self._notes: list[str] = []

    async def initialize(self) -> JsonObject:
        """Have the server resolve the dataset."""
        answer = await self._client.call("POST", "/dataset/init", {"source": self._uri})
        self._hear(answer)
        source = answer.get("source") or self._uri
        metadata: JsonObject = {
            **answer,
            "identity": source,
            "uri": source,
            "split": answer.get("selected_split"),
        }
        self.restore(metadata)
        return metadata

    def restore(self, metadata: JsonObject) -> None:
        """Request the resolved dataset."""
        self._uri = str(metadata["uri"])
        self._config, self._split = metadata.get("config"), metadata.get("split")

    async def load(self, offset: int, count: int) -> list[Row]:
        """One batch over HTTP."""
        request: JsonObject = {
            "source": self._uri,
            "config": self._config,
            "split": self._split,
            "offset": offset,
            "limit": count,
        }
        answer = await self._client.call("POST", "/datasets/batch", request)
        rows = answer.get("rows")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise DatasetError(f"{self._uri}: the dataset server's batch contains no list of rows")
        self._hear(answer)
        return [row for row in rows if isinstance(row, dict)]

    def notes(self) -> Sequence[str]:
        """The notes from the server so far."""
        return tuple(self._notes)

    def _hear(self, answer: JsonObject) -> None:
        notes = answer.get("notes")
        if isinstance(notes, list):
            self._notes += [str(note) for note in notes if note not in self._notes]


class ObjectRows:
    """An object of the user. Its batches are stored with the run, because they exist nowhere else."""

    keeps_rows = True

    def __init__(self, source: DatasetSource) -> None:
        self._source = source

    async def initialize(self) -> JsonObject:
        """Call the check of the object."""
        return {
            "identity": self._source.source_id,
            "metadata": await self._source.initialize(),
            "total_rows": None,
        }

    def restore(self, metadata: JsonObject) -> None:
        """Pass the result of `initialize` to the `restore` method of the object, if it has one. Raises DatasetError if the object
        is another source now."""
        before, now = metadata.get("identity"), self._source.source_id
        if before != now:
            raise DatasetError(
                f"the dataset source is {now!r} now, and was {before!r} when the run began; the rows read before came from that "
                "one. Restore the source, or start a new run"
            )
        restore = getattr(self._source, "restore", None)
        if callable(restore):
            restore(metadata.get("metadata"))

    async def load(self, offset: int, count: int) -> list[Row]:
        """Get a batch from the object."""
        rows = await self._source.load_batch(offset, count)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise TypeError(
                f"load_batch of {type(self._source).__name__} returned {type(rows).__name__}; expected a list of dicts"
            )
        return rows

    def notes(self) -> Sequence[str]:
        """Nothing; the object reports notes itself."""
        return ()


def _object_source(source: object, **hub_arguments: str | None) -> RowSource:
    missing = [name for name in _PROTOCOL if not hasattr(source, name)]
    if missing:
        raise TypeError(
            f"dataset source {type(source).__name__} lacks {', '.join(missing)}; give a URI such as hf://owner/name, a "
            "path, or an object with source_id, initialize() and load_batch(offset, batch_size)"
        )
    _refuse_hub_arguments(f"source {type(source).__name__} is an object", **hub_arguments)
    return ObjectRows(source)  # type: ignore[arg-type]  # it has the three members


def _refuse_hub_arguments(why: str, **arguments: str | None) -> None:
    given = [name for name, value in arguments.items() if value is not None]
    if given:
        verb = "applies" if len(given) == 1 else "apply"
        raise ValueError(f"{', '.join(given)} {verb} to hub datasets only (hf://owner/name), and {why}")
