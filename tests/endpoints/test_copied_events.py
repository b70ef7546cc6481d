"""Streams whose events come more than once: the answer is the same, or it is said that it may not be."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from loopback_server import Call, chat, completion, cut, delta, endpoint_at, in_loop, serving, sse

import benchwright
from benchwright.core import ModelReply
from benchwright.endpoints import SEND_ONCE

WORDS = ["ha", "ha", " na", "1", "1", "2", "Paris", "\n", "ü"]


def chat_events(draw: random.Random, number: int) -> list[bytes]:
    """The events of a plausible stream: text, perhaps reasoning or calls, equal pieces in a row among them."""

    def event(choices: list[Any], **more: Any) -> bytes:
        whole = {
            "id": f"c{number}",
            "object": "chat.completion.chunk",
            "created": 17,
            "model": "m",
            "choices": choices,
        }
        return b"data: " + orjson.dumps({**whole, **more}) + b"\n\n"

    def piece(finish: str | None = None, **content: Any) -> bytes:
        return event([{"index": 0, "delta": content, "finish_reason": finish}])

    said = [draw.choice(WORDS) for _ in range(draw.randint(1, 6))]
    found = [piece(role="assistant", content="")] if draw.random() < 0.7 else []
    if draw.random() < 0.3:
        found += [piece(reasoning_content=draw.choice(WORDS)) for _ in range(3)]
    calls = draw.random() < 0.3
    if calls:
        name = {"name": "f", "arguments": ""}
        found.append(piece(tool_calls=[{"index": 0, "id": "x", "type": "function", "function": name}]))
        for part in ('{"a"', ": 1", "1", "1", "}"):
            found += [piece(tool_calls=[{"index": 0, "function": {"arguments": part}}])]
    elif draw.random() < 0.3:  # the end comes with the last piece
        found += [piece(content=text) for text in said[:-1]] + [piece("stop", content=said[-1])]
        return found
    else:
        found += [piece(content=text) for text in said]
    found.append(piece("tool_calls" if calls else "stop"))
    if draw.random() < 0.7:
        found.append(event([], usage={"prompt_tokens": 5, "completion_tokens": 12}))
    return found


def completions_events(draw: random.Random, number: int) -> list[bytes]:
    def piece(text: str, finish: str | None = None) -> bytes:
        choice = {"index": 0, "text": text, "finish_reason": finish}
        return b"data: " + orjson.dumps({"id": f"c{number}", "created": 17, "choices": [choice]}) + b"\n\n"

    return [*(piece(draw.choice(WORDS)) for _ in range(draw.randint(1, 6))), piece("", "stop")]


def responses_events(draw: random.Random, number: int) -> list[bytes]:
    counts = draw.random() < 0.5
    whole = draw.random() < 0.5

    def event(kind: str, **fields: Any) -> bytes:
        numbers = {"sequence_number": len(found)} if counts else {}
        data = orjson.dumps({"type": kind, **fields, **numbers})
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), data)

    found: list[bytes] = []
    found.append(event("response.created", response={"id": f"r{number}", "status": "in_progress"}))
    said = [draw.choice(WORDS) for _ in range(draw.randint(1, 6))]
    for text in said:
        found += [event("response.output_text.delta", item_id="m", delta=text)]
    message = {"id": "m", "type": "message", "content": [{"type": "output_text", "text": "".join(said)}]}
    output = [message] if whole else []
    found.append(event("response.completed", response={"status": "completed", "output": output}))
    return found


KINDS = {"chat": chat_events, "completions": completions_events, "responses": responses_events}


def essence(reply: ModelReply) -> Any:
    calls = json.dumps(reply.tool_calls)
    return reply.status, reply.text, reply.reasoning, reply.finish_reason, reply.usage, calls


def streams(kind: str, seed: int) -> Iterator[tuple[list[bytes], int, bool, int]]:
    """Streams as they should be, how often each event of them is sent, whether an end mark follows, and the size of pieces."""
    draw = random.Random(seed)
    for number in range(40):
        events = KINDS[kind](draw, number)
        done = kind != "responses" and draw.random() < 0.8
        yield events, draw.choice((1, 2, 2, 3)), done, draw.choice((0, 7, 50, 10_000))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
@in_loop
async def test_a_stream_whose_events_all_come_equally_often_is_the_same_reply(kind: str, seed: int) -> None:
    sent: list[bytes] = []

    async def handle(call: Call) -> None:
        await call.events(*sent)

    request = completion(stream=True) if kind == "completions" else chat(stream=True)
    api = "responses" if kind == "responses" else "openai"
    async with serving(handle) as server, endpoint_at(server.url, api=api, max_retries=0) as endpoint:
        for events, copies, done, size in streams(kind, seed):
            mark = [b"data: [DONE]\n\n"] if done else []
            sent[:] = [*events, *mark]
            once = await endpoint.send(request)
            assert (once.failure, once.copied) == (None, None), sent
            copied = [event for event in [*events, *mark] for _ in range(copies)]
            sent[:] = cut(b"".join(copied), size) if size else copied
            reply = await endpoint.send(request)
            assert essence(reply) == essence(once), copied
            assert reply.copied == (None if copies == 1 else "left_out"), copied


@in_loop
async def test_copies_do_not_count_as_tokens() -> None:
    async def handle(call: Call) -> None:
        events = [delta("", role="assistant"), delta("a"), delta("b"), delta(None, "stop")]
        await call.events(*(sse(event, done=False) for event in events for _ in range(2)), sse())

    async with serving(handle) as server, endpoint_at(server.url, policy=SEND_ONCE) as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert len(reply.times.arrivals) == 2
    assert reply.times.first_token == reply.times.arrivals[0]


@in_loop
async def test_an_answer_that_is_sent_again_as_a_whole_is_one_answer() -> None:
    def answer(*pieces: Any) -> bytes:
        return sse(*pieces, done=False)

    call = {"index": 0, "id": "x", "function": {"name": "f", "arguments": "{}"}}
    text = answer(delta("", role="assistant"), delta("4"), delta("2"), delta(None, "stop"))
    calls = answer(delta(None, tool_calls=[call]), delta(None, "tool_calls"))
    early = answer(delta("4", "stop"), delta("2"), delta(None, "stop"))
    sent = b""

    async def handle(received: Call) -> None:
        await received.events(sent)

    async with serving(handle) as server, endpoint_at(server.url) as endpoint:
        for body, said, arguments, copied in (
            (2 * text, "42", None, "left_out"),
            (2 * calls, "", "{}", "left_out"),
            (early, "42", None, None),
        ):
            sent = body
            reply = await endpoint.send(chat(stream=True))
            assert (reply.status, reply.text, reply.copied) == ("answered", said, copied)
            assert (reply.tool_calls and reply.tool_calls[0]["function"]["arguments"]) == arguments  # type: ignore[index,call-overload]


@pytest.mark.parametrize("ids", [True, False])
@in_loop
async def test_an_event_with_an_id_that_came_before_is_left_out(ids: bool) -> None:
    pieces = [delta("", role="assistant"), delta("ha"), delta("ha"), delta("!"), delta(None, "stop")]
    lines = [
        b"id: %d\ndata: %b\n\n" % (number if ids else 7, orjson.dumps(piece))
        for number, piece in enumerate(pieces)
    ]
    sent = [*lines[:3], lines[2], lines[1], *lines[3:]] if ids else lines

    async def handle(call: Call) -> None:
        await call.events(b"".join(sent))

    async with serving(handle) as server, endpoint_at(server.url) as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert (reply.text, reply.copied) == ("haha!", "left_out" if ids else None)


def counted(tokens: int) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": tokens}}


def replayed(draw: random.Random, said: list[str]) -> Iterator[tuple[list[Any], str, str | None]]:
    """Ways in which a stream goes back to an earlier event and on from there, what was said, and what is told about it."""
    role, end = delta("", role="assistant"), delta(None, "stop")
    words = [delta(each) for each in said]
    extra = draw.randint(0, 1)  # some servers count the end
    usage, text, size = counted(len(said) + extra), "".join(said), len(said)
    yield [role, *words, end, usage], text, None
    yield [role, *words, end], text, None
    yield [role, *words, *words, end, counted(2 * size + extra)], 2 * text, None
    for times in (2, 3):
        yield [role, *times * words, end, usage], text, "left_out"
        yield [*times * [role, *words], end, usage], text, "left_out"
    yield [role, *words, role, *words, end], 2 * text, "suspected"
    back = draw.randint(1, size - 1)
    at = draw.randint(back, size)
    again = words[:at] + words[at - back :]
    told = "suspected" if back > extra else None  # one piece more is the end
    yield [role, *again, end, usage], "".join(said[:at] + said[at - back :]), told
    yield [role, *words[:at], role, *words, end], "".join(said[:at]) + text, "suspected"


@pytest.mark.parametrize("seed", range(4))
@in_loop
async def test_a_stream_that_goes_back_is_one_answer_or_is_told(seed: int) -> None:
    draw = random.Random(seed)
    sent: list[Any] = []

    async def handle(call: Call) -> None:
        await call.events(sse(*sent))

    async with serving(handle) as server:
        for _ in range(8):
            said = draw.sample(
                ["The", " sum", " of", " 4", " and", " 2", " is", "\n", " six"], draw.randint(2, 7)
            )
            for events, text, copied in replayed(draw, said):
                sent[:] = events
                async with endpoint_at(server.url, max_retries=0) as endpoint:
                    for _ in range(2):  # the second is read by what was learned of the first
                        reply = await endpoint.send(chat(stream=True))
                        assert (reply.text, reply.copied) == (text, copied), events


@in_loop
async def test_what_cannot_be_told_is_said() -> None:
    role, end = delta("", role="assistant"), delta(None, "stop")
    sent = b""

    async def handle(call: Call) -> None:
        await call.events(sent)

    async def outcome(*events: Any, endpoint: Any) -> tuple[str, str | None, str | None]:
        nonlocal sent
        sent = sse(*events)
        reply = await endpoint.send(chat(stream=True))
        return reply.status, reply.copied, reply.failure and reply.failure.kind

    async with serving(handle) as server, endpoint_at(server.url, max_retries=0) as endpoint:
        ha, some = delta("ha"), delta("!")
        # More pieces than tokens, and one of them twice.
        assert await outcome(role, ha, ha, some, end, counted(2), endpoint=endpoint) == (
            "answered",
            "suspected",
            None,
        )
        assert await outcome(role, ha, ha, some, end, counted(3), endpoint=endpoint) == (
            "answered",
            None,
            None,
        )
        assert await outcome(role, ha, ha, some, end, endpoint=endpoint) == ("answered", None, None)
        # The end came twice, and not everything else.
        assert await outcome(role, ha, ha, some, end, end, endpoint=endpoint) == ("failed", None, "bad_reply")
        assert await outcome(role, ha, some, end, end, endpoint=endpoint) == ("answered", None, None)
        # A server that sends tokens in parts has more pieces than tokens anyway.
        assert await outcome(role, ha, some, end, counted(1), endpoint=endpoint) == ("answered", None, None)
        assert await outcome(role, ha, ha, some, end, counted(2), endpoint=endpoint) == (
            "answered",
            None,
            None,
        )


def test_a_run_says_which_of_its_replies_came_with_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    role, end = delta("", role="assistant"), delta(None, "stop")
    every = [event for event in (role, delta("Par"), delta("is"), end, counted(2)) for _ in range(2)]
    some = [role, delta("ha"), delta("ha"), end, counted(1)]

    async def handle(call: Call) -> None:
        await call.events(sse(*(every if "France" in call.payload.decode() else some)))

    async def run() -> Any:
        async with serving(handle) as server:
            return await asyncio.to_thread(
                benchwright.run, str(file), model_url=server.url, model_id="m", stream=True, parallelism=1
            )

    monkeypatch.chdir(tmp_path)
    file = tmp_path / "qa.jsonl"
    rows = [{"question": "Capital of France?", "answer": "Paris"}, {"question": "Laugh!", "answer": "ha"}]
    file.write_text("\n".join(map(json.dumps, rows)))
    result = asyncio.run(run())
    assert [sample["response"] for sample in result.samples()] == ["Paris", "haha"]
    notes = " ".join(result.summary.notes)
    assert "events of 1 of 2 streams came more than once; each is used once" in notes
    assert "1 of 2 replies may contain text twice" in notes


def called(draw: random.Random) -> tuple[list[Any], str]:
    """The events of one call, its arguments cut anywhere, and the arguments."""
    arguments = json.dumps({draw.choice("abc"): draw.choice([1, "x", [2, 3], {"d": None}]) for _ in range(2)})
    cuts = sorted({0, len(arguments), *draw.choices(range(1, len(arguments)), k=draw.randint(0, 4))})
    pieces = [arguments[start:end] for start, end in itertools.pairwise(cuts)]
    first = {"index": 0, "id": "x", "type": "function", "function": {"name": "f", "arguments": pieces[0]}}
    rest = [{"index": 0, "function": {"arguments": piece}} for piece in pieces[1:]]
    return [delta(None, tool_calls=[call]) for call in (first, *rest)], arguments


@pytest.mark.parametrize("seed", range(4))
@in_loop
async def test_one_event_that_comes_again_at_once_doubles_nothing_that_can_be_told(seed: int) -> None:
    draw = random.Random(seed)
    role, sent = delta("", role="assistant"), list[Any]()

    async def handle(call: Call) -> None:
        await call.events(sse(*sent))

    async with serving(handle) as server, endpoint_at(server.url, max_retries=0) as endpoint:
        for _ in range(20):
            said = draw.sample(["The", " sum", " is", " 4", "2"], draw.randint(1, 5))
            last = delta(said[-1], "stop")
            counts = [counted(len(said))] * draw.randint(0, 2)
            sent[:] = [role, *map(delta, said[:-1]), *[last] * draw.randint(2, 3), *counts]
            reply = await endpoint.send(chat(stream=True))
            assert (reply.text, reply.copied) == ("".join(said), "left_out"), sent
            assert reply.usage is None or reply.usage.completion == len(said)

            events, arguments = called(draw)
            twice = draw.randrange(len(events))
            sent[:] = [role, *events[:twice], *events[twice:][:1], *events[twice:], delta(None, "tool_calls")]
            reply = await endpoint.send(chat(stream=True))
            assert reply.tool_calls is not None
            found: Any = [call["function"] for call in reply.tool_calls]  # type: ignore[index,call-overload]
            again = "".join(
                event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] for event in sent[1:-1]
            )
            try:  # a digit or a letter may well be meant twice
                json.loads(again)
            except ValueError:
                assert (found, reply.copied) == ([{"name": "f", "arguments": arguments}], "left_out"), sent


@in_loop
async def test_an_item_that_comes_again_is_one_item() -> None:
    call = {"id": "i", "type": "function_call", "call_id": "x", "name": "f", "arguments": '{"a": 1}'}
    events = [
        {"type": "response.created", "response": {"id": "r"}},
        *[{"type": "response.output_item.done", "item": call}] * 2,
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ]

    async def handle(received: Call) -> None:
        await received.events(*(sse(event, done=False) for event in events))

    async with serving(handle) as server, endpoint_at(server.url, api="responses") as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert (reply.tool_calls and len(reply.tool_calls), reply.copied) == (1, "left_out")
