"""Follows runs in MLflow. The library's configuration (`MLFLOW_*`) decides where they go and under which experiment."""

from __future__ import annotations

import os
import re
from typing import Any

from benchwright.core import JsonObject, LoadFile, RunFile, open_artifacts
from benchwright.reports.trackers.tracking import identity_of, tracked_figures

_LONGEST = 500
"""The most characters of a parameter that every version of MLflow accepts."""
_NOT_IN_NAMES = re.compile(r"[^\w\-. /]")


class MlflowTracker:
    """One MLflow run for each of our runs; a resumed run continues it."""

    def started(self, run: JsonObject) -> None:
        """Begin, or continue after a resume."""
        from mlflow.tracking import MlflowClient

        ours: Any = run["run"]
        self._client, self._step = MlflowClient(), 0
        title = os.environ.get("MLFLOW_EXPERIMENT_NAME") or "benchwright"
        experiment = self._client.get_experiment_by_name(title)
        number = self._client.create_experiment(title) if experiment is None else experiment.experiment_id
        identity = identity_of(run)
        known: set[str] = set()  # parameters cannot be changed, so those of the first start stay
        begun = self._client.search_runs(
            [number], f"tags.`benchwright.identity` = '{identity}'", max_results=1
        )
        if begun:
            self._id, known = begun[0].info.run_id, set(begun[0].data.params)
            self._client.update_run(self._id, status="RUNNING")
            earlier = self._client.get_metric_history(self._id, "progress/done")
            self._step = max((point.step for point in earlier), default=0)
        else:
            tags = {"run": str(ours["id"]), "target": ours["target"], "identity": identity}
            made = self._client.create_run(
                number,
                run_name=f"{ours['name']}-{ours['id']}",
                tags={f"benchwright.{name}": value for name, value in tags.items()},
            )
            self._id = made.info.run_id
        params: Any = run.get("params") or run.get("settings") or {}
        for key, value in {"model": ours["model"], **params}.items():
            name = _NOT_IN_NAMES.sub("_", key)
            if value is not None and name not in known:
                self._client.log_param(self._id, name, str(value)[:_LONGEST])

    def progress(self, counts: JsonObject) -> None:
        """Add a point to the curve."""
        self._step += 1
        for name, value in counts.items():
            self._client.log_metric(self._id, f"progress/{name}", float(str(value)), step=self._step)

    def finished(self, run: JsonObject) -> None:
        """Send the figures of the run, and the file with them."""
        ours: Any = run["run"]
        for name, value in tracked_figures(run).items():
            self._client.log_metric(self._id, _NOT_IN_NAMES.sub("_", name), value)
        with open_artifacts(ours["folder"]).local() as folder:
            for name in (RunFile.RESULTS, LoadFile.SUMMARY):
                if (file := folder / name).is_file():
                    self._client.log_artifact(self._id, str(file))
        status = {"completed": "FINISHED", "interrupted": "KILLED"}.get(ours["status"], "FAILED")
        self._client.set_terminated(self._id, status=status)
