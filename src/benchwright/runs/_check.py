"""Everything that can be found out about benchmarks without sending a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchwright.benchmarks import CheckReport, check_benchmark
from benchwright.config import ConfigFile, RunOptions
from benchwright.engine import row_settings, start_problems
from benchwright.runs._models import choose_model
from benchwright.runs._run import run_settings
from benchwright.runs._targets import Target


def check_targets(
    targets: Sequence[Target], options: RunOptions, config: ConfigFile | None
) -> list[CheckReport]:
    """One report per benchmark. The options of the model are checked too, without calling it."""
    reports = []
    for found in targets:
        effective = options.over(found.defaults)
        settings = run_settings(found, effective, choose_model(effective, config, ask_server=False))
        report = check_benchmark(found.spec, row_settings(found.spec, settings))
        reports.append(with_problems(report, start_problems(found.spec, settings)))
    return reports


def with_problems(report: CheckReport, problems: Sequence[str]) -> CheckReport:
    """The report with what else would keep the run from starting, such as a key that is not set."""
    errors = tuple(dict.fromkeys([*report.errors, *problems]))
    return report if errors == report.errors else replace(report, errors=errors)
