"""Samples read back from `samples.parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import (
    CallRecord,
    CallTimes,
    ModelReply,
    Outcome,
    RunFile,
    SampleRecord,
    StepValues,
    encode_json,
    encode_sample,
    encode_score,
    known_outcome,
    reply_to_json,
    row_hash,
)
from benchwright.reports.views.sample_columns import COLUMNS
from benchwright.store import Store


class SamplesOf:
    """The samples of runs in folders, and of all others in the workspace."""

    def __init__(self, store: Store | None, folders: Mapping[int, Path]) -> None:
        self.store = store
        """The workspace; None where all runs are from elsewhere."""
        self._folders = folders

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """As from the store."""
        if run_id in self._folders:
            return _scored(self._folders[run_id] / RunFile.SAMPLES)
        assert self.store is not None
        return self.store.scored(run_id)


def steps_of_folder(folder: Path) -> Iterator[StepValues]:
    """The samples in `samples.parquet` as records. What was sent is known only as the file shows it, so no other run
    may take the replies."""
    path = folder / RunFile.SAMPLES
    if not path.is_file():
        return
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=500):
            for sample in batch.to_pylist():
                yield from encode_sample(_record(sample))


def _scored(path: Path) -> Iterator[tuple[int, int, bytes, bytes]]:
    import pyarrow.parquet as pq

    names = [name for name, column in COLUMNS.items() if column.compared]
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1000, columns=names):
            for sample in batch.to_pylist():
                record = _record(dict.fromkeys(COLUMNS) | sample)
                digest = b"" if record.row is None else row_hash(record.row)
                yield record.sample_id, record.repeat, digest, encode_score(record)


def _record(sample: dict[str, Any]) -> SampleRecord:
    row, scores, started = sample["metadata"], sample["scores"], sample["started_at"]
    tokens = sample["prompt_tokens"], sample["completion_tokens"]
    begun = started or 0.0
    return SampleRecord(
        sample["sample_id"],
        sample["repeat"],
        None if row is None else row.encode(),
        known_outcome(sample["outcome"]),
        sample["target"],
        None if scores is None else orjson.loads(scores),
        sample["error"],
        sample["prompt"],
        sample["response"] or "",
        usage=None if tokens == (None, None) else tokens,
        choices=sample.get("choices"),
        choices_logprobs=sample.get("choices_logprobs"),
        choices_is_greedy=sample.get("choices_is_greedy"),
        started_at=begun,
        finished_at=begun + (sample["latency_s"] or 0.0),
        calls=() if started is None else (_call(sample),),
    )


def _call(sample: dict[str, Any]) -> CallRecord:
    messages, started, latency = sample["messages"], sample["started_at"], sample["latency_s"] or 0.0
    body = {"prompt": sample["prompt"]} if messages is None else {"messages": orjson.loads(messages)}
    reply = ModelReply(
        "failed" if sample["outcome"] == Outcome.REQUEST_FAILED else "answered",
        sample["response"] or "",
        sample["reasoning"] or "",
        sample["finish_reason"],
        attempts=sample["attempts"] or 1,
        started_at=started,
        times=CallTimes.lasting(latency, sample["ttft_s"]),
    )
    output = encode_json(reply_to_json(reply))
    return CallRecord("", b"", encode_json(body), output, False, started, started + latency)
