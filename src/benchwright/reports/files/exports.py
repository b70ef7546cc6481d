"""What `export` and `report` write of a run, by what its kind counts, and of a suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from benchwright.perf import Requests
    from benchwright.results import LoadView, RunDetails, RunSamples, WorkflowDetails, WorkTable


class Export(NamedTuple):
    """The files of one thing."""

    noun: str
    """What is counted."""
    lines: Callable[[str, bool], Iterable[str]]
    """Its lines, by format and whether CSV cells stay unchanged."""
    write: Callable[[Path, str, bool], int]
    """Writes a file in a format and returns the number."""
    page: Callable[[], bytes | None]
    """Its page, which needs no server; None while there is no result."""
    parquet: bool = True
    """Whether it can be written as Parquet."""
    beside: Export | None = None
    """What else there is: formats that have lines put it into a file next to this one."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The formats that have lines."""
        from benchwright.reports.files.export import TEXT_FORMATS

        return TEXT_FORMATS


def _samples(details: RunDetails, samples: RunSamples) -> Export:
    from benchwright.reports.files.export import export_samples, exported_lines

    def page() -> bytes | None:
        from benchwright.reports.files.run_files import run_report

        return None if details.result is None else run_report(details, samples, details.result)

    return Export(
        "samples",
        lambda format, raw: exported_lines(details, samples, format, raw=raw),
        lambda path, format, raw: export_samples(details, samples, path, format, raw=raw),
        page,
    )


def _requests(view: LoadView, requests: Requests) -> Export:
    from benchwright.reports.files.load import export_requests, load_report, request_lines

    def write(path: Path, format: str, raw: bool) -> int:
        if format == "xlsx":
            from benchwright.reports.files.sheets import export_load

            return export_load(view, requests, path)
        return export_requests(requests, path, format, raw=raw)

    def page() -> bytes | None:
        return None if view.run.summary is None and not len(requests) else load_report(view, requests)

    return Export("requests", lambda format, raw: request_lines(requests, format, raw=raw), write, page)


def _steps(view: WorkflowDetails, samples: RunSamples) -> Export:
    from benchwright.reports.files.sheets import export_workflow, step_rows, table_lines
    from benchwright.reports.files.workflow import workflow_report

    steps = Export(
        "steps",
        lambda format, raw: table_lines(step_rows(view), format, raw=raw),
        lambda path, format, raw: export_workflow(view, samples, path, format, raw=raw),
        lambda: workflow_report(view),
        parquet=False,
    )
    if not view.numbers:
        return steps
    rows = _samples(view.details, samples)  # what people ask for; the steps lie beside them

    def write(path: Path, format: str, raw: bool) -> int:
        return (steps if format == "xlsx" else rows).write(path, format, raw)

    return rows._replace(write=write, page=steps.page, beside=steps)


def _figures(table: WorkTable, title: str = "Suite") -> Export:
    from benchwright.reports.files.sheets import export_suite, suite_rows, table_lines

    def page() -> bytes:
        from benchwright.reports.files.work_folder import suite_report

        return suite_report(table, title, "The same figures: benchwright export SUITE -o suite.csv")

    return Export(
        "figures",
        lambda format, raw: table_lines(suite_rows(table), format, raw=raw),
        lambda path, format, raw: export_suite(table, path, format, raw=raw),
        page,
        parquet=False,
    )


EXPORTS: dict[str, Callable[..., Export]] = {
    "samples": _samples,
    "requests": _requests,
    "steps": _steps,
    "figures": _figures,
}
"""By what is counted. A run's are made from `KindRow.contents`, those of a suite, `figures`, from its table and the title of its page."""
