"""The files of a short run share what was read of its samples: the same columns and replies as from a pass of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from recorded_runs import chat_call, every_kind_of_sample, score

from benchwright.core import CallTimes, ModelReply, StepValues
from benchwright.results import RunSamples, _samples as of_runs
from benchwright.results._sample_columns import COLUMNS
from benchwright.store import RunRecord, Store

Record = Callable[..., RunRecord]
ROWS = 10
ANSWERED = ModelReply("answered", "yes", times=CallTimes.lasting(0.25))


def turn(index: int, number: int) -> StepValues:
    """A further call of a sample."""
    key, *rest = chat_call(index, 0, ANSWERED)
    return (f"{key}/t{number:03d}", *rest)  # type: ignore[return-value]


SEVERAL_TURNS = [chat_call(0, 0, ANSWERED), turn(0, 1), score(0, 0, {"o": "scored", "s": {}, "t": "x"})]
NOT_SCORED = [chat_call(0, 0, ANSWERED), score(0, 0, {"o": "scored", "s": {}, "t": "x"}), chat_call(1, 0, ANSWERED)]  # fmt: skip


def texts(samples: RunSamples) -> list[str]:
    return [text for replies in samples.replies(ROWS) for text in replies.column("text")]


def table(samples: RunSamples) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for columns in samples.columns(COLUMNS):
        for name, values in columns.items():
            found[name] += values
    return found


def recorded_texts(store: Store, run: RunRecord) -> list[str]:
    """Of every call, one by one."""
    found = store.calls(run.id, 0, ROWS)
    return [ModelReply.columns([found[key].output]).column("text")[0] for key in sorted(found)]


@pytest.mark.parametrize("steps", [every_kind_of_sample(), SEVERAL_TURNS, NOT_SCORED, []])
def test_kept_samples_are_those_of_a_pass(store: Store, record: Record, steps: list[StepValues]) -> None:
    run = record(steps)
    kept, read_again = RunSamples(store, run, keep=True), RunSamples(store, run)
    assert texts(kept) == texts(read_again) == recorded_texts(store, run)
    assert table(kept) == table(read_again)


def test_a_short_run_is_read_once(store: Store, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, reads = RunSamples(store, record(every_kind_of_sample()), keep=True), []
    real = store.samples

    def samples(*given: Any) -> Any:
        reads.append(given)
        return real(*given)

    monkeypatch.setattr(store, "samples", samples)
    texts(kept), table(kept), list(kept.blocks(10**9, 10**9))
    assert len(reads) == 1


@pytest.mark.parametrize(("limit", "most"), [("_MOST_KEPT_ROWS", 1), ("_MOST_KEPT_BYTES", 100)])
def test_a_run_that_is_not_short_is_not_kept(
    store: Store, record: Record, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(of_runs, limit, most)
    run = record(every_kind_of_sample())
    kept = RunSamples(store, run, keep=True)
    assert texts(kept) == recorded_texts(store, run)
    assert table(kept) == table(RunSamples(store, run))
    assert kept._kept is None
