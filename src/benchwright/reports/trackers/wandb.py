"""Follows runs in Weights & Biases. The library's configuration (`WANDB_*`) decides where they go and under which
project."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any

from benchwright.core import JsonObject, open_artifacts
from benchwright.reports.trackers.tracking import identity_of, tracked_figures


class WandbTracker:
    """One run in Weights & Biases for each of our runs; a resumed run continues it."""

    def started(self, run: JsonObject) -> None:
        """Begin, or continue after a resume."""
        import wandb

        ours: Any = run["run"]
        self._place = ExitStack()
        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT") or "benchwright",
            name=os.environ.get("WANDB_NAME") or f"{ours['name']}-{ours['id']}",
            id=os.environ.get("WANDB_RUN_ID") or identity_of(run),
            resume=os.environ.get("WANDB_RESUME") or "allow",
            dir=str(self._place.enter_context(open_artifacts(ours["folder"]).local())),
            config={
                "target": ours["target"],
                "model": ours["model"],
                "params": run.get("params") or run.get("settings"),
            },
            reinit="create_new",  # runs of a suite may overlap; otherwise they would all become the first
            settings=wandb.Settings(silent=True, console="off"),  # printed text may contain replies
        )

    def progress(self, counts: JsonObject) -> None:
        """Add a point to the curve."""
        self._run.log({f"progress/{name}": value for name, value in counts.items()})

    def finished(self, run: JsonObject) -> None:
        """Send the figures of the run."""
        ours: Any = run["run"]
        self._run.summary.update({**tracked_figures(run), "status": ours["status"]})
        self._run.finish(exit_code=0 if ours["status"] == "completed" else 1)
        self._place.close()
