"""The one table of scorers by name: `--evaluator`, `--qa-metrics`, `evaluator` in files, graders and `find_scorer` look here.

A name stands in it once, whether it is a scorer of samples, a metric of free answers, or both.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Literal

from msgspec import Struct

from benchwright.core import Registry, UsageError, suggest
from benchwright.scorers._mcq.scorer import mcq_answers
from benchwright.scorers._qa import METRIC_ALIASES, QA_METRICS, qa_answers, spelled
from benchwright.scorers._scorer import NAMED_SCORERS, Scorer


class NamedScorer(Struct, frozen=True, kw_only=True):
    """What a name means."""

    name: str
    scorer: Scorer
    """Scores a sample of any benchmark, without settings."""
    made_from: Literal["mcq", "qa"] | None = None
    """Whose settings it takes in a question file: `mcq_answers` or `qa_answers`; None: it reads them in `sample.config`."""
    metric: str | None = None
    """The metric that the name means to `--qa-metrics`; None: none."""
    any_rows: bool = True
    """Whether `scorer` also scores rows that are not free answers."""


def _built_in() -> Mapping[str, NamedScorer]:
    for module in iter_modules([str(Path(__file__).parent)]):
        if module.name != __name__.rpartition(".")[2]:
            import_module(f"{__package__}.{module.name}")
    rows = [NamedScorer(name="mcq", scorer=mcq_answers(), made_from="mcq")]
    for metric in QA_METRICS:
        scorer = NAMED_SCORERS.get(metric)
        rows.append(
            NamedScorer(
                name=metric,
                scorer=scorer or qa_answers((metric,)),
                made_from="qa",
                metric=metric,
                any_rows=scorer is not None,
            )
        )
    rows.extend(
        NamedScorer(name=name, scorer=NAMED_SCORERS[name], metric=METRIC_ALIASES.get(name))
        for name in sorted(NAMED_SCORERS.keys() - set(QA_METRICS))  # independent of the order of loading
    )
    return {row.name: row for row in rows}


SCORERS = _built_in()
"""Every built-in name. Commands, files and the manual's tests take the names from here."""

SCORER_PLUGINS: Registry[Scorer] = Registry(
    "scorers", lambda value: Registry.check_function(value, 1), built_in=lambda: tuple(SCORERS)
)
"""Scorers of installed packages by name."""


def named_scorer(name: str) -> NamedScorer:
    """What a name means, built in or installed; a metric may be spelled in other ways too.

    Raises:
        UsageError: nothing has this name; the text has similar names.
    """
    found = _find(name)
    if found is None:
        known = (*SCORERS, *SCORER_PLUGINS.names())
        raise UsageError(f"no scorer named {name!r}.{_near(name)} Known: {', '.join(known)}")
    return found


def find_scorer(name: str) -> Scorer:
    """The built-in or installed scorer with this name; a metric of free answers is the scorer that reports it first.

    Raises:
        UsageError: there is none; the text has similar names.
    """
    return named_scorer(name).scorer


def metric_named(name: str) -> str:
    """The metric of free answers that a name means.

    Raises:
        UsageError: nothing has this name, or what has it is not a metric; the text says what it is and where it fits.
    """
    found = _find(name)
    metrics = f"Metrics: {', '.join(QA_METRICS)}"
    if found is None:
        raise UsageError(
            f"unknown metric {name!r} for free answers.{_near(name)} Known: {', '.join(QA_METRICS)}"
        )
    if found.made_from == "mcq":
        raise UsageError(
            f"{name!r} reads the letters of options, and free answers have none; it is no metric. {metrics}"
        )
    if found.metric is None:
        raise UsageError(
            f"{name!r} is a scorer, not a metric for free answers. To score with it: --evaluator {found.name}. {metrics}"
        )
    return found.metric


def _find(name: str) -> NamedScorer | None:
    found = SCORERS.get(name) or SCORERS.get(spelled(name))
    if found is None and (scorer := SCORER_PLUGINS.find(name)) is not None:
        found = NamedScorer(name=name, scorer=scorer)
    return found


def _near(name: str) -> str:
    return suggest(spelled(name), (*SCORERS, *METRIC_ALIASES, *SCORER_PLUGINS.names()))
