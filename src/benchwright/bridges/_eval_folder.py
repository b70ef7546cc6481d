"""The files that `run_eval` adds to those of every run, for programs that read the folders of NeMo Evaluator.

`EVAL_FILES` lists all of them. Each is written under a temporary name and renamed, before `results.yml` is written. A run
that is interrupted also writes them, with the samples that it has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Literal, TypeAlias

import orjson
from msgspec import Struct
from msgspec.structs import replace

from benchwright.bridges._eval_metrics import RUN_TIMES, last_start, metrics_document, run_times
from benchwright.bridges._eval_samples import (
    EXCHANGES,
    PREDICTION_COLUMNS,
    exchanges,
    predictions,
)
from benchwright.core import (
    Artifacts,
    RecordColumns,
    RunSummary,
    known_secrets,
    open_artifacts,
    safe_name,
)
from benchwright.reports import dump_yaml, indented_json
from benchwright.results import RecordedStep, RunDetails, RunSamples, table_of, versioning

EarlyEnd: TypeAlias = Literal["interrupted", "upstream error"]
"""Why a run ended before all of its samples had an outcome."""
When: TypeAlias = Literal["start", "end"] | EarlyEnd
"""When a file is written: before the first request, when a start of the run ends, or only if it ends in this way."""


class EvalRun(Struct, frozen=True):
    """The run that the files describe."""

    details: RunDetails
    """The run, with its events."""
    samples: RunSamples
    """Its samples and calls so far."""
    summary: RunSummary | None = None
    """Its figures; None before it ends."""
    mark: tuple[EarlyEnd, str] | None = None
    """Why it ended early, if it did, and the name of the signal or the server's error."""

    @property
    def files(self) -> Artifacts:
        return open_artifacts(self.details.run.folder)

    @property
    def start(self) -> int:
        """The number of its last start, from 0."""
        return max(0, self.details.run.starts - 1)

    def calls(self) -> Iterator[list[RecordedStep]]:
        """Its calls to the model so far, block by block."""
        return self.samples.calls(0 if self.summary is None else self.summary.rows)

    def replies(self) -> Iterator[RecordColumns]:
        """The replies to these calls, block by block."""
        return self.samples.replies(0 if self.summary is None else self.summary.rows)

    @property
    def url(self) -> str:
        """The endpoint, without secrets."""
        return str(self.details.endpoint.get("url", ""))


class EvalFile(Struct, frozen=True):
    name: str
    """Its path in the folder; `{name}` is replaced by the benchmark and `{start}` by the number of the start."""
    when: When
    """When it is written."""
    content: Callable[[EvalRun], bytes | Iterable[bytes] | None]
    """Returns the content, whole or line by line; None if there is nothing to write."""
    step: str = ""
    """The pipeline step that requests it, even in runs that do not write the others."""


def start_eval_folder(run: EvalRun) -> list[str]:
    """Prepare the folder before the first request of a start: remove files of the last start, and write what is known."""
    first = run.start == 0  # then all files are from another run that used the folder
    for file in EVAL_FILES:
        if file.when != "end" or first:
            run.files.remove(_name(file, run))
    if first:
        run.files.remove(*run_times(run.files))
    return _write("start", run)


def write_eval_folder(run: EvalRun) -> list[str]:
    """Write the files when a start of the run has ended."""
    return _write("end", run) + ([] if run.mark is None else _write(run.mark[0], run))


def write_files_of_steps(run: EvalRun) -> list[str]:
    """Write only the files that steps of the run's pipeline request."""
    asked = [file for file in EVAL_FILES if file.step and run.details.step(file.step) is not None]
    return _write("end", run, asked) if asked else []


def mark_eval_folder(run: EvalRun, why: EarlyEnd, text: str) -> list[str]:
    """Record that the run was interrupted, or that the server ended it."""
    return _write(why, replace(run, mark=(why, text)))


def _write(when: When, run: EvalRun, files: Iterable[EvalFile] | None = None) -> list[str]:
    written = []
    for file in EVAL_FILES if files is None else files:
        if file.when != when:
            continue
        content, name = file.content(run), _name(file, run)
        if content is None:
            run.files.remove(name)  # of another run that had the folder
            continue
        run.files.write(name, content)
        written.append(name)
    return written


def _name(file: EvalFile, run: EvalRun) -> str:
    return file.name.format(name=safe_name(run.details.run.name), start=run.start)


def _metadata(run: EvalRun) -> bytes | None:
    metadata = table_of(run.details.settings.get("metadata"))
    return dump_yaml({**metadata, "versioning": versioning(metadata)}) if metadata else None


def _run_time(run: EvalRun) -> bytes | None:
    start = last_start(run.details, run.start)
    return None if start is None else indented_json(start.to_json())


def _metrics(run: EvalRun) -> bytes:
    document = metrics_document(run.replies(), run.details, run.files)
    if (run.details.step("response_stats") or {}).get("enabled") is False:
        del document["response_stats"]
    if (run.details.step("reasoning") or {}).get("enable_reasoning_tracking") is False:
        del document["reasoning"]
    return indented_json(document)


def _predictions(run: EvalRun) -> Iterable[bytes] | None:
    if not run.details.saves_samples:
        return None
    summary = run.summary
    rows, repeats = (0, 1) if summary is None else (summary.rows, summary.repeats)
    return (predictions(columns, rows, repeats) for columns in run.samples.columns(PREDICTION_COLUMNS))


def _results(run: EvalRun) -> bytes | None:
    if run.summary is None:
        return None
    return indented_json(table_of(run.details.results_document(run.summary)["results"]))


def _exchanges(run: EvalRun) -> bytes | None:
    if not run.details.reports_exchanges("json"):
        return None
    size = run.details.report_size
    calls = chain.from_iterable(run.calls())
    return indented_json(exchanges(calls, run.url, EXCHANGES if size is None else size))


def _interruption(run: EvalRun) -> bytes:
    signal = None if run.mark is None else run.mark[1] or None
    return orjson.dumps({"signal": signal, "timestamp": time.time()})


def _upstream_error(run: EvalRun) -> bytes:
    return known_secrets().clean("" if run.mark is None else run.mark[1]).encode()


EVAL_FILES = (
    EvalFile("metadata.yaml", "start", _metadata),
    EvalFile(f"{RUN_TIMES}/runtime_{{start}}.json", "end", _run_time, "response_stats"),
    EvalFile("eval_factory_metrics.json", "end", _metrics, "response_stats"),
    EvalFile("{name}/byob_predictions.jsonl", "end", _predictions),
    EvalFile("{name}/byob_results.json", "end", _results),
    EvalFile("report.json", "end", _exchanges, "post_eval_report"),
    EvalFile(".nemo_evaluator_interrupted", "interrupted", _interruption),
    EvalFile(".nemo_evaluator_server_error", "upstream error", _upstream_error),
)
"""Every file, in the order of writing, because the metrics read the times of the starts."""
