"""Labels on the rows of workflows: the same commands, sheets and blind grading as for samples of benchmarks, and what they change."""

from __future__ import annotations

import asyncio
import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchwright import WorkflowContext, workflow
from benchwright.cli import main
from benchwright.results import LabelList, kind_of
from benchwright.runs import blind_samples, export_labels, import_labels, judge_agreement, run_labels
from benchwright.store import Store, Workspace, open_store

ROWS = 12


def performed(folder: Path, order: Sequence[int]) -> None:
    """A run whose rows end in an order; every third is wrong, and a judge grades all."""

    async def handler(ctx: WorkflowContext) -> None:
        for number in order:
            async with ctx.sample(f"row {number}", {"n": number}) as sample:
                correct = number % 3 != 0
                sample.score(
                    correct=correct, judge_grade=5 if correct else 2, response=f"reply {number}", target="x"
                )

    asyncio.run(workflow("rows", handler).run(workspace=folder))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    for order in (range(ROWS), range(ROWS - 1, -1, -1)):
        performed(tmp_path, order)
    return open_store(Workspace(tmp_path))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_out_moves_the_mean_exactly(store: Store, seed: int) -> None:
    gone = set(random.Random(seed).sample(range(ROWS), 3))
    for number in gone:
        store.add_label(LabelList.new(store, 1, number, 0, kind="ambiguous", value=None, who="ann"))
    kept = [number % 3 != 0 for number in range(ROWS) if number not in gone]
    for run in map(store.run, (1, 2)):
        effect = run_labels(store, run).effect
        assert effect is not None
        assert (effect.left_out, effect.corrected, effect.metric) == (3, 0, "correct")
        assert effect.exact is not None
        assert (effect.exact.value, effect.exact.count) == (pytest.approx(sum(kept) / len(kept)), len(kept))
        assert "rescore" not in effect.sentence(run.id), "no command scores the rows of a program again"
        shown = kind_of(run).details(store, run).to_json()
        assert isinstance(shown["labels"], dict)
        assert shown["labels"]["text"] == effect.sentence(run.id)


def test_what_a_program_must_score_again_is_given_as_a_range(store: Store) -> None:
    store.add_label(LabelList.new(store, 1, 0, 0, kind="gold", value="y", who="ann"))
    effect = run_labels(store, store.run(1)).effect
    assert effect is not None
    assert (effect.corrected, effect.exact) == (1, None)
    assert effect.low == pytest.approx(8 / 12)
    assert effect.high == pytest.approx(9 / 12)
    assert "the program of the workflow scores its rows" in effect.sentence(1)


def test_a_sheet_of_one_run_labels_the_same_rows_of_another(store: Store, tmp_path: Path) -> None:
    sheet, lines = export_labels(store, store.run(1), tmp_path / "labels.csv")
    assert lines == ROWS
    with sheet.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    for line in found:
        line["note"] = f"about {line['response']}"
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, found[0])
        writer.writeheader()
        writer.writerows(found)
    assert import_labels(store, store.run(2), sheet, "ann")[1]["added"] == ROWS
    for run in (1, 2):
        rows = {row: number for number, _, row in store.labelled(run)}
        for label in store.labels(rows):
            number = rows[label.row] if run == 1 else ROWS - 1 - rows[label.row]
            assert label.value == f"about reply {number}"
    assert main(["labels", "2", "--workspace", str(tmp_path)]) == 0


def test_replies_are_graded_blindly_and_the_judge_is_calibrated(store: Store) -> None:
    found = blind_samples(store, [1], 1, 100)
    assert found["grades"] == ["5", "2"], "the best first"
    assert isinstance(found["samples"], list)
    assert len(found["samples"]) == found["graded"] == ROWS
    for number in range(ROWS):
        store.add_label(LabelList.new(store, 1, number, 0, kind="judge", value="5", who="ann"))
    agreed = judge_agreement(store, [1])["runs"]
    assert isinstance(agreed, dict)
    assert isinstance(agreed["1"], dict)
    assert agreed["1"]["accuracy"] == pytest.approx(8 / 12)
