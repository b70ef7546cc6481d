"""The row checks alone: what a file of questions holds, and every row that could not be asked or scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchwright.benchmarks._doubts import missing_answers
from benchwright.benchmarks._missing_fields import target_problem
from benchwright.benchmarks._prompts import build_prompts
from benchwright.benchmarks._questions.rows import RowRules
from benchwright.benchmarks._scan import RowScan, scan_rows
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BadRow, DatasetError, Row
from benchwright.datasets import open_dataset

LISTED_BAD_ROWS = 100_000
"""How many bad rows are listed; memory stays bounded, and nobody reads more."""


class Tally:
    """Row rules that keep count of the options."""

    def __init__(self, rules: RowRules) -> None:
        self._rules = rules
        self.options: Counter[int] = Counter()
        """Good rows by their number of options."""

    def __call__(self, row: Row) -> None:
        """As the rules themselves."""
        self.options[self._rules.examine(row)] += 1


def tallied(spec: BenchmarkSpec) -> tuple[BenchmarkSpec, Tally | None]:
    """A benchmark whose row rules keep count; None for one that has no such rules."""
    if not isinstance(spec.check_row, RowRules):
        return spec, None
    tally = Tally(spec.check_row)
    return replace(spec, check_row=tally), tally


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """What a file of questions holds."""

    file: str
    """The file as the user wrote it."""
    data_type: str
    """mcq or qa."""
    rows: int = 0
    """Rows that can be asked."""
    answers: int = 0
    """How many of them say what is right."""
    options: Mapping[int, int]
    """Rows of multiple choice by their number of options."""
    columns: tuple[str, ...] = ()
    """Every column that occurs."""
    errors: tuple[str, ...] = ()
    """What holds for the whole file."""
    warnings: tuple[str, ...] = ()
    """What the user should know."""
    bad_rows: tuple[BadRow, ...] = ()
    """Rows that cannot be asked or scored, in the order of the file."""
    bad_total: int = 0
    """How many cannot."""

    @property
    def ok(self) -> bool:
        """Whether every row can be asked and scored."""
        return not self.errors and self.bad_total == 0


def validate_questions(spec: BenchmarkSpec, *, limit: int | None = None) -> FileReport:
    """Look at every row of a file of questions, and list every one that is bad."""
    counting, tally = tallied(spec)
    file = str(spec.dataset)
    options: Counter[int] = Counter() if tally is None else tally.options
    try:
        reader = open_dataset(
            spec.dataset,
            base_dir=spec.base_dir,
            field_mapping=spec.field_mapping,
            limit=limit,
            filters=spec.filters,
            shape=spec.shape,
        )
        scan = scan_rows(counting, reader, build_prompts(spec), LISTED_BAD_ROWS)
    except DatasetError as error:
        return FileReport(
            file=file, data_type=spec.data_type, options={}, errors=(str(error),), bad_rows=error.bad_rows
        )
    return FileReport(
        file=file,
        data_type=spec.data_type,
        rows=scan.rows,
        answers=scan.rows - scan.missing_targets,
        options={count: options[count] for count in sorted(options) if count},
        columns=scan.columns,
        errors=tuple(_errors(spec, scan)),
        warnings=tuple(_warnings(spec, scan)),
        bad_rows=scan.bad_rows,
        bad_total=scan.bad_total,
    )


def _errors(spec: BenchmarkSpec, scan: RowScan) -> list[str]:
    if not scan.rows and not scan.bad_total:
        return ["the file has no rows"]
    problem = target_problem(spec, scan)
    return [*scan.absent, *([] if problem is None else [problem])]


def _warnings(spec: BenchmarkSpec, scan: RowScan) -> list[str]:
    found = list(spec.doubts)
    partly = missing_answers(spec, scan)
    if partly is not None:
        found.append(partly)
    if scan.repeated_prompts:
        again = "1 row repeats" if scan.repeated_prompts == 1 else f"{scan.repeated_prompts} rows repeat"
        found.append(f"{again} what an earlier row asks, word for word")
    return found
