"""What made a run's numbers, as `results.yml`, `run_config.yml` and `manifest.json` write it. No secrets."""

from __future__ import annotations

from datetime import UTC, datetime

from benchwright.core import JsonObject
from benchwright.reports.views.runs import RunDetails
from benchwright.reports.views.settings import PARAMS, without_none

_IN_PARAMS = {*PARAMS, "benchmark", "eval_type", "generation", "retargeted"}


def config_table(details: RunDetails) -> JsonObject:
    """`command`, `config` and `target`: the part that `results.yml` and `run_config.yml` share."""
    return {
        "command": details.command,
        "config": {
            "output_dir": details.output_dir,
            "params": details.params,
            "type": details.eval_type,
        },
        "target": {"api_endpoint": details.endpoint},
    }


def run_config(details: RunDetails) -> JsonObject:
    """The merged configuration: `config` and `target` as in `results.yml`, and all other settings under `settings`."""
    settings = {name: value for name, value in details.settings.items() if name not in _IN_PARAMS}
    return {**config_table(details), "settings": without_none(settings)}


def manifest_table(details: RunDetails) -> JsonObject:
    """What the run was made of: hashes, fingerprints, versions, seed; and which run it was, and when."""
    run = details.run
    return {
        **details.manifest,
        "run": {
            "id": run.id,
            "name": run.name,
            "target": run.target,
            "model": run.model or "",
            "created_at": _iso_time(run.created_at),
            "finished_at": None if run.finished_at is None else _iso_time(run.finished_at),
            "duration_s": None if run.seconds is None else round(run.seconds, 3),
        },
    }


def _iso_time(seconds: float) -> str:
    """A wall-clock time as this file has had it since its first version."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
