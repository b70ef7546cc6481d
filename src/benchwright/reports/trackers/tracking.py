"""Tells trackers when a run starts, how far it is, and when it ends; from a thread, so that no run waits for them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from benchwright.core import JsonObject, Registry, UsageError, redact, suggest

if TYPE_CHECKING:
    from benchwright.perf import StageSummary

_EVERY_S = 2.0
"""Seconds between two reports of progress."""
PATIENCE_S = 60.0
"""Seconds that the end of a run waits for its trackers."""
_LOOK_S = 0.05
"""Seconds between two checks whether the user is in a hurry."""


class Tracker(Protocol):
    """Follows one run. All methods are called in one thread, in this order."""

    def started(self, run: JsonObject) -> None:
        """Called when the run begins, with the run as `show --json` prints it."""

    def progress(self, counts: JsonObject) -> None:
        """Called every few seconds with `done`, `total` and `failed`; without `total` if it is unknown."""

    def finished(self, run: JsonObject) -> None:
        """Called when the run has ended or was stopped and its files are written, with the run as `show --json` prints it."""


MakeTracker: TypeAlias = Callable[[], Tracker]
"""A class, or a function, that makes a tracker for one run."""

BUILT_IN: Mapping[str, str] = {
    "wandb": "benchwright.reports.trackers.wandb:WandbTracker",
    "mlflow": "benchwright.reports.trackers.mlflow:MlflowTracker",
}
"""Built-in trackers. Each is for the library of the same name, which the extra of that name installs."""


def _check(value: object) -> MakeTracker:
    if not callable(value):
        raise TypeError(f"is {type(value).__name__}, which cannot be called")
    return value


TRACKER_PLUGINS: Registry[MakeTracker] = Registry("trackers", _check, built_in=lambda: BUILT_IN)
"""Trackers of installed packages by name."""


class Tracking:
    """The trackers of one run. A tracker that fails gets nothing more and does not affect the run."""

    def __init__(self, names: Sequence[str]) -> None:
        self._trackers = {name: Tracking.find(name)() for name in names}
        self._waiting: SimpleQueue[tuple[str, JsonObject] | None] = SimpleQueue()
        # A daemon thread, so that a hanging tracker does not keep the process alive.
        self._thread = Thread(target=self._report_all, name="benchwright-tracker", daemon=True)
        self._busy_with = ""
        self._reported_at = time.monotonic()
        self._problems: list[str] = []

    def started(self, run: JsonObject) -> None:
        """Tell the trackers that the run begins."""
        self._waiting.put(("started", run))
        self._thread.start()

    def progress(self, done: int, total: int | None, failed: int) -> None:
        """Tell the trackers how far the run is. May be called any number of times."""
        now = time.monotonic()
        if now - self._reported_at >= _EVERY_S:
            self._reported_at = now
            known: JsonObject = {} if total is None else {"total": total}
            counts: JsonObject = {"done": done, **known, "failed": failed}
            self._waiting.put(("progress", counts))

    def finished(self, run: JsonObject, hurried: Callable[[], bool] = lambda: False) -> list[str]:
        """Tell the trackers that the run has ended. Waits for them, but not for one that hangs, nor once the user is in a hurry.
        Returns one text for each tracker that failed."""
        self._waiting.put(("finished", run))
        self._waiting.put(None)
        deadline = time.monotonic() + PATIENCE_S
        while self._thread.is_alive() and time.monotonic() < deadline and not hurried():
            self._thread.join(_LOOK_S)
        if self._thread.is_alive():
            self._problems.append(
                f"tracker {self._busy_with} did not answer, and was not waited for; it may lack the end of the run"
            )
        return self._problems

    def abandon(self) -> None:
        """Release the thread, because the run failed before its end."""
        self._trackers = {}
        self._waiting.put(None)

    def _report_all(self) -> None:
        while (event := self._waiting.get()) is not None:
            self._report(*event)

    def _report(self, event: str, what: JsonObject) -> None:
        for name, tracker in list(self._trackers.items()):
            self._busy_with = name
            try:
                getattr(tracker, event)(what)
            except (Exception, SystemExit) as error:  # a foreign library may raise anything
                self._trackers.pop(name, None)
                self._problems.append(redact(f"tracker {name} failed: {type(error).__name__}: {error}"))

    @staticmethod
    def find(name: str) -> MakeTracker:
        """The factory of the tracker with this name. Raises UsageError, with similar names, if there is none or its library is
        missing."""
        place = BUILT_IN.get(name)
        if place is not None:
            if find_spec(name) is None:
                raise UsageError(
                    f"--tracker {name} needs the package {name}: pip install 'benchwright[{name}]'"
                )
            module, _, attribute = place.partition(":")
            return _check(getattr(import_module(module), attribute))
        found = TRACKER_PLUGINS.find(name)
        if found is None:
            known = [*BUILT_IN, *TRACKER_PLUGINS.names()]
            raise UsageError(f"no tracker named {name!r}.{suggest(name, known)} Known: {', '.join(known)}")
        return found


def identity_of(run: JsonObject) -> str:
    """A name for a run that is unique among all machines and the same at each start."""
    ours: Any = run["run"]
    return hashlib.blake2b(f"{ours['folder']} {ours['created_at']}".encode(), digest_size=8).hexdigest()


def tracked_figures(run: JsonObject) -> dict[str, float]:
    """The numbers of a finished run under flat names: metrics with their intervals; outcomes, counts, tokens and cost with a
    prefix, because a metric may have any name; for a load test, the figures of its levels."""
    found: dict[str, float] = {}
    summary = run.get("summary")
    if not isinstance(summary, dict):
        return found
    metrics = summary.get("metrics")
    for name, metric in metrics.items() if isinstance(metrics, dict) else ():
        if isinstance(metric, dict):
            _put(found, name, metric.get("value"))
            for end in ("ci_low", "ci_high"):
                _put(found, f"{name}/{end}", metric.get(end))
    outcomes = summary.get("outcomes")
    for name, count in outcomes.items() if isinstance(outcomes, dict) else ():
        _put(found, f"outcomes/{name}", count)
    for name, value in summary.items():
        _put(found, f"run/{name}", value)
    cost = summary.get("cost")
    if isinstance(cost, dict):
        _put(found, "run/cost", cost.get("amount"))
    if "stages" in summary:
        found |= _load_figures(summary)
    return found


LATENCY_FIGURES = ("mean", "p50", "p90", "p95", "p99", "max")
"""The figures of each latency that trackers get."""


def _load_figures(summary: JsonObject) -> dict[str, float]:
    """The figures of a load test. Those of the best level, which `list` shows, have no prefix. With several levels, the
    figures of each are also given with its label as prefix."""
    from benchwright.perf import LoadSummary
    from benchwright.results import LoadView

    known = LoadSummary.from_json(summary)
    best = LoadView.best_stage(known)
    found = {} if best is None else _stage_figures(best)
    for stage in known.stages if len(known.stages) > 1 else ():
        label = stage.label.replace("/", " per ")  # a slash would begin another group of figures
        found |= {f"{label}/{name}": value for name, value in _stage_figures(stage).items()}
    if known.search is not None:
        _put(found, "search/level", known.search.level)
    return found


def _stage_figures(stage: StageSummary) -> dict[str, float]:
    found = dict(stage.figures)
    for name, ends in stage.intervals.items():
        found |= {f"{name}/ci_low": ends[0], f"{name}/ci_high": ends[1]}
    for name, values in {**stage.metrics, **stage.scores}.items():
        figures = values.figures()
        for figure in LATENCY_FIGURES:
            _put(found, f"{name}/{figure}", figures[figure])
    return found


def _put(found: dict[str, float], name: str, value: object) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        found[name] = float(value)
