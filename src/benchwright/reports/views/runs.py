"""What `--json` prints of runs and samples. Field names are a contract: they are added to, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from benchwright.core import JsonObject
from benchwright.reports.files.run_files import iso_time
from benchwright.reports.views.samples import JudgeView, SampleView
from benchwright.reports.views.settings import command_of, endpoint_of, is_demo, params_of
from benchwright.store import Event, RunRecord


def run_json(run: RunRecord) -> JsonObject:
    """A run in a list.

    `{id, kind, name, target, model, model_name, rescored_from, demo, status, error, folder, created_at, finished_at, duration_s, evaluated,
    failed, outcomes, comparable, partial, metrics: {name: value}}`; times are ISO 8601 in UTC; the last six are null
    while there is no result. `model_name` is what a suite calls the model.
    """
    summary: dict[str, Any] = dict(run.summary or {})
    metrics: dict[str, Any] = summary.get("metrics", {})
    return {
        "id": run.id,
        "kind": run.kind,
        "name": run.name,
        "target": run.target,
        "model": run.model,
        "model_name": run.settings.get("model_name"),
        "rescored_from": run.settings.get("rescored_from"),
        "demo": is_demo(run),
        "status": run.status,
        "error": run.error,
        "folder": str(run.folder),
        "created_at": iso_time(run.created_at),
        "finished_at": iso_time(run.finished_at),
        "duration_s": None if run.finished_at is None else round(run.finished_at - run.created_at, 3),
        "evaluated": summary.get("evaluated"),
        "failed": summary.get("failed"),
        "outcomes": summary.get("outcomes"),
        "comparable": summary.get("comparable"),
        "partial": summary.get("partial"),
        "metrics": {name: metric["value"] for name, metric in metrics.items()} if summary else None,
    }


def results_json(run: RunRecord, events: Sequence[Event] = ()) -> JsonObject:
    """One run in full.

    `{run: as in a list, summary: {rows, repeats, evaluated, outcomes, metrics: {name: {value, count, stddev,
    stderr, sample_stderr, ci_low, ci_high, interval, min, max, with_failures, with_failures_count}}, failed,
    comparable, partial, notes, prompt_tokens, completion_tokens, partly_counted, lower_is_better} | null, command, params, endpoint,
    manifest, events: [{kind, message, created_at, data}]}`. Of a workflow `input` and `output` as well, and as its summary
    `{steps: {status: count}, metrics: {name: {value, count, last, min, max, unit}}}`.
    """
    return {
        "run": run_json(run),
        **({"input": run.input, "output": run.output} if run.kind == "workflow" else {}),
        "summary": run.summary,
        "command": command_of(run),
        "params": params_of(run),
        "endpoint": endpoint_of(run),
        "manifest": run.manifest,
        "events": [
            {
                "kind": event.kind,
                "message": event.message,
                "created_at": iso_time(event.created_at),
                "data": event.data,
            }
            for event in events
        ],
    }


def sample_json(view: SampleView, judges: Sequence[JudgeView] = ()) -> JsonObject:
    """One sample and repeat: the columns of `samples.parquet` with `messages` and `metadata` as JSON values,
    and `judges: [{number, status, text, error}]`."""
    record: dict[str, Any] = view._asdict()
    for name in ("messages", "metadata"):
        record[name] = None if record[name] is None else orjson.loads(record[name])
    record["judges"] = [
        {
            "number": judge.number,
            "status": judge.reply.status,
            "text": judge.reply.text,
            "error": None if judge.reply.failure is None else judge.reply.failure.message,
        }
        for judge in judges
        if judge.repeat == view.repeat
    ]
    return record
