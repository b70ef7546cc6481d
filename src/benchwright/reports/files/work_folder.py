"""Work folders: creates and finds them, records their runs, names their files and writes them.

The samples of each run are read once as a stream, and each file is complete or absent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import orjson
from msgspec.structs import replace

from benchwright.core import (
    JsonObject,
    JsonValue,
    NotFoundError,
    UsageError,
    clause,
    encode_json,
    replacing,
    safe_name,
    suggest,
    write_whole,
)
from benchwright.reports.files.export import failed_line, prediction_line, sample_ids
from benchwright.reports.files.run_files import dump_yaml
from benchwright.reports.files.work_results import Tally, eval_log, infer_log, write_results
from benchwright.reports.files.work_texts import summary_csv, summary_json, summary_markdown, summary_text
from benchwright.reports.pages.report import report_page
from benchwright.results import RunSamples, WorkRun, WorkTable, WorkTask

Task = TypeVar("Task", bound=WorkTask)

RUNS_FILE = "runs.json"
"""Maps tasks to runs, so that the folder can be used again."""
FAILED = "_failed"
"""Suffix of a dataset's name in the file of its failed samples."""


class WorkFolder:
    """The folder with the files of a suite: which runs it has, and what is written about them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def make(cls, work_dir: Path, moment: float | None = None) -> WorkFolder:
        """Create the folder `<work_dir>/<YYYYmmdd_HHMMSS>` for the local time, with a number after it if that exists."""
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
            return cls(folder)
        raise UsageError(f"{work_dir} has a thousand folders with this time; choose another --work-dir")

    @classmethod
    def find(cls, work_dir: Path, reuse: str | None = None) -> WorkFolder:
        """The folder to reuse: `reuse` names it (its time), else the last by name.

        Raises NotFoundError, with similar names.
        """
        known = sorted(path.parent.name for path in work_dir.glob(f"*/{RUNS_FILE}"))
        if reuse:
            if (work_dir / reuse / RUNS_FILE).is_file():
                return cls(work_dir / reuse)
            near = suggest(reuse, known)
            there = (
                f" It has: {', '.join(known[-5:])}."
                if known
                else " It has none: start one by leaving --reuse off, or name another --work-dir."
            )
            meant = ""
            if reuse.isdecimal() or reuse in ("last", "latest"):  # names of runs in other commands
                meant = f" --reuse takes the name of a work folder, not a run; to score a run again: benchwright rescore {reuse}"
            raise NotFoundError(f"{work_dir} has no work folder {reuse!r}.{near}{there}{meant}")
        if not known:
            raise NotFoundError(
                f"{work_dir} has no work folder to reuse; start one by leaving --reuse off, or name another --work-dir"
            )
        return cls(work_dir / known[-1])

    def record(self, workspace: Path, tasks: Sequence[WorkTask]) -> Path:
        """Record the runs of the folder. Replaces an earlier record."""
        known: list[JsonValue] = [
            {"model": task.model, "dataset": task.dataset, "run_id": task.run_id}
            for task in map(_storable, tasks)
        ]
        place, root = self.path.resolve(), workspace.resolve()
        # Relative, so that a copied or moved workspace uses its own runs.
        written = os.path.relpath(root, place) if place.is_relative_to(root) else str(root)
        document = orjson.loads(encode_json({"workspace": written, "tasks": known}))
        path = self.path / RUNS_FILE
        write_whole(path, orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return path

    def recorded(self) -> tuple[Path, tuple[WorkTask, ...]]:
        """The folder whose `.benchwright/` contains the runs, and its tasks in the order of the tables. Raises UsageError for
        a file that benchwright did not write."""
        path = self.path / RUNS_FILE
        try:
            document: Any = orjson.loads(path.read_bytes())
            tasks = tuple(
                WorkTask(str(task["model"]), str(task["dataset"]), int(task["run_id"]))
                for task in document["tasks"]
            )
            return (self.path / str(document["workspace"])).resolve(), tasks
        except FileNotFoundError:
            raise NotFoundError(f"{self.path} is not a work folder: it has no {RUNS_FILE}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{path} cannot be read: {clause(error)}. Start again by leaving --reuse off"
            ) from None

    def write(
        self,
        workspace: Path,
        runs: Sequence[WorkRun],
        *,
        details: bool = False,
        extract_rate: bool = False,
        moment: float | None = None,
    ) -> list[Path]:
        """Write all files and return their paths. Files of the same names are replaced.

        Args:
            workspace: Folder whose `.benchwright/` contains the runs.
            runs: The runs, in the order of the tables. Two tasks with equal names get separate files.
            details: Whether results list every sample.
            extract_rate: Whether results give the share of replies in which an answer was found.
            moment: Time in the file names, in seconds since the epoch; None: now.
        """
        folder = self.path
        folder.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(moment))
        runs = [_storable(run) for run in runs]
        written = [self.record(workspace, runs)]
        places, notes = task_places(runs)
        written.append(_config(folder, stamp, places, runs))
        for place, run in zip(places, runs, strict=True):
            written += _write_task(folder, place, run, details=details, extract_rate=extract_rate)
        return written + _write_summary(folder, stamp, WorkTable.of(runs, notes))


def _storable(task: Task) -> Task:
    """The task with lone surrogates, which UTF-8 cannot represent, replaced by question marks: file names may have any."""
    model, dataset = (name.encode("utf-8", "replace").decode() for name in (task.model, task.dataset))
    return replace(task, model=model, dataset=dataset)


def task_places(tasks: Sequence[WorkTask]) -> tuple[list[PurePosixPath], list[str]]:
    """Where the files of each task go, without ending: the folder of its model, and a name from its dataset. And a sentence
    for each task whose name is already taken."""
    folders = _folders(tasks)
    taken: set[tuple[str, str]] = set()
    found: list[PurePosixPath] = []
    notes: list[str] = []
    for task in tasks:
        model, plain = folders[task.model], safe_name(task.dataset)
        dataset = plain
        number = 1
        # In lower case, because some file systems treat `A` and `a` as one name. Failed samples need a name too.
        while {(model, dataset.lower()), (model, (dataset + FAILED).lower())} & taken:
            number += 1
            dataset = f"{plain}-{number}"
        taken |= {(model, dataset.lower()), (model, (dataset + FAILED).lower())}
        if number > 1:
            notes.append(
                f"{task.label} (run {task.run_id}): the name is taken; its files are called {dataset}"
            )
        found.append(PurePosixPath(model, dataset))
    return found, notes


def _folders(tasks: Sequence[WorkTask]) -> dict[str, str]:
    """A folder for each model's name; names that would share a folder get separate ones."""
    folders: dict[str, str] = {}
    for task in tasks:
        if task.model in folders:
            continue
        plain = folder = safe_name(task.model)
        number = 1
        while folder.lower() in {known.lower() for known in folders.values()}:
            number += 1
            folder = f"{plain}-{number}"
        folders[task.model] = folder
    return folders


