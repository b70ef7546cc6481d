"""Writes a work folder: the samples of each run stream by once, and each file is there whole or not."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

from benchwright.core import JsonObject
from benchwright.reports.files.atomic import replacing, write_whole
from benchwright.reports.files.export import failed_line, prediction_line, sample_ids
from benchwright.reports.files.run_files import dump_yaml
from benchwright.reports.files.work_results import Tally, eval_log, infer_log, write_results
from benchwright.reports.files.work_tasks import (
    FAILED,
    TaskFiles,
    record_work_tasks,
    storable,
    task_files,
)
from benchwright.reports.files.work_texts import summary_csv, summary_json, summary_markdown, summary_text
from benchwright.reports.views.configuration import run_config
from benchwright.reports.views.samples import RunSamples
from benchwright.reports.views.work_table import WorkRun, WorkTable, work_table


def write_work_folder(
    folder: Path,
    workspace: Path,
    runs: Sequence[WorkRun],
    *,
    details: bool = False,
    extract_rate: bool = False,
    moment: float | None = None,
) -> list[Path]:
    """Write all files of a work folder and return their paths. Files of the same names are replaced.

    Args:
        folder: Where to; made if it is not there.
        workspace: Folder whose `.benchwright/` holds the runs.
        runs: The runs, in the order of the tables. Two tasks of equal names get files of their own.
        details: Whether results list every sample.
        extract_rate: Whether results say in how many replies an answer was found.
        moment: Time that file names hold, in seconds since the epoch; None: now.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(moment))
    runs = [replace(run, task=storable(run.task)) for run in runs]
    written = [record_work_tasks(folder, workspace, [run.task for run in runs])]
    placed, notes = task_files([run.task for run in runs])
    written.append(_config(folder, stamp, placed, runs))
    for files, run in zip(placed, runs, strict=True):
        written += _write_task(folder, files, run, details=details, extract_rate=extract_rate)
    return written + _write_summary(folder, stamp, work_table(runs, notes))


def _config(folder: Path, stamp: str, placed: Sequence[TaskFiles], runs: Sequence[WorkRun]) -> Path:
    """The merged configuration of every task, as it was frozen when its run began."""
    document: JsonObject = {
        "tasks": [
            {
                "model": files.task.model,
                "dataset": files.task.dataset,
                "run_id": files.task.run_id,
                "files": f"{files.model}/{files.dataset}",
                **run_config(run.details),
            }
            for files, run in zip(placed, runs, strict=True)
        ]
    }
    return _write(folder / "configs" / f"{stamp}_{os.getpid()}.yml", dump_yaml(document))


def _write_task(
    folder: Path, files: TaskFiles, run: WorkRun, *, details: bool, extract_rate: bool
) -> list[Path]:
    place = Path(files.model)
    predictions = folder / "predictions" / place / f"{files.dataset}.jsonl"
    failed = predictions.with_name(f"{files.dataset}{FAILED}.jsonl")
    dataset = files.task.dataset
    tally = write_predictions(run.samples, dataset, predictions, failed)
    results = folder / "results" / place / f"{files.dataset}.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    write_results(
        results, run.details, run.samples, dataset, tally, details=details, extract_rate=extract_rate
    )
    logs = folder / "logs"
    return [
        predictions,
        *([failed] if failed.exists() else []),
        results,
        _write(logs / "infer" / place / f"{files.dataset}.out", infer_log(run.details, tally).encode()),
        _write(logs / "eval" / place / f"{files.dataset}.out", eval_log(run.details, tally).encode()),
    ]


def write_predictions(samples: RunSamples, dataset: str, path: Path, failed: Path | None) -> Tally:
    """Write every sample to `path` and those without a score also to `failed`, which is not there without any."""
    path.parent.mkdir(parents=True, exist_ok=True)
    identify = sample_ids(samples.identity)
    tally = Tally()
    with ExitStack() as stack:
        lines = stack.enter_context(stack.enter_context(replacing(path)).open("wb"))
        failures = None
        for predicted in samples.predictions():
            tally.add(predicted)
            lines.write(prediction_line(predicted, dataset, identify))
            if failed is not None and predicted.view.scores is None:
                if failures is None:
                    failures = stack.enter_context(stack.enter_context(replacing(failed)).open("wb"))
                failures.write(failed_line(predicted, dataset))
    if failed is not None and failures is None:
        failed.unlink(missing_ok=True)  # of an earlier writing, before a resumed run scored them
    return tally


def _write_summary(folder: Path, stamp: str, table: WorkTable) -> list[Path]:
    from benchwright.reports.html.pages import work_page  # Jinja2: 20 ms that only this needs

    base = folder / "summary" / f"summary_{stamp}"
    page = work_page(table, f"Summary of {folder.name}")
    contents = {
        "txt": summary_text(table).encode(),
        "csv": summary_csv(table).encode(),
        "md": summary_markdown(table).encode(),
        "html": page.encode(),
        "json": summary_json(table),
    }
    return [_write(base.with_name(f"{base.name}.{ending}"), content) for ending, content in contents.items()]


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return path
