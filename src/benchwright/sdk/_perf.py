"""`perf`: the load test of the command line, as a function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack

from benchwright.config import (
    LoadKeywords,
    LoadOptions,
    RunOptions,
    SuiteOptions,
    find_config,
    split_load_keywords,
)
from benchwright.core import UsageError, refuse_while_loading
from benchwright.datasets import hub_commits
from benchwright.perf import LoadWatcher
from benchwright.runs import LoadResult, load_targets, synthetic_target
from benchwright.sdk._front import resolved
from benchwright.sdk._resolve import Benchmarks, Program, Questions, Resolved, Workflow, Written
from benchwright.store import find_workspace


@hub_commits()
def perf(
    target: Written | Resolved | None = None,
    options: RunOptions | None = None,
    load: LoadOptions | None = None,
    /,
    *,
    watcher: LoadWatcher | None = None,
    finished: Callable[[LoadResult], None] | None = None,
    **keywords: Unpack[LoadKeywords],
) -> Any:
    """Load a server with the requests of `target`, and measure how it answers.

    Args:
        target: What the command takes (a file, a URI, a name), the decorated function itself, or what `resolve` returned; None
            with `synthetic`.
        options: What a load test shares with a run, as one object, instead of keywords.
        load: The load as one object, instead of keywords.
        watcher: Receives the progress.
        finished: Called with the result of each test when it ends.
        keywords: Fields of `LoadOptions`, and those of `RunOptions` that a load test takes.

    Returns:
        A `LoadResult`; a list of them if the target has several benchmarks or is a suite.

    Raises BenchwrightError if a test is impossible. Failed requests do not raise; the result counts them.
    """
    refuse_while_loading("perf")
    if (options is not None or load is not None) and keywords:
        raise UsageError("perf() takes options as objects or as keywords, not both")
    if options is None and load is None:
        options, load = split_load_keywords(keywords)
    options, load = options or RunOptions(), load or LoadOptions()
    cwd = Path.cwd()
    config = find_config(cwd)
    place = find_workspace(cwd, options.workspace)
    if load.synthetic is not None:
        if target is not None:
            raise UsageError(f"--synthetic makes the prompts itself; leave {target} out")
        made = [synthetic_target(load)]
        return load_targets(place, made, options, load, config, watcher=watcher, finished=finished)[0]
    if target is None:
        raise UsageError(
            "nothing to send: give a target, as in benchwright perf test.csv, or let prompts be made: --synthetic input=512,output=128"
        )
    found = resolved(target, options, SuiteOptions())
    if isinstance(found, Program | Workflow):
        raise UsageError(
            f"{found.plan.target} is a program, which calls its models itself; give its data instead"
        )
    if not isinstance(found, Benchmarks | Questions):
        from benchwright.suites import load_pairs

        return load_pairs(place, found, options, load, config, watcher=watcher, finished=finished)
    results = load_targets(place, found.targets, options, load, config, watcher=watcher, finished=finished)
    return results[0] if len(found.targets) == 1 and results else results
