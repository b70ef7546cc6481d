"""Requests that fail while their run stops: each keeps its outcome, unless a resumed run will try it again."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, judge_score, scorer
from benchwright.cli import main
from benchwright.core import ModelRequest, RequestFailure
from benchwright.demo import DemoSettings, demo_server, fault_mix
from benchwright.engine._stop import Stop
from benchwright.scorers import exact_match

AT_ONCE = 4
FAILING = DemoSettings(error_rate=1.0, faults=fault_mix("server_error"))
FAILED = RequestFailure("server_error", "HTTP 500", 500)
names = count()


def questions(rows: int = 12) -> Callable[..., Any]:
    @benchmark(
        name=f"stopped{next(names)}",
        dataset=[{"question": f"{n} + 1 =", "answer": "x"} for n in range(rows)],
        prompt="{question}",
        target_field="answer",
    )
    @scorer
    def check(sample: ScorerInput) -> dict[str, Any]:
        return exact_match(sample)

    return check


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The causes for which a run was asked to stop."""
    causes: list[str] = []
    request = Stop.request

    def noted(stop: Stop, cause: Any, reason: str) -> None:
        request(stop, cause, reason)
        causes.append(cause)

    monkeypatch.setattr(Stop, "request", noted)
    return causes


@pytest.mark.parametrize(
    ("first", "options"),
    [
        ("x", {"max_requests": AT_ONCE}),
        ("x", {"max_tokens_total": 1}),
        (FAILED, {"max_failures": 0}),
        ("interrupt", {}),
    ],
    ids=["requests", "tokens", "failures", "Ctrl-C"],
)
def test_failures_that_arrive_after_the_stop_are_recorded(
    stopped: list[str], tmp_path: Path, first: Any, options: dict[str, Any]
) -> None:
    numbers = count()

    async def answer(request: ModelRequest) -> Any:
        if next(numbers) == 0:
            while endpoint.in_flight < AT_ONCE:
                await asyncio.sleep(0)
            if first != "interrupt":
                return first
            signal.raise_signal(signal.SIGINT)
        while not stopped:
            await asyncio.sleep(0)
        return FAILED

    endpoint = ScriptedEndpoint(answer)
    result = benchwright.run(
        questions(), endpoint=endpoint, workspace=tmp_path, parallelism=AT_ONCE, **options
    )
    assert len(endpoint.requests) == result.requests_sent == AT_ONCE
    assert result.summary.evaluated == AT_ONCE
    assert result.summary.outcomes["request_failed"] == AT_ONCE - (first == "x")


@pytest.mark.parametrize(("retries", "recorded"), [(0, 3), (2, 0)])
def test_only_failures_that_would_be_tried_again_stay_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], retries: int, recorded: int
) -> None:
    target = questions()
    with demo_server(FAILING) as server:
        result = benchwright.run(
            target, model_url=server.url, model_id="demo", workspace=tmp_path, max_retries=retries, max_requests=3
        )  # fmt: skip
        assert server.stats()["requests"] == result.requests_sent == 3
    assert result.summary.outcomes["request_failed"] == result.summary.evaluated == recorded
    assert main(["show", "last", "--failed", "--workspace", str(tmp_path)]) == 0
    assert ("evaluated so far has a score" in capsys.readouterr().out) is (recorded == 0)


def test_a_judge_that_fails_for_good_is_recorded_although_the_run_stops(tmp_path: Path) -> None:
    with demo_server(FAILING) as judges:

        @benchmark(
            name="judged",
            dataset=[{"q": str(n), "a": "x"} for n in range(8)],
            prompt="{q}",
            target_field="a",
            judge={"url": judges.url, "model_id": "m", "max_retries": 0},
        )
        @scorer
        def judged(sample: ScorerInput) -> dict[str, Any]:
            return judge_score(sample)

        result = benchwright.run(
            judged, endpoint=ScriptedEndpoint("x"), workspace=tmp_path, parallelism=8, max_requests=11
        )
        asked = judges.stats()["requests"]
    assert asked == result.summary.outcomes["scorer_failed"] == 3
