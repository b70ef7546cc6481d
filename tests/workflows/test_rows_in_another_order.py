"""Rows of two runs of a workflow, which end in another order and so have other numbers: whatever leads from one run to the other leads to
the same row."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchwright import WorkflowContext, compare, workflow
from benchwright.core import UsageError
from benchwright.results import Comparison, StoreSamples, sample_document
from benchwright.store import SampleFilter, SampleOrder, Store, Workspace, open_store

ROWS = [*({"n": number} for number in range(9)), {"n": 3}, {"n": 3}]
"""Eleven rows, of which three are copies."""


def performed(
    folder: Path, order: Sequence[int], right: Sequence[bool], *, steps: int = 1, rows: Any = None
) -> None:
    """One run whose rows end in an order, each with its verdict, and with some effort."""

    async def handler(ctx: WorkflowContext) -> None:
        turns = {number: asyncio.Event() for number in (*order, -1)}
        turns[order[0]].set()

        async def one(number: int, following: int) -> None:
            row = (rows or ROWS)[number]
            async with ctx.sample(f"row {number}", row) as sample:
                await turns[number].wait()
                asked = [{"role": "user", "content": f"question {row}"}]
                await ctx.step(
                    step_key=f"ask/{number}",
                    input_value=asked,
                    execute=lambda: {"content": f"reply {number}"},
                )
                sample.score(
                    correct=right[number], latency_s=random.random(), steps=steps, response=f"reply {number}"
                )
            turns[following].set()

        await asyncio.gather(*map(one, order, (*order[1:], -1)))

    asyncio.run(workflow("rows", handler).run(workspace=folder))


def names(store: Store, run_id: int) -> dict[int, str]:
    """The names of a run's rows by the numbers of their samples."""
    found = {}
    for number, *_ in store.scored(run_id):
        document: Any = sample_document(store, store.run(run_id), number, 0)
        found[number] = str(document["name"])
    return found


@pytest.fixture(params=[1, 2, 3])
def two_runs(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[list[bool]]]:
    """Two runs whose rows end in orders drawn from a seed, and the verdicts of both."""
    chance = random.Random(request.param)
    right = [[chance.random() < 0.5 for _ in ROWS] for _ in range(2)]
    for place, each in enumerate(right):
        performed(tmp_path, chance.sample(range(len(ROWS)), len(ROWS)), each, steps=place + 1)
    return tmp_path, right


def test_every_way_from_a_row_leads_to_the_same_row(two_runs: tuple[Path, list[list[bool]]]) -> None:
    folder, right = two_runs
    with open_store(Workspace(folder)) as store:
        known = {run: names(store, run) for run in (1, 2)}
        assert [*known[1].values()] != [*known[2].values()], "they ended in another order"
        for run, other in ((1, 2), (2, 1)):
            for number, name in known[run].items():
                document: Any = sample_document(store, store.run(run), number, 0)
                assert [
                    (each["run_id"], known[other][each["sample_id"]]) for each in document["elsewhere"]
                ] == [(other, name)]
                assert document["elsewhere_unread"] == 0
        flipped = {f"row {place}" for place, (a, b) in enumerate(zip(*right, strict=True)) if a != b}
        places = StoreSamples(store, 2).changed_from(1)
        assert {known[2][place // 10_000] for place in places} == flipped
        for order in (SampleOrder(), SampleOrder("metric:latency_s"), SampleOrder("metric:steps", True)):
            page = StoreSamples(store, 2).page(SampleFilter(places=places), order=order)
            assert {known[2][view.sample_id] for view in page.items} == flipped
        found = compare(1, 2, workspace=folder)
        assert isinstance(found, Comparison)
        assert {change.title for change in found.changed} == flipped
        for change in found.changed:
            numbers = [int(each.partition("/")[0]) for each in (change.step_a, change.step)]
            assert [known[1][numbers[0]], known[2][numbers[1]]] == [change.title] * 2
            assert change.question.startswith("question")
            assert change.texts_a.reply == change.texts_b.reply == f"reply {change.title.split()[1]}"


def test_scores_decide_and_effort_is_told_apart(two_runs: tuple[Path, list[list[bool]]]) -> None:
    folder, right = two_runs
    found = compare(1, 2, workspace=folder)
    assert isinstance(found, Comparison)
    assert (found.noun, found.both, found.only_a, found.only_b) == ("sample", len(ROWS), 0, 0)
    assert [metric.name for metric in found.metrics] == ["correct"]
    assert found.changes == sum(a != b for a, b in zip(*right, strict=True))
    told: Any = found.to_json()
    assert {"latency_s", "steps", "steps_per_row"} <= {each["name"] for each in told["effort"]}
    assert next(each for each in told["effort"] if each["name"] == "steps") == {
        "name": "steps",
        "run_a": 1.0,
        "run_b": 2.0,
    }
    asked = compare(1, 2, workspace=folder, metric="steps")
    assert isinstance(asked, Comparison)
    assert [metric.name for metric in asked.metrics] == ["steps"], "who asks for it gets it tested"
    assert asked.metrics[0].paired is not None


def test_runs_that_differ_only_in_effort_have_the_same_results(tmp_path: Path) -> None:
    for steps in (1, 2):
        performed(tmp_path, range(len(ROWS)), [True] * len(ROWS), steps=steps)
    found = compare(1, 2, workspace=tmp_path)
    assert isinstance(found, Comparison)
    assert (found.differs, found.regressed, found.sentence) == (False, False, "the same results")


def test_rows_with_the_same_name_and_other_content_are_not_paired(tmp_path: Path) -> None:
    performed(tmp_path, range(3), [True] * 3, rows=[{"n": n} for n in range(3)])
    performed(tmp_path, range(3), [True] * 3, rows=[{"n": n, "model": "large"} for n in range(3)])
    found = compare(1, 2, workspace=tmp_path)
    assert isinstance(found, Comparison)
    assert (found.both, found.comparable) == (0, False)
    assert any("give it the row of the data only" in note.text for note in found.notes)


def test_rows_are_found_again_within_patience(tmp_path: Path) -> None:
    for order in (range(11), range(10, -1, -1)):
        performed(tmp_path, order, [True] * 11)
    with open_store(Workspace(tmp_path)) as store:
        found, unread = store.same_row(1, 0, patience_s=-1)
        assert (len(found), unread) in ((1, 0), (0, 1))
        assert [run for run, _ in store.same_row(1, 0)[0]] == [2]
        asyncio.run(workflow("none", _nothing).run(workspace=tmp_path))
        with pytest.raises(UsageError, match=r"run 3 .* has no samples"):
            StoreSamples(store, 3).changed_from(1)
    with open_store(Workspace(tmp_path), read_only=True) as store:
        assert [run for run, _ in store.same_row(1, 5)[0]] == [2]


async def _nothing(ctx: WorkflowContext) -> None:
    """A workflow without rows."""
