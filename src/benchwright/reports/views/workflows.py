"""What `show --json` prints of a workflow run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from benchwright.core import JsonObject
from benchwright.reports.files.run_files import iso_time
from benchwright.reports.views.runs import results_json
from benchwright.reports.views.steps import StepView, metric_json, step_json
from benchwright.store import Event, MetricPoint, RunRecord


def workflow_json(
    run: RunRecord,
    events: Sequence[Event],
    *,
    steps: Sequence[StepView],
    points: Iterable[MetricPoint],
    captured: Mapping[str, str],
) -> JsonObject:
    """One workflow run in full.

    `{run: {id, workflow_name, model_name, status, input, output, started_at, finished_at, error, tags, starts, …},
    metrics: [{metric_name, metric_value, unit, step_id, tags, created_at}], samples: [the steps], stdout, stderr}` and
    what is told of every run.
    """
    told = results_json(run, [event for event in events if not event.kind.startswith("step.")])
    listed = told["run"] if isinstance(told["run"], dict) else {}
    model = run.input.get("model") if isinstance(run.input, dict) else None
    command = run.settings.get("command")
    return {
        **told,
        "command": shlex.join(str(w) for w in command) if isinstance(command, list) else told.get("command"),
        "run": {
            **listed,
            "workflow_name": run.name,
            "model_name": model if isinstance(model, str) else None,
            "input": run.input,
            "output": run.output,
            "started_at": iso_time(run.created_at),
            "tags": run.tags,
            "starts": run.starts,
        },
        "metrics": [metric_json(point) for point in points],
        "samples": [step_json(view) for view in steps],
        "stdout": captured.get("stdout", ""),
        "stderr": captured.get("stderr", ""),
    }
