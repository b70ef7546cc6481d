"""Renders HTML pages and fragments. They load no external resources, and no name in a view becomes markup."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from benchwright.core import OUTCOMES, RunSummary, printable
from benchwright.reports.html.policy import part, policy
from benchwright.results import (
    FIGURE_COLUMNS,
    ResultView,
    SideBySide,
    WorkTable,
    cost_lines,
    figures_to_show,
    headline_of,
    interval_of,
    no_interval,
)

if TYPE_CHECKING:
    from jinja2 import Environment


def work_page(table: WorkTable, title: str) -> str:
    """The summary of a work folder as a page for a browser."""
    return page(
        "work_folder.html",
        styles=("style.css", "work_folder.css"),
        title=title,
        table=table,
        datasets=len({line.dataset for line in table.lines}),
        columns=[column for column in FIGURE_COLUMNS if column.heading not in OUTCOMES],  # they have bars
        outcomes=[outcome.value for outcome in OUTCOMES],
        costs=[(run.title, lines) for run in table.runs if (lines := _cost(run.details.result))],
    )


def _cost(summary: RunSummary | None) -> list[str]:
    return [] if summary is None else cost_lines(summary.cost)


def result_fragment(view: ResultView) -> str:
    """The result of one run, for notebooks."""
    summary = view.summary
    cost = [f"cost: {line}" for line in _cost(summary)]
    if equal := figures_to_show(summary)[1]:
        cost.append(f"{', '.join(equal)}: the same as {headline_of(summary)}")
    notes = [*(note.text for note in view.notes), *filter(None, [view.first_failure]), *cost]
    return render(
        "result.html", view=view, metrics=figures_to_show(summary)[0], notes=list(dict.fromkeys(notes))
    )


def suite_fragment(name: str, comparison: SideBySide) -> str:
    """The result of a suite, for notebooks: a column for each model."""
    return render("suite.html", name=name, comparison=comparison)


def page(template: str, *, styles: Sequence[str], script: str | None = None, **values: Any) -> str:
    """A whole page, with the policy that allows exactly its own styles and script."""
    from markupsafe import Markup

    style = b"".join(map(part, styles))
    code = b"" if script is None else part(script)
    own = {"style": Markup(style.decode()), "script": Markup(code.decode()), "policy": policy(style, code)}
    return render(template, **own, **values)


def render(template: str, **values: Any) -> str:
    """Render a template of this package. All texts are escaped."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("benchwright.reports.html"),
        autoescape=True,  # for every template name
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["interval"] = lambda metric: interval_of(metric) or no_interval(metric)
    environment.filters["percent"] = lambda share: f"{min(100.0, max(0.0, share)):.2f}"
    return environment


def _shown(value: Any) -> Any:
    """Text without control characters. `Markup`, a subclass of `str`, comes only from our templates."""
    return printable(value) if type(value) is str else value
