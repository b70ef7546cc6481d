"""Views of a run, for lists, in full and for its files. The names in `to_json` are a contract: names may be added, but none
changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from math import fsum
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, structs

from benchwright.config import BY_NAME
from benchwright.core import (
    JsonObject,
    JsonValue,
    LoadFile,
    MetricSummary,
    RunFile,
    RunProgress,
    RunStatus,
    RunSummary,
    load_json,
    open_artifacts,
    rfc3339,
)
from benchwright.results._figures import (
    duration,
    graded_notes,
    interval_of,
    notes_json,
    result_sentence,
)
from benchwright.results._settings import (
    endpoint_of,
    is_demo,
    output_dir_of,
    params_of,
    recorded_origins,
    sent_settings,
    table_of,
)
from benchwright.store import Event, RunRecord


class View(Protocol):
    """A frozen value with one JSON shape."""

    def to_json(self) -> JsonObject:
        """The value as `--json` prints it."""
        ...


class RunView(Struct, frozen=True, kw_only=True):
    """One run of any kind."""

    id: int
    """Number in the workspace."""
    kind: str
    """Its kind, as `RUN_KINDS` names it."""
    name: str
    """Name of the benchmark or workflow."""
    target: str
    """What the user named on the command line."""
    model: str | None
    """Model id; None: the record names no model."""
    model_name: str | None
    """The model's name in a suite or in the input of a workflow."""
    suite: str | None = None
    """The suite that it is part of."""
    dataset_name: str | None = None
    """The dataset's name in the suite."""
    rescored_from: int | None
    """The run whose replies were scored again."""
    demo: bool
    """Whether the demo model answered, embedded or as a server."""
    status: RunStatus
    error: str | None
    """Why it failed or stopped."""
    folder: Path
    """Where its files are."""
    created_at: float
    """Wall clock of the start, seconds since the epoch."""
    finished_at: float | None
    """Wall clock of the last end."""
    input: JsonValue
    """The input of a workflow."""
    output: JsonValue
    """The output of a workflow."""
    tags: JsonObject | None
    """The user's labels."""
    starts: int
    """Times the run was started or resumed."""
    worked: float | None = None
    """Seconds that processes worked on it; None: not recorded."""
    summary: JsonObject | None
    """The figures as recorded; None while there are none."""
    progress: RunProgress | None = None
    """How far a live run has come; None: it is not live, or has not told yet."""
    counted: str = "–"
    """What was evaluated, for a table cell."""
    headline: str = "–"
    """The main figures of the run, for a table cell."""
    figure: tuple[str, MetricSummary] | None = None
    """The main figure by name; None: the kind has no single one, or there is no result yet."""
    outcomes: tuple[int, ...] = ()
    """Samples per outcome, in the order of `Outcome`; empty: the kind has none, or no result yet."""
    data: JsonObject | None = None
    """The rows that were evaluated: `name`, `hash`, `rows`; None: the record names none."""
    streamed: bool = False
    """Whether replies were streamed, so that samples have times to the first token."""

    @property
    def seconds(self) -> float | None:
        """How long processes worked on it, if it ended. If that is not recorded: the time from the start to the last end."""
        if self.finished_at is None:
            return None
        return self.finished_at - self.created_at if self.worked is None else self.worked

    @property
    def model_title(self) -> str:
        """The model in tables: the name that its suite gives it, and the id if that differs."""
        if not self.model or not self.model_name or self.model_name.split(" (")[0] == self.model:
            return self.model_name or self.model or ""
        return f"{self.model_name} ({self.model})"

    @property
    def title(self) -> str:
        """The benchmark and the model."""
        return f"{self.name} on {self.model_title}" if self.model_title else self.name

    @property
    def comparable(self) -> bool | None:
        """Whether the figures may be compared with others; None while there are none."""
        found: Any = (self.summary or {}).get("comparable")
        return found if isinstance(found, bool) else None

    def identity(self) -> JsonObject:
        """The identity of the run for its files."""
        return {"id": self.id, "name": self.name, "target": self.target, "model": self.model or ""}

    @property
    def so_far(self) -> str | None:
        """The state of a live run in one sentence; None if it is not live."""
        return None if self.progress is None else progress_sentence(self.progress)

    @property
    def so_far_words(self) -> list[str]:
        """The same in a few words."""
        return [] if self.progress is None else progress_words(self.progress)

    def first_token_times(self) -> dict[str, Any] | None:
        """`{mean, p50, p99, count}` of the seconds to the first token of a streamed run; None if there are none. The summary has them once
        the run has ended; they come from one column of its file, so that a run spends no time on them while it sends."""
        if not self.streamed:
            return None
        known: Any = (self.summary or {}).get("ttft_s")
        if known is not None:
            return dict(known)
        from benchwright.results._number_columns import number_column  # only streamed runs need it
        from benchwright.stats import percentile

        try:
            with open_artifacts(self.folder).open(RunFile.SAMPLES) as data:
                times = sorted(number_column(data, "ttft_s"))
        except FileNotFoundError:
            return None
        if not times:
            return None
        return {
            "mean": fsum(times) / len(times),
            "p50": percentile(times, 50),
            "p99": percentile(times, 99),
            "count": len(times),
        }

    def to_json(self) -> JsonObject:
        """The JSON of a run in a list, in `show --json`, from the server and of a result in Python.

        Times are UTC in RFC 3339; `evaluated` to `metrics` are null while there is no result, `evaluated` to `partial` are also
        null for workflows. `workflow_name` is `name` and `started_at` is `created_at`, for clients that know these names.
        """
        summary: dict[str, Any] = dict(self.summary or {})
        metrics: dict[str, Any] = summary.get("metrics", {})
        return {
            "id": self.id,
            "kind": self.kind,
            "name": self.name,
            "workflow_name": self.name,
            "target": self.target,
            "model": self.model,
            "model_name": self.model_name,
            "suite": self.suite,
            "dataset_name": self.dataset_name,
            "rescored_from": self.rescored_from,
            "demo": self.demo,
            "status": self.status,
            "error": self.error,
            "folder": str(self.folder),
            "created_at": rfc3339(self.created_at),
            **times_json(self.created_at, self.finished_at),
            "duration_s": None if self.seconds is None else round(self.seconds, 3),
            "evaluated": summary.get("evaluated"),
            "failed": summary.get("failed"),
            "outcomes": summary.get("outcomes"),
            "comparable": summary.get("comparable"),
            "partial": summary.get("partial"),
            "metrics": {name: metric["value"] for name, metric in metrics.items()} if summary else None,
            "headline": self._headline_json(),
            "progress": None if self.progress is None else self.progress.to_json(),
            "cost": summary.get("cost"),
            "reused": summary.get("reused"),
            "data": self.data,
            "input": self.input,
            "output": self.output,
            "tags": self.tags,
            "starts": self.starts,
        }

    def _headline_json(self) -> JsonObject | None:
        if self.figure is None:
            return None if self.headline == "–" else {"text": self.headline}
        name, metric = self.figure
        low, high = (None, None) if interval_of(metric) is None else (metric.ci_low, metric.ci_high)
        return {
            "text": self.headline,
            "name": name,
            "value": metric.value,
            "ci_low": low,
            "ci_high": high,
            "n": metric.count,
        }


