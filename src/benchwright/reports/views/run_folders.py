"""A run read back from the files in its folder, for a database that has lost it. As far as the files allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import (
    CallRecord,
    CallTimes,
    MetricSummary,
    ModelReply,
    Outcome,
    RunSummary,
    SampleRecord,
    StepValues,
    encode_json,
    encode_sample,
    known_outcome,
    reply_to_json,
)
from benchwright.reports.files.results import ALL_REPLIES
from benchwright.reports.views.settings import recorded_params
from benchwright.store import RunRecord

_FIELDS = {
    "mean": "value",
    "ci95_low": "ci_low",
    "ci95_high": "ci_high",
    "mean_failures_as_wrong": "with_failures",
    "count_failures_as_wrong": "with_failures_count",
}
"""Names in `results.yml` that differ from those of `MetricSummary`."""


def run_of_folder(number: int, folder: Path) -> RunRecord:
    """The record of a run, out of `manifest.json`, `run_config.yml` and `results.yml`."""
    manifest = _json(folder / "manifest.json")
    config = _yaml(folder / "run_config.yml")
    about: dict[str, Any] = manifest.pop("run", None) or {}
    name = str(about.get("name") or folder.name.partition("-")[2] or folder.name)
    settings = {**_settings(config), "adopted": True}
    summary = _summary(_yaml(folder / "results.yml"), name)
    complete = summary is not None and not summary.partial
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
    )


def steps_of_folder(folder: Path) -> Iterator[StepValues]:
    """The samples in `samples.parquet` as records. What was sent is known only as the file shows it, so no other run
    may take the replies."""
    path = folder / "samples.parquet"
    if not path.is_file():
        return
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=500):
            for sample in batch.to_pylist():
                yield from encode_sample(_record(sample))


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


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    """The settings that reports show, under the names they have in a record."""
    table = config.get("config") or {}
    params: dict[str, Any] = table.get("params") or {}
    known = {"benchmark": params.get("task"), "eval_type": table.get("type")}
    found = {name: value for name, value in known.items() if value is not None}
    return {**(config.get("settings") or {}), **found, **recorded_params(params)}


def _summary(document: dict[str, Any], name: str) -> RunSummary | None:
    tasks = (document.get("results") or {}).get("tasks") or {}
    task: dict[str, Any] = tasks.get(name) or next(iter(tasks.values()), {})
    samples = task.get("samples")
    if not samples:
        return None
    groups = {
        group: {name: _metric(score) for name, score in found["scores"].items()}
        for group, found in (task.get("metrics") or {}).items()
    }
    return RunSummary(
        rows=samples["rows"],
        repeats=samples["repeats"],
        evaluated=samples["evaluated"],
        outcomes=task["outcomes"],
        metrics=groups.pop(ALL_REPLIES, {}),
        failed=samples["failed"],
        comparable=task["comparable"],
        partial=task["partial"],
        notes=list(task.get("notes") or ()),
        prompt_tokens=samples.get("prompt_tokens"),
        completion_tokens=samples.get("completion_tokens"),
        over_repeats=groups,
        derived=task.get("derived") or {},
    )


def _metric(score: dict[str, Any]) -> MetricSummary:
    stats = {_FIELDS.get(name, name): value for name, value in score["stats"].items()}
    known: dict[str, Any] = {
        field.name: stats.get(field.name) for field in fields(MetricSummary) if field.default is MISSING
    }
    return MetricSummary(**known, too_few=stats.get("too_few", False))


def _json(path: Path) -> dict[str, Any]:
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _yaml(path: Path) -> dict[str, Any]:
    import yaml

    try:
        found = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None
