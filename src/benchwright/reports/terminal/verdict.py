"""Shows a verdict on the terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

from benchwright.core import p_text, percent, shown
from benchwright.reports.blocks import Block, Fitting, Heading, Lines, Table, line, lines
from benchwright.reports.files.verdict_documents import observed, tests_words
from benchwright.reports.terminal.comparison import broken
from benchwright.reports.terminal.result import note_lines
from benchwright.results import RuleRow, Verdict, Word, figure

_STYLES = {Word.GO: "green", Word.NO_GO: "red", Word.INCONCLUSIVE: "yellow"}

_LONGEST = 80
"""The longest reason inside the table; a longer one is shown below it."""


def verdict_blocks(verdict: Verdict) -> Iterator[Block]:
    """The verdict, with a line for each rule: observed and required values, and the reason."""
    against = "" if verdict.baseline is None else f" against {shown(verdict.baseline)}"
    about = f": {shown(verdict.run)} ({shown(verdict.name)}){against}, by {shown(verdict.policy)}"
    yield Lines((((verdict.verdict.value, f"bold {_STYLES[verdict.verdict]}"), (about, "")),))
    if verdict.ended_at is not None:
        yield line(f"{shown(verdict.run)} ended {_when(verdict.ended_at)}", "dim")
    yield Fitting(tuple(_table(verdict, short=short) for short in (False, True)))
    yield lines(
        f"{shown(row.rule)}: {shown(row.reason)}" for row in verdict.rows if len(row.reason) > _LONGEST
    )
    found = [row for row in verdict.rows if row.detectable is not None]
    if verdict.tests:
        yield line(tests_words(verdict), "dim")
    # Figures with different units have no common size; JSON has them all.
    if found and all(map(_is_share, found)):
        most = max(row.detectable or 0.0 for row in found)
        yield line(
            f"{'the' if verdict.tests == 1 else 'each'} test would find a miss of {figure(most)} or more with {percent(verdict.power)} power",
            "dim",
        )
    yield note_lines(verdict.notes)


def _table(verdict: Verdict, *, short: bool) -> Table:
    """`short` breaks names."""
    texts = map(Heading, ("verdict", "rule", "observed", "needed"))
    figures = (Heading(name, right=True, whole=True) for name in ("p", "Holm"))
    rows = (
        (
            (row.verdict.value, _STYLES[row.verdict]),
            broken(shown(row.rule)) if short else shown(row.rule),
            observed(row),
            row.needed,
            _probability(row.p),
            _probability(row.p_holm),
            shown(row.reason) if len(row.reason) <= _LONGEST else "see below",
        )
        for row in verdict.rows
    )
    return Table((*texts, *figures, Heading("why")), tuple(rows), padding="tight")


def _when(moment: str) -> str:
    """A time of the past with its age, because a verdict on an old run is easily taken for one on today's."""
    from benchwright.results import duration

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
