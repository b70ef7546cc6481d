"""`benchwright validate FILE`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from benchwright.cli._flags import add_run_flags, run_options
from benchwright.cli._output import Output, option_range
from benchwright.cli._parser import Parser
from benchwright.config import settings_deciding
from benchwright.core import Information, as_json

if TYPE_CHECKING:
    from benchwright.benchmarks import FileReport

_NOT_READY = 2


def configure(parser: Parser) -> None:
    """Arguments of `validate`: the flags of `run` that decide what a row must contain."""
    parser.add_argument("file", metavar="FILE", help="test.csv, test.jsonl, or another file of questions")
    add_run_flags(parser, only=("limit", "encoding", "sheet", "header_row", *settings_deciding("columns")))
    parser.common.add_argument("-q", "--quiet", action="store_true", help="print problems only")
    parser.example("benchwright validate test_mcq.csv")


def execute(arguments: Namespace, output: Output) -> int:
    """Print every bad row with its line; JSON: the report and its exit code. Exit code 2 if there is any."""
    from benchwright.runs import validate

    report = validate(arguments.file, run_options(arguments))
    code = 0 if report.ok else _NOT_READY
    if output.as_json:
        counts = {str(count): rows for count, rows in report.options.items()}
        output.json({"ok": report.ok, **as_json(report), "options": counts, "exit_code": code})
        return code
    from benchwright.core import printable

    for line in _lines(report, quiet=arguments.quiet):
        output.line(printable(line))
    return code


def _lines(report: FileReport, *, quiet: bool) -> list[str]:
    lines = [f"error: {error}" for error in report.errors]
    lines += [str(bad) for bad in report.bad_rows if str(bad) not in report.errors]
    if report.bad_total > len(report.bad_rows):
        more = report.bad_total - len(report.bad_rows)
        lines.append(f"… and {more:,} more bad {'row' if more == 1 else 'rows'}")
    if quiet:
        return lines
    told = [text for text in report.warnings if isinstance(text, Information)]
    lines += [f"warning: {warning}" for warning in report.warnings if warning not in told]
    lines += [f"notes: {'; '.join(text.rstrip('.') for text in told)}"] if told else []
    return [*lines, summary_line(report)]


def summary_line(report: FileReport) -> str:
    """Describe the content of the file in one line.

    >>> from benchwright.benchmarks import FileReport
    >>> summary_line(FileReport(file="x.csv", data_type="mcq", rows=4, answers=3, options={3: 4}))
    'x.csv: mcq, 4 rows with 3 options (A-C), answers in 3: ready'
    """
    rows = "1 row" if report.rows == 1 else f"{report.rows:,} rows"
    parts = [*filter(None, [report.data_type]), f"{rows}{_options(report)}"]
    if report.rows:
        everywhere = report.answers == report.rows
        some = f"answers in {report.answers:,}" if report.answers else "no answers"
        parts.append("all with answers" if everywhere else some)
    verdict = "ready"
    if not report.ok:
        bad = "1 bad row" if report.bad_total == 1 else f"{report.bad_total:,} bad rows"
        verdict = bad if report.bad_total else "cannot be run"
    return f"{report.file}: {', '.join(parts)}: {verdict}"


def _options(report: FileReport) -> str:
    if not report.options:
        return ""
    return f" with {option_range(report.options)}"
