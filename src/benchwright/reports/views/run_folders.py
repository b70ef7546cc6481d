"""Reads runs from the files in their folders: folders from elsewhere, or of runs whose record was lost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from msgspec.structs import replace

from benchwright.core import (
    STREAM_FILES,
    CallRecord,
    CallTimes,
    JsonObject,
    LoadFile,
    ModelReply,
    Outcome,
    RunFile,
    RunKind,
    RunSummary,
    SampleRecord,
    StepValues,
    UsageError,
    clause,
    encode_json,
    encode_sample,
    encode_score,
    known_outcome,
    reply_to_json,
    row_hash,
)
from benchwright.perf import LoadSummary, RequestRecord, Requests, read_request_file, request_step
from benchwright.reports.views.clusters import Scored
from benchwright.reports.views.command import run_config
from benchwright.reports.views.figures import ALL_REPLIES, metric_of_stats
from benchwright.reports.views.load import load_requests
from benchwright.reports.views.runs import RunDetails
from benchwright.reports.views.sample_columns import COLUMNS
from benchwright.reports.views.samples import sample_views
from benchwright.reports.views.settings import calling_of, recorded_params
from benchwright.store import RunRecord, Store

_EFFORT = ("parallelism", "max_retries", "request_timeout", "task")
"""Parameters that change no result, or are the benchmark's name."""


def is_run_folder(folder: Path) -> bool:
    """Whether a folder looks like one that a run wrote."""
    return (folder / RunFile.RESULTS).is_file()


def holds(folder: Path, run: RunRecord) -> bool:
    """Whether the files in a folder are those of a run, and not of another one whose files were copied there since."""
    about = _known(folder / RunFile.MANIFEST).get("run")
    began = _seconds(about.get("created_at")) if isinstance(about, dict) else None
    return began is None or abs(began - run.created_at) < 0.001


