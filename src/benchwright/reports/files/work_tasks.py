"""Which runs a work folder is about: its one file that is read back, and how folders are made and found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import NotFoundError, UsageError, encode_json, suggest
from benchwright.reports.files.atomic import write_whole

RUNS_FILE = "runs.json"
"""Maps tasks to runs, so that the folder can be used again."""


@dataclass(frozen=True, slots=True)
class WorkTask:
    """One model on one dataset."""

    model: str
    """The model's name, as files and tables show it."""
    dataset: str
    """The dataset's name, as files and tables show it."""
    run_id: int
    """The run, by its number in the workspace."""


@dataclass(frozen=True, slots=True)
class WorkRuns:
    """What a work folder remembers."""

    workspace: Path
    """Folder whose `.benchwright/` holds the runs."""
    tasks: tuple[WorkTask, ...]
    """Its tasks, in the order of the tables."""


def make_work_folder(work_dir: Path, moment: float | None = None) -> Path:
    """A new folder `<work_dir>/<YYYYmmdd_HHMMSS>` of the local time; a number behind it where that exists."""
    stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(moment))
    for number in range(1, 1000):
        folder = work_dir / (stamp if number == 1 else f"{stamp}_{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if work_dir.is_dir():
                continue
            raise UsageError(f"{work_dir} is a file; give a folder: --work-dir DIR") from None
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be made: {error.strerror}. Choose another --work-dir"
            ) from None
        return folder
    raise UsageError(f"{work_dir} has a thousand folders of this second; choose another --work-dir")


def find_work_folder(work_dir: Path, reuse: str | None = None) -> Path:
    """The folder to go on with: `reuse` names it (its time), else the last by name.

    Raises NotFoundError, with near names.
    """
    known = sorted(path.parent.name for path in work_dir.glob(f"*/{RUNS_FILE}"))
    if reuse:
        if (work_dir / reuse / RUNS_FILE).is_file():
            return work_dir / reuse
        near = suggest(reuse, known)
        there = f" It has: {', '.join(known[-5:])}." if known else " It has none."
        raise NotFoundError(f"{work_dir} has no work folder {reuse!r}.{near}{there}")
    if not known:
        raise NotFoundError(
            f"{work_dir} has no work folder to go on with; start one by leaving --reuse off, or name another --work-dir"
        )
    return work_dir / known[-1]


def record_work_tasks(folder: Path, workspace: Path, tasks: Sequence[WorkTask]) -> Path:
    """Write down which runs the folder is about. Replaces what stood there."""
    known = [asdict(storable(task)) for task in tasks]
    document = orjson.loads(encode_json({"workspace": str(workspace), "tasks": known}))
    path = folder / RUNS_FILE
    write_whole(path, orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return path


def storable(task: WorkTask) -> WorkTask:
    """The task with half characters, which UTF-8 cannot hold, made question marks: file names may hold anything."""
    model, dataset = (name.encode("utf-8", "replace").decode() for name in (task.model, task.dataset))
    return WorkTask(model, dataset, task.run_id)


def read_work_tasks(folder: Path) -> WorkRuns:
    """What the folder is about. Raises UsageError for a file that is not ours."""
    path = folder / RUNS_FILE
    try:
        document: Any = orjson.loads(path.read_bytes())
        tasks = tuple(
            WorkTask(str(task["model"]), str(task["dataset"]), int(task["run_id"]))
            for task in document["tasks"]
        )
        return WorkRuns(Path(str(document["workspace"])), tasks)
    except FileNotFoundError:
        raise NotFoundError(f"{folder} is no work folder: it has no {RUNS_FILE}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be read: {error}. Start anew by leaving --reuse off") from None
