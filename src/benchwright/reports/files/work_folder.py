"""Writes a work folder from the store: the samples of each run stream by once, and each file is there whole or not."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchwright.core import JsonObject
from benchwright.reports.files.atomic import replacing, write_whole
from benchwright.reports.files.predictions import (
    failed_line,
    prediction_line,
    predictions_of,
    sample_ids,
)
from benchwright.reports.files.results import dump_yaml
from benchwright.reports.files.run_files import run_config_document
from benchwright.reports.files.tally import Tally
from benchwright.reports.files.work_logs import eval_log, infer_log
from benchwright.reports.files.work_names import FAILED, TaskFiles, task_files
from benchwright.reports.files.work_results import write_results
from benchwright.reports.files.work_tasks import WorkTask, record_work_tasks, storable
from benchwright.reports.files.work_texts import summary_csv, summary_json, summary_markdown, summary_text
from benchwright.reports.views.work_table import SummaryTable, summary_table
from benchwright.store import RunRecord, Store


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
    stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(moment))
    written = [record_work_tasks(folder, store.workspace.root, tasks)]
    placed, notes = task_files([storable(task) for task in tasks])
    runs = [(files, store.run(files.task.run_id)) for files in placed]
    written.append(_config(folder, stamp, runs))
    for files, run in runs:
        written += _write_task(store, folder, files, run, details=details, extract_rate=extract_rate)
    return written + _write_summary(folder, stamp, summary_table(runs, notes))


def _config(folder: Path, stamp: str, runs: Sequence[tuple[TaskFiles, RunRecord]]) -> Path:
    """The merged configuration of every task, as it was frozen when its run began."""
    document: JsonObject = {
        "tasks": [
            {
                "model": files.task.model,
                "dataset": files.task.dataset,
                "run_id": run.id,
                "files": f"{files.model}/{files.dataset}",
                **run_config_document(run),
            }
            for files, run in runs
        ]
    }
    return _write(folder / "configs" / f"{stamp}_{os.getpid()}.yml", dump_yaml(document))


def _write_task(
    store: Store, folder: Path, files: TaskFiles, run: RunRecord, *, details: bool, extract_rate: bool
) -> list[Path]:
    place = Path(files.model)
    predictions = folder / "predictions" / place / f"{files.dataset}.jsonl"
    failed = predictions.with_name(f"{files.dataset}{FAILED}.jsonl")
    tally = write_predictions(store, run, files.task.dataset, predictions, failed)
    results = folder / "results" / place / f"{files.dataset}.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    write_results(results, store, run, files.task.dataset, tally, details=details, extract_rate=extract_rate)
    logs = folder / "logs"
    asked = infer_log(run, store.events(run.id), tally).encode()
    return [
        predictions,
        *([failed] if failed.exists() else []),
        results,
        _write(logs / "infer" / place / f"{files.dataset}.out", asked),
        _write(logs / "eval" / place / f"{files.dataset}.out", eval_log(run, tally).encode()),
    ]


def write_predictions(store: Store, run: RunRecord, dataset: str, path: Path, failed: Path | None) -> Tally:
    """Write every sample to `path` and those without a score also to `failed`, which is not there without any."""
    path.parent.mkdir(parents=True, exist_ok=True)
    identify = sample_ids(run.id, str(store.workspace.root))
    tally = Tally()
    with ExitStack() as stack:
        lines = stack.enter_context(stack.enter_context(replacing(path)).open("wb"))
        failures = None
        for predicted in predictions_of(store, run.id):
            tally.add(predicted)
            lines.write(prediction_line(predicted, dataset, identify))
            if failed is not None and predicted.view.scores is None:
                if failures is None:
                    failures = stack.enter_context(stack.enter_context(replacing(failed)).open("wb"))
                failures.write(failed_line(predicted, dataset))
    if failed is not None and failures is None:
        failed.unlink(missing_ok=True)  # of an earlier writing, before they were asked again
    return tally


def _write_summary(folder: Path, stamp: str, table: SummaryTable) -> list[Path]:
    from benchwright.reports.html.pages import summary_page  # 20 ms that only this needs

    base = folder / "summary" / f"summary_{stamp}"
    page = summary_page(table, f"Summary of {folder.name}")
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
