"""`run`, `check`, `validate`, `resume` and `rescore`: the commands as functions.

All take the same keywords. Each works inside a running event loop, such as that of a notebook, and blocks until it is done.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Unpack, overload

from benchwright.config import RESUME_OVERRIDES, RunOptions, SuiteOptions, keywords_in_errors
from benchwright.core import UsageError, refuse_while_loading, suggest
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import Watcher
from benchwright.results import RunResult
from benchwright.runs._jobs import only_result, perform_jobs
from benchwright.runs._notebook import notebook_watcher
from benchwright.runs._resolve import (
    Questions,
    Written,
    check_arguments,
    check_run,
    resolve,
)
from benchwright.runs._resolved import Resolved
from benchwright.runs._result import called, recorded
from benchwright.runs._run import queue_plans
from benchwright.runs._session import Session

if TYPE_CHECKING:
    from benchwright.benchmarks import CheckReport, FileReport
    from benchwright.config import RunKeywords
    from benchwright.store import RunRecord, Store


@overload
def run(
    target: Callable[..., Any],
    options: RunOptions | None = None,
    /,
    *,
    endpoint: OpenEndpoint | None = None,
    watcher: Watcher | None = None,
    finished: Callable[[RunResult], None] | None = None,
    **keywords: Unpack[RunKeywords],
) -> RunResult: ...


@overload
def run(
    target: str | os.PathLike[str] | Resolved,
    options: RunOptions | None = None,
    /,
    *,
    endpoint: OpenEndpoint | None = None,
    watcher: Watcher | None = None,
    finished: Callable[[RunResult], None] | None = None,
    **keywords: Unpack[RunKeywords],
) -> Any: ...


@keywords_in_errors
def run(
    target: Written | Resolved,
    options: RunOptions | None = None,
    /,
    *,
    endpoint: OpenEndpoint | None = None,
    watcher: Watcher | None = None,
    finished: Callable[[RunResult], None] | None = None,
    **keywords: Unpack[RunKeywords],
) -> Any:
    """Evaluate what `target` names and return its result.

    Args:
        target: What the command takes (a file, a URI, a name), the decorated function itself, or what `resolve` returned.
        options: Options as one object, instead of keywords.
        endpoint: Replaces every model, for example by a `ScriptedEndpoint` in a test.
        watcher: Receives the progress.
        finished: Called with the result of each run when it ends.
        keywords: Fields of `RunOptions`, and of `SuiteOptions` for several models or datasets.

    Returns:
        A `RunResult`; a list of them if a file contains several benchmarks; a `SuiteResult` for a suite; a `ProgramResult`
        for a workflow or a program. A type checker cannot know which one a text names, so annotate the variable.

    Raises BenchwrightError if a run is impossible. Failed samples do not raise; the result counts them.
    """
    refuse_while_loading("run")
    check_arguments("run", options=options, endpoint=endpoint, watcher=watcher, finished=finished)
    options, how = _options(options, keywords, "run")
    with Session(options.workspace, options.store) as session:
        found = resolved(target, options, how, session)
        return found.perform(
            session, options, how, watcher=watcher or notebook_watcher(), finished=finished, endpoint=endpoint
        )


@overload
def check(
    target: Callable[..., Any], options: RunOptions | None = None, /, **keywords: Unpack[RunKeywords]
) -> list[CheckReport]: ...


@overload
def check(
    target: str | os.PathLike[str] | Resolved,
    options: RunOptions | None = None,
    /,
    **keywords: Unpack[RunKeywords],
) -> Any: ...


@keywords_in_errors
def check(
    target: Written | Resolved, options: RunOptions | None = None, /, **keywords: Unpack[RunKeywords]
) -> Any:
    """Check what `target` names without sending anything. The options are those of `run`.

    Returns a list with one `CheckReport` per benchmark; a `SuiteCheck` for a suite; the `ProgramPlan` of a program or
    workflow whose command was found.
    """
    refuse_while_loading("check")
    check_arguments("check", options=options)
    options, how = _options(options, keywords, "check")
    with Session(options.workspace, options.store) as session:
        return resolved(target, options, how, session).check(session, options, how)


@keywords_in_errors
def resume(
    run: str | int | RunResult,
    *,
    target: Callable[..., Any] | None = None,
    retry_failed: bool = False,
    allow_changed: bool = False,
    overrides: Mapping[str, Any] | None = None,
    watcher: Watcher | None = None,
    endpoint: OpenEndpoint | None = None,
    **keywords: Unpack[RunKeywords],
) -> Any:
    """Resume a run where it stopped. A complete run returns its result again, and nothing is sent.

    Args:
        run: Number, `last`, name or folder of the run, or its result.
        target: The decorated function, for a benchmark that no file defines.
        retry_failed: Whether failed samples are sent again.
        allow_changed: Whether the benchmark may have changed since; the results then say so.
        overrides: Settings of `RESUME_OVERRIDES` as one table; a keyword of the same name takes precedence.
        watcher: Receives the progress.
        endpoint: Replaces the model.
        keywords: `workspace`, `store`, and the settings of `RESUME_OVERRIDES`: parallelism and budgets.

    Returns the `RunResult`, or for a workflow the `ProgramResult`.
    """
    refuse_while_loading("resume")
    check_run("resume", run)
    check_arguments("resume", endpoint=endpoint, watcher=watcher, target=target, overrides=overrides)
    given: dict[str, Any] = {**(overrides or {}), **keywords}
    changes = {name: value for name, value in given.items() if name not in ("workspace", "store")}
    for name in changes:
        if name not in RESUME_OVERRIDES:
            raise UsageError(
                f"resume() has no option {name!r}.{suggest(name, [*RESUME_OVERRIDES, 'workspace', 'store'])} A resumed run is the same "
                f"experiment; it may change {', '.join(RESUME_OVERRIDES)}"
            )
    chosen = RunOptions.from_keywords(given, "resume")
    with Session(chosen.workspace, chosen.store) as session:
        store = session.resumable(called(run))
        found = recorded(store, run)
        from benchwright.runs._kinds import resume_run  # which runs need not load

        return resume_run(
            store, found,
            target=target, retry_failed=retry_failed, allow_changed=allow_changed, overrides=changes,
            watcher=watcher or notebook_watcher(), endpoint=endpoint,
        )  # fmt: skip


@keywords_in_errors
def rescore(
    run: str | int | RunResult,
    options: RunOptions | None = None,
    /,
    *,
    target: Written | None = None,
    labels: bool = False,
    watcher: Watcher | None = None,
    **keywords: Unpack[RunKeywords],
) -> RunResult:
    """Score the replies of a run again, as a new run. No model is called; a judge may be.

    Args:
        run: Number, `last`, benchmark name, folder or result of the run whose replies are scored.
        options: Settings that may differ, as one object: data, rules of scoring, budgets (of judges), files.
        target: Another benchmark to score with; None: the benchmark of the run, as it is defined now.
        labels: Whether people's labels count: ambiguous rows are left out, wrong targets and readings corrected.
        watcher: Receives the progress.
        keywords: Settings that may differ, by name, instead of `options`.

    A row whose request the run never made ends as `skipped`. Raises UsageError for options that would change
    the requests.
    """
    refuse_while_loading("rescore")
    check_run("rescore", run)
    check_arguments("rescore", options=options, watcher=watcher, target=target)
    options, how = _options(options, keywords, "rescore")
    if how.given():
        raise UsageError(f"rescore() works on one run; leave {', '.join(how.given())} out")
    with Session(options.workspace, options.store) as session:
        store = session.resumable(called(run))
        source = recorded(store, run)
        from benchwright.runs._resume import refuse_adopted, rescore_plan

        refuse_adopted(source, "scored again")
        plan = rescore_plan(
            source, target=target, options=options, labels=_labels_of(store, source) if labels else None
        )
        result: RunResult = only_result(perform_jobs(store, [queue_plans(store, [plan])], watcher=watcher))
        return result


def _labels_of(store: Store, source: RunRecord) -> tuple[tuple[str | None, ...], ...]:
    from benchwright.results import LabelList

    found = LabelList.applicable(store, source.id)
    if not found:
        raise UsageError(
            f"no label changes a score of run {source.id}. Label samples on their pages (benchwright show {source.id} --web, key l), "
            f"or in a sheet: benchwright labels {source.id} --export labels.xlsx"
        )
    return found


def _options(
    options: RunOptions | None, keywords: Mapping[str, Any], caller: str
) -> tuple[RunOptions, SuiteOptions]:
    """The options of `caller`, which takes them as one object or as keywords."""
    if isinstance(keywords.get("options"), RunOptions):  # the object, given by name
        options, keywords = keywords["options"], {k: v for k, v in keywords.items() if k != "options"}
    if options is None:
        return SuiteOptions.split(keywords, caller)
    if keywords:
        raise UsageError(f"{caller}() takes options as one object or as keywords, not both")
    return options, SuiteOptions()


def resolved(
    target: Written | Resolved, options: RunOptions, how: SuiteOptions, session: Session
) -> Resolved:
    """What the target is, unless the caller has found out."""
    if isinstance(target, Resolved):
        return target
    return resolve(target, options, how, config=session.config, cwd=session.cwd)


def validate(file: str | os.PathLike[str], options: RunOptions | None = None, **keywords: Any) -> FileReport:
    """Report the content of a file of questions, and every row that could not be sent or scored.

    Options are given as keywords, as for `run`, or as one object. Raises UsageError if it is not a file of questions.
    """
    from benchwright.benchmarks import FileReport  # for files of questions

    refuse_while_loading("validate")
    options = options or RunOptions.from_keywords(keywords)
    written = os.fspath(file)
    found = resolve(written, options)
    if not isinstance(found, Questions):
        raise UsageError(
            f"{written} is not a file of questions; look at benchmarks with: benchwright check {written}"
        )
    return FileReport.of(found.target.spec, limit=options.over(found.target.defaults).limit)
