"""The room's own HTTP client against the demo server: the same replies as in process, faults survived."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import benchwright
from benchwright.core import CallTimes, ModelReply, ModelRequest, Route, encode_json
from benchwright.demo import DemoServer, DemoSettings, demo_server
from benchwright.endpoints import SERVED_BY_DEMO, EchoProfile, EndpointSettings, open_endpoint

SETTINGS = DemoSettings(skill=0.6, seed=4)
TOOL = {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}


def request(route: Route, **body: Any) -> ModelRequest:
    whole: Any = {"model": "demo", "temperature": 0.0, **body}
    return ModelRequest(route, whole, encode_json(whole))


def chat(text: str, **body: Any) -> ModelRequest:
    return request("chat", messages=[{"role": "user", "content": text}], **body)


REQUESTS = {
    "question": chat("What is 12 + 7?"),
    "stream": chat("Write a story about 日本 👍🏽.", stream=True, stream_options={"include_usage": True}),
    "limit": chat("Write a story", max_tokens=7),
    "nothing": chat("Write a story", max_tokens=0),
    "tools": chat("weather in Paris", tools=[{"type": "function", "function": TOOL}]),
    "completion": request("completions", prompt="Question: 3 + 4?\nAnswer:", max_tokens=16),
    "scored": request("completions", prompt="Once upon a time", max_tokens=5, logprobs=3),
    "echo": request("completions", prompt="naïve 東京 👍 =", max_tokens=0, echo=True, logprobs=2),
    "refused": request("chat", messages=[]),
}


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with demo_server(SETTINGS) as running:
        yield running


async def send_all(
    settings: EndpointSettings | DemoSettings, requests: list[ModelRequest]
) -> list[ModelReply]:
    endpoint = open_endpoint(settings)
    try:
        return await asyncio.gather(*map(endpoint.send, requests))
    finally:
        await endpoint.aclose()


@pytest.mark.parametrize("name", REQUESTS)
def test_over_http_and_in_process_the_reply_is_the_same(server: DemoServer, name: str) -> None:
    over_http = EndpointSettings(url=server.url, model_id="demo")
    (far,) = asyncio.run(send_all(over_http, [REQUESTS[name]]))
    (near,) = asyncio.run(send_all(SETTINGS, [REQUESTS[name]]))
    assert far.status == near.status
    if far.failure is not None and near.failure is not None:
        assert (far.failure.kind, far.failure.http_status) == (near.failure.kind, near.failure.http_status)
    else:
        assert far.served == SERVED_BY_DEMO
        same = {"started_at": 0.0, "times": CallTimes(), "served": None}
        assert replace(far, **same) == replace(near, **same)  # type: ignore[arg-type]


def test_the_echo_check_accepts_the_server(server: DemoServer) -> None:
    async def run() -> int:
        endpoint = open_endpoint(EndpointSettings(url=server.url, model_id="demo"))
        try:
            return (await EchoProfile.learned(endpoint, "demo")).max_tokens
        finally:
            await endpoint.aclose()

    assert asyncio.run(run()) == 0


def test_the_client_survives_the_whole_mix_of_faults() -> None:
    faulty = replace(SETTINGS, error_rate=0.25, retry_after_s=0)
    questions = [chat(f"What is {n} + 1?", stream=bool(n % 2)) for n in range(60)]
    with demo_server(faulty) as server:
        url = EndpointSettings(url=server.url, model_id="demo", max_retries=10, retry_backoff_s=0.01)
        replies = asyncio.run(send_all(url, questions))
        calm = asyncio.run(send_all(SETTINGS, questions))
        answered = [(a.text, b.text) for a, b in zip(replies, calm, strict=True) if a.failure is None]
        assert len(answered) >= 55
        assert all(far == near for far, near in answered)
        assert len(server.stats()["faults"]) >= 4  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "alike"),
    [({"temperature": 0.0}, True), ({"temperature": 1.0, "seed": 3}, True), ({"temperature": 1.0}, False)],
)
def test_repeats_differ_over_http_as_they_do_in_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: dict[str, Any], alike: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"What is {n} + 17?", "answer": str(n + 17)} for n in range(12)]
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = []
    for _ in range(2):
        with demo_server(DemoSettings(skill=0.5)) as server:
            result = benchwright.run(
                "sums.jsonl",
                model_url=server.url,
                model_id="demo",
                repeats=5,
                parallelism=1,
                cache=False,
                **body,
            )
        figures = {
            name: next(iter(each.values())).value for name, each in result.summary.over_repeats.items()
        }
        assert (figures["pass@5"] == figures["avg@5"]) is alike
        found.append(figures)
    assert found[0] == found[1]  # in the same order after each start
