"""Writes a comparison as one file: a page, Markdown, a LaTeX table, CSV or a workbook."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchwright.core import UsageError, encode_json, known_secrets, load_json, p_text, printable, replacing
from benchwright.reports.files.export import plain_cell
from benchwright.reports.files.workbook import note_table, write_workbook
from benchwright.results import Comparison, ManyRuns, number, without_formula

_HEADINGS = (
    "metric", "run_a", "model_a", "run_b", "model_b", "value_a", "value_b", "pairs", "mean_a", "mean_b",
    "difference", "ci_low", "ci_high", "wins", "losses", "ties", "p_adjusted", "significant", "column", "slice",
)  # fmt: skip
_SAMPLES = (
    "run_a",
    "sample_a",
    "run_b",
    "sample_b",
    "why",
    "metric",
    "prompt",
    "target",
    "reply_a",
    "reply_b",
    "score_a",
    "score_b",
)
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$", "<": r"\textless{}", ">": r"\textgreater{}",
    }
)  # fmt: skip


def write_comparison(view: ManyRuns, path: Path) -> None:
    """Write a comparison in the format of the file's extension. The file is complete or absent."""
    with replacing(path) as temporary:
        if path.suffix.lower() == ".xlsx":
            sheets: dict[str, Iterable[list[Any]]] = {
                "summary": _differences(view),
                **({"notes": note_table(view.notes)} if view.notes else {}),
                "changed samples": _changed(view),
            }
            write_workbook(temporary, {name: map(_clean, rows) for name, rows in sheets.items()})
        else:
            temporary.write_bytes(COMPARISON_FORMATS[path.suffix.lower()](view))


def _page(view: ManyRuns) -> bytes:
    from benchwright.reports.pages.report import report_page

    title = f"{', '.join(side.title for side in view.runs)} compared"
    title = title[0].upper() + title[1:]
    command = "benchwright compare " + " ".join(str(side.id) for side in view.runs)
    return report_page("compare", view.to_json(), title=title, elsewhere=command)


def _markdown(view: ManyRuns) -> bytes:
    from benchwright.reports.markup import markdown
    from benchwright.reports.views import blocks_of

    return markdown(blocks_of(view)).encode()


def _csv(view: ManyRuns) -> bytes:
    import csv

    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerows([without_formula(cell) for cell in _clean(row)] for row in _differences(view))
    return stream.getvalue().encode()


def _latex(view: ManyRuns) -> bytes:
    """A table of every difference, for `booktabs`."""
    lines = [
        r"\begin{tabular}{llrrrrr}",
        r"\toprule",
        r"metric & runs & before & after & difference & 95\,\% interval & $p$ \\",
        r"\midrule",
    ]
    for row in list(_differences(view))[1:]:
        cells = dict(zip(_HEADINGS, _clean(row), strict=False))
        # The means of the rows that both runs have, so that the difference is theirs.
        means = ("value_a", "value_b") if cells["pairs"] is None else ("mean_a", "mean_b")
        known = [_number(cells[name]) for name in (*means, "difference")]
        ends = (
            "--" if cells["ci_low"] is None else f"{_number(cells['ci_low'])} to {_number(cells['ci_high'])}"
        )
        p_value = "--" if cells["p_adjusted"] is None else f"${p_text(cells['p_adjusted'])}$"
        part = f" ({cells['column']} = {cells['slice']})" if cells.get("column") else ""
        names = [latex(f"{cells['metric']}{part}"), latex(f"{cells['run_b']} vs. {cells['run_a']}")]
        lines.append(" & ".join([*names, *known, ends, p_value]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""]).encode()


def latex(text: str) -> str:
    r"""Escape foreign text for LaTeX: nothing in it is a command, and it has one line.

    >>> latex("a_b & 5 % \\input{x}")
    'a\\_b \\& 5 \\% \\textbackslash{}input\\{x\\}'
    """
    return re.sub(r"\s+", " ", printable(text)).translate(_LATEX)


def _number(value: Any) -> str:
    return "--" if value is None else f"${number(value)}$"