def _config(folder: Path, stamp: str, places: Sequence[PurePosixPath], runs: Sequence[WorkRun]) -> Path:
    """The merged configuration of every task, as recorded at the start of its run."""
    document: JsonObject = {
        "tasks": [
            {
                "model": run.model,
                "dataset": run.dataset,
                "run_id": run.run_id,
                "files": str(place),
                **run.details.run_config(),
            }
            for place, run in zip(places, runs, strict=True)
        ]
    }
    return _write(folder / "configs" / f"{stamp}_{os.getpid()}.yml", dump_yaml(document))


def _write_task(
    folder: Path, place: PurePosixPath, run: WorkRun, *, details: bool, extract_rate: bool
) -> list[Path]:
    predictions = folder / "predictions" / f"{place}.jsonl"
    failed = folder / "predictions" / f"{place}{FAILED}.jsonl"
    dataset = run.dataset
    tally = write_predictions(run.samples, dataset, predictions, failed)
    results = folder / "results" / f"{place}.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    write_results(
        results, run.details, run.samples, dataset, tally, details=details, extract_rate=extract_rate
    )
    logs = folder / "logs"
    return [
        predictions,
        *([failed] if failed.exists() else []),
        results,
        _write(logs / "infer" / f"{place}.out", infer_log(run.details, tally).encode()),
        _write(logs / "eval" / f"{place}.out", eval_log(run.details, tally).encode()),
    ]


def write_predictions(samples: RunSamples, dataset: str, path: Path, failed: Path | None) -> Tally:
    """Write every sample to `path`, and samples without a score to `failed` too. `failed` is absent if there are none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    identify = sample_ids(samples.identity)
    tally = Tally()
    with ExitStack() as stack:
        lines = stack.enter_context(stack.enter_context(replacing(path)).open("wb"))
        failures = None
        for view, error in samples.predictions():
            tally.add(view, error)
            lines.write(prediction_line(view, error, dataset, identify))
            if failed is not None and view.scores is None:
                if failures is None:
                    failures = stack.enter_context(stack.enter_context(replacing(failed)).open("wb"))
                failures.write(failed_line(view, error, dataset))
    if failed is not None and failures is None:
        failed.unlink(missing_ok=True)  # written earlier, before a resumed run scored them
    return tally


def _write_summary(folder: Path, stamp: str, table: WorkTable) -> list[Path]:
    base = folder / "summary" / f"summary_{stamp}"
    page = suite_report(table, f"Summary of {folder.name}", f"The same figures are in {base.name}.txt.")
    contents = {
        "txt": summary_text(table).encode(),
        "csv": summary_csv(table).encode(),
        "md": summary_markdown(table).encode(),
        "html": page,
        "json": summary_json(table),
    }
    return [_write(base.with_name(f"{base.name}.{ending}"), content) for ending, content in contents.items()]


def suite_report(table: WorkTable, title: str, elsewhere: str) -> bytes:
    """The page of a suite in one file. `elsewhere` says where people without JavaScript find its figures."""
    return report_page("suite", table.page(), title=title, elsewhere=elsewhere)


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return path
