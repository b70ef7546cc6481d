"""Every figure that needs tokens, over made streams whose true tokens are known: right, absent, or said to be counted by events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from random import Random
from typing import Any

import pytest
from msgspec import Struct
from tests.perf.made_records import streamed

from benchwright.core import ModelReply, ModelRequest, encode_json
from benchwright.endpoints._replies import read_reply
from benchwright.endpoints._stream_reader import StreamReader
from benchwright.endpoints._transport import Stamps
from benchwright.endpoints._wires.openai import StreamedReply
from benchwright.perf import LoadSettings, RequestRecord, Requests, StageSummary, summarise
from benchwright.perf._plan import planned_request
from benchwright.perf._records import Sending, record_of

GAP = 0.010
"""Between two tokens."""
LIMIT = 0.015
"""For the time per token, which is 10 ms."""
REPLIES = 24

PATTERNS: dict[str, Callable[[Random], int]] = {
    **{f"{size} per event": lambda dice, size=size: size for size in (1, 2, 3, 4, 8)},  # type: ignore[misc]
    "1 to 8 per event": lambda dice: dice.randint(1, 8),
    "seldom 2 per event": lambda dice: 2 if dice.random() < 0.2 else 1,
}
"""Tokens of an event."""

REPORTS: dict[str, Callable[[int], Any]] = {
    "missing": lambda tokens: None,
    "zero": lambda tokens: 0,
    "negative": lambda tokens: -tokens,
    "one": lambda tokens: 1,
    "three less": lambda tokens: tokens - 3,
    "five more": lambda tokens: tokens + 5,
    "huge": lambda tokens: 10**9,
    "beyond": lambda tokens: 10**40,
    "a fraction": lambda tokens: tokens + 0.5,
    "a text": str,
    "null": lambda tokens: "null",
}
"""What `completion_tokens` says; None: there is no usage."""
CLOSE = {"three less": 3, "five more": 5}
"""Errors that nobody can see if events carry several tokens. They are no larger in the figures than in the server's count."""
PLACES = ("end", "every event", "event alone")
"""Where usage is: at the end, on every event for the reply so far, or there for that event alone."""
CUTS = ("whole", "merged", "split")
"""How the network passes events on."""


class Made(Struct):
    """One reply: its record, its true tokens, and its events."""

    record: RequestRecord
    tokens: int
    events: int
    unseen: int
    wrong: bool

    @property
    def decode_s(self) -> float:
        return self.record.arrivals[-1] - self.record.arrivals[0]