def _differences(view: ManyRuns) -> Iterator[list[Any]]:
    """Every metric of every run against the first, and every other pair by the headline metric, after a header. Raises UsageError for
    load tests, whose figures belong to levels."""
    if not all(isinstance(each, Comparison) for each in view.comparisons):
        raise UsageError(
            "comparisons of load tests are written as .html or .md; choose one of them with -o FILE"
        )
    yield list(_HEADINGS) if view.slices else list(_HEADINGS[:-2])
    rest = [None, None] if view.slices else []
    names = {side.id: (side.title, side.model_name) for side in view.runs}
    headline: dict[int, float | None] = {}
    for each in view.comparisons:
        for metric in each.metrics if isinstance(each, Comparison) else ():
            sides = [None if side is None else side.value for side in (metric.run_a, metric.run_b)]
            tested: Any = metric
            if metric.name == view.metric:
                headline |= dict(zip((each.run_a.id, each.run_b.id), sides, strict=True))
                tested = view.pair(each.run_a.id, each.run_b.id) or metric  # as the table of pairs has it
            yield [
                metric.name, *names[each.run_a.id], *names[each.run_b.id], *sides,
                *_figures(metric.paired), tested.p_adjusted, tested.significant, *rest,
            ]  # fmt: skip
        for used in (
            each.effort if isinstance(each, Comparison) else ()
        ):  # not tested: it is neither won nor lost
            sides = [None if side is None else side.value for side in (used.run_a, used.run_b)]
            yield [
                used.name,
                *names[each.run_a.id],
                *names[each.run_b.id],
                *sides,
                *_figures(None),
                None,
                None,
                *rest,
            ]
    for pair in view.pairs if len(view.comparisons) > 1 else ():
        if pair.run_a != view.runs[0].id:
            sides = [headline.get(run) for run in (pair.run_a, pair.run_b)]
            yield [
                view.metric, *names[pair.run_a], *names[pair.run_b], *sides, *_figures(pair.paired), pair.p_adjusted,
                pair.significant, *rest,
            ]  # fmt: skip
    for by in view.slices:  # after the whole, which they are parts of
        for value, part in by.slices:
            yield [
                by.metric, *names[by.run_a], *names[by.run_b], None, None, *_figures(part.paired), part.p_adjusted, part.significant,
                by.column, "(none)" if value is None else value,
            ]  # fmt: skip


def _figures(paired: Any) -> list[Any]:
    names = ("pairs", "mean_a", "mean_b", "difference", "ci_low", "ci_high", "wins", "losses", "ties")
    return [None if paired is None else getattr(paired, name) for name in names]


def _changed(view: ManyRuns) -> Iterator[list[Any]]:
    """The samples that changed, after a header: the first ones, as many as were listed, each with the data's own columns."""
    found = [
        (each, change, load_json(change.texts_b.row or b"{}"))
        for each in view.comparisons
        for change in (each.changed if isinstance(each, Comparison) and each.noun == "sample" else ())
    ]
    own = list(dict.fromkeys(name for _, _, row in found if isinstance(row, dict) for name in row))
    yield [*_SAMPLES, *(f"row.{name}" if name in _SAMPLES else name for name in own)]
    for each, change, row in found:
        sides: list[Any] = [side if isinstance(side, dict) else {} for side in (change.run_a, change.run_b)]
        scores = [(side.get("scores") or {}).get(change.metric) for side in sides]
        target = sides[1].get("target")
        yield [
            each.run_a.title, change.step_a, each.run_b.title, change.step, change.why, change.metric, change.question,
            target if isinstance(target, str | None) else encode_json(target).decode(),
            change.texts_a.reply, change.texts_b.reply, *scores,
            *(plain_cell(row.get(name) if isinstance(row, dict) else None) for name in own),
        ]  # fmt: skip


def _clean(cells: list[Any]) -> list[Any]:
    """Cells without secrets."""
    return [known_secrets().clean(cell) if isinstance(cell, str) else cell for cell in cells]


COMPARISON_FORMATS: dict[str, Callable[[ManyRuns], bytes]] = {
    ".html": _page,
    ".md": _markdown,
    ".tex": _latex,
    ".csv": _csv,
}
"""Writers by the extension of the file; workbooks are written piece by piece."""
