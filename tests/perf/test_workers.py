"""Several processes send as one would: by one clock, each request once."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest
from tests.perf.loads import Loaded, load, plan_of
from tests.perf.stub_server import Stub, serving

from benchwright.core import RunFailedError, UsageError
from benchwright.perf import LoadSettings, RequestOutcome, Requests, check_files, summarise


def run(settings: LoadSettings, **how: Any) -> tuple[list[Any], list[Any], Stub]:
    async def work() -> tuple[list[Any], list[Any], Stub]:
        async with serving(**how) as stub:
            records, stages = await load(stub.url, settings, plan_of(4))
            return records, stages, stub

    return asyncio.run(work())


def test_workers_share_requests_concurrency_and_clock() -> None:
    settings = LoadSettings(levels=(5.0, 6.0), requests=31, warmup=3, workers=2)
    records, stages, stub = run(settings, together={4: 5, 35: 6})
    assert len(stub.log) == len(records) == 65
    assert len({record.number for record in records}) == 65
    assert {record.worker for record in records} == {0, 1}
    assert stub.most_open == 6
    for stage in stages:
        own = [r for r in records if r.stage == stage.stage and r.phase == "measured"]
        assert len(own) == 31
        assert all(stage.started <= record.sent <= record.ended <= stage.ended + 0.001 for record in own)
        assert len(stage.health.cpu_shares) == 2


def test_more_workers_than_slots_send_every_row_once() -> None:
    records, (stage,), stub = run(LoadSettings(levels=(2.0,), requests=9, cooldown=2, workers=3))
    assert [record.number for record in records] == list(range(11))
    assert [record.phase for record in records] == ["measured"] * 9 + ["cooldown"] * 2
    assert stub.most_open <= 2
    assert stage.offered == 9


def test_workers_with_unequal_slots_share_requests_by_them() -> None:
    records, _, _ = run(LoadSettings(levels=(3.0,), requests=30, workers=2), first_s=0.01)
    assert [record.number for record in records] == list(range(30))
    assert sum(record.worker == 0 for record in records) == 20


def test_workers_follow_one_schedule() -> None:
    settings = LoadSettings(profile="constant", levels=(100.0,), requests=50, workers=2)
    records, (stage,), _ = run(settings, events=1)
    assert [r.planned - stage.started for r in records] == pytest.approx([n / 100 for n in range(50)])
    assert [record.worker for record in records] == [number % 2 for number in range(50)]


def test_an_interrupt_reaches_all_workers() -> None:
    async def work() -> Loaded:
        async with serving(hang=True) as stub:
            loaded = Loaded(stub.url, LoadSettings(levels=(4.0,), requests=100, workers=2))
            running = asyncio.create_task(loaded.run())
            await stub.until_came(4)
            loaded.test.stop()
            loaded.test.abort()
            await running
            return loaded

    loaded = asyncio.run(work())
    assert [record.outcome for record in loaded.records] == [RequestOutcome.CANCELLED] * 4
    assert loaded.test.cause == "interrupt"


def test_a_worker_that_dies_ends_the_test_with_an_error() -> None:
    async def work() -> None:
        async with serving(hang=True) as stub:
            loaded = Loaded(stub.url, LoadSettings(levels=(4.0,), requests=100, workers=2))
            running = asyncio.create_task(loaded.run())
            await stub.until_came(4)
            crew: Any = loaded.crew
            crew._processes[0].kill()
            await running

    with pytest.raises(RunFailedError, match=r"worker process 0 ended by signal 9 .* benchwright show last"):
        asyncio.run(work())


def test_a_schedule_keeps_to_the_files_that_it_may_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        import_module("benchwright.perf._test"), "most_connections", lambda workers: 2 * workers
    )
    settings = LoadSettings(profile="constant", levels=(1e6,), requests=12)
    records, (stage,), stub = run(settings, together={1: 2})
    assert stub.most_open == 2
    assert stage.delayed == sum(record.delayed_s > 0 for record in records) > 0
    (found,) = summarise(Requests.of(records), settings, [stage]).stages
    assert any("cannot open more files" in note.text for note in found.notes if note.kind == "delayed")


def test_more_connections_than_files_are_refused_with_the_cure() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        with pytest.raises(UsageError, match=r"ulimit -n 1\d{8,}.*--workers"):
            check_files(LoadSettings(), 10**10)
        check_files(LoadSettings(), 100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= before[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
