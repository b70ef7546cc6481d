"""Token counts of servers that contradict their own streams: the events decide, and a note says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from tests.perf.loads import load, plan_of
from tests.perf.made_records import streamed
from tests.perf.stub_server import serving

from benchwright.core import CallTimes, ModelReply, ModelRequest, TokenUsage
from benchwright.perf import LoadSettings, RequestRecord, Requests, StageSummary, summarise
from benchwright.perf._plan import planned_request
from benchwright.perf._records import Sending, record_of

GAP = 0.010
"""Between two tokens."""


def reply_record(
    number: int, events: Sequence[int], usage: TokenUsage | None, **fields: Any
) -> RequestRecord:
    """The record of a stream whose events carry so many tokens each, one every 10 ms."""
    arrivals, at = [], 1.0
    for count in events:
        arrivals.append(at)
        at += GAP * count
    times = CallTimes(
        sent=0.5, first_byte=0.9, first_event=0.9, first_token=arrivals[0], first_answer=arrivals[0],
        last_byte=arrivals[-1] + 0.001, arrivals=tuple(arrivals),
    )  # fmt: skip
    fields = {"finish_reason": "stop", **fields}
    reply = ModelReply("answered", "word " * sum(events), usage=usage, times=times, **fields)
    request = ModelRequest("chat", {"messages": [{"role": "user", "content": f"row {number}"}]}, b"")
    return record_of(Sending(number, 0, "measured", planned_request(request, number), None), reply, 0.0)


def one(records: Sequence[RequestRecord]) -> StageSummary:
    return summarise(Requests.of(records), LoadSettings()).stages[0]


def kinds(stage: StageSummary) -> set[str]:
    return {note.kind for note in stage.notes}


ONE: Callable[[Random], list[int]] = lambda dice: [1] * dice.randint(6, 40)  # noqa: E731
SAME: Callable[[Random], list[int]] = lambda dice: [1] * 8  # noqa: E731
FOUR: Callable[[Random], list[int]] = lambda dice: [4] * dice.randint(6, 40)  # noqa: E731
VARYING: Callable[[Random], list[int]] = lambda dice: [dice.randint(1, 5) for _ in range(dice.randint(6, 40))]  # noqa: E731

REPORTS: dict[str, Callable[[int], int | None]] = {
    "absent": lambda tokens: None,
    "right": lambda tokens: tokens,
    "end mark": lambda tokens: tokens + 1,
    "zero": lambda tokens: 0,
    "one": lambda tokens: 1,
    "negative": lambda tokens: -tokens,
    "three less": lambda tokens: tokens - 3,
    "one less": lambda tokens: tokens - 1,
    "two more": lambda tokens: tokens + 2,
    "five more": lambda tokens: tokens + 5,
    "forty more": lambda tokens: tokens + 40,
    "huge": lambda tokens: 10**9,
    "largest": lambda tokens: 2**63 - 1,
    "beyond": lambda tokens: 2**64 - 1,
}


@pytest.mark.parametrize("pattern", [ONE, SAME], ids=["lengths differ", "lengths are equal"])
@pytest.mark.parametrize("report", REPORTS)
def test_with_a_token_per_event_no_report_changes_the_figures(
    report: str, pattern: Callable[[Random], list[int]]
) -> None:
    if pattern is SAME and report == "forty more":
        return  # six tokens in each of eight events is what a server may do
    dice = Random(5)
    replies = [pattern(dice) for _ in range(30)]
    records = [
        reply_record(
            n, events, None if (given := REPORTS[report](sum(events))) is None else TokenUsage(9, given)
        )
        for n, events in enumerate(replies)
    ]
    found = one(records)
    total = sum(map(sum, replies))
    assert found.faults == {}
    if report != "end mark":  # a token without an event, as servers count it
        assert found.metrics["tpot_ms"].mean == pytest.approx(10.0, abs=0.01)
        assert found.metrics["output_tokens"].mean == pytest.approx(total / 30, abs=0.001)
    assert found.metrics["decode_speed_tokens_per_s"].min > 0
    assert found.figures["output_throughput_tokens_per_s"] > 0
    assert ("usage_contradicted" in kinds(found)) == (report not in ("absent", "right", "end mark"))
    assert ("token_source" in kinds(found)) == (report == "absent")
    assert "short_replies" not in kinds(found)


@pytest.mark.parametrize("pattern", [FOUR, VARYING], ids=["four", "varying"])
def test_right_counts_of_bundled_tokens_are_believed(pattern: Callable[[Random], list[int]]) -> None:
    for seed in range(20):
        dice = Random(seed)
        replies = [pattern(dice) for _ in range(1 + seed)]
        found = one([reply_record(n, events, TokenUsage(9, sum(events))) for n, events in enumerate(replies)])
        assert found.token_sources == {"usage": len(replies)}
        assert "usage_contradicted" not in kinds(found)
        mean = sum(map(sum, replies)) / len(replies)
        assert found.metrics["output_tokens"].mean == pytest.approx(mean, abs=0.001)


@pytest.mark.parametrize("pattern", [FOUR, VARYING], ids=["four", "varying"])
@pytest.mark.parametrize("report", [0, -7, 1, 10**9])
def test_impossible_counts_of_bundled_tokens_are_not_believed(
    report: int, pattern: Callable[[Random], list[int]]
) -> None:
    dice = Random(2)
    replies = [pattern(dice) for _ in range(20)]
    found = one([reply_record(n, events, TokenUsage(9, report)) for n, events in enumerate(replies)])
    assert found.token_sources == {"counted": 20}
    assert found.metrics["output_tokens"].mean == sum(map(len, replies)) / 20
    assert f"{report:,}" in next(note.text for note in found.notes if note.kind == "usage_contradicted")


def test_a_reply_that_stopped_at_the_requested_length_has_exactly_as_many_tokens() -> None:
    alike = {"gaps": [GAP] * 7, "requested_tokens": 8}
    doubled = one([streamed(n, n * 1.0, output_tokens=16, **alike) for n in range(3)])  # type: ignore[arg-type]
    assert doubled.metrics["tpot_ms"].mean == 10.0
    assert doubled.token_sources == {"counted": 3}
    letters = one([streamed(n, n * 1.0, output_tokens=3, requested_tokens=3) for n in range(3)])
    assert letters.token_sources == {"usage": 3}  # a stream of letters


def test_a_mean_of_counts_that_are_off_by_chance_is_that_of_the_events() -> None:
    dice = Random(3)
    replies = [[1] * dice.randint(6, 40) for _ in range(60)]
    found = one(
        [reply_record(n, e, TokenUsage(9, len(e) + dice.randint(-5, 5))) for n, e in enumerate(replies)]
    )
    assert found.metrics["tpot_ms"].mean == pytest.approx(10.0, abs=0.3)  # end marks stay


def test_reasoning_that_was_not_sent_is_part_of_the_output_but_not_of_the_stream() -> None:
    records = [
        reply_record(n, [1] * (8 + n % 3), TokenUsage(9, 508 + n % 3, "server", None, 500)) for n in range(9)
    ]
    found = one(records)
    assert found.token_sources == {"usage": 9}
    assert found.metrics["output_tokens"].min == 508
    assert found.metrics["tpot_ms"].mean == pytest.approx(10.0)
    assert found.metrics["tokens_per_event"].mean == 1.0
    assert "bundled_tokens" not in kinds(found)


@pytest.mark.parametrize("reported", [0, -3, 10**9, 2**64 - 1])
def test_impossible_counts_of_whole_replies_are_replaced_by_an_estimate(reported: int) -> None:
    times = CallTimes(sent=0.5, first_byte=0.9, last_byte=1.0)
    request = ModelRequest("chat", {"messages": []}, b"")
    reply = ModelReply("answered", "word " * 8, usage=TokenUsage(9, reported), times=times)
    record = record_of(Sending(0, 0, "measured", planned_request(request, 0), None), reply, 0.0)
    assert (record.output_tokens, record.token_source) == (10, "estimated")
    found = one([record])
    assert "by the length of the text" in " ".join(note.text for note in found.notes)
    assert found.figures["output_throughput_tokens_per_s"] > 0


def test_a_whole_reply_without_content_may_have_no_tokens() -> None:
    times = CallTimes(sent=0.5, first_byte=0.9, last_byte=1.0)
    request = ModelRequest("chat", {"messages": []}, b"")
    reply = ModelReply("empty", usage=TokenUsage(9, 0), times=times)
    record = record_of(Sending(0, 0, "measured", planned_request(request, 0), None), reply, 0.0)
    assert (record.output_tokens, record.token_source, record.reported_tokens) == (0, "usage", None)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("usage_on", ["last", "every"])
@pytest.mark.parametrize(
    "reported",
    [str, float, lambda tokens: 0, lambda tokens: -tokens, lambda tokens: None, lambda tokens: 10**40],
)
def test_counts_as_servers_write_them(reported: Callable[[int], Any], usage_on: str, stream: bool) -> None:
    async def test() -> StageSummary:
        async with serving(events=8, reported=reported, usage_on=usage_on) as stub:
            settings = LoadSettings(requests=3, stream=stream)
            records, _ = await load(stub.url, settings, plan_of(stream=stream, max_tokens=64))
            return summarise(Requests.of(records), settings).stages[0]

    found = asyncio.run(test())
    assert found.counts.completed == 3
    assert found.faults == {}
    assert found.metrics["output_tokens"].mean == (8 if stream else 10)
    assert set(found.token_sources) == {"counted" if stream else "estimated"}


def test_counts_on_every_event_end_with_the_whole() -> None:
    async def test() -> StageSummary:
        async with serving(events=8, usage_on="every", per_event=3) as stub:
            settings = LoadSettings(requests=3)
            records, _ = await load(stub.url, settings, plan_of(max_tokens=64))
            return summarise(Requests.of(records), settings).stages[0]

    found = asyncio.run(test())
    assert found.metrics["output_tokens"].mean == 24
    assert found.token_sources == {"usage": 3}
