"""Runs that this workspace does not know: folders with a run's files, copied from another place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import (
    JsonObject,
    MetricSummary,
    RunSummary,
    SampleRecord,
    UsageError,
    encode_score,
    known_outcome,
    row_hash,
)
from benchwright.reports.files.run_files import run_config_document
from benchwright.reports.views.pairing import Scored
from benchwright.store import RunRecord

_NEEDED = ("results.yml", "run_config.yml", "samples.parquet", "manifest.json")
_EFFORT = ("parallelism", "max_retries", "request_timeout", "task")
"""Parameters that change no result, or are the benchmark's name."""


def is_run_folder(folder: Path) -> bool:
    """Whether a folder looks like one that a run wrote."""
    return (folder / "results.yml").is_file()


def folder_run(folder: Path, number: int) -> RunRecord:
    """The run whose files are in `folder`, under a number that no run of a workspace has. UsageError where a file is
    missing or is not what a run writes."""
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    if missing:
        raise UsageError(f"{folder} has no {', '.join(missing)}; copy the whole folder of the run")
    try:
        results, config = _yaml(folder / "results.yml"), _yaml(folder / "run_config.yml")
        manifest: dict[str, Any] = orjson.loads((folder / "manifest.json").read_bytes())
        ((name, task),) = results["results"]["tasks"].items()
        known = manifest.pop("run", {})
        endpoint = results["target"]["api_endpoint"]
        return RunRecord(
            id=number,
            name=name,
            target=str(known.get("target", "")),
            model=str(endpoint.get("model_id", known.get("model", ""))),
            status="interrupted" if task["partial"] else "completed",
            folder=folder,
            settings=_settings(config),
            manifest=manifest,
            summary=_summary(task).to_json(),
            error=None,
            created_at=_time(known.get("created_at")) or 0.0,
            finished_at=_time(known.get("finished_at")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UsageError(
            f"{folder} does not hold the files of a run: {type(error).__name__}: {error}"
        ) from error


def as_filed(run: RunRecord) -> RunRecord:
    """A run of the workspace with its settings as its files have them, to be compared with those of a folder."""
    return replace(run, settings=_settings(run_config_document(run)))


class SamplesOf:
    """The samples of runs in folders, and of all others in the workspace."""

    def __init__(self, store: Scored | None, folders: Mapping[int, Path]) -> None:
        self._store = store
        self._folders = folders

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """As from the store."""
        if run_id in self._folders:
            return _scored(self._folders[run_id] / "samples.parquet")
        assert self._store is not None
        return self._store.scored(run_id)


def _scored(path: Path) -> Iterator[tuple[int, int, bytes, bytes]]:
    import pyarrow.parquet as pq

    names = ["sample_id", "repeat", "metadata", "outcome", "scores", "error", "target"]
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1000, columns=names):
            columns = batch.to_pydict()
            for index, repeat, row, outcome, scores, error, target in zip(
                *(columns[name] for name in names), strict=True
            ):
                given = None if scores is None else orjson.loads(scores)
                record = SampleRecord(index, repeat, None, known_outcome(outcome), target, given, error)
                digest = b"" if row is None else row_hash(row.encode())
                yield index, repeat, digest, encode_score(record)


def _settings(config: Mapping[str, Any]) -> JsonObject:
    """Everything that `run_config.yml` says of how the run was asked."""
    params = {name: value for name, value in config["config"]["params"].items() if name not in _EFFORT}
    extra = dict(params.pop("extra", {}))
    data = dict(extra.pop("dataset", {}))
    data.pop("path", None)  # named as on the machine of the run; the content is compared
    endpoint = {
        name: value
        for name, value in config["target"]["api_endpoint"].items()
        if name not in ("url", "model_id", "api_key_name")
    }
    url = config["target"]["api_endpoint"].get("url")
    asked = {name: value for name, value in config.get("settings", {}).items() if name != "questions"}
    if isinstance(asked.get("model"), dict):
        asked["model"] = {"url": url, **asked["model"]}
    return {**asked, **params, **extra, **data, "endpoint": endpoint}


def _summary(task: Mapping[str, Any]) -> RunSummary:
    samples = task["samples"]
    metrics = {}
    for name, score in task["metrics"]["pass@1"]["scores"].items():
        stats = score["stats"]
        metrics[name] = MetricSummary(
            value=score["value"],
            count=stats["count"],
            stddev=stats["stddev"],
            stderr=stats["stderr"],
            sample_stderr=stats["sample_stderr"],
            ci_low=stats.get("ci95_low"),
            ci_high=stats.get("ci95_high"),
            interval=stats["interval"],
            min=stats["min"],
            max=stats["max"],
            with_failures=stats.get("mean_failures_as_wrong"),
            with_failures_count=stats.get("count_failures_as_wrong"),
            too_few=stats.get("too_few", False),
        )
    return RunSummary(
        rows=samples["rows"],
        repeats=samples["repeats"],
        evaluated=samples["evaluated"],
        outcomes=dict(task["outcomes"]),
        metrics=metrics,
        failed=samples["failed"],
        comparable=task["comparable"],
        partial=task["partial"],
        notes=list(task["notes"]),
        headline=task.get("headline"),
        lower_is_better=list(task.get("lower_is_better") or ()),
    )


def _yaml(path: Path) -> dict[str, Any]:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        found = yaml.load(path.read_bytes(), loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{path.name}: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} is no table")
    return found


def _time(text: object) -> float | None:
    return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
