"""What a comparison of workflows adds on the terminal: where inputs, outputs and steps differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchwright.core import JsonValue, exact_json, printable
from benchwright.reports.views.comparison import Comparison, field_differences

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_LONGEST = 80


def workflow_parts(comparison: Comparison) -> list[RenderableType]:
    """Rich renderables, in order."""
    from rich.text import Text

    parts: list[RenderableType] = []
    for heading, found in (("input", comparison.inputs), ("output", comparison.outputs)):
        differences = found.get("differences")
        if isinstance(differences, list) and differences:
            parts += [Text(), Text(f"{heading} differs", "bold"), _table(comparison, [("", differences)])]
    if comparison.changed:
        rows = [(change.step, field_differences(change.run_a, change.run_b)) for change in comparison.changed]
        parts += [Text(), Text("steps with other outputs", "bold"), _table(comparison, rows)]
    others = [pair for pair in comparison.steps if pair.present != "both" or pair.output == "same"]
    if others:
        parts += [Text(), Text("other steps that are not the same", "bold")]
        for pair in others:
            run = comparison.run_a.id if pair.present == "only_a" else comparison.run_b.id
            said = (
                f"only in run {run}"
                if pair.present != "both"
                else f"input {pair.input}, status {pair.status}"
            )
            parts.append(Text(f"{printable(pair.step)}: {said}"))
    return parts


def _table(comparison: Comparison, rows: list[tuple[str, list[JsonValue]]]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    named = any(step for step, _ in rows)
    table = Table(box=box.SIMPLE_HEAD)
    headings = ["field", f"run {comparison.run_a.id}", f"run {comparison.run_b.id}"]
    for heading in ["step", *headings] if named else headings:
        table.add_column(heading, overflow="fold")
    for step, differences in rows:
        for difference in differences:
            if isinstance(difference, dict):
                cells = [str(difference["path"]), _short(difference["run_a"]), _short(difference["run_b"])]
                told = [step, *cells] if named else cells
                table.add_row(*(Text(printable(cell)) for cell in told))
    return table


def _short(value: JsonValue) -> str:
    text = exact_json(value).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