class EventView(Event, frozen=True):
    """An event of a run, as lists show it."""

    step_key: str | None = None
    """Key of the step that it belongs to."""

    @classmethod
    def of(cls, event: Event, step_key: str | None = None) -> EventView:
        return cls(**structs.asdict(event), step_key=step_key)

    def to_json(self) -> JsonObject:
        """`{id, kind, message, created_at, step_id, step_key, data}`."""
        return {
            "id": self.id,
            "kind": self.kind,
            "message": self.message,
            "created_at": rfc3339(self.created_at),
            "step_id": self.step_id,
            "step_key": self.step_key,
            "data": self.data,
        }


class RunDetails(Struct, frozen=True, kw_only=True):
    """One benchmark run in full: its figures, settings and events."""

    run: RunView
    """As in a list."""
    result: RunSummary | None
    """Its figures; None while there are none."""
    command: str
    """A command that starts the same evaluation."""
    params: JsonObject
    """The parameters that decide the numbers, in their documented names."""
    endpoint: JsonObject
    """The model under test, without secrets."""
    settings: JsonObject
    """The settings recorded at the start, without secrets."""
    manifest: JsonObject
    """Hashes, fingerprints, versions, seed."""
    output_dir: str
    """Where the files are, as the user wrote it."""
    events: tuple[EventView, ...] = ()
    """What happened, oldest first."""
    recorded: int | None = None
    """Samples recorded so far in a run without a result; None: not counted."""
    labels: JsonObject | None = None
    """Labels on its samples, and by how much they would move its headline, as `LabelEffect` has it; None: there are none."""
    judged: JsonObject | None = None
    """How many replies its judge graded, and how many of them people did, in numbers and words; None: it has no judge."""
    read_distributions: Callable[[], JsonObject] | None = None
    """Reads the distributions of its figures from its samples. Only its JSON has them, so that others need not wait."""

    @property
    def origins(self) -> JsonObject | None:
        """Where each setting comes from that has not its default, by the name of its flag; None: not recorded."""
        return recorded_origins(self.settings, BY_NAME)

    @property
    def eval_type(self) -> str:
        """The evaluation's name in `results.yml`."""
        return str(self.settings.get("eval_type", f"byob_{self.run.name}.{self.run.name}"))

    @property
    def saves_samples(self) -> bool:
        """Whether its folder has a file of the samples."""
        return self.settings.get("save_predictions") is not False

    def step(self, name: str) -> JsonObject | None:
        """The settings of a step of the run's pipeline; None if it has no such step."""
        entries = table_of(self.settings.get("steps")).get("interceptors")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("name") == name:
                return table_of(entry.get("config"))
        return None

    def reports_exchanges(self, kind: str) -> bool:
        """Whether the run writes a report in this form: `html` or `json`. A step of the pipeline may say no."""
        step = self.step("post_eval_report") or {}
        kinds = step.get("report_types")
        return step.get("enabled") is not False and (not isinstance(kinds, list) or kind in kinds)

    @property
    def report_size(self) -> int | None:
        """How many requests or samples a report shows at least; None: its usual number."""
        size = (self.step("post_eval_report") or {}).get("html_report_size")
        return size if isinstance(size, int) else None

    @property
    def ranks_choices(self) -> bool:
        """Whether samples have choices with log-likelihoods."""
        return self.endpoint.get("type") == "completions_logprob"

    @property
    def prompt_version(self) -> str:
        """Six digits that identify how rows become requests; `–` for a run that never began."""
        benchmark = self.manifest.get("benchmark")
        known: dict[str, Any] = benchmark if isinstance(benchmark, dict) else {}
        found = str(known.get("prompt_hash") or known.get("hash") or "")
        return found.removeprefix("sha256:")[:6] or "–"

    def run_config(self) -> JsonObject:
        """The configuration of the run, as its file records it."""
        from benchwright.results._command import run_config  # not for lists

        return run_config(self)

    def manifest_table(self) -> JsonObject:
        """What was evaluated and with which versions, as its file records it."""
        from benchwright.results._command import manifest_table

        return manifest_table(self)

    def results_document(self, summary: RunSummary) -> JsonObject:
        """The figures, as the file of results records them."""
        from benchwright.results._command import results_document

        return results_document(self, summary)

    def to_json(self) -> JsonObject:
        """`{run: as in a list, sentence, notes, summary, recorded, ttft_s, labels, judged, distributions, command, params, origins, endpoint, manifest, events}`; `recorded` counts
        the samples of a run without a result, `labels` says what labels would change, `judged` how far people checked a judge's grades, and `distributions` is None for a run of more than 100,000 samples that did not keep them."""
        return details_json(
            self,
            self.run.summary,
            sentence=None if self.result is None else result_sentence(self.run.title, self.result),
            notes=None
            if self.result is None
            else notes_json(graded_notes(self.result, self.run.error or "")),
            recorded=self.recorded,
            ttft_s=self.run.first_token_times(),
            labels=self.labels,
            judged=self.judged,
            distributions=None if self.read_distributions is None else self.read_distributions(),
            command=self.command,
            params=self.params,
            origins=self.origins,
        )


