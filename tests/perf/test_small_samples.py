"""Load tests with hardly any requests, of every kind: each figure and each view of them works, and claims nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from tests.perf.made_records import failed, streamed

from benchwright.cli import main
from benchwright.perf import (
    EndedRequest,
    LoadSearch,
    LoadSettings,
    LoadSummary,
    RequestOutcome,
    RequestRecord,
    Requests,
    StoreSink,
    stage_step,
    summarise,
)
from benchwright.perf._values import ClientHealth, StageRecord
from benchwright.reports import write_load_files
from benchwright.results import LoadView, view_of
from benchwright.store import RunRecord, Store, Workspace, open_store

Made = tuple[list[RequestRecord], LoadSettings]


def plain(dice: Random, count: int) -> Made:
    return [streamed(n, n * 0.1, ttft=dice.uniform(0.01, 0.1)) for n in range(count)], LoadSettings(
        slo=(("ttft", 0.05),)
    )


def whole(dice: Random, count: int) -> Made:
    """Not streamed."""
    found = [
        streamed(n, n * 0.1, gaps=[], arrivals=(), first_event=None, first_token=None, first_answer=None)
        for n in range(count)
    ]
    return found, LoadSettings(stream=False, slo=(("e2e", 0.05),))


def planned(dice: Random, count: int) -> Made:
    found = [streamed(n, n * 0.1 + 0.01, planned=n * 0.1, delayed_s=0.01 * (n % 2)) for n in range(count)]
    return found, LoadSettings(
        profile="poisson", levels=(10.0,), max_concurrency=1, slo=(("e2e_planned", 1.0),)
    )


def together(dice: Random, count: int) -> Made:
    """All at one moment, all alike."""
    return [streamed(n, 1.0, planned=1.0) for n in range(count)], LoadSettings(profile="burst", levels=(5.0,))


def one_token(dice: Random, count: int) -> Made:
    return [streamed(n, n * 0.1, gaps=[]) for n in range(count)], LoadSettings(slo=(("tpot", 0.05),))


def without_tokens(dice: Random, count: int) -> Made:
    nothing: dict[str, Any] = {"output_tokens": None, "input_tokens": None, "token_source": None}
    return [streamed(n, n * 0.1, **nothing) for n in range(count)], LoadSettings()


def talks(dice: Random, count: int) -> Made:
    """Conversations, whose later turns may not be sent; most replies have one event."""
    found = []
    for n in range(count):
        talk, turn = divmod(n, 3)
        record = streamed(n, n * 0.1, gaps=[0.01] * (5 if n < 20 else 0), conversation=talk, turn=turn)
        if turn == 2:
            record = replace(record, sent=None, ended=n * 0.1, outcome=RequestOutcome.NOT_SENT, arrivals=())
        found.append(record)
    return found, LoadSettings(turn_mode="every", requests=max(1, count // 3))


def few_values(dice: Random, count: int) -> Made:
    """Many requests, of which only the first have a figure."""
    found = [
        streamed(n, n * 0.1, gaps=[0.01] if n < count else [], cached_tokens=3 if n < count else None)
        for n in range(500)
    ]
    return found, LoadSettings(slo=(("itl", 0.1),))


def all_failed(dice: Random, count: int) -> Made:
    kinds = [
        RequestOutcome.CONNECT,
        RequestOutcome.HTTP_5XX,
        RequestOutcome.TIMEOUT,
        RequestOutcome.CANCELLED,
    ]
    found = [failed(n, n * 0.1, dice.choice(kinds)) for n in range(count)]
    return [replace(each, sent=None) if each.outcome == "connect" else each for each in found], LoadSettings(
        slo=(("ttft", 1.0),)
    )


def half_failed(dice: Random, count: int) -> Made:
    found = [
        streamed(n, n * 0.1) if n % 2 else failed(n, n * 0.1, RequestOutcome.HTTP_429) for n in range(count)
    ]
    return found, LoadSettings(slo=(("ttft", 0.001),))


def scored(dice: Random, count: int) -> Made:
    """Two levels with scores, some rows without an answer."""
    found = [
        streamed(
            n,
            n * 0.1,
            stage=n % 2,
            row=n // 2,
            score_outcome="scored",
            scores={"correct": n % 3 / 2} if n % 4 else {},
        )
        for n in range(count)
    ]
    return found, LoadSettings(levels=(1.0, 2.0), score=True)


def servers(dice: Random, count: int) -> Made:
    urls = ("http://one.example/v1", "http://two.example/v1", "http://three.example/v1")
    return [streamed(n, n * 0.1, url=n % 2) for n in range(count)], LoadSettings(urls=urls)


def probes(dice: Random, count: int) -> Made:
    found = [streamed(n, n * 0.1, stage=n % 2) for n in range(count)]
    return found, LoadSettings(search=LoadSearch(), slo=(("ttft", 0.05),), levels=(1.0,))


def impossible(dice: Random, count: int) -> Made:
    return [streamed(n, n * 0.1, last_content=-1.0, input_tokens=-1) for n in range(count)], LoadSettings()


KINDS: tuple[Callable[[Random, int], Made], ...] = (
    plain, whole, planned, together, one_token, without_tokens, talks, few_values, all_failed, half_failed, scored,
    servers, probes, impossible,
)  # fmt: skip
SIZES = (0, 1, 2, 3, 19, 20, 21, 61)
HEALTH = ClientHealth(verdict="ok")


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers_in(each)
    elif isinstance(value, float):
        yield value


def summary_of(made: Made, *, ended: bool = True) -> tuple[Requests, LoadSummary, list[StageRecord]]:
    records, settings = made
    requests = Requests.of(records)
    stages = [
        StageRecord(n, 1.0 + n, 0.0, 99.0, health=HEALTH) for n in range(len(settings.levels) if ended else 0)
    ]
    return requests, summarise(requests, settings, stages), stages


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("size", SIZES)
def test_every_figure_of_every_kind_is_a_number_or_absent(
    kind: Callable[[Random, int], Made], size: int, tmp_path: Path
) -> None:
    made = kind(Random(size), size)
    for ended in (True, False):
        requests, summary, _ = summary_of(made, ended=ended)
        stored = summary.to_json()
        assert LoadSummary.from_json(stored).to_json() == stored
        assert all(map(math.isfinite, numbers_in(stored)))
        for stage in summary.stages:
            assert all(value >= 0 for value in stage.figures.values())
            if stage.counts.completed < 2:
                assert not stage.intervals
                assert all(each.mean_ci95 is each.p99_ci95 is None for each in stage.metrics.values())
        run = RunRecord(
            id=1, kind="load", name="qa", target="qa.csv", model="m", status="completed", folder=tmp_path,
            settings={"load": made[1].to_json()}, manifest={}, summary=stored, error=None, created_at=0.0,
            finished_at=1.0,
        )  # fmt: skip
        files = write_load_files(LoadView.of(run, summary), requests, format="aisbench")
        assert files


def recorded(store: Store, made: Made, folder: Path, *, killed: bool) -> int:
    run = store.create_run(
        kind="load", name="qa", target="qa.csv", model="m", folder=folder, manifest={},
        settings={"load": made[1].to_json()}, status="running",
    )  # fmt: skip
    _requests, summary, stages = summary_of(made, ended=not killed)
    sink = StoreSink(store, run.id)
    if steps := [*map(EndedRequest.step_of, made[0]), *map(stage_step, stages)]:
        sink.write(steps)
    sink.close()
    status = "interrupted" if killed else "completed"
    store.finish_run(run.id, status, summary=None if killed else summary.to_json(), error=None)
    return run.id


POLICY = """
[gate]
[[load]]
figure = "ttft.p99"
max = 100
[[load]]
figure = "request_throughput"
min = 1
[[load]]
figure = "error_share"
max = 0.05
"""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_view_of_every_kind_works(
    kind: Callable[[Random, int], Made],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "benchwright.toml").touch()
    (tmp_path / "policy.toml").write_text(POLICY)
    with open_store(Workspace(tmp_path)) as store:
        runs = [
            recorded(store, kind(Random(size), size), tmp_path / f"{size}-{killed}", killed=killed)
            for size in (0, 1, 2, 21)
            for killed in (False, True)
        ]

    def called(*words: object) -> int:
        code = main([*map(str, words)])
        found = capsys.readouterr()
        assert "defect" not in found.err, found.err
        assert "nan" not in found.out.split()
        return code

    for run in runs:
        assert called("show", run) == 0
        assert called("show", run, "--json") == 0
        assert called("show", run, "--steps") == 0
        assert called("export", run, "-o", f"{run}.csv", "--overwrite") in (0, 2, 4)
        assert called("gate", run, "--policy", "policy.toml") in (0, 1, 3)
        assert called("report", run, "-o", f"{run}.html", "--overwrite") in (0, 2)
    assert called("list") == 0
    for a, b in zip(runs, [*runs[2:], *runs[:2]], strict=True):
        assert called("compare", a, b) in (0, 1, 2, 3)
        assert called("gate", a, "--policy", "policy.toml", "--baseline", b) in (0, 1, 2, 3)


def test_a_killed_test_counts_measured_requests_in_every_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists and `show` mean the same: without warm-ups and cool-downs."""
    phases = ["warmup"] * 3 + ["measured"] * 7 + ["cooldown"] * 2
    records = [streamed(n, n * 0.1, phase=phase) for n, phase in enumerate(phases)]
    monkeypatch.chdir(tmp_path)
    with open_store(Workspace(tmp_path)) as store:
        made = records, LoadSettings(warmup=3, cooldown=2)
        number = recorded(store, made, tmp_path / "run", killed=True)
        assert view_of(store.run(number), store).counted == "7"
    assert main(["show", str(number), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["evaluated"] == 7
