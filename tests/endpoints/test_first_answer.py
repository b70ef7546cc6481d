"""The first event, the first token and the first token of the answer are three times, on every wire."""

from __future__ import annotations

from typing import Any

import pytest
from fake_clock import FakeClock
from hypothesis import given, strategies as st
from loopback_server import TransportName, chat, delta, in_loop, serving, sse
from test_call_times import CALLED, ROLE, TICK, Recorder, in_order, timed
from test_fault_table import WIRES, Wire, request_of

from benchwright.endpoints import SEND_ONCE, USUAL, SendPolicy
from benchwright.endpoints._reasoning import answer_start, split_reasoning

THOUGHT = ["<th", "ink>hm", "</thi", "nk>", "\n", "4", "2"]
"""Reasoning between tags that no event holds whole; the answer begins with the sixth."""


def streamed(wire: Wire, texts: list[str]) -> list[Any]:
    """Events of a wire whose new texts are these."""
    so_far = ["".join(texts[: number + 1]) for number in range(len(texts))]
    pieces = [wire.piece(text) for text in (so_far if wire.api == "mindie" else texts)]
    end = dict(wire.end)
    if "generated_text" in end:
        end["generated_text"] = "".join(texts)
    return [*pieces, end]


async def places(
    events: list[Any], wire: Wire | None = None, *, transport: TransportName = "lean", policy: SendPolicy = SEND_ONCE
) -> tuple[int | None, int | None, int | None, str]:  # fmt: skip
    """Which events the three times are those of, and the answer."""
    clock = FakeClock(TICK)
    recorder = Recorder(clock, *events)
    request, api = (request_of(wire, True), wire.api) if wire else (chat(stream=True), "openai")
    async with serving(recorder) as server:
        reply = await timed(server.url, clock, request, transport=transport, policy=policy, api=api)
    assert reply.failure is None
    times = reply.times
    in_order(times)
    written = recorder.written[1:]  # without the head

    def place(at: float | None) -> int | None:
        return None if at is None else sum(time < at for time in written) - 1

    return place(times.first_event), place(times.first_token), place(times.first_answer), reply.text


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: f"{wire.api}-{wire.route}")
@in_loop
async def test_plain_text_is_the_answer(wire: Wire, transport: TransportName) -> None:
    assert await places(streamed(wire, ["4", "2"]), wire, transport=transport) == (0, 0, 0, "42")


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: f"{wire.api}-{wire.route}")
@in_loop
async def test_text_between_tags_is_not(wire: Wire, transport: TransportName) -> None:
    events = streamed(wire, THOUGHT)
    assert await places(events, wire, transport=transport) == (0, 0, 5, "42")
    assert (await places(events, wire, transport=transport, policy=USUAL))[2] is None, "nobody knows when"


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([ROLE, delta(reasoning_content="a"), delta(reasoning_content="b"), delta("4")], (0, 1, 3)),
        ([ROLE, delta(reasoning="a"), delta("", reasoning="b"), delta("4", reasoning="c")], (0, 1, 3)),
        ([ROLE, delta(reasoning="a"), delta(tool_calls=[CALLED]), delta("4")], (0, 1, 2)),
        ([ROLE, delta(refusal="no")], (0, 1, 1)),
        ([ROLE, delta(reasoning="a")], (0, 1, None)),
        ([ROLE, delta("<think>a"), delta("b</think>"), delta(tool_calls=[CALLED])], (0, 1, 3)),
        ([ROLE, delta("<think>a"), delta("b</think>"), delta("4"), delta(tool_calls=[CALLED])], (0, 1, 3)),
        ([ROLE, delta("a"), delta("b</think>"), delta("4")], (0, 1, 3)),
        ([ROLE, delta("<think>a")], (0, 1, None)),
        ([ROLE, delta(reasoning="a"), delta("<think>"), delta("4")], (0, 1, 2)),
        ([b": a comment\n\n", ROLE, delta("4")], (1, 2, 2)),
        ([sse(ROLE, delta(reasoning="a"), delta("4"), done=False)], (0, 0, 0)),
    ],
)
@in_loop
async def test_reasoning_has_a_time_of_its_own(
    events: list[Any], found: tuple[int | None, ...], transport: TransportName
) -> None:
    end = delta(finish_reason="stop")
    assert (await places([*events, end], transport=transport))[:3] == found


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ({"type": "response.reasoning_text.delta", "delta": "a"}, (0, 0, 1)),
        ({"type": "response.reasoning_summary_text.delta", "delta": "a"}, (0, 0, 1)),
        ({"type": "response.created", "response": {}}, (0, 1, 1)),
        ({"type": "response.refusal.delta", "delta": "a"}, (0, 0, 0)),
        ({"type": "response.output_item.added", "item": {"type": "function_call"}}, (0, 0, 0)),
    ],
)
@in_loop
async def test_reasoning_of_the_responses_route(events: Any, found: tuple[int, ...]) -> None:
    (wire,) = (wire for wire in WIRES if wire.api == "responses")
    assert (await places([events, *streamed(wire, ["4"])], wire))[:3] == found


@given(st.lists(st.sampled_from(["<think>", "</think>", " ", "\n", "a", "b c"]), max_size=8).map("".join))
def test_the_answer_begins_where_the_split_says(text: str) -> None:
    answer, reasoning, unclosed = split_reasoning(text)
    start = answer_start(text)
    if start is None:
        assert unclosed or not answer
    else:
        assert text[start:].strip() == answer.strip()
        assert start == 0 or not text[start].isspace()
    if reasoning and answer:
        assert start