class InFull(Protocol):
    """The common part of the full views of all kinds of runs."""

    @property
    def run(self) -> RunView:
        """As in a list."""

    @property
    def endpoint(self) -> JsonObject:
        """The model under test, without secrets."""

    @property
    def manifest(self) -> JsonObject:
        """Hashes, versions, seed."""

    @property
    def events(self) -> tuple[EventView, ...]:
        """What happened, oldest first."""


def details_json(view: InFull, summary: JsonObject | None, **own: JsonValue) -> JsonObject:
    """The JSON of a run in full: the common fields, and those of its kind."""
    return {
        "run": view.run.to_json(),
        "summary": summary,
        **own,
        "endpoint": view.endpoint,
        "manifest": view.manifest,
        "events": [event.to_json() for event in view.events],
    }


def times_json(started: float, finished: float | None) -> JsonObject:
    """When a run or a step started and ended, as JSON."""
    return {
        "started_at": rfc3339(started),
        "finished_at": None if finished is None else rfc3339(finished),
    }


def writer_of(folder: Path) -> tuple[int, str] | None:
    """Number and name of the run that wrote the files in a folder, by its manifest or summary; None if that cannot be read."""
    files = open_artifacts(folder)
    for name in (RunFile.MANIFEST, LoadFile.SUMMARY):
        try:
            known = load_json(files.read(name))["run"]
            return int(known["id"]), str(known["name"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def run_details(
    run: RunRecord, view: RunView, result: RunSummary | None = None, events: Iterable[Event] = ()
) -> RunDetails:
    """The run in full. `view` is the run as in a list; `result` has its figures, if its kind has such figures."""
    from benchwright.results._command import command_of  # not for lists

    return RunDetails(
        run=view,
        result=result,
        command=command_of(run),
        params=params_of(run),
        endpoint=endpoint_of(run),
        settings=sent_settings(run),
        manifest=run.manifest,
        output_dir=output_dir_of(run),
        events=tuple(map(EventView.of, events)),
    )


def plain_view(run: RunRecord) -> RunView:
    """The view with the fields that every run has, even one of an unknown kind."""
    source = run.settings.get("rescored_from")
    names: Any = {name: run.settings.get(name) for name in ("model_name", "suite", "dataset_name")}
    return RunView(
        id=run.id,
        kind=run.kind,
        name=run.name,
        target=run.target,
        model=run.model or None,
        model_name=names["model_name"] if isinstance(names["model_name"], str) else None,
        suite=names["suite"] if isinstance(names["suite"], str) else None,
        dataset_name=names["dataset_name"] if isinstance(names["dataset_name"], str) else None,
        rescored_from=source if isinstance(source, int) else None,
        demo=is_demo(run),
        status=run.status,
        error=run.error,
        folder=run.folder,
        created_at=run.created_at,
        finished_at=run.finished_at,
        input=run.input,
        output=run.output,
        tags=run.tags,
        starts=run.starts,
        progress=RunProgress.from_json(run.progress),
        worked=run.worked,
        data=_data_of(run),
        summary=run.summary,
        streamed=table_of(run.settings.get("generation")).get("stream") is True,
    )


def _data_of(run: RunRecord) -> JsonObject | None:
    found = table_of(run.manifest.get("dataset"))
    if not isinstance(found.get("fingerprint"), str) or not found["fingerprint"]:
        return None
    return {"name": found.get("name"), "hash": found["fingerprint"], "rows": found.get("rows")}


def progress_words(progress: RunProgress) -> list[str]:
    """How far a live run has come, in a few words.

    >>> progress_words(RunProgress("asking", 30, 120, 2, 8, 1.5, 60.0))
    ['25 %', '1 min 0 s left']
    """
    share, left = progress.share, progress.seconds_left
    return [
        *([] if share is None else [f"{math.floor(share * 100)} %"]),
        *([] if left is None else [f"{duration(left)} left"]),
    ]


def progress_sentence(progress: RunProgress) -> str:
    """The state of a live run in one sentence.

    >>> progress_sentence(RunProgress("asking", 30, 120, 2, 8, 1.5, 60.0))
    'asking: 30 of 120 done (25 %), 2 failed, 8 in flight; 1.5 per second, 1 min 0 s left'
    """
    of = "" if progress.total is None else f" of {progress.total:,}"
    share = [word for word in progress_words(progress) if word.endswith("%")]
    said = f"{progress.phase}: {progress.done:,}{of} done{f' ({share[0]})' if share else ''}, {progress.failed:,} failed, "
    said += f"{progress.in_flight:,} in flight; {progress.per_s:.1f} per second"
    return said if progress.seconds_left is None else f"{said}, {duration(progress.seconds_left)} left"