def made(number: int, events: Sequence[int], report: Callable[[int], Any], place: str, cut: str, unseen: int) -> Made:  # fmt: skip
    """Read a stream of events with so many tokens each, and `unseen` tokens of reasoning that are counted and not sent."""
    pieces, times, at, total = [], [], 1.0, sum(events) + unseen

    def usage(tokens: int) -> dict[str, Any]:
        if (said := report(tokens)) is None:
            return {}
        details = {"completion_tokens_details": {"reasoning_tokens": unseen}} if unseen else {}
        return {
            "usage": {"prompt_tokens": 9, "completion_tokens": None if said == "null" else said, **details}
        }

    so_far = unseen
    for count in events:
        so_far += count
        event: dict[str, Any] = {"choices": [{"index": 0, "delta": {"content": "word " * count}}]}
        if place != "end":
            event |= usage(count if place == "event alone" else so_far)
        pieces.append(data_of(event))
        times.append(at)
        at += GAP * count
    last: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    pieces += [data_of(last | (usage(total) if place == "end" else {})), b"data: [DONE]\n\n"]
    times += [times[-1], times[-1]]
    if cut == "merged":  # every second event waits for the next
        pieces = [b"".join(pieces[n : n + 2]) for n in range(0, len(pieces), 2)]
        times = [times[min(n + 1, len(times) - 1)] for n in range(0, len(times), 2)]
    elif cut == "split":
        pieces = [part for piece in pieces for part in (piece[: len(piece) // 2], piece[len(piece) // 2 :])]
        times = [time for time in times for _ in range(2)]
    record = record_of(sending(number), read(pieces, times), 0.0)
    return Made(record, total, len(events), unseen, report(total) != total)


def data_of(event: dict[str, Any]) -> bytes:
    usage = event.get("usage", {})
    if isinstance(usage.get("completion_tokens"), int) and usage["completion_tokens"] > 2**64:
        mark = {**event, "usage": {**usage, "completion_tokens": 0}}
        return b"data: " + encode_json(mark).replace(
            b'"completion_tokens":0', b'"completion_tokens":%d' % usage["completion_tokens"]
        ) + b"\n\n"  # fmt: skip
    return b"data: " + encode_json(event) + b"\n\n"


def read(pieces: list[bytes], times: list[float]) -> ModelReply:
    stamps = Stamps(sent=0.5, first_byte=0.9, arrivals=[])
    reader = StreamReader(StreamedReply("chat"), stamps, 1 << 24)
    if not reader.take(pieces, times):
        reader.finish()
    whole = reader.collected.as_json()
    assert isinstance(whole, dict)
    reply = read_reply(whole, "chat", stamps)
    assert isinstance(reply, ModelReply)
    return reply


def sending(number: int) -> Sending:
    request = ModelRequest("chat", {"messages": [{"role": "user", "content": f"row {number}"}]}, b"")
    return Sending(number, 0, "measured", planned_request(request, number), None)


def one(requests: Requests) -> StageSummary:
    return summarise(requests, LoadSettings(slo=(("tpot", LIMIT),))).stages[0]


def mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def kinds(stage: StageSummary) -> dict[str, str]:
    return {note.kind: note.text for note in stage.notes}


def check(replies: Sequence[Made], off: float = 0.0) -> StageSummary:
    """No figure mixes counts, and each is within `off` tokens of the truth for the requests that it covers, or a note says that events
    are counted."""
    table = Requests.of([each.record for each in replies])
    found = one(table)
    counted = table.where(table["output_tokens"].is_valid())
    known = {*counted["number"].to_pylist()}
    metrics, figures, notes, sources = found.metrics, found.figures, kinds(found), found.token_sources
    assert found.counts.completed == len(replies)
    assert found.faults == {}
    assert metrics["output_tokens"].n == sum(sources.values())
    duration = figures["duration_s"]
    if set(sources) == {"usage"}:
        covered = [each for each in replies if each.record.number in known]
        counts = [each.tokens for each in covered]
        assert all(each.wrong for each in replies if each.record.number not in known), (
            "no right count is left out"
        )
        assert off or not any(each.wrong for each in covered)
    elif set(sources) == {"counted"}:  # not what the server says, for any request
        covered, off = replies, 0
        counts = [each.events for each in covered]
        assert "one per content event" in notes.get("usage_contradicted", "") + notes.get("token_source", "")
    else:
        assert set(sources) == {"usage", "counted"}
        covered, off = replies, off * max(each.wrong for each in replies)
        counts = [each.tokens for each in covered]
        assert all(each.tokens - each.unseen == each.events for each in covered), "both counts are the same"
        assert {"usage_contradicted", "token_source"} & set(notes)
    seen = [
        count - (each.unseen if "usage" in sources else 0)
        for each, count in zip(covered, counts, strict=True)
    ]
    total = sum(counts)
    assert metrics["output_tokens"].mean == pytest.approx(total / len(covered), abs=off + 0.001)
    for key, of in {
        "tpot_ms": lambda each, tokens: 1000 * each.decode_s / (tokens - 1),
        "decode_speed_tokens_per_s": lambda each, tokens: (tokens - 1) / each.decode_s,
        "tokens_per_event": lambda each, tokens: tokens / each.events,
    }.items():
        ends = [mean([of(each, tokens + more) for each, tokens in zip(covered, seen, strict=True)]) for more in (-off, off)]  # fmt: skip
        assert min(ends) - 0.01 <= metrics[key].mean <= max(ends) + 0.01, key
        assert metrics[key].n == len(covered), key
    if len(covered) == len(replies):
        assert figures["output_throughput_tokens_per_s"] == pytest.approx(total / duration, abs=0.001 + off * len(replies) / duration)  # fmt: skip
        assert "tokens_unknown" not in notes
    else:
        assert not {key for key in figures if "output_throughput" in key or "total_throughput" in key}
        assert f"{len(replies) - len(covered)} of {len(replies)}" in notes["tokens_unknown"]
        assert "miss the limit tpot" in notes["tokens_unknown"]
    assert found.slo is not None
    if "usage" in sources and not off:
        assert found.slo.met == len(covered), "a request whose tokens are unknown has kept no limit per token"
    return found


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("report", REPORTS)
def test_no_figure_that_needs_tokens_is_silently_wrong(report: str, pattern: str) -> None:
    dice = Random(f"{report} {pattern}")
    for share in (0.0, 0.1, 0.5, 1.0) if report == "missing" else (0.1, 0.5, 1.0):
        place, cut = dice.choice(PLACES), dice.choice(CUTS)
        if place == "event alone" and (report in CLOSE or share < 1):
            place = "every event"  # a count of the last event alone is wrong as it is: see below
        unseen = 300 if dice.random() < 0.25 else 0
        bad = set(dice.sample(range(REPLIES), round(share * REPLIES)))
        replies = [
            made(
                number,
                [PATTERNS[pattern](dice) for _ in range(dice.randint(12, 40))],
                REPORTS[report] if number in bad else int,
                place,
                cut,
                unseen,
            )
            for number in range(REPLIES)
        ]
        check(replies, CLOSE.get(report, 0))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_counts_of_the_last_event_alone_are_not_those_of_the_reply(pattern: str) -> None:
    dice = Random(pattern)
    replies = [
        made(number, [PATTERNS[pattern](dice) for _ in range(dice.randint(12, 40))], int, "event alone", "whole", 0)
        for number in range(REPLIES)
    ]  # fmt: skip
    assert check(replies).token_sources == {"counted": REPLIES}


def test_events_of_several_tokens_are_not_averaged_with_reported_tokens() -> None:
    dice = Random(1)
    replies = [
        made(number, [4] * dice.randint(20, 28), (lambda tokens: None) if number % 4 == 0 else int, "end", "whole", 0)
        for number in range(40)
    ]  # fmt: skip
    found = check(replies)
    right = [each.tokens for each in replies if not each.wrong]
    assert found.metrics["output_tokens"].mean == pytest.approx(mean(right), abs=0.001)
    assert (found.metrics["output_tokens"].n, found.token_sources) == (30, {"usage": 30})
    assert 9.5 < found.metrics["tpot_ms"].mean < 10
    assert "output_throughput_tokens_per_s" not in found.figures
    assert "one source" in found.absent["output_throughput_tokens_per_s"]
    assert "10 of 40" in kinds(found)["tokens_unknown"]


def test_who_counts_is_decided_once_for_all_levels_and_servers() -> None:
    """The first level and the first server have usage, the others none."""
    four = {"gaps": (0.04,) * 7, "finish_reason": "stop"}
    silent = {**four, "output_tokens": 8, "token_source": "counted"}
    for field in ("stage", "url"):
        records = [streamed(n, n * 1.0, output_tokens=32, **{field: 0}, **four) for n in range(5)]  # type: ignore[arg-type]
        records += [streamed(n, n * 1.0, **{field: 1}, **silent) for n in range(5, 10)]  # type: ignore[arg-type]
        levels = summarise(Requests.of(records), LoadSettings()).stages
        assert levels[0].metrics["output_tokens"].mean == 32
        assert levels[0].metrics["output_tokens"].n == 5
        if field == "stage":
            assert "output_tokens" not in levels[1].metrics
        assert "5 of " in kinds(levels[-1])["tokens_unknown"]


def test_estimates_by_the_length_of_a_text_are_not_averaged_with_counts() -> None:
    whole = {"arrivals": (), "first_token": None, "first_answer": None, "finish_reason": "stop"}
    for source in ("usage", "counted"):
        records = [streamed(n, n * 1.0, token_source=source) for n in range(4)]
        records += [
            streamed(n, n * 1.0, output_tokens=900, token_source="estimated", **whole) for n in (4, 5)
        ]  # type: ignore[arg-type]
        found = one(Requests.of(records))
        assert found.token_sources == {source: 4}
        assert found.metrics["output_tokens"].max == 32


def test_broken_streams_without_usage_change_nothing() -> None:
    records = [streamed(n, n * 1.0, output_tokens=128, finish_reason="stop") for n in range(9)]
    broken = streamed(9, 9.0, output_tokens=5, token_source="counted", outcome="broken_stream")
    found = one(Requests.of([*records, broken]))
    assert found.token_sources == {"usage": 9}
    assert "output_throughput_tokens_per_s" in found.figures
    assert "tokens_unknown" not in kinds(found)
