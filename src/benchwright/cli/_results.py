"""Prints the results of `run`, `resume` and `rescore`, and derives the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchwright.cli._output import Output
from benchwright.core import worst_exit_code

if TYPE_CHECKING:
    from benchwright.sdk import RunResult


def print_result(result: RunResult, output: Output) -> None:
    """Print the table of one result; nothing in JSON mode, where all are printed together."""
    if output.as_json:
        return
    note_problems(result, result.name, output)
    from benchwright.reports import result_table

    output.show(result_table(result.view))


def note_problems(result: RunResult, name: str, output: Output) -> None:
    """Print each problem on a line of its own, to standard error."""
    for problem in result.report_problems:
        output.note(f"error: {name} ended, but {problem}")
    if result.exit_code == 1 and result.first_failure and not result.report_problems:
        output.note(f"error: {name} failed: {result.first_failure}")


def conclude(results: Sequence[RunResult], output: Output) -> int:
    """Print `{"results": […], "exit_code": n}` in JSON mode; the exit code of the worst result."""
    code = worst_exit_code([result.exit_code for result in results])
    if output.as_json:
        output.json({"results": [result.to_json() for result in results], "exit_code": code})
    return code