def folder_run(folder: Path, number: int) -> RunRecord:
    """The run whose files are in `folder`, under a number that no run of a workspace has. Raises UsageError if a file is
    missing or was not written by a run."""
    missing = [name for name in RunFile if name != RunFile.REPORT and not (folder / name).is_file()]
    if missing:
        unsaved = ", which save_predictions: false leaves out" if missing == [RunFile.SAMPLES] else ""
        raise UsageError(f"{folder} has no {', '.join(missing)}{unsaved}; copy the whole folder of the run")
    try:
        results, config = _yaml(folder / RunFile.RESULTS), _yaml(folder / RunFile.CONFIG)
        manifest: dict[str, Any] = orjson.loads((folder / RunFile.MANIFEST).read_bytes())
        ((name, task),) = results["results"]["tasks"].items()
        known = manifest.pop("run", {})
        endpoint = results["target"]["api_endpoint"]
        summary = _summary(task, known)
        _refuse_fewer(folder, summary.evaluated)
        return RunRecord(
            id=number,
            name=name,
            target=str(known.get("target", "")),
            model=str(endpoint.get("model_id", known.get("model", ""))),
            status="interrupted" if task["partial"] else "completed",
            folder=folder,
            settings=_compared_settings(config),
            manifest=manifest,
            summary=summary.to_json(),
            error=None,
            created_at=_seconds(known.get("created_at")) or 0.0,
            finished_at=_seconds(known.get("finished_at")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UsageError(
            f"{folder} does not hold the files of a run: {type(error).__name__}: {error}"
        ) from error


def _load_of_folder(number: int, folder: Path, found: dict[str, Any]) -> RunRecord:
    """The record of a load test, from its `summary.json`. Of its manifest, only the data are in a file; its price is in none."""
    about, endpoint = found.get("run") or {}, found.get("endpoint") or {}
    made = (folder / LoadFile.SUMMARY).stat().st_mtime
    try:
        summary = LoadSummary.from_json(found)
    except (ValueError, KeyError, TypeError, AttributeError):  # of another version, or changed
        summary = None
    whole = summary is not None and not summary.partial
    return RunRecord(
        id=number,
        name=str(about.get("name") or folder.name.partition("-")[2] or folder.name),
        target=str(about.get("target") or ""),
        model=str(about.get("model") or endpoint.get("model_id") or ""),
        status="completed" if whole else "interrupted",
        folder=folder,
        settings={
            "load": found.get("settings") or {},
            "model": {"url": endpoint.get("url"), "model_id": endpoint.get("model_id")},
            "adopted": True,
        },
        manifest={"dataset": found["dataset"]} if isinstance(found.get("dataset"), dict) else {},
        summary=None if summary is None else summary.to_json(),
        error=None if whole else "its record was lost; this is what its files hold",
        created_at=made,
        finished_at=made,
        kind=RunKind.LOAD,
    )


def _refuse_fewer(folder: Path, expected: int) -> None:
    """Raise UsageError if samples.parquet has not all samples that results.yml counts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        there = pq.read_metadata(folder / RunFile.SAMPLES).num_rows
    except (pa.ArrowException, OSError) as error:
        raise UsageError(
            f"{folder / RunFile.SAMPLES} cannot be read: {clause(error)}. Copy the whole folder of the run again"
        ) from error
    if there != expected:
        raise UsageError(
            f"{folder / RunFile.SAMPLES} holds {there:,} samples, and {RunFile.RESULTS} counts {expected:,}: the files are not "
            "those of one run, or were changed. Copy the whole folder of the run again"
        )


def as_filed(run: RunRecord, details: RunDetails) -> RunRecord:
    """A run of the workspace with its settings in the form of its files, for comparison with a folder."""
    return replace(run, settings=_compared_settings(run_config(details)))


def run_of_folder(number: int, folder: Path) -> RunRecord:
    """The record of a run that the store has lost, as far as its files allow."""
    if (load := _known(folder / LoadFile.SUMMARY)).get("profile") is not None:
        return _load_of_folder(number, folder, load)
    manifest, config = _known(folder / RunFile.MANIFEST), _known(folder / RunFile.CONFIG)
    about: dict[str, Any] = manifest.pop("run", None) or {}
    name = str(about.get("name") or folder.name.partition("-")[2] or folder.name)
    settings = {**_recorded_settings(config), "adopted": True}
    tasks = (_known(folder / RunFile.RESULTS).get("results") or {}).get("tasks") or {}
    task: dict[str, Any] = tasks.get(name) or next(iter(tasks.values()), {})
    summary = _summary(task, about) if task.get("samples") else None
    complete = summary is not None and not summary.partial
    # Programs and workflows leave only what they printed.
    printed = any((folder / name).is_file() for name in STREAM_FILES.values())
    kind = RunKind.BENCHMARK if manifest or tasks or not printed else RunKind.WORKFLOW
    made = folder.stat().st_mtime
    endpoint: dict[str, Any] = config.get("target", {}).get("api_endpoint") or {}
    return RunRecord(
        id=number,
        name=name,
        target=str(about.get("target") or settings.get("asked") or name),
        model=str(about.get("model") or endpoint.get("model_id") or ""),
        status="completed" if complete else "interrupted",
        folder=folder,
        settings=settings,
        manifest=manifest,
        summary=None if summary is None else summary.to_json(),
        error=None if complete else "its record was lost; this is what its files hold",
        created_at=_seconds(about.get("created_at")) or made,
        finished_at=_seconds(about.get("finished_at")) or made,
        kind=kind,
    )


def _compared_settings(config: Mapping[str, Any]) -> JsonObject:
    """The settings in `run_config.yml` that affect the numbers of the run."""
    params = {name: value for name, value in config["config"]["params"].items() if name not in _EFFORT}
    extra = dict(params.pop("extra", {}))
    data = dict(extra.pop("dataset", {}))
    data.pop("path", None)  # a path on the machine of the run; the content is compared
    endpoint = {
        name: value
        for name, value in config["target"]["api_endpoint"].items()
        if name not in ("url", "model_id", "api_key_name")
    }
    url = config["target"]["api_endpoint"].get("url")
    found = {name: value for name, value in config.get("settings", {}).items() if name != "questions"}
    if isinstance(found.get("model"), dict):
        found["model"] = {"url": url, **found["model"]}
    return {**found, **params, **extra, **data, "endpoint": endpoint}


def _recorded_settings(config: dict[str, Any]) -> dict[str, Any]:
    """The settings that reports show, under their recorded names."""
    table = config.get("config") or {}
    params: dict[str, Any] = table.get("params") or {}
    settings = config.get("settings") or {}
    known = {
        "benchmark": calling_of(settings).get("name", params.get("task")),  # there, the task lists categories
        "eval_type": table.get("type"),
        "metadata": config.get("metadata"),
    }
    found = {name: value for name, value in known.items() if value is not None}
    return {**settings, **found, **recorded_params(params)}


def _summary(task: Mapping[str, Any], about: Mapping[str, Any]) -> RunSummary:
    """The figures of a task in `results.yml`, and of the entry `run` in `manifest.json`; values that an older file lacks are those of a run without them."""
    samples = task["samples"]
    groups = {
        group: {
            name: metric_of_stats({**score, **score["stats"], "mean": score["value"]})
            for name, score in found["scores"].items()
        }
        for group, found in (task.get("metrics") or {}).items()
    }
    return RunSummary(
        rows=samples["rows"],
        repeats=samples["repeats"],
        evaluated=samples["evaluated"],
        outcomes=dict(task["outcomes"]),
        metrics=groups.pop(ALL_REPLIES, {}),
        failed=samples["failed"],
        comparable=task["comparable"],
        partial=task["partial"],
        notes=list(task.get("notes") or ()),
        prompt_tokens=samples.get("prompt_tokens"),
        completion_tokens=samples.get("completion_tokens"),
        partly_counted=samples.get("partly_counted"),
        cut=samples.get("cut") or 0,
        over_repeats=groups,
        reasons=task.get("reasons") or {},
        derived=task.get("derived") or {},
        judges=task.get("judges") or {},
        cost=task.get("cost"),
        cached_tokens=samples.get("cached_tokens") or 0,
        reused=about.get("reused"),
        headline=task.get("headline"),
        lower_is_better=list(task.get("lower_is_better") or ()),
    )


def _known(path: Path) -> dict[str, Any]:
    """The content of a file; empty if it is missing or damaged."""
    try:
        return _yaml(path)
    except (OSError, ValueError):
        return {}


def _yaml(path: Path) -> dict[str, Any]:
    """The table in a YAML file, or in a JSON file, which is YAML too. Raises ValueError for anything else."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = path.read_bytes()
        found = orjson.loads(content) if path.suffix == ".json" else yaml.load(content, loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{path.name}: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} is not a table")
    return found


def _seconds(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


class SamplesOf:
    """The samples of runs in folders or baselines, and of all others in the workspace."""

    def __init__(
        self,
        store: Store | None,
        elsewhere: Mapping[int, Path | Scored],
        requests: Mapping[int, Sequence[RequestRecord]] = {},
    ) -> None:
        self.store = store
        """The workspace; None if all runs are from elsewhere."""
        self._elsewhere, self._requests = elsewhere, requests

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """As from the store."""
        source = self._elsewhere.get(run_id, self.store)
        assert source is not None
        return _scored(source / RunFile.SAMPLES) if isinstance(source, Path) else source.scored(run_id)

    def row_texts(self, run_id: int) -> Iterator[tuple[int, bytes | None]]:
        """As from the store."""
        source = self._elsewhere.get(run_id, self.store)
        assert source is not None
        return _row_texts(source / RunFile.SAMPLES) if isinstance(source, Path) else source.row_texts(run_id)

    def prompts(self, run_id: int, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """The prompts of some samples, by row and repeat; a baseline has none."""
        source = self._elsewhere.get(run_id, self.store)
        if isinstance(source, Path):
            return _prompts(source / RunFile.SAMPLES, keys)
        if source is None or run_id in self._elsewhere:
            return {}
        assert self.store is not None
        rows = sorted({row for row, _ in keys})
        views = (view for row in rows for view in sample_views(self.store, run_id, row))
        return {
            (view.sample_id, view.repeat): view.prompt
            for view in views
            if view.prompt and (view.sample_id, view.repeat) in keys
        }

    def requests(self, run_id: int) -> Requests:
        """The requests of a load test."""
        if run_id in self._requests:
            return Requests.of(iter(self._requests[run_id]))
        assert self.store is not None
        return load_requests(self.store, run_id)


def steps_of_folder(folder: Path, kind: str) -> Iterator[StepValues]:
    """The samples in `samples.parquet`, or the requests in `requests.parquet`, as records. The exact requests of samples are
    not known, so no other run may reuse the replies."""
    if kind == RunKind.LOAD:
        if (folder / LoadFile.REQUESTS).is_file():
            yield from map(request_step, read_request_file(folder / LoadFile.REQUESTS))
        return
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
        names = [name for name in names if name in file.schema_arrow.names]  # older files have fewer
        for batch in file.iter_batches(batch_size=1000, columns=names):
            for sample in batch.to_pylist():
                record = _record(dict.fromkeys(COLUMNS) | sample)
                digest = b"" if record.row is None else row_hash(record.row)
                yield record.sample_id, record.repeat, digest, encode_score(record)


def _row_texts(path: Path) -> Iterator[tuple[int, bytes | None]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1000, columns=["sample_id", "metadata"]):
            for sample in batch.to_pylist():
                row = sample["metadata"]
                yield sample["sample_id"], None if row is None else row.encode()


def _prompts(path: Path, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
    import pyarrow.parquet as pq

    found = {}
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1000, columns=["sample_id", "repeat", "prompt"]):
            for row, repeat, prompt in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if prompt and (row, repeat) in keys:
                    found[row, repeat] = prompt
    return found


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
        group=sample.get("group"),
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
