"""Reads runs from the files in their folders: folders from elsewhere, or of runs whose record was lost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from msgspec.structs import replace

from benchwright.core import (
    QUESTIONS,
    STREAM_FILES,
    Artifacts,
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
    open_artifacts,
    row_hash,
)
from benchwright.perf import EndedRequest, LoadSummary, read_request_file
from benchwright.results._clusters import SampleTexts
from benchwright.results._command import run_config
from benchwright.results._figures import ALL_REPLIES, metric_of_stats
from benchwright.results._folder_pages import folder_page
from benchwright.results._runs import RunDetails
from benchwright.results._sample_columns import COLUMNS, SampleView
from benchwright.results._settings import calling_of, recorded_params
from benchwright.store import Page, RunRecord, SampleFilter

_EFFORT = ("parallelism", "max_retries", "request_timeout", "task")
"""Parameters that change no result, or are the benchmark's name."""


def holds(folder: Path, run: RunRecord) -> bool:
    """Whether the files in a folder are those of a run, and not of another one whose files were copied there since."""
    about = _known(open_artifacts(folder), RunFile.MANIFEST).get("run")
    began = _seconds(about.get("created_at")) if isinstance(about, dict) else None
    return began is None or abs(began - run.created_at) < 0.001


def folder_run(folder: Path, number: int) -> RunRecord | None:
    """The run whose files are in `folder`, under a number that no run of a workspace has; None if no run wrote there. Raises
    UsageError if a file is missing or was not written by a run."""
    files = open_artifacts(folder)
    if not files.exists(RunFile.RESULTS):
        return None
    missing = [name for name in RunFile if name != RunFile.REPORT and not files.exists(name)]
    if missing:
        unsaved = ", which save_predictions: false leaves out" if missing == [RunFile.SAMPLES] else ""
        raise UsageError(f"{folder} has no {', '.join(missing)}{unsaved}; copy the whole folder of the run")
    try:
        results, config = _table(files, RunFile.RESULTS), _table(files, RunFile.CONFIG)
        manifest: dict[str, Any] = orjson.loads(files.read(RunFile.MANIFEST))
        ((name, task),) = results["results"]["tasks"].items()
        known = manifest.pop("run", {})
        endpoint = results["target"]["api_endpoint"]
        summary = _summary(task, known)
        _refuse_fewer(files, summary.evaluated)
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
            f"{folder} does not contain the files of a run: {type(error).__name__}: {error}"
        ) from error


def _load_of_folder(number: int, folder: Path, found: dict[str, Any]) -> RunRecord:
    """The record of a load test, from its `summary.json`. Of its manifest, only the data are in a file; its price is in none."""
    about, endpoint = found.get("run") or {}, found.get("endpoint") or {}
    made = open_artifacts(folder).modified(LoadFile.SUMMARY)
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
        error=None if whole else "its record was lost; this is what its files contain",
        created_at=made,
        finished_at=made,
        kind=RunKind.LOAD,
    )


