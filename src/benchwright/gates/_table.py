"""Shows a verdict on the terminal."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

from benchwright.core import p_text, percent, shown
from benchwright.gates._decide import figure
from benchwright.gates._documents import observed, tests_words
from benchwright.gates._verdict import RuleRow, Verdict, Word

if TYPE_CHECKING:
    from rich.console import Group

_STYLES = {Word.GO: "green", Word.NO_GO: "red", Word.INCONCLUSIVE: "yellow"}

_LONGEST = 80
"""The longest reason inside the table; a longer one is shown below it."""


def verdict_table(verdict: Verdict) -> Group:
    """The verdict, with a line for each rule: observed and required values, and the reason."""
    from rich import box
    from rich.console import Group, RenderableType
    from rich.text import Text

    from benchwright.reports import WholeTable

    against = "" if verdict.baseline is None else f" against {shown(verdict.baseline)}"
    head = Text.assemble(
        (verdict.verdict.value, f"bold {_STYLES[verdict.verdict]}"),
        f": {shown(verdict.run)} ({shown(verdict.name)}){against}, by {shown(verdict.policy)}",
    )
    table = WholeTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("verdict", "rule", "observed", "needed"):
        table.add_column(name, overflow="fold")
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("Holm", justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    for row in verdict.rows:
        table.add_row(
            Text(row.verdict.value, _STYLES[row.verdict]),
            Text(shown(row.rule)),
            Text(observed(row)),
            Text(row.needed),
            _probability(row.p),
            _probability(row.p_holm),
            Text(shown(row.reason) if len(row.reason) <= _LONGEST else "see below"),
        )
    parts: list[RenderableType] = [head]
    if verdict.ended_at is not None:
        parts.append(Text(f"{shown(verdict.run)} ended {_when(verdict.ended_at)}", "dim"))
    parts.append(table)
    parts += [
        Text(f"{shown(row.rule)}: {shown(row.reason)}") for row in verdict.rows if len(row.reason) > _LONGEST
    ]
    found = [row for row in verdict.rows if row.detectable is not None]
    if verdict.tests:
        parts.append(Text(tests_words(verdict), "dim"))
    # Figures with different units have no common size; JSON has them all.
    if found and all(map(_is_share, found)):
        most = max(row.detectable or 0.0 for row in found)
        parts.append(
            Text(
                f"with {percent(verdict.power)} power, misses of {figure(most)} or more would be found in each of them",
                "dim",
            )
        )
    parts += [Text(f"note: {shown(note)}", "dim") for note in verdict.notes]
    return Group(*parts)


def _when(moment: str) -> str:
    """A time of the past with its age, because a verdict on an old run is easily taken for one on today's."""
    from benchwright.reports import duration

    passed = max(0.0, time.time() - datetime.fromisoformat(moment).timestamp())
    days = int(passed // 86_400)
    age = f"{days} days" if days > 1 else f"{passed:.0f} s" if passed < 60 else duration(passed)
    return f"{moment[:16].replace('T', ' ')} UTC, {age} ago"


def _probability(p: float | None) -> str:
    return "" if p is None else p_text(p)


def _is_share(row: RuleRow) -> bool:
    """Whether the figure of a rule may be a share, or a difference of shares."""
    known = [row.observed, row.detectable, *(row.interval or ())]
    return all(value is None or abs(value) <= 1 for value in known)
