"""Checking a suite: every pair is planned, every dataset is looked at, and nothing is sent."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from benchwright.benchmarks import CheckReport, check_benchmark
from benchwright.config import RunOptions, SuiteOptions
from benchwright.core import canonical_json
from benchwright.engine import row_settings, rows_and_prompts, start_problems
from benchwright.runs import with_problems
from benchwright.suites._run import planned_suite
from benchwright.suites._suite import Suite


class PairCheck(Struct, frozen=True):
    """What was found out about one pair."""

    model: str
    """The model's name in tables."""
    dataset: str
    """The dataset's name in tables."""
    report: CheckReport
    """About the dataset, and what keeps this model from being asked; the same object where that is the same."""
    ready: bool
    """Whether a run could start: nothing is wrong, or only rows that it may leave out."""


class SuiteCheck(Struct, frozen=True):
    """What was found out about a suite."""

    pairs: tuple[PairCheck, ...]
    """In the order of the models, then of the datasets."""
    notes: tuple[str, ...]
    """What is worth saying before it runs."""


def check_suite(suite: Suite, options: RunOptions, how: SuiteOptions) -> SuiteCheck:
    """Look at every pair without sending anything. Raises for what no pair could be planned with."""
    planned = planned_suite(suite, options, how, cwd=Path.cwd(), ask_server=False)
    reports: dict[bytes, CheckReport] = {}
    told: dict[tuple[bytes, tuple[str, ...]], CheckReport] = {}
    checks = []
    for pair in planned.pairs if planned is not None else ():
        settings = pair.plan.settings
        spec = pair.plan.spec
        of_rows = row_settings(spec, settings)
        # One loaded benchmark for all models: its identity is part of the key, as in the sharing of rows.
        key = canonical_json([id(spec), of_rows.model_type, rows_and_prompts(settings)])
        if key not in reports:
            reports[key] = check_benchmark(spec, of_rows)
        problems = tuple(start_problems(spec, settings))
        report = told.setdefault((key, problems), with_problems(reports[key], problems))
        skips = settings.skip_bad_rows and report.rows > 0 and not report.errors
        checks.append(PairCheck(pair.model, pair.dataset, report, report.ok or skips))
    return SuiteCheck(tuple(checks), () if planned is None else planned.notes)
