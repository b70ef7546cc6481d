"""`compare`: compares two recorded runs."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Never

from msgspec.structs import replace

from benchwright.config import HARMLESS, keywords_in_errors
from benchwright.core import NotFoundError, RunKind, UsageError, clause, expand_home, kind_title, suggest
from benchwright.endpoints import EndpointSettings
from benchwright.engine import DECIDES, reused_replies
from benchwright.results import (
    Comparison,
    ComparisonOptions,
    FoundRun,
    KindRow,
    LoadComparison,
    ManyRuns,
    RunResult,
    folder_run,
    holds,
    kind_of,
    plural,
)
from benchwright.runs._resolve import check_run
from benchwright.runs._result import called, recorded
from benchwright.runs._session import Session
from benchwright.store import RunRecord, Store, Workspace, named_run

if TYPE_CHECKING:
    from benchwright.runs._load_work import LoadResult


@keywords_in_errors
def compare(
    a: int | str | os.PathLike[str] | RunResult | LoadResult,
    b: int | str | os.PathLike[str] | RunResult | LoadResult,
    *,
    metric: str | None = None,
    tolerance: float = 0.0,
    times: bool = False,
    force: bool = False,
    listed: int | None = 20,
    lower_is_better: Collection[str] = (),
    workspace: str | os.PathLike[str] | None = None,
    **unknown: Never,
) -> Comparison | LoadComparison:
    """Compare two runs of one kind by number, name, folder, `last` or result; `ComparisonOptions` explains the options.

    Either may also be a blessed name, a portable baseline, or a folder with the files of a run from elsewhere. Raises
    NotFoundError for a run that does not exist or a metric that neither run has, and UsageError for runs that cannot be
    compared.
    """
    for name in unknown:
        raise UsageError(f"compare() has no option {name!r}.{suggest(name, _KEYWORDS)}")
    for name, run in (("a", a), ("b", b)):
        check_run("compare", named(run), name)
    options = ComparisonOptions(metric, tolerance, times, force, listed, lower_is_better)
    return compare_runs([a, b], options, workspace=workspace).comparisons[0]


def compare_runs(
    runs: Sequence[int | str | os.PathLike[str] | RunResult | LoadResult],
    options: ComparisonOptions,
    *,
    by: str | None = None,
    workspace: str | os.PathLike[str] | None = None,
    store: Store | None = None,
) -> ManyRuns:
    """Compare two to eight runs of one kind, the first as the baseline; `by`: also by the values of a column of the data. They are in the
    workspace, or in a store that is open.

    Raises as `compare`.
    """
    if not 2 <= len(runs) <= ManyRuns.most:
        raise UsageError(
            f"a comparison needs 2 to {ManyRuns.most} runs, and {plural(len(runs), 'run')} {'is' if len(runs) == 1 else 'are'} named (see: benchwright list)"
        )
    options = replace(options, harmless=harmless_settings())
    if store is not None:
        return _compared(store, store.workspace, runs, options, by)
    with Session(workspace) as session:
        return _compared(session.recorded(), session.workspace, runs, options, by)


def _compared(
    store: Store | None,
    place: Workspace,
    runs: Sequence[int | str | os.PathLike[str] | RunResult | LoadResult],
    options: ComparisonOptions,
    by: str | None,
) -> ManyRuns:
    found = [_found(store, named(run), -number, place) for number, run in enumerate(runs)]
    for number, one in enumerate(found):
        for other in found[number + 1 :]:
            kind = _common_kind(one.run, other.run)
    if any(each.filed for each in found):
        found = [
            each if each.filed else replace(each, run=kind_of(each.run).as_filed(each.run)) for each in found
        ]
    return ManyRuns.of(kind, found, options, by=by)


def is_run(store: Store | None, written: str) -> bool:
    """Whether a text names a recorded run: a file or folder here that has the same name is not meant then."""
    if store is None or not written:
        return False
    try:
        return bool(named_run(store, written))
    except NotFoundError:
        return False


def _found(store: Store | None, run: int | str | RunResult, number: int, place: Workspace) -> FoundRun:
    known = _baseline(store, run, place)
    if known is not None:  # no number of the workspace is its own
        return replace(known, run=replace(known.run, id=number))
    return FoundRun.of(_run(store, run, number, place), store)


def _baseline(store: Store | None, run: int | str | RunResult, place: Workspace) -> FoundRun | None:
    """The baseline that a blessed name or a file refers to; None if it is a run. If a baseline and a benchmark have the
    same name, the baseline is meant, as for `gate`."""
    if not isinstance(run, str) or run.isdecimal() or not run:
        return None
    from benchwright.results import Baselines, portable_baseline

    if (named := Baselines(place).named(run)) is not None or is_run(store, run):
        return named
    return portable_baseline(expand_home(run))


def _run(store: Store | None, run: int | str | RunResult, number: int, place: Workspace) -> RunRecord:
    try:
        return find_run(store, run, number, place)
    except NotFoundError as error:
        from benchwright.results import Baselines

        names = list(Baselines(place).histories())
        if not names or not isinstance(run, str) or run.isdecimal():
            raise
        known = f"{clause(error)}.{suggest(run, names)} Baselines: {', '.join(names)}"
        raise NotFoundError(known) from None


def named(run: int | str | os.PathLike[str] | RunResult | LoadResult) -> int | str | RunResult:
    """Replace the result of a load test by its number. Its class is not imported, because it brings in all load figures."""
    if isinstance(run, os.PathLike):
        return os.fspath(run)
    if isinstance(run, RunResult) or not hasattr(run, "run_id"):
        return run
    return run.run_id


def _common_kind(a: RunRecord, b: RunRecord) -> KindRow:
    """The common kind of two runs. Raises UsageError for a run and itself, and for runs of different kinds."""
    if a.id == b.id:
        raise UsageError(f"run {a.id} is compared with itself; name two runs (see: benchwright list)")
    kinds = kind_of(a), kind_of(b)
    if kinds[0] is not kinds[1]:
        raise UsageError(
            f"{FoundRun.title_of(a)} is {kind_title(a.kind)} and {FoundRun.title_of(b)} {kind_title(b.kind)}: they have nothing in common "
            "to compare"
        )
    return kinds[0]


_KEYWORDS = [name for name, each in signature(compare).parameters.items() if each.kind is each.KEYWORD_ONLY]


def find_run(store: Store | None, run: int | str | RunResult, number: int, place: Workspace) -> RunRecord:
    """A run of the workspace, or of a folder from elsewhere, which gets `number`, 0 or less."""
    folder = expand_home(called(run))
    try:
        if store is not None:
            found = recorded(store, run)
            if found.folder != folder.resolve() or holds(folder, found):
                return with_reused(store, found)
    except NotFoundError:
        elsewhere = folder_run(folder.resolve(), number)
        if elsewhere is None:
            raise
        return elsewhere
    elsewhere = folder_run(folder.resolve(), number)
    if elsewhere is not None:
        return elsewhere
    raise NotFoundError(
        f"there are no runs in {place.root} yet, and {called(run)} is not a folder of a run. Start one with: benchwright run TARGET"
    )


def with_reused(store: Store, run: RunRecord) -> RunRecord:
    """The run with the number of replies that it did not request itself. Earlier versions did not record it."""
    summary = run.summary
    if (
        run.kind != RunKind.BENCHMARK
        or summary is None
        or summary.get("reused") is not None
        or run.settings.get("adopted")  # its calls are not recorded
    ):
        return run
    return replace(run, summary={**summary, "reused": reused_replies(store, run)})


def harmless_settings() -> set[str]:
    """Settings that control only concurrency, names and places, and change no result."""
    run = {name for name, what in DECIDES.items() if what in HARMLESS}
    return run | {f"model.{name}" for name in EndpointSettings.changing_no_reply()}
