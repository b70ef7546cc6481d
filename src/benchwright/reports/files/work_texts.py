"""The summary as plain text, CSV, Markdown and JSON."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import orjson

from benchwright.core import OUTCOMES, printable
from benchwright.reports.views.text import without_formula
from benchwright.reports.views.work_table import Cell, SummaryTable

HEADINGS = ("dataset", "version", "metric", "mode")
"""Columns in front of the models."""
BESIDE = (
    "model",
    "dataset",
    "metric",
    "value",
    "95 % interval",
    "n",
    "samples",
    "failed",
    "run",
    "remark",
    *OUTCOMES,
)
"""Columns of the second table: what a figure rests on."""


def summary_text(table: SummaryTable) -> str:
    """For a terminal or a mail: two tables in columns, and the notes."""
    parts = [_columns((*HEADINGS, *table.models), _main(table)), _columns(BESIDE, beside(table))]
    if table.notes:
        parts.append("".join(f"note: {printable(note)}\n" for note in table.notes))
    return "\n".join(parts)


def summary_markdown(table: SummaryTable) -> str:
    """The same as Markdown."""
    parts = [_pipes((*HEADINGS, *table.models), _main(table)), _pipes(BESIDE, beside(table))]
    if table.notes:
        parts.append("".join(f"* {_markdown(note)}\n" for note in table.notes))
    return "\n".join(parts)


def summary_csv(table: SummaryTable) -> str:
    """One line per dataset and metric; behind the models' figures what each rests on. Figures are bare numbers."""
    import csv

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    more = ("n", "ci95_low", "ci95_high", "failed", "run", *OUTCOMES)
    writer.writerow(
        map(
            without_formula,
            [*HEADINGS, *table.models, *(f"{model} {name}" for model in table.models for name in more)],
        )
    )
    for line in table.lines:
        cells = [line.cells.get(model) for model in table.models]
        figures = ["" if cell is None or cell.value is None else f"{cell.value:.2f}" for cell in cells]
        writer.writerow(
            [
                *map(without_formula, (line.dataset, line.version, line.metric, line.mode)),
                *figures,
                *chain.from_iterable(map(_more, cells)),
            ]
        )
    return stream.getvalue()


def summary_json(table: SummaryTable) -> bytes:
    """For programs: unrounded, with every cell's run."""
    document: dict[str, Any] = {
        "models": list(table.models),
        "lines": [
            {
                "dataset": line.dataset,
                "version": line.version,
                "metric": line.metric,
                "mode": line.mode,
                "unit": "percent" if line.percent else "as scored",
                "models": {model: _cell_json(cell) for model, cell in line.cells.items()},
            }
            for line in table.lines
        ],
        "notes": list(table.notes),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def beside(table: SummaryTable) -> Iterator[list[str]]:
    """What each figure rests on, one line for each."""
    for line in table.lines:
        for model, cell in line.cells.items():
            yield [
                model, line.dataset, line.metric, cell.text, interval(cell), f"{cell.count:,}", f"{cell.samples:,}",
                f"{cell.failed:,}", str(cell.run_id), cell.remark,
                *(f"{cell.outcomes[outcome]:,}" if outcome in cell.outcomes else "–" for outcome in OUTCOMES),
            ]  # fmt: skip


def interval(cell: Cell) -> str:
    """`61.20 – 74.05`; a width of zero comes of too few values, not of certainty, and is not shown."""
    if cell.low is None or cell.high is None or cell.low == cell.high:
        return "–" if cell.value is None else "too few"
    return f"{cell.low:.2f} – {cell.high:.2f}{' (too few)' * cell.too_few}"


def _main(table: SummaryTable) -> Iterator[list[str]]:
    for line in table.lines:
        cells = [line.cells.get(model) for model in table.models]
        yield [
            line.dataset,
            line.version,
            line.metric,
            line.mode,
            *("–" if c is None else c.text for c in cells),
        ]


def _columns(headings: Sequence[str], rows: Iterator[list[str]]) -> str:
    """Aligned with blanks: texts to the left, figures to the right."""
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


def _pipes(headings: Sequence[str], rows: Iterator[list[str]]) -> str:
    lines = ["| " + " | ".join(map(_markdown, headings)) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(map(_markdown, row)) + " |" for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _markdown(text: str) -> str:
    """Text that stays text: no table, no emphasis, no HTML comes of a name."""
    plain = " ".join(printable(text).split())
    for mark in "\\`*_[]<>|":
        plain = plain.replace(mark, "\\" + mark)
    return plain


def _more(cell: Cell | None) -> list[str]:
    if cell is None:
        return [""] * (5 + len(OUTCOMES))
    low, high = ("" if end is None else f"{end:.2f}" for end in (cell.low, cell.high))
    ends = [str(cell.outcomes[outcome]) if outcome in cell.outcomes else "" for outcome in OUTCOMES]
    return [str(cell.count), low, high, str(cell.failed), str(cell.run_id), *ends]


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {
        "value": cell.value,
        "ci95_low": cell.low,
        "ci95_high": cell.high,
        "n": cell.count,
        "samples": cell.samples,
        "failed": cell.failed,
        "outcomes": cell.outcomes or None,
        "run_id": cell.run_id,
        "remark": cell.remark or None,
    }
