"""Runs in MLflow. Where they go and under which experiment is the library's own configuration (`MLFLOW_*`)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from benchwright.core import JsonObject
from benchwright.reports.trackers.tracking import tracked_figures

_LONGEST = 500
"""Characters of a parameter that every version of MLflow takes."""
_NOT_IN_NAMES = re.compile(r"[^\w\-. /]")


class MlflowTracker:
    """One run of MLflow for one of ours; each start of a resumed run is one."""

    def started(self, run: JsonObject) -> None:
        """Begin."""
        from mlflow.tracking import MlflowClient  # type: ignore[import-not-found, unused-ignore]  # of the extra

        ours: Any = run["run"]
        self._client, self._step = MlflowClient(), 0
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or "benchwright"
        experiment = self._client.get_experiment_by_name(name)
        number = self._client.create_experiment(name) if experiment is None else experiment.experiment_id
        tags = {"benchwright.run": str(ours["id"]), "benchwright.target": ours["target"]}
        made = self._client.create_run(number, run_name=f"{ours['name']}-{ours['id']}", tags=tags)
        self._id = made.info.run_id
        params: Any = run.get("params") or {}
        for key, value in {"model": ours["model"], **params}.items():
            if value is not None:
                self._client.log_param(self._id, _NOT_IN_NAMES.sub("_", key), str(value)[:_LONGEST])

    def progress(self, counts: JsonObject) -> None:
        """A point of the curve."""
        self._step += 1
        for name, value in counts.items():
            self._client.log_metric(self._id, f"progress/{name}", float(str(value)), step=self._step)

    def finished(self, run: JsonObject) -> None:
        """The figures of the run, and its results file."""
        ours: Any = run["run"]
        for name, value in tracked_figures(run).items():
            self._client.log_metric(self._id, _NOT_IN_NAMES.sub("_", name), value)
        results = Path(ours["folder"]) / "results.yml"
        if results.is_file():
            self._client.log_artifact(self._id, str(results))
        status = {"completed": "FINISHED", "interrupted": "KILLED"}.get(ours["status"], "FAILED")
        self._client.set_terminated(self._id, status=status)
