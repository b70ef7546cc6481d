"""Steps of workflows: what is executed, what is taken from the record, whose word counts. For both ways to record."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest
from workflow_sides import Side, side_of

from benchwright import InputChangedError, StaleAttemptError, StepHeldError
from benchwright.core import NotFoundError, RunOwnedError
from benchwright.store import BeginDecision, Store
from stored_workflows import claimed_workflow, created_workflow


@pytest.fixture(params=["direct", "writer"])
def side(request: pytest.FixtureRequest, store: Store) -> Iterator[Side]:
    with side_of(store, request.param) as side:
        yield side


def kinds(side: Side) -> list[str]:
    side.settle()
    return [event.kind for event in side.store.events(side.lease.run_id)]


def test_an_unknown_step_is_executed_and_then_taken_from_the_record(side: Side) -> None:
    begun = side.begin("a")
    assert (begun.kind, begun.attempt, begun.generation, begun.output) == ("run", 1, 1, None)
    side.complete(begun.step_id, 1, b'{"x":null}')
    again = side.begin("a")
    assert again == BeginDecision("reuse", begun.step_id, 1, b'{"x":null}', 1)
    assert kinds(side) == ["run.started", "step.started", "step.completed"]


def test_keys_belong_to_their_run(side: Side) -> None:
    begun = side.begin("a")
    side.complete(begun.step_id, 1)
    other = created_workflow(side.store, "other")
    assert side.begin("a", lease=other).kind == "run"


def test_a_failed_step_is_executed_again_with_the_next_attempt(side: Side) -> None:
    begun = side.begin("a")
    side.fail(begun.step_id, 1, "Traceback …\nValueError: no")
    step = side.store.workflow_step(begun.step_id)
    assert (step.status, step.error) == ("failed", "Traceback …\nValueError: no")
    again = side.begin("a")
    assert (again.kind, again.step_id, again.attempt) == ("run", begun.step_id, 2)
    side.complete(again.step_id, 2)
    done = side.store.workflow_step(begun.step_id)
    assert (done.status, done.attempt, done.error, done.output) == ("completed", 2, None, b"2")
    side.settle()
    told = [(e.kind, e.message) for e in side.store.events(side.lease.run_id)][1:]
    assert told == [
        ("step.started", "a"),
        ("step.failed", "a: ValueError: no"),
        ("step.started", "a, attempt 2: a retry"),
        ("step.completed", "a, attempt 2"),
    ]


def test_ending_a_step_twice_in_the_same_way_is_once(side: Side) -> None:
    begun = side.begin("a")
    side.complete(begun.step_id, 1, b"7")
    side.complete(begun.step_id, 1, b"7")
    failed = side.begin("b")
    side.fail(failed.step_id, 1)
    side.fail(failed.step_id, 1)
    assert kinds(side).count("step.completed") == 1
    assert kinds(side).count("step.failed") == 1


def test_a_step_that_has_ended_keeps_its_first_result(side: Side) -> None:
    begun = side.begin("a")
    side.complete(begun.step_id, 1, b"7")
    with pytest.raises(StaleAttemptError, match="ended already"):
        side.complete(begun.step_id, 1, b"8")
    with pytest.raises(StaleAttemptError):
        side.fail(begun.step_id, 1)
    assert side.begin("a").output == b"7"


def test_a_stale_attempt_is_refused(side: Side) -> None:
    first = side.begin("a")
    side.fail(first.step_id, 1)
    second = side.begin("a")
    with pytest.raises(StaleAttemptError, match="attempt 2 has begun"):
        side.complete(first.step_id, 1, b"old")
    side.complete(second.step_id, 2, b"new")
    with pytest.raises(StaleAttemptError):
        side.complete(first.step_id, 1, b"old")
    assert side.begin("a").output == b"new"


def test_a_caller_that_knows_no_attempts_ends_the_current_one(side: Side) -> None:
    begun = side.begin("a")
    side.complete(begun.step_id, None, b"7")
    assert side.begin("a").output == b"7"


def test_a_step_under_way_is_not_handed_out_twice(side: Side) -> None:
    begun = side.begin("a")
    with pytest.raises(StepHeldError, match="being executed"):
        side.begin("a")
    with pytest.raises(StepHeldError):
        side.begin("a", b"other input")
    side.complete(begun.step_id, 1)


def test_the_same_request_sent_twice_is_one_request(side: Side) -> None:
    begun = side.begin("a", holder="call-1")
    assert side.begin("a", holder="call-1") == begun
    with pytest.raises(StepHeldError):
        side.begin("a", holder="call-2")
    taken = side.begin("a", holder="call-2", take_over=True)
    assert (taken.step_id, taken.attempt) == (begun.step_id, 2)
    with pytest.raises(StaleAttemptError):
        side.complete(begun.step_id, 1)
    side.complete(begun.step_id, 2)


def test_a_changed_input_is_refused_with_the_fields_that_differ(side: Side) -> None:
    begun = side.begin("a", b'{"limit":10,"rows":[1,2],"model":null}')
    side.complete(begun.step_id, 1)
    with pytest.raises(InputChangedError) as caught:
        side.begin("a", b'{"limit":20,"rows":[1,3],"top_p":0.5}')
    error = caught.value
    assert error.key == "a"
    assert error.old_input == {"limit": 10, "rows": [1, 2], "model": None}
    assert error.old_hash != error.new_hash
    text = str(error)
    for line in ("$.limit: 10 → 20", "$.rows[1]: 2 → 3", "$.model: removed, was null", "$.top_p: added 0.5"):
        assert line in text
    assert 'on_input_change="rerun"' in text
    assert str(pickle.loads(pickle.dumps(error))) == text
    assert side.store.workflow_step(begun.step_id).status == "completed", "nothing is changed"


def test_a_changed_input_is_refused_in_any_status(side: Side) -> None:
    begun = side.begin("a", b"1")
    side.fail(begun.step_id, 1)
    with pytest.raises(InputChangedError):
        side.begin("a", b"2")


def test_rerun_supersedes_a_step_and_keeps_the_old_one(side: Side) -> None:
    old = side.begin("a", b"1")
    side.complete(old.step_id, 1, b'"old"')
    new = side.begin("a", b"2", on_input_change="rerun")
    assert (new.kind, new.generation, new.attempt) == ("run", 2, 1)
    assert new.step_id != old.step_id
    side.complete(new.step_id, 1, b'"new"')
    assert side.begin("a", b"2").output == b'"new"'
    with pytest.raises(InputChangedError):
        side.begin("a", b"1")
    steps = side.store.page_steps(side.lease.run_id).items
    assert [(s.generation, s.output, s.input) for s in steps] == [(1, b'"old"', b"1"), (2, b'"new"', b"2")]
    assert side.store.workflow_step_counts(side.lease.run_id) == {"completed": 1}


def test_without_cache_a_recorded_step_is_executed_anew(side: Side) -> None:
    begun = side.begin("a")
    side.complete(begun.step_id, 1, b"1")
    again = side.begin("a", cache=False)
    assert (again.kind, again.generation) == ("run", 2)
    side.complete(again.step_id, 1, b"2")
    assert side.begin("a").output == b"2"


def test_an_interrupted_step_may_still_end_and_else_is_executed_again(side: Side) -> None:
    begun = side.begin("a")
    side.fail(begun.step_id, 1, "cancelled", interrupted=True)
    assert side.store.workflow_step(begun.step_id).status == "interrupted"
    side.complete(begun.step_id, 1, b"late")
    assert side.begin("a").output == b"late"
    other = side.begin("b")
    side.fail(other.step_id, 1, "cancelled", interrupted=True)
    assert side.begin("b").attempt == 2


def test_steps_of_another_run_and_unknown_steps_are_not_found(side: Side) -> None:
    with pytest.raises(NotFoundError):
        side.complete(12345, 1)
    other = created_workflow(side.store, "other")
    begun = side.begin("a", lease=other)
    side.complete(begun.step_id, 1, lease=other)
    with pytest.raises(NotFoundError):
        side.complete(begun.step_id, 1)


def test_who_lost_the_run_can_record_nothing_more(side: Side) -> None:
    begun = side.begin("a")
    done = side.begin("b")
    side.complete(done.step_id, 1, b"kept")
    taken = claimed_workflow(side.store, side.lease.run_id, force=True)
    with pytest.raises(RunOwnedError, match="no longer this process's"):
        side.complete(begun.step_id, 1, b"late")
    with pytest.raises(RunOwnedError):
        side.emit("m", 1.0)
    with pytest.raises(RunOwnedError):
        side.begin("c")
    step = side.store.workflow_step(begun.step_id)
    assert (step.status, step.output) == ("interrupted", None)
    assert "c" not in [step.key for step in side.store.page_steps(taken.run_id).items]
    assert side.store.workflow_step(done.step_id).output == b"kept"


def test_numbers_grow_in_the_order_of_beginning(side: Side) -> None:
    ids = [side.begin(f"step-{n}").step_id for n in (5, 3, 4)]
    for step_id in reversed(ids):
        side.complete(step_id, 1)
    assert ids == sorted(ids)
    assert [s.id for s in side.store.page_steps(side.lease.run_id).items] == ids


def test_half_characters_in_keys_and_errors_are_no_trouble(side: Side) -> None:
    begun = side.begin("k\udc80")
    side.fail(begun.step_id, 1, "half \ud800 a character")
    assert side.store.workflow_step(begun.step_id).error == "half ? a character"
    assert side.begin("k\udc80").attempt == 2


def test_the_end_of_a_run_closes_what_is_open(side: Side) -> None:
    begun = side.begin("a")
    side.finish("failed", error="Traceback\nValueError: x")
    run = side.store.run(side.lease.run_id)
    assert (run.status, run.error) == ("failed", "Traceback\nValueError: x")
    assert side.store.workflow_step(begun.step_id).status == "interrupted"
    assert kinds(side)[-2:] == ["step.interrupted", "run.failed"]
    with pytest.raises(RunOwnedError):
        side.complete(begun.step_id, 1)
