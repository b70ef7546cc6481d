"""The files of a run. Each is written under a temporary name and renamed, so none is ever half there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import orjson

from benchwright.core import JsonObject, RunSummary, exact_json, known_secrets
from benchwright.reports.files.atomic import write_whole
from benchwright.reports.files.parquet import write_samples
from benchwright.reports.files.results import dump_yaml, results_document
from benchwright.reports.views.settings import (
    PARAMS,
    command_of,
    endpoint_of,
    output_dir_of,
    params_of,
    sent_settings,
    without_none,
)
from benchwright.store import RunRecord, Store

RUN_FILES = ("results.yml", "run_config.yml", "samples.parquet", "manifest.json")
"""Names of a run's files, in its folder."""

_IN_PARAMS = {*PARAMS, "benchmark", "eval_type", "generation", "retargeted"}


def write_run_files(store: Store, run: RunRecord, summary: RunSummary) -> list[Path]:
    """Write all files of a run into its folder and return their paths. Existing ones are replaced."""
    folder = run.folder
    folder.mkdir(parents=True, exist_ok=True)
    write_run_config(run)
    choices = endpoint_of(run).get("type") == "completions_logprob"
    write_samples(folder / "samples.parquet", store.samples(run.id), list(summary.metrics), choices=choices)
    write_whole(folder / "manifest.json", _json(manifest_document(run)))
    # Last: who finds results.yml finds the others too.
    write_whole(folder / "results.yml", dump_yaml(results_document(run, summary)))
    return [folder / name for name in RUN_FILES]


def write_run_config(run: RunRecord) -> Path:
    """Write `run_config.yml`; needs no results, so it can be there before the first request."""
    run.folder.mkdir(parents=True, exist_ok=True)
    path = run.folder / "run_config.yml"
    write_whole(path, dump_yaml(run_config_document(run)))
    return path


def run_config_document(run: RunRecord) -> JsonObject:
    """The merged configuration: `config` and `target` as in `results.yml`, and under `settings` all that
    has no place there. No secrets."""
    settings = {name: value for name, value in sent_settings(run).items() if name not in _IN_PARAMS}
    return {
        "command": command_of(run),
        "config": {
            "output_dir": output_dir_of(run),
            "params": params_of(run),
            "type": run.settings.get("eval_type", f"byob_{run.name}.{run.name}"),
        },
        "settings": without_none(settings),
        "target": {"api_endpoint": endpoint_of(run)},
    }


def manifest_document(run: RunRecord) -> JsonObject:
    """What the run was made of: hashes, fingerprints, versions, seed; and which run it was, and when."""
    return {
        **run.manifest,
        "run": {
            "id": run.id,
            "name": run.name,
            "target": run.target,
            "model": run.model,
            "created_at": iso_time(run.created_at),
            "finished_at": iso_time(run.finished_at),
        },
    }


def iso_time(seconds: float | None) -> str | None:
    """A wall-clock time as ISO 8601 in UTC."""
    return (
        None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    )


def _json(document: JsonObject) -> bytes:
    document = known_secrets().clean_value(document)
    try:
        return orjson.dumps(
            document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        )
    except TypeError:  # a setting that is nested as deep as can be written alone
        return exact_json(document, indent=True) + b"\n"
