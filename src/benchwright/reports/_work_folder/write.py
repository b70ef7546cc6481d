"""Writes a work folder from the store: one pass over the samples of each run, each file whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchwright.reports._work_folder.tasks import WorkTask, record_work_tasks
from benchwright.store import Store


def write_work_folder(
    store: Store,
    folder: Path,
    tasks: Sequence[WorkTask],
    *,
    details: bool = False,
    extract_rate: bool = False,
    moment: float | None = None,
) -> list[Path]:
    """Write all files of a work folder and return their paths. Files of the same names are replaced.

    Args:
        store: The workspace that holds the runs.
        folder: Where to; made if it is not there.
        tasks: The runs, in the order of the tables. Two tasks of equal names get files of their own.
        details: Whether results list every sample.
        extract_rate: Whether results say how many replies an answer could be read out of.
        moment: Time that file names hold, in seconds since the epoch; None: now.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return [record_work_tasks(folder, store.workspace.root, tasks)]
