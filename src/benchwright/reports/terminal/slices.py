"""Shows the slices of a run on the terminal: the worst first, each next to the whole."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.core import p_text, printable
from benchwright.reports.blocks import Block, Cell, Table, line, lines, numbers
from benchwright.results import Slice, Slices, number, plural

_TESTS = {"fisher": "Fisher's exact test", "welch": "Welch's test of row means"}


def slices_blocks(view: Slices) -> Iterator[Block]:
    """One sentence, one line for each value, and how it was tested."""
    yield line()
    yield line(printable(slices_sentence(view)), "bold")
    yield Table(
        numbers(
            printable(view.column),
            view.metric,
            "95 % interval",
            "difference",
            "rows",
            *(["failed"] if view.whole.failed else ()),
            "p",
        ),
        (*(_row(each, view) for each in view.slices), _row(view.whole, view, whole=True)),
    )
    yield lines(_remarks(view), "dim")


def slices_sentence(view: Slices) -> str:
    """Which slices differ from the rest of the run."""
    found = [each for each in view.slices if each.significant]
    what = f"{view.metric} by {view.column}"
    if not found:
        return f"{what}: no slice differs significantly from the rest of the run"
    below = [each for each in found if ((each.difference or 0) > 0) == view.lower_is_better]
    above = [each for each in found if each not in below]
    parts = [
        f"significantly {word} than the rest: {', '.join(map(_name, those))}"
        for word, those in (("worse", below), ("better", above))
        if those
    ]
    return f"{what}: {'; '.join(parts)}"


def _name(each: Slice) -> str:
    return "rows without a value" if each.value is None else each.value


def _row(each: Slice, view: Slices, *, whole: bool = False) -> tuple[Cell, ...]:
    worse = ((each.difference or 0) > 0) == view.lower_is_better
    style = ("red" if worse else "green") if each.significant else ""
    known = each.ci_low is not None and each.ci_high is not None
    interval = f"{number(each.ci_low or 0.0)} – {number(each.ci_high or 0.0)}" if known else "–"
    name = "all rows" if whole else "(no value)" if each.value is None else printable(each.value)
    return (
        (name, "bold" if whole else "dim" if each.value is None else ""),
        "–" if each.mean is None else number(each.mean),
        interval,
        ("–" if each.difference is None else f"{each.difference:+.4f}", style),
        f"{each.rows:,}{' (few)' if each.small else ''}",
        *([f"{each.failed:,}"] if view.whole.failed else ()),
        "–" if each.p_adjusted is None else p_text(each.p_adjusted),
    )


def _remarks(view: Slices) -> Iterator[str]:
    if view.tests:
        corrected = (
            f", p corrected for {plural(view.tests, 'test')} by Holm's method" if view.tests > 1 else ""
        )
        yield f"each slice against all other rows: {_TESTS[view.test]}{corrected}"
    if view.binned:
        yield f"{printable(view.column)} has too many values for a slice each, so slices are ranges with about the same number of rows"
    if view.overlapping:
        yield f"a row with several values of {printable(view.column)} is in several slices"
    if any(each.small for each in view.slices):
        yield "few: fewer than 20 rows, so the interval is unreliable"
