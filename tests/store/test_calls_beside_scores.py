"""A sample's only call may stand in the row of its score; every reader finds it there as in a row of its own."""

from __future__ import annotations

import asyncio

from backends import forget_samples

from benchwright.core import StepValues, step_key
from benchwright.store import RecordedStep, SampleSteps, Store
from stored_steps import stored_step


def new_run(store: Store, *rows: StepValues) -> int:
    run = store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})

    async def write() -> None:
        writer = store.step_writer(run.id)
        writer.append(rows)
        await writer.close()

    asyncio.run(write())
    return run.id


def together(index: int, *, reusable: bool = True) -> StepValues:
    """Score and call in one row."""
    n = b"%d" % index
    return stored_step(
        step_key("score", index, 0), b"row hash " + n, b"row " + n, b"score " + n, reusable, 1.0, 2.0,
        b"call hash " + n, b"asked " + n, b"reply " + n,
    )  # fmt: skip


def apart(index: int) -> tuple[StepValues, StepValues]:
    """The same in two rows."""
    key, digest, row, score, reusable, _, _, call_hash, body, reply = together(index)
    assert call_hash is not None
    assert reply is not None
    call = stored_step(step_key("call", index, 0), call_hash, body, reply, reusable, 1.0, 2.0)
    return call, stored_step(key, digest, row, score, False, 1.0, 2.0)


def reusable(store: Store, run_id: int, digest: bytes) -> bytes | None:
    return asyncio.run(store.reusable(run_id, [digest])).get(digest)


def test_samples_are_the_same_together_and_apart(store: Store) -> None:
    run = new_run(store, together(0), *apart(1), together(2), *apart(3))
    assert list(store.samples(run)) == [
        SampleSteps(n, 0, b"row %d" % n, b"score %d" % n, b"asked %d" % n, b"reply %d" % n) for n in range(4)
    ]
    assert [steps.call_output for steps in store.samples(run, 2)] == [b"reply 2"]
    assert [output for *_, output in store.scored(run)] == [b"score %d" % n for n in range(4)]


def test_recorded_calls_and_their_number_are_the_same(store: Store) -> None:
    mixed = new_run(store, together(0), *apart(1))
    separate = new_run(store, *apart(0), *apart(1))
    assert store.recorded(mixed, "call", 0, 1) == store.recorded(separate, "call", 0, 1)
    assert store.recorded(mixed, "call", 1, 1).keys() == {step_key("call", 1, 0)}
    assert store.recorded(mixed, "score", 0, 1) == store.recorded(separate, "score", 0, 1)
    assert store.count_steps(mixed, "call") == store.count_steps(mixed, "score") == 2
    assert store.calls(mixed, 0, 0)[step_key("call", 0, 0)] == RecordedStep(
        b"call hash 0", b"reply 0", b"asked 0"
    )
    assert step_key("call", 0, 0, "c000") not in store.calls(mixed, 0, 0)
    assert step_key("call", 2, 0) not in store.calls(mixed, 2, 2)
    assert store.calls(mixed, 0, 9) == {
        key: step
        for n in range(9)
        if (step := store.calls(mixed, n, n).get(key := step_key("call", n, 0))) is not None
    }


def test_replies_are_found_by_what_was_asked(store: Store) -> None:
    first = new_run(store, together(0), together(1, reusable=False), *apart(2))
    second = new_run(store)
    assert store.index_replies()
    assert reusable(store, second, b"call hash 0") == b"reply 0"
    assert reusable(store, second, b"call hash 2") == b"reply 2"
    assert reusable(store, second, b"call hash 1") is None, "failed, or taken from another run itself"
    assert reusable(store, second, b"row hash 0") is None, "the score's own hash is no request"
    assert reusable(store, first, b"call hash 0") is None
    known = asyncio.run(
        store.replies_of(
            first, [(b"call hash 1", 0), (b"call hash 2", 0), (b"call hash 2", 1), (b"row hash 0", 0)]
        )
    )
    assert known == {(b"call hash 1", 0): b"reply 1", (b"call hash 2", 0): b"reply 2"}, "failed ones too"


def test_a_score_can_be_forgotten_without_its_call(store: Store) -> None:
    run = new_run(store, together(0), together(1))
    forget_samples(store, run, [(0, 0)], kinds=("judge", "score"))
    assert store.recorded(run, "call", 0, 0) == {
        step_key("call", 0, 0): RecordedStep(b"call hash 0", b"reply 0")
    }
    assert store.recorded(run, "score", 0, 1).keys() == {step_key("score", 1, 0)}
    store.index_replies()
    assert reusable(store, new_run(store), b"call hash 0") == b"reply 0"
    forget_samples(store, run, [(0, 0), (1, 0)])
    assert store.count_steps(run, "call") == store.count_steps(run, "score") == 0
