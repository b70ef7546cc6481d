"""`perf`: the load test of the command line, as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from benchwright.config import LoadOptions, RunOptions, SuiteOptions
from benchwright.core import UsageError, refuse_while_loading
from benchwright.perf import LoadWatcher
from benchwright.runs._functions import resolved
from benchwright.runs._load_check import LoadCheck, check_load
from benchwright.runs._load_rows import synthetic_target
from benchwright.runs._load_work import LoadResult
from benchwright.runs._perf import perform_loads, plan_loads
from benchwright.runs._resolve import Written
from benchwright.runs._resolved import Resolved
from benchwright.runs._run import Plan
from benchwright.runs._session import Session

if TYPE_CHECKING:
    from benchwright.config import LoadKeywords


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
        options, load = LoadOptions.split(keywords)
    options = options or RunOptions()
    with Session(options.workspace, options.store) as session:
        plans, several = _plans(session, target, options, load or LoadOptions())
        results = perform_loads(session.store, plans, watcher=watcher, finished=finished)
    return results if several or not results else results[0]


def check_perf(target: Written | Resolved | None, options: RunOptions, load: LoadOptions) -> list[LoadCheck]:
    """What `perf` would send. Sends nothing, not even for the name of a model, and writes nothing."""
    from benchwright.bfcl import without_files  # not for tests that are done

    with Session(options.workspace, options.store) as session, without_files():
        plans, _ = _plans(session, target, options, load, ask_server=False)
        return [check_load(plan) for plan in plans]


def _plans(
    session: Session,
    target: Written | Resolved | None,
    options: RunOptions,
    load: LoadOptions,
    *,
    ask_server: bool = True,
) -> tuple[list[Plan], bool]:
    """The load tests of a target, and whether it stands for several."""
    if load.synthetic is not None:
        if target is not None:
            raise UsageError(f"--synthetic makes the prompts itself; leave {target} out")
        made = [synthetic_target(load)]
        return plan_loads(made, options, load, session.config, ask_server=ask_server), False
    if target is None:
        raise UsageError(
            "nothing to send: give a target, as in benchwright perf test.csv, or generate prompts: --synthetic input=512,output=128"
        )
    found = resolved(target, options, SuiteOptions(), session)
    return found.load_plans(session, options, load, ask_server=ask_server)
