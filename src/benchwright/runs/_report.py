"""`write_report`: recorded runs as a page in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchwright.core import NotFoundError, UsageError, write_whole
from benchwright.reports import EXPORTS, write_comparison
from benchwright.results import ComparisonOptions, kind_of, suite_table
from benchwright.runs._compare import compare_runs
from benchwright.runs._result import recorded
from benchwright.runs._suites.recorded import recorded_suite
from benchwright.store import RunRecord, Store


def write_report(
    store: Store | None, runs: Sequence[str], path: Path, *, force: bool = False, workspace: str | None = None
) -> tuple[list[int], str | None]:
    """Write a page that needs no server: of one run of any kind, of a suite, or of two to eight runs compared, as `compare -o` writes it. The
    file is complete or absent. Returns the runs (a baseline or a folder from elsewhere has a number below 1), and why the page does not show
    all or may not be relied on.

    Raises NotFoundError for a run that does not exist, and UsageError for one without a result and for runs that cannot be
    compared.
    """
    if len(runs) > 1:
        view = compare_runs(runs, ComparisonOptions(force=force), workspace=workspace, store=store)
        with _said(path):
            write_comparison(view, path)
        problem = None if view.comparable else "the runs are not comparable; the page says why"
        return [side.id for side in view.runs], problem
    if force:
        raise UsageError("--force is for runs that are compared: name two to eight, or leave it out")
    if store is None:
        raise NotFoundError(f"no run {runs[0]!r}: there are no runs here yet. See: benchwright list")
    if (suite := recorded_suite(store, runs[0])) is not None:
        table = suite_table(store, suite)
        with _said(path):
            write_whole(path, EXPORTS["figures"](table, f"Suite {suite}").page() or b"")
        missing = [each.label for each in table.runs if each.details.result is None]
        problem = f"there is no result of {', '.join(missing)}" if missing else None
        return [each.run_id for each in table.runs], problem
    run = recorded(store, runs[0])
    page = _page(store, run)
    with _said(path):
        write_whole(path, page)
    return [run.id], run.incomplete or None


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Raise UsageError for a file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another with -o FILE") from None


def _page(store: Store, run: RunRecord) -> bytes:
    kind = kind_of(run)
    page = EXPORTS[kind.unit](*kind.contents(store, run)).page()
    if page is None:
        raise _without_result(run)
    return page


def _without_result(run: RunRecord) -> UsageError:
    cure = (
        "wait until it ends, or look at it with: benchwright show {0} --web"
        if run.status == "running"
        else "finish it first: benchwright resume {0}"
    )
    return UsageError(f"run {run.id} has no result: it is {run.status}; {cure.format(run.id)}")
