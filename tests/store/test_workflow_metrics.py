"""Metric points, events and pages of workflow runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal

import pytest
from workflow_sides import Side, side_of

from benchwright.core import NotFoundError, UsageError
from benchwright.store import MetricTotals, Store
from stored_workflows import created_workflow


@pytest.fixture(params=["direct", "writer"])
def side(request: pytest.FixtureRequest, store: Store) -> Iterator[Side]:
    with side_of(store, request.param) as side:
        yield side


def points(side: Side) -> list[tuple[str, float]]:
    return [(point.name, point.value) for point in side.store.page_metrics(side.lease.run_id).items]


def test_points_are_on_record_when_emitting_returns(side: Side) -> None:
    side.emit("accuracy", 0.5, unit="share", tags={"split": "test", "b": None})
    side.emit("count", 3)
    side.emit("flag", True)
    side.emit("exact", Decimal("0.25"))
    (first, *_) = side.store.page_metrics(side.lease.run_id).items
    assert (first.name, first.value, first.unit, first.tags, first.step_id) == (
        "accuracy",
        0.5,
        "share",
        {"split": "test", "b": None},
        None,
    )
    assert points(side) == [("accuracy", 0.5), ("count", 3.0), ("flag", 1.0), ("exact", 0.25)]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, "0.5", None])
def test_what_is_not_a_finite_number_is_refused(side: Side, value: float) -> None:
    with pytest.raises(UsageError, match="'loss' is"):
        side.emit("loss", value)
    with pytest.raises(UsageError, match="name of a metric"):
        side.emit("", 1.0)
    assert points(side) == []
    side.emit("loss", 1.0)
    assert points(side) == [("loss", 1.0)]


def test_numbers_beyond_the_databases_are_refused_where_they_come_in(side: Side) -> None:
    with pytest.raises(UsageError, match="out of range"):
        side.emit("m", 1.0, step_id=10**30)
    side.emit("m", 1.0)
    assert points(side) == [("m", 1.0)]


def test_points_without_a_slot_are_always_new_and_with_one_fill_it(side: Side) -> None:
    for _ in range(2):
        side.emit("free", 1.0)
    for value in (1.0, 2.0):
        side.emit("kept", value, slot=0)
        side.emit("kept", value, slot=1)
        side.emit("kept", value, slot=0, tags={"row": 1})
    assert points(side) == [("free", 1.0)] * 2 + [("kept", 2.0)] * 3


def test_points_of_failed_attempts_and_superseded_steps_do_not_count(side: Side) -> None:
    first = side.begin("a")
    for slot in range(3):
        side.emit("row", 10.0 + slot, step_id=first.step_id, attempt=1, slot=slot)
    side.fail(first.step_id, 1)
    assert len(points(side)) == 3, "until it is executed again they are all there is"
    second = side.begin("a")
    side.emit("row", 20.0, step_id=second.step_id, attempt=2, slot=0)
    side.complete(second.step_id, 2)
    assert points(side) == [("row", 20.0)]
    rerun = side.begin("a", b"other", on_input_change="rerun")
    side.emit("row", 30.0, step_id=rerun.step_id, attempt=1, slot=0)
    side.complete(rerun.step_id, 1)
    assert points(side) == [("row", 30.0)]


def test_a_runs_summary_tells_steps_and_metrics(side: Side) -> None:
    for value in (1.0, 2.0, 6.0):
        side.emit("score", value, unit="points")
    begun = side.begin("a")
    side.complete(begun.step_id, 1)
    assert side.store.metric_totals(side.lease.run_id) == {
        "score": MetricTotals(count=3, mean=3.0, last=6.0, min=1.0, max=6.0, unit="points")
    }
    side.finish("completed", output=b'{"n":3}')
    run = side.store.run(side.lease.run_id)
    assert (run.status, run.output) == ("completed", {"n": 3})
    assert run.summary == {
        "steps": {"completed": 1},
        "metrics": {
            "score": {"value": 3.0, "count": 3, "last": 6.0, "min": 1.0, "max": 6.0, "unit": "points"}
        },
    }


def test_events_carry_their_step_and_facts(side: Side) -> None:
    begun = side.begin("a")
    side.event("sampling.done", "half of it", data={"rows": [1, None]}, step_id=begun.step_id)
    side.complete(begun.step_id, 1)
    side.settle()
    (told,) = side.store.events(side.lease.run_id, step_id=begun.step_id)[1:2]
    assert (told.kind, told.message, told.data, told.step_id) == (
        "sampling.done",
        "half of it",
        {"rows": [1, None]},
        begun.step_id,
    )


def test_lists_come_in_pages(side: Side) -> None:
    store, run_id = side.store, side.lease.run_id
    for number in range(7):
        begun = side.begin(f"step-{number}")
        side.complete(begun.step_id, 1)
        side.emit("m", float(number))
        side.event("note", str(number))
    side.settle()
    for page, key in (
        (store.page_steps, "key"),
        (store.page_metrics, "value"),
    ):
        seen, after = [], 0
        while True:
            found = page(run_id, after=after, limit=3)  # type: ignore[operator]
            seen += [getattr(item, key) for item in found.items]
            if found.next is None:
                break
            assert len(found.items) == 3
            after = found.next
        whole = page(run_id, limit=1000)  # type: ignore[operator]
        assert seen == [getattr(item, key) for item in whole.items]
        assert whole.next is None
    assert [s.key for s in store.page_steps(run_id, status="failed").items] == []
    assert [p.value for p in store.page_metrics(run_id, name="m", limit=2).items] == [0.0, 1.0]
    assert store.page_steps(run_id, limit=7).next is None


def test_runs_come_in_pages_newest_first(side: Side) -> None:
    store = side.store
    for number in range(3):
        created_workflow(store, f"wf{number % 2}")
    store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})
    assert [run.id for run in store.runs(limit=2)] == [5, 4]
    assert [run.id for run in store.runs(after=4, limit=10)] == [3, 2, 1]
    assert [run.id for run in store.runs(kind="workflow", name="wf0")] == [4, 2]
    assert [run.id for run in store.runs(kind="benchmark")] == [5]


def test_unknown_steps_are_not_found(side: Side) -> None:
    with pytest.raises(NotFoundError):
        side.store.workflow_step(99)
    with pytest.raises(NotFoundError, match="has no step 'x'"):
        side.store.workflow_step((side.lease.run_id, "x"))
