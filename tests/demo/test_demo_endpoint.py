"""The demo model in process: replies as values, simulated latency, faults, and a loop that stays alive."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import time
from pathlib import Path
from typing import Any

import pytest

import benchwright.demo
from benchwright.core import ModelReply, ModelRequest, Route, encode_json
from benchwright.demo import DemoSettings
from benchwright.demo._endpoint import DemoEndpoint
from benchwright.endpoints import open_endpoint
from waiting import PATIENCE_S

MODULES = sorted(path.stem for path in Path(benchwright.demo.__file__).parent.glob("_[a-z]*.py"))


def chat(text: str, repeat: int = 0, **body: Any) -> ModelRequest:
    whole: Any = {
        "model": "demo",
        "messages": [{"role": "user", "content": text}],
        "temperature": 0.0,
        **body,
    }
    return ModelRequest("chat", whole, encode_json(whole), repeat)


def completion(prompt: str, route: Route = "completions", **body: Any) -> ModelRequest:
    whole: Any = {"model": "demo", "prompt": prompt, "temperature": 0.0, **body}
    return ModelRequest(route, whole, encode_json(whole))


def send(request: ModelRequest, **settings: Any) -> ModelReply:
    return asyncio.run(DemoEndpoint(DemoSettings(skill=1.0, **settings)).send(request))


@pytest.mark.parametrize("name", MODULES)
def test_demo_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"benchwright.demo.{name}")).failed == 0


def test_a_question_is_answered_with_usage_and_times() -> None:
    reply = send(chat("What is 12 + 7?"))
    assert (reply.status, reply.text, reply.finish_reason) == ("answered", "19", "stop")
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.completion) == (9, 1)
    assert reply.attempts == 1
    assert abs(reply.started_at - time.time()) < 60
    assert 0 <= reply.latency_s < 60
    assert reply.ttft_s is None
    assert send(chat("What is 12 + 7?", stream=True)).ttft_s is not None


def test_echo_comes_as_echoed_tokens() -> None:
    reply = send(completion("1 + 1 =", max_tokens=0, echo=True, logprobs=1))
    assert reply.status == "answered"
    assert reply.echoed is not None
    assert reply.echoed.tokens == ["1", " +", " 1", " ="]


def test_tool_calls_count_as_an_answer() -> None:
    tool = {"name": "now", "description": "tell the time"}
    reply = send(chat("tell the time", tools=[{"type": "function", "function": tool}]))
    assert reply.status == "answered"
    assert reply.text == ""
    assert reply.tool_calls is not None


def test_nothing_generated_is_truncated_not_answered() -> None:
    assert send(chat("What is 1 + 1?", max_tokens=0)).status == "truncated"


def test_a_bad_body_is_a_rejected_reply() -> None:
    endpoint = DemoEndpoint()
    reply = asyncio.run(endpoint.send(ModelRequest("chat", {"model": "demo"}, b"{}")))
    assert reply.failure is not None
    assert (reply.failure.kind, reply.failure.http_status) == ("rejected", 400)
    assert endpoint.first_failure == reply.failure
    endpoint.forget_failure()
    assert endpoint.first_failure is None


def test_the_endpoint_opens_through_the_front() -> None:
    async def run() -> ModelReply:
        endpoint = open_endpoint(DemoSettings(skill=1.0, parallelism=7))
        assert endpoint.limit == 7
        try:
            return await endpoint.send(chat("What is 2 + 2?"))
        finally:
            await endpoint.aclose()

    assert asyncio.run(run()).text == "4"


def test_simulated_latency_is_waited_and_reported() -> None:
    started = time.perf_counter()
    reply = send(chat("Repeat: a b c d e", stream=True), ttft_ms=30, itl_ms=5)
    assert time.perf_counter() - started >= 0.049
    assert reply.ttft_s is not None
    assert (
        0.0299 <= reply.ttft_s < PATIENCE_S
    )  # no reply is said to have come before it exists, however late that is
    assert 0.0499 <= reply.latency_s < PATIENCE_S


def test_no_more_than_parallelism_wait_at_once() -> None:
    async def run() -> tuple[float, int]:
        endpoint = DemoEndpoint(DemoSettings(ttft_ms=20, parallelism=2))
        started = time.perf_counter()
        tasks = [asyncio.create_task(endpoint.send(chat(f"What is {n} + 1?"))) for n in range(6)]
        await asyncio.sleep(0)  # each has asked for its place
        seen = endpoint.in_flight
        await asyncio.gather(*tasks)
        assert endpoint.in_flight == 0
        return time.perf_counter() - started, seen

    took, seen = asyncio.run(run())
    assert seen == 2
    assert took >= 0.058


def test_a_cancelled_request_gives_its_place_back() -> None:
    async def run() -> None:
        endpoint = DemoEndpoint(DemoSettings(ttft_ms=10_000, parallelism=1))
        task = asyncio.create_task(endpoint.send(chat("hi")))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert endpoint.in_flight == 0

    asyncio.run(run())


def test_faults_are_values_and_the_same_every_time() -> None:
    async def run() -> list[str]:
        endpoint = DemoEndpoint(
            DemoSettings(error_rate=0.3, faults={**DemoSettings().faults, "timeout": 1.0})
        )
        kinds = []
        for n in range(400):
            reply = await endpoint.send(chat(f"What is {n} + 1?"))
            kinds.append(reply.failure.kind if reply.failure else reply.status)
        return kinds

    kinds = asyncio.run(run())
    failed = [kind for kind in kinds if kind != "answered"]
    assert abs(len(failed) / 400 - 0.3) < 0.08
    assert {"rate_limited", "server_error", "connection", "bad_reply", "timeout"} <= set(failed)
    assert asyncio.run(run()) == kinds


def test_retries_are_counted_and_mostly_help() -> None:
    async def run() -> tuple[DemoEndpoint, list[ModelReply]]:
        endpoint = DemoEndpoint(DemoSettings(error_rate=0.5, max_retries=3))
        return endpoint, [await endpoint.send(chat(f"What is {n} + 1?")) for n in range(200)]

    endpoint, replies = asyncio.run(run())
    failed = [reply for reply in replies if reply.failure]
    assert 0 < len(failed) < 40
    assert all(reply.attempts == 4 for reply in failed)
    assert endpoint.requests_sent == sum(reply.attempts for reply in replies) == 200 + endpoint.retries


def test_other_tasks_get_the_loop_between_answers() -> None:
    async def run() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticker = asyncio.create_task(tick())
        endpoint = DemoEndpoint()
        for _ in range(320):
            await endpoint.send(chat("What is 1 + 1?"))
        ticker.cancel()
        return ticks

    assert asyncio.run(run()) >= 8
