"""Load tests of a suite: every model is loaded with every dataset, one pair after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchwright.config import ConfigFile, LoadOptions, RunOptions, SuiteOptions
from benchwright.core import UsageError
from benchwright.perf import LoadWatcher
from benchwright.runs import LoadPlan, LoadResult, load_run_options, perform_loads
from benchwright.store import Workspace, open_store
from benchwright.suites._run import planned_suite
from benchwright.suites._suite import Suite


def load_pairs(
    place: Workspace,
    suite: Suite,
    options: RunOptions,
    load: LoadOptions,
    config: ConfigFile | None,
    *,
    watcher: LoadWatcher | None = None,
    finished: Callable[[LoadResult], None] | None = None,
) -> list[LoadResult]:
    """All pairs are planned and checked before the first request."""
    pairs = planned_suite(suite, load_run_options(options), SuiteOptions(), cwd=Path.cwd(), config=config)
    if pairs is None or not pairs.pairs:
        raise UsageError(f"{suite.path} has no datasets to send")
    how = load.over({} if config is None else config.perf)
    plans = [LoadPlan(pair.plan, how, pair.plan.settings.parallelism) for pair in pairs.pairs]
    with open_store(place) as store:
        return perform_loads(store, plans, watcher=watcher, finished=finished)