def _refuse_fewer(files: Artifacts, expected: int) -> None:
    """Raise UsageError if samples.parquet has not all samples that results.yml counts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with files.open(RunFile.SAMPLES) as data:
            there = pq.read_metadata(data).num_rows
    except (pa.ArrowException, OSError) as error:
        raise UsageError(
            f"{files.location(RunFile.SAMPLES)} cannot be read: {clause(error)}. Copy the whole folder of the run again"
        ) from error
    if there != expected:
        raise UsageError(
            f"{files.location(RunFile.SAMPLES)} contains {there:,} samples, and {RunFile.RESULTS} counts {expected:,}: the files are not "
            "those of one run, or were changed. Copy the whole folder of the run again"
        )


def as_filed(run: RunRecord, details: RunDetails) -> RunRecord:
    """A run of the workspace with its settings in the form of its files, for comparison with a folder."""
    return replace(run, settings=_compared_settings(run_config(details)))


def run_of_folder(number: int, folder: Path) -> RunRecord:
    """The record of a run that the store has lost, as far as its files allow."""
    files = open_artifacts(folder)
    if (load := _known(files, LoadFile.SUMMARY)).get("profile") is not None:
        return _load_of_folder(number, folder, load)
    manifest, config = _known(files, RunFile.MANIFEST), _known(files, RunFile.CONFIG)
    about: dict[str, Any] = manifest.pop("run", None) or {}
    name = str(about.get("name") or folder.name.partition("-")[2] or folder.name)
    settings = {**_recorded_settings(config), "adopted": True}
    tasks = (_known(files, RunFile.RESULTS).get("results") or {}).get("tasks") or {}
    task: dict[str, Any] = tasks.get(name) or next(iter(tasks.values()), {})
    summary = _summary(task, about) if task.get("samples") else None
    complete = summary is not None and not summary.partial
    # Programs and workflows leave only what they printed.
    printed = any(map(files.exists, STREAM_FILES.values()))
    kind = RunKind.BENCHMARK if manifest or tasks or not printed else RunKind.WORKFLOW
    made = files.modified()
    endpoint: dict[str, Any] = config.get("target", {}).get("api_endpoint") or {}
    return RunRecord(
        id=number,
        name=name,
        target=str(about.get("target") or settings.get("asked") or name),
        model=str(about.get("model") or endpoint.get("model_id") or ""),
        status="interrupted" if not complete else "failed" if _all_failed(summary) else "completed",
        folder=folder,
        settings=settings,
        manifest=manifest,
        summary=None if summary is None else summary.to_json(),
        error=None if complete else "its record was lost; this is what its files contain",
        created_at=_seconds(about.get("created_at")) or made,
        finished_at=_seconds(about.get("finished_at")) or made,
        kind=kind,
    )


def _all_failed(summary: RunSummary | None) -> bool:
    """Whether no sample has a score, so that the run failed when it ended."""
    return summary is not None and summary.failed == summary.evaluated


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
    found = dict(config.get("settings", {}))
    definition = found.pop("definition", None)
    if isinstance(
        definition, dict
    ):  # settings of questions are among the parameters; places are of one machine
        own = {} if definition.get("kind") == QUESTIONS else definition.get("settings")
        found["definition"] = {"kind": definition.get("kind"), "settings": own}
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
        note_grades=task.get("note_grades") or {},
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


def _known(files: Artifacts, name: str) -> dict[str, Any]:
    """The content of a file; empty if it is missing or damaged."""
    try:
        return _table(files, name)
    except (OSError, ValueError):
        return {}


def _table(files: Artifacts, name: str) -> dict[str, Any]:
    """The table in a YAML file, or in a JSON file, which is YAML too. Raises ValueError for anything else."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = files.read(name)
        found = orjson.loads(content) if name.endswith(".json") else yaml.load(content, loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{name}: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{name} is not a table")
    return found


def _seconds(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


class FolderSamples:
    """The samples in the folder of a run's files."""

    def __init__(self, folder: Path) -> None:
        self._files = open_artifacts(folder)

    def scored(self) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Row, repeat, hash of the row and record of every sample, in their order."""
        return _scored(self._files)

    def row_texts(self) -> Iterator[tuple[int, bytes | None]]:
        """Number and JSON of the row of every sample, in their order."""
        return _row_texts(self._files)

    def texts(self, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], SampleTexts]:
        """Prompts and replies of some samples, by row and repeat."""
        return _texts(self._files, keys)

    def page(self, where: SampleFilter, *, after: int | None = None, limit: int = 100) -> Page[SampleView]:
        """Samples that pass a filter, in sample order, at most `limit`; `after` is `next` of the page before. A page that looks
        through many samples in vain is shorter though `next` says where the search continues."""
        return folder_page(self._files, where, after, limit)


def steps_of_folder(folder: Path, kind: str) -> Iterator[StepValues]:
    """The samples in `samples.parquet`, or the requests in `requests.parquet`, as records. The exact requests of samples are
    not known, so no other run may reuse the replies."""
    files = open_artifacts(folder)
    name = LoadFile.REQUESTS if kind == RunKind.LOAD else RunFile.SAMPLES
    if not files.exists(name):
        return
    if kind == RunKind.LOAD:
        with files.open(name) as data:
            yield from map(EndedRequest.step_of, read_request_file(data))
        return
    import pyarrow.parquet as pq

    with files.open(name) as data, pq.ParquetFile(data) as file:
        for batch in file.iter_batches(batch_size=500):
            for sample in batch.to_pylist():
                yield from _record(sample).to_steps()


def _scored(files: Artifacts) -> Iterator[tuple[int, int, bytes, bytes]]:
    import pyarrow.parquet as pq

    names = [name for name, column in COLUMNS.items() if column.compared]
    with files.open(RunFile.SAMPLES) as data, pq.ParquetFile(data) as file:
        names = [name for name in names if name in file.schema_arrow.names]  # older files have fewer
        for batch in file.iter_batches(batch_size=1000, columns=names):
            for sample in batch.to_pylist():
                record = _record(dict.fromkeys(COLUMNS) | sample)
                digest = b"" if record.row is None else row_hash(record.row)
                yield record.sample_id, record.repeat, digest, record.score_text()


def _row_texts(files: Artifacts) -> Iterator[tuple[int, bytes | None]]:
    import pyarrow.parquet as pq

    with files.open(RunFile.SAMPLES) as data, pq.ParquetFile(data) as file:
        for batch in file.iter_batches(batch_size=1000, columns=["sample_id", "metadata"]):
            for sample in batch.to_pylist():
                row = sample["metadata"]
                yield sample["sample_id"], None if row is None else row.encode()


def _texts(files: Artifacts, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], SampleTexts]:
    import pyarrow.parquet as pq

    found = {}
    with files.open(RunFile.SAMPLES) as data, pq.ParquetFile(data) as file:
        for batch in file.iter_batches(
            batch_size=1000, columns=["sample_id", "repeat", "prompt", "response", "metadata"]
        ):
            for row, repeat, prompt, reply, content in zip(
                *(column.to_pylist() for column in batch.columns), strict=True
            ):
                if (row, repeat) in keys:
                    found[row, repeat] = SampleTexts(prompt, reply, content and content.encode())
    return found


def _record(sample: dict[str, Any]) -> SampleRecord:
    row, scores, started = sample["metadata"], sample["scores"], sample["started_at"]
    tokens = sample["prompt_tokens"], sample["completion_tokens"]
    begun = started or 0.0
    return SampleRecord(
        sample["sample_id"],
        sample["repeat"],
        None if row is None else row.encode(),
        Outcome(sample["outcome"]),
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
    output = encode_json(reply.to_json())
    return CallRecord("", b"", encode_json(body), output, False, started, started + latency)
