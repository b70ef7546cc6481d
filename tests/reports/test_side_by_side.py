"""Models side by side: every cell with its interval, samples and marks, whatever the width of the terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from benchwright.core import MetricSummary, Outcome, RunSummary
from benchwright.reports import drawn
from benchwright.results import SideBySide, SideRun
from benchwright.store import RunRecord


def metric(value: float, count: int = 40) -> MetricSummary:
    return MetricSummary(
        value, count, 0.1, 0.1, 0.1, value - 0.1, value + 0.1, "wilson", 0.0, 1.0, None, None
    )


def summary(metrics: dict[str, float], **more: Any) -> RunSummary:
    values: dict[str, Any] = {
        "rows": 40, "repeats": 1, "evaluated": 40, "outcomes": {o.value: 0 for o in Outcome}, "failed": 0,
        "comparable": True, "partial": False, "notes": [], "headline": "accuracy", **more,
    }  # fmt: skip
    return RunSummary(metrics={name: metric(value) for name, value in metrics.items()}, **values)


def record(
    number: int, told: RunSummary | None, status: Any = "completed", error: str | None = None
) -> RunRecord:
    return RunRecord(
        id=number, name="x", target="x", model="m", status=status, folder=Path("x"), settings={}, manifest={},
        summary=None if told is None else told.to_json(), error=error, created_at=0.0, finished_at=1.0,
    )  # fmt: skip


GOOD = summary({"accuracy": 0.75, "extraction_rate": 1.0})


def compared(*models: str, **more: Any) -> SideBySide:
    runs = [SideRun(name, "test_mcq", record(number, GOOD)) for number, name in enumerate(models, 1)]
    return SideBySide.of(runs, **more)


def text_of(comparison: SideBySide, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(drawn(comparison))
    return out.getvalue()


def test_the_headline_comes_first_and_may_stand_alone() -> None:
    told = summary({"a_metric": 0.1, "accuracy": 0.75, "z_metric": 0.2})
    runs = [SideRun("one", "data", record(1, told))]
    assert [row.metric for row in SideBySide.of(runs).rows] == ["accuracy", "a_metric", "z_metric"]
    assert [row.metric for row in SideBySide.of(runs, all_metrics=False).rows] == ["accuracy"]


def test_figures_over_repeats_stand_behind_the_metrics() -> None:
    told = replace(GOOD, over_repeats={"pass@4": {"accuracy": metric(0.9)}})
    rows = SideBySide.of([SideRun("one", "data", record(1, told))]).rows
    assert [(row.metric, row.headline) for row in rows] == [
        ("accuracy", True), ("extraction_rate", False), ("accuracy, pass@4", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("run", "marks"),
    [
        (record(1, GOOD), ()),
        (record(1, summary({"accuracy": 0.7}, comparable=False, failed=9)), ("not comparable",)),
        (record(1, summary({"accuracy": 0.7}, comparable=False, partial=True), "interrupted"), ("partial",)),
        (record(1, summary({}, comparable=False, failed=40), "failed", "no answer"), ("failed",)),
        (record(1, None, "interrupted", "interrupted before it began"), ("not begun",)),
    ],
)
def test_what_keeps_a_number_from_being_compared_is_marked(run: RunRecord, marks: tuple[str, ...]) -> None:
    (row, *_) = SideBySide.of([SideRun("one", "data", run)]).rows
    assert row.cells[0].marks == marks


def test_a_run_without_any_number_has_its_reason_below() -> None:
    runs = [
        SideRun("one", "data", record(1, GOOD)),
        SideRun("two", "data", record(2, None, "failed"), problem="the disk is full"),
    ]
    comparison = SideBySide.of(runs)
    assert comparison.rows[0].cells[1].value is None
    assert [(note.grade, note.text) for note in comparison.notes] == [
        ("problem", "data on two: the disk is full")
    ]
    text = text_of(comparison, 100)
    assert "– !" in text
    assert "! failed" in text


def test_a_note_is_said_once_with_the_runs_it_is_about() -> None:
    demo = "These scores come from the demo model and don't describe any real model."
    told = replace(GOOD, notes=[demo])
    runs = [SideRun(name, "data", record(n, told)) for n, name in enumerate(("one", "two"), 1)]
    assert [note.text for note in SideBySide.of(runs).notes] == [demo]
    runs.append(SideRun("three", "data", record(3, GOOD)))
    assert [note.text for note in SideBySide.of(runs).notes] == [f"data on one, data on two: {demo}"]


def test_datasets_and_models_stay_in_order_and_gaps_stay_empty() -> None:
    runs = [
        SideRun("b", "second", record(1, GOOD)),
        SideRun("b", "first", record(2, GOOD)),
        SideRun("a", "first", record(3, GOOD)),
    ]
    comparison = SideBySide.of(runs)
    assert comparison.models == ("b", "a")
    assert list(dict.fromkeys(row.dataset for row in comparison.rows)) == ["second", "first"]
    assert [cell.model for cell in comparison.rows[0].cells] == ["b"]
    assert "0.7500" in text_of(comparison, 80)


def test_two_models_stand_side_by_side_in_eighty_columns() -> None:
    text = text_of(compared("local-model", "other-model"), 80)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    (line,) = [line for line in text.splitlines() if " accuracy " in line]
    assert line.count("0.7500 (0.65 – 0.85)") == 2
    assert "40, run 1" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_more_models_than_fit_get_a_line_each(width: int) -> None:
    names = [f"org/some-model-{n}" for n in range(8)]
    text = text_of(compared(*names), width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert text.count("0.7500 (0.65 – 0.85)") == 8, "no number is folded"
    assert text.index("test_mcq") < text.index("accuracy")


def test_names_cannot_take_over_the_terminal() -> None:
    runs = [SideRun("one\x1b[2J", "da\x1b[2Jta", record(1, GOOD))]
    assert "\x1b[2J" not in text_of(SideBySide.of(runs), 100)


def test_the_shape_for_programs() -> None:
    (row, _) = compared("one").to_json()
    assert row == {
        "dataset": "test_mcq",
        "metric": "accuracy",
        "headline": True,
        "cells": (
            {
                "model": "one", "run_id": 1, "value": 0.75, "ci_low": 0.65, "ci_high": 0.85, "n": 40,
                "evaluated": 40, "failed": 0, "outcomes": GOOD.outcomes, "marks": (), "too_few": False,
            },
        ),
    }  # fmt: skip


def test_intervals_of_too_few_rows_are_marked() -> None:
    few = replace(GOOD, metrics={name: replace(m, too_few=True) for name, m in GOOD.metrics.items()})
    some = replace(GOOD, metrics={**GOOD.metrics, "accuracy": replace(metric(0.75, 8), too_few=True)})
    comparison = SideBySide.of(
        [SideRun("one", "data", record(1, few)), SideRun("two", "data", record(2, few))]
    )
    assert all(cell.too_few for row in comparison.rows for cell in row.cells)
    assert [note.text for note in comparison.notes] == [
        "With fewer than 20 rows, the 95 % intervals are unreliable."
    ]
    assert "unreliable" in text_of(comparison, 80)
    named = SideBySide.of([SideRun("one", "data", record(1, some))]).notes
    assert [note.text for note in named] == [
        "data on one: With fewer than 20 rows, the 95 % intervals of accuracy are unreliable."
    ]
    assert compared("one").notes == ()
