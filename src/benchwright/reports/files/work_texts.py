"""The summary as plain text, CSV, Markdown and JSON."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import orjson

from benchwright.core import Outcome, printable
from benchwright.reports.blocks import Block, Heading, Table, lines
from benchwright.reports.markup import markdown
from benchwright.results import (
    METRIC_NAMES,
    SideCell,
    WorkLine,
    WorkTable,
    without_formula,
)


def summary_text(table: WorkTable) -> str:
    """The summary for a terminal or a mail: two tables in columns, and the notes."""
    parts = ["".join(f"{printable(verdict)}\n" for verdict in table.verdicts)] if table.verdicts else []
    parts += [_columns(headings, rows) for headings, rows in table.tables()]
    if table.notes:
        parts.append("".join(f"{note.label}: {printable(note.text)}\n" for note in table.notes))
    return "\n".join(parts)


def summary_markdown(table: WorkTable) -> str:
    blocks: list[Block] = [Table(tuple(map(Heading, names)), tuple(rows)) for names, rows in table.tables()]
    if table.verdicts:
        blocks.insert(0, lines(table.verdicts))
    if table.notes:
        blocks.append(lines(f"{note.label}: {note.text}" for note in table.notes))
    return markdown(blocks)


def summary_csv(table: WorkTable) -> str:
    """One line per dataset and metric; columns after the models' figures say what each is based on. Figures are bare
    numbers."""
    import csv

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    more = [f"{model} {name}" for model in table.models for name in _CSV_COLUMNS]
    writer.writerow(map(without_formula, [*table.headings, *more]))
    for line in table.lines:
        cells = [line.cells.get(model) for model in table.models]
        figures = ["" if cell is None else line.text(cell.value, "") for cell in cells]
        names = map(without_formula, (line.dataset, line.version, line.metric, line.mode))
        rests = [
            "" if cell is None else column(line, cell) for cell in cells for column in _CSV_COLUMNS.values()
        ]
        writer.writerow([*names, *figures, *rests])
    return stream.getvalue()


def summary_json(table: WorkTable) -> bytes:
    """The summary for programs: unrounded, with the run of every cell."""
    return orjson.dumps(table.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


_CSV_COLUMNS: dict[str, Callable[[WorkLine, SideCell], str]] = {
    "n": lambda line, cell: str(cell.n),
    METRIC_NAMES["ci_low"]: lambda line, cell: line.text(cell.ci_low, ""),
    METRIC_NAMES["ci_high"]: lambda line, cell: line.text(cell.ci_high, ""),
    "failed": lambda line, cell: str(cell.failed),
    "run": lambda line, cell: str(cell.run_id),
    **{
        outcome.value: lambda line, cell, name=outcome.value: str(cell.outcomes.get(name, ""))  # type: ignore[misc]
        for outcome in Outcome
    },
}
"""Columns that say what each figure is based on, for every model."""


def _columns(headings: Sequence[str], rows: Sequence[list[str]]) -> str:
    """Align cells with spaces: texts to the left, figures to the right."""
    written = [[printable(" ".join(cell.split())) for cell in row] for row in ([*headings], *rows)]
    widths = [max(map(len, column)) for column in zip(*written, strict=True)]
    written.insert(1, ["-" * width for width in widths])
    figures = [_is_figures(column[2:]) for column in zip(*written, strict=True)]
    lines = []
    for row in written:
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, figures, strict=True)
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _is_figures(column: Sequence[str]) -> bool:
    return all(cell == "–" or cell.replace(",", "").replace(".", "").isdigit() for cell in column)
