"""A run read back from the files in its folder, for a database that has lost it. As far as the files allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import MetricSummary, RunSummary, encode_json
from benchwright.reports.files.results import ALL_REPLIES
from benchwright.reports.views.settings import recorded_params
from benchwright.store import RunRecord, StepRow, score_key

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


def steps_of_folder(folder: Path) -> Iterator[StepRow]:
    """The samples in `samples.parquet` as records. What was sent is known only as the file shows it, so no other run
    may take the replies."""
    path = folder / "samples.parquet"
    if not path.is_file():
        return
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=500):
            yield from map(_step, batch.to_pylist())


def _step(sample: dict[str, Any]) -> StepRow:
    record: dict[str, Any] = {"o": sample["outcome"], "t": sample["target"], "r": sample["response"] or ""}
    if sample["scores"] is not None:
        record["s"] = orjson.loads(sample["scores"])
    if sample["error"] is not None:
        record["e"] = sample["error"]
    if sample["prompt"] is not None:
        record["p"] = sample["prompt"]
    for name in ("choices", "choices_logprobs", "choices_is_greedy"):
        if sample.get(name) is not None:
            record[f"_{name}"] = sample[name]
    body = reply = None
    started = sample["started_at"]
    if started is not None:
        messages = sample["messages"]
        body = {"prompt": sample["prompt"]} if messages is None else {"messages": orjson.loads(messages)}
        reply = {
            "t": sample["response"] or "", "r": sample["reasoning"], "l": sample["latency_s"], "tt": sample["ttft_s"],
            "n": sample["attempts"], "at": started, "f": sample["finish_reason"],
        }  # fmt: skip
    if sample["prompt_tokens"] is not None or sample["completion_tokens"] is not None:
        record["u"] = [sample["prompt_tokens"], sample["completion_tokens"]]
    now = started or 0.0
    return StepRow(
        score_key(sample["sample_id"], sample["repeat"]),
        b"",
        None if sample["metadata"] is None else sample["metadata"].encode(),
        encode_json(record),
        False,
        now,
        now + (sample["latency_s"] or 0.0),
        None if body is None else b"",
        None if body is None else encode_json(body),
        None if reply is None else encode_json(reply),
    )


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
    return MetricSummary(**known)


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
