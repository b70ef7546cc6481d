"""`check`: everything that can be found out about a target without spending a request."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from benchwright.benchmarks import CheckReport, check_benchmark
from benchwright.config import RunKeywords, RunOptions, find_config
from benchwright.core import refuse_while_loading
from benchwright.engine import row_settings, start_problems
from benchwright.runs._models import choose_model
from benchwright.runs._options import one_of
from benchwright.runs._run import find_targets, run_settings


def check(
    target: str | os.PathLike[str] | Callable[..., Any],
    options: RunOptions | None = None,
    /,
    **keywords: Unpack[RunKeywords],
) -> list[CheckReport]:
    """One report per benchmark that `target` names. The model flags are checked too, without asking it.

    Options are given as keywords, as to `run`, or as one object.
    """
    refuse_while_loading("check")
    options = one_of(options, keywords, "check")
    cwd = Path.cwd()
    config = find_config(cwd)
    reports = []
    for found in find_targets(target, config, cwd, options):
        effective = options.over(found.defaults)
        settings = run_settings(found, effective, choose_model(effective, config, ask_server=False))
        report = check_benchmark(found.spec, row_settings(found.spec, settings))
        reports.append(with_problems(report, start_problems(found.spec, settings)))
    return reports


def with_problems(report: CheckReport, problems: Sequence[str]) -> CheckReport:
    """The report with what else would keep the run from starting, such as a key that is not set."""
    errors = tuple(dict.fromkeys([*report.errors, *problems]))
    return report if errors == report.errors else replace(report, errors=errors)
