"""The server's own counters: what is read out of `/metrics`, and that nothing depends on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from benchwright.demo import DemoSettings, demo_server
from benchwright.endpoints import EndpointSettings
from benchwright.perf import ServerWatch
from benchwright.perf._server_figures import ServerFigures, figures_between, parse_metrics
from benchwright.perf._values import StageRecord, decode_stage, encode_stage

VLLM = """
# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{{engine="0",model_name="m, \\"x\\""}} {drafts}
vllm:spec_decode_num_draft_tokens_total{{engine="0",model_name="m"}} {tokens}
vllm:spec_decode_num_accepted_tokens_total{{engine="0",model_name="m"}} {accepted}
vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",position="1"}} {second}
vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",position="0"}} {first}
vllm:prefix_cache_queries_total{{engine="0"}} {queries}
vllm:prefix_cache_queries_total{{engine="1"}} 5e1
vllm:prefix_cache_hits_total{{engine="0"}} {hits}
vllm:num_requests_running{{engine="0"}} 3.0
vllm:num_requests_running{{engine="1"}} 4.0 1731792000000
vllm:kv_cache_usage_perc{{engine="0"}} 0.25
vllm:kv_cache_usage_perc{{engine="1"}} 0.5
vllm:num_preemptions_total NaN
what is this?
"""


def vllm(**counts: int) -> str:
    names = ("drafts", "tokens", "accepted", "first", "second", "queries", "hits")
    return VLLM.format(**{name: counts.get(name, 0) for name in names})


@pytest.mark.parametrize(
    ("peaks", "running", "waiting"),
    [
        ({"running": 0.0, "waiting": 0.0}, None, None),  # every look fell between two requests
        ({"running": 2.0, "waiting": 0.0}, 2, 0),
        ({"running": 0.0, "waiting": 3.0}, 0, 3),
        ({"waiting": 0.0}, None, 0),
    ],
)
def test_peaks_that_no_look_has_seen_are_unknown(
    peaks: dict[str, float], running: int | None, waiting: int | None
) -> None:
    page = parse_metrics(vllm())
    found = figures_between(page, page, peaks)
    assert (found.running_peak, found.waiting_peak) == (running, waiting)


def test_differences_of_counters_are_the_figures_of_a_stage() -> None:
    before = parse_metrics(vllm(drafts=10, tokens=20, accepted=12, first=8, second=4, queries=100, hits=10))
    after = parse_metrics(vllm(drafts=60, tokens=120, accepted=77, first=48, second=29, queries=300, hits=60))
    assert after.gauges == {"running": 7.0, "kv_cache": 0.5}
    found = figures_between(before, after, {"running": 9.0, "kv_cache": 0.5})
    spec = found.spec_decode
    assert spec is not None
    assert (spec.drafts, spec.draft_tokens, spec.accepted_tokens) == (50, 100, 65)
    assert (spec.acceptance_rate, spec.acceptance_length, spec.per_position) == (0.65, 2.3, (0.8, 0.5))
    assert (found.prefix_queries, found.prefix_hits, found.prefix_hit_rate) == (200, 50, 0.25)
    assert (found.running_peak, found.kv_cache_peak, found.waiting_peak, found.preemptions) == (
        9,
        0.5,
        None,
        None,
    )
    assert ServerFigures.from_json(found.to_json()) == found
    assert decode_stage(encode_stage(StageRecord(0, server=found))).server == found


@pytest.mark.parametrize(
    ("page", "gauges", "counters"),
    [
        ("sglang:num_running_reqs 2\nsglang:num_queue_reqs 1\nsglang:token_usage 0.1\nsglang:spec_accept_length 2.5\n",
         {"running": 2.0, "waiting": 1.0, "kv_cache": 0.1, "accept_length": 2.5}, {}),
        ("sglang:prompt_tokens_total 100\nsglang:cached_tokens_total 40\n", {}, {"prefix_queries": 100.0, "prefix_hits": 40.0}),
        ("tgi_batch_current_size 5\ntgi_queue_size 6\n", {"running": 5.0, "waiting": 6.0}, {}),
        ("llamacpp:requests_processing 1\nllamacpp:requests_deferred 2\n", {"running": 1.0, "waiting": 2.0}, {}),
        ("<html>no metrics</html>", {}, {}),
    ],
)  # fmt: skip
def test_every_server_is_read_by_its_own_names(
    page: str, gauges: dict[str, float], counters: dict[str, float]
) -> None:
    found = parse_metrics(page)
    assert (found.gauges, found.counters) == (gauges, counters)


def test_counters_that_go_back_are_a_restart_and_no_figure() -> None:
    before, after = parse_metrics(vllm(drafts=10)), parse_metrics(vllm(drafts=3))
    assert "restarted" in str(figures_between(before, after, {}).absent)


@asynccontextmanager
async def pages(answers: list[bytes]) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that answers requests in turn, and the heads that came."""
    heads: list[str] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        body = answers[min(len(heads), len(answers)) - 1]
        status = b"404 No" if body == b"" else b"200 OK"
        writer.write(
            b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", heads
    finally:
        server.close()


def watched(answers: list[bytes], **settings: Any) -> tuple[list[ServerFigures], list[str]]:
    async def work() -> tuple[list[ServerFigures], list[str]]:
        async with pages(answers) as (url, heads):
            model = EndpointSettings(url=url, model_id="m", **settings)
            watch = ServerWatch([model], first_s=60, later_s=60)  # a busy machine is no missing page
            found = []
            for _ in range(2):
                await watch.begin()
                found.append(await watch.end())
            await watch.aclose()
            return found, heads

    return asyncio.run(work())


def test_the_page_is_read_before_and_after_each_stage_with_the_headers_of_the_endpoint() -> None:
    answers = [vllm(drafts=drafts, accepted=drafts).encode() for drafts in (1, 3, 3, 8)]
    found, heads = watched(answers, headers={"X-Team": "blue"})
    assert [figures.spec_decode.drafts for figures in found if figures.spec_decode is not None] == [2, 5]
    assert all(head.startswith("GET /metrics HTTP/1.1") and "x-team: blue" in head.lower() for head in heads)


def test_a_server_without_the_page_costs_one_request_and_a_reason() -> None:
    async def work() -> tuple[ServerFigures, list[str]]:
        async with pages([b""]) as (url, heads):
            watch = ServerWatch([EndpointSettings(url=url, model_id="m")], first_s=60)
            for _ in range(3):
                await watch.begin()
                found = await watch.end()
            await watch.aclose()
            return found, heads

    found, heads = asyncio.run(work())
    assert found.absent is not None
    assert "/metrics" in found.absent
    assert len(heads) == 1


def test_the_simulator_counts_requests_under_way() -> None:
    import urllib.request

    with demo_server(DemoSettings()) as server:
        reply = urllib.request.urlopen(server.url.removesuffix("/v1") + "/metrics")
        with reply:
            text = reply.read().decode()
    assert parse_metrics(text).gauges == {"running": 0.0, "waiting": 0.0}
