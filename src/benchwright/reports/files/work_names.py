"""Names that every file system takes, and no two tasks in one file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from benchwright.reports.files.work_tasks import WorkTask

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+|\s+')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_LONGEST = 120
"""Bytes of a name; an ending such as `_failed.jsonl` still fits into the 255 that file systems allow."""
FAILED = "_failed"
"""Behind a dataset's name: the file of its failed samples."""


class TaskFiles(NamedTuple):
    """Where the files of one task go."""

    task: WorkTask
    """Which one."""
    model: str
    """Folder of its model."""
    dataset: str
    """Its files, without their endings."""


def safe_name(name: str) -> str:
    """The name with what a file system may refuse replaced by `_`; letters of any script stay.

    >>> safe_name("org/model:7b"), safe_name(".."), safe_name("CON")
    ('org_model_7b', '_', 'CON_')
    """
    safe = _UNSAFE.sub("_", name.encode("utf-8", "replace").decode()).strip(". ")
    while len(safe.encode()) > _LONGEST:
        safe = safe[:-1]
    if _RESERVED.fullmatch(safe):
        safe += "_"
    return safe or "_"


def task_files(tasks: Sequence[WorkTask]) -> tuple[list[TaskFiles], list[str]]:
    """A place for every task, and a sentence for each whose name another has taken already."""
    folders = _folders(tasks)
    taken: set[tuple[str, str]] = set()
    found: list[TaskFiles] = []
    notes: list[str] = []
    for task in tasks:
        model, wanted = folders[task.model], safe_name(task.dataset)
        dataset = wanted
        number = 1
        # Lower case: some file systems take `A` and `a` for one name. A dataset's failed samples need a name too.
        while {(model, dataset.lower()), (model, (dataset + FAILED).lower())} & taken:
            number += 1
            dataset = f"{wanted}-{number}"
        taken |= {(model, dataset.lower()), (model, (dataset + FAILED).lower())}
        if number > 1:
            notes.append(
                f"{task.model} on {task.dataset} (run {task.run_id}): the name is taken, its files are called {dataset}"
            )
        found.append(TaskFiles(task, model, dataset))
    return found, notes


def _folders(tasks: Sequence[WorkTask]) -> dict[str, str]:
    """A folder for each model's name; two names that would share one get two."""
    folders: dict[str, str] = {}
    for task in tasks:
        if task.model in folders:
            continue
        wanted = folder = safe_name(task.model)
        number = 1
        while folder.lower() in {known.lower() for known in folders.values()}:
            number += 1
            folder = f"{wanted}-{number}"
        folders[task.model] = folder
    return folders
