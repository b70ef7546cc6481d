"""Reports of installed packages, written next to a run's own files when it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchwright.core import JsonObject, UsageError, suggest
from benchwright.plugins import Registry, check_function
from benchwright.reports.views.runs import RunDetails

ReportWriter: TypeAlias = Callable[[JsonObject, Path], Any]
"""Takes a run, as `show --json` prints it, and the folder of its files."""

REPORT_PLUGINS: Registry[ReportWriter] = Registry("reports", lambda value: check_function(value, 2))
"""Report writers of installed packages by name."""


def find_report(name: str) -> ReportWriter:
    """The report writer with this name. UsageError, with near names, if there is none."""
    found = REPORT_PLUGINS.find(name)
    if found is None:
        known = REPORT_PLUGINS.names()
        listed = f"Installed: {', '.join(known)}" if known else "No package with reports is installed"
        raise UsageError(f"no report named {name!r}.{suggest(name, known)} {listed}")
    return found


def write_reports(details: RunDetails, names: Sequence[str]) -> list[str]:
    """Write these reports of a run that has ended; returns what went wrong, one text for each that failed.

    A report that fails changes nothing about the run, and stops no other.
    """
    problems = []
    for name in names:
        try:
            find_report(name)(details.to_json(), details.run.folder)
        except UsageError as error:
            problems.append(f"report {name}: {error}")
        except Exception as error:  # a plugin may raise anything
            problems.append(f"report {name} failed: {type(error).__name__}: {error}")
    return problems
