"""Every fault on every route, streamed or not: one outcome per fault, the documented one, and every attempt counted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest
from loopback_server import Call, TransportName, endpoint_at, in_loop, serving, sse
from wire_table import WIRES, Wire

from benchwright.core import ModelReply, ModelRequest, encode_json

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


CASES = [(wire, stream) for wire in WIRES for stream in (False, True)]

Fault = Callable[[Call, Wire, bool], Awaitable[None]]


def request_of(wire: Wire, stream: bool) -> ModelRequest:
    body: dict[str, Any] = {"model": "m"}
    if wire.route == "chat":
        body["messages"] = [{"role": "user", "content": "2 + 2?"}]
    else:
        body["prompt"] = "2 + 2?"
    if stream:
        body["stream"] = True
    return ModelRequest(wire.route, body, encode_json(body))


async def replies(
    fault: Fault,
    transport: TransportName = "lean",
    cases: list[tuple[Wire, bool]] = CASES,
    **settings: Any,
) -> list[tuple[str, ModelReply]]:
    """What each route makes of the fault, with one repetition allowed."""

    async def one(wire: Wire, stream: bool) -> tuple[str, ModelReply]:
        async def handle(call: Call) -> None:
            await fault(call, wire, stream)

        values = {"max_retries": 1, **settings}
        async with (
            serving(handle) as server,
            endpoint_at(server.url, transport, api=wire.api, **values) as endpoint,
        ):
            reply = await endpoint.send(request_of(wire, stream))
            assert endpoint.in_flight == 0
            assert reply.attempts == endpoint.requests_sent
            if not (
                reply.failure and reply.failure.kind == "timeout"
            ):  # which may come before the server looks
                assert reply.attempts == len(server.calls)
        return f"{wire.api} {wire.route}{' stream' if stream else ''}", reply

    return await asyncio.gather(*(one(*case) for case in cases))


def verdicts(found: list[tuple[str, ModelReply]]) -> dict[str, str]:
    return {
        name: f"{reply.failure.kind if reply.failure else reply.status} ×{reply.attempts}"
        for name, reply in found
    }


def all_are(verdict: str, found: list[tuple[str, ModelReply]]) -> None:
    assert verdicts(found) == {name: verdict for name, _ in found}


# -- faults of the connection and of the status --


def with_status(status: int, body: bytes = b'{"error": {"message": "so it is"}}', **headers: str) -> Fault:
    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        await call.answer(body, status, **headers)

    return fault


async def silence(call: Call, wire: Wire, stream: bool) -> None:
    await asyncio.Event().wait()


async def silence_half_way(call: Call, wire: Wire, stream: bool) -> None:
    await call.raw(STREAM_HEAD if stream else b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")
    await asyncio.Event().wait()


async def closed(call: Call, wire: Wire, stream: bool) -> None:
    call.close()


async def reset(call: Call, wire: Wire, stream: bool) -> None:
    call.reset()


async def reset_after_head(call: Call, wire: Wire, stream: bool) -> None:
    await call.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{", pause_s=0.02)
    call.reset()


async def half(call: Call, wire: Wire, stream: bool) -> None:
    if stream:
        await call.events(sse(wire.piece("fo"), done=False), end=False, pause_s=0.02)
    else:
        whole = orjson.dumps(wire.whole("four"))
        await call.raw(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(whole), whole[: len(whole) // 2]),
            pause_s=0.02,
        )
    call.close()


async def too_long_a_length(call: Call, wire: Wire, stream: bool) -> None:
    body = (
        sse(wire.piece("fo"), done=False).removesuffix(b"\n\n") if stream else orjson.dumps(wire.whole("x"))
    )
    await call.raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body) + 5, body), pause_s=0.02)
    call.close()


PAGE = b"<!doctype html><html><head><title>Down</title></head></html>"
DEEP = b'{"error": ' + b"[" * 300 + b"]" * 300 + b"}"
DEEPER = b'{"error": ' + b'{"error": ' * 3000 + b"1" + b"}" * 3001


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize(
    ("fault", "verdict"),
    [
        (silence, "timeout ×2"),
        (silence_half_way, "timeout ×2"),
        (closed, "connection ×2"),
        (reset, "connection ×2"),
        (reset_after_head, "broken_stream ×2"),
        (half, "broken_stream ×2"),
        (too_long_a_length, "broken_stream ×2"),
        (with_status(429), "rate_limited ×2"),
        (with_status(429, Retry_After="0.01"), "rate_limited ×2"),
        (with_status(429, b'{"error": {"code": "insufficient_quota"}}'), "rejected ×1"),
        (with_status(500), "server_error ×2"),
        (with_status(503, PAGE), "server_error ×2"),
        (with_status(500, b"\xff\xfe{"), "server_error ×2"),
        (with_status(500, DEEP), "server_error ×2"),
        (with_status(400, DEEP), "rejected ×1"),
        (with_status(422, DEEPER), "rejected ×1"),
        (with_status(401, b""), "rejected ×1"),
        (with_status(302, b"", Location="http://elsewhere/"), "rejected ×1"),
    ],
    ids=["silence", "silence half-way", "closed", "reset", "reset after the head", "half a reply", "wrong length",
         "429", "429 with Retry-After", "empty account", "500", "503 page", "500 not UTF-8", "500 nested 300 levels",
         "400 nested 300 levels", "422 nested 3000 levels", "401 without a body", "302"],
)  # fmt: skip
@in_loop
async def test_connection_and_status(transport: TransportName, fault: Fault, verdict: str) -> None:
    timeout_s = 0.3 if verdict.startswith("timeout") else 20.0
    all_are(verdict, await replies(fault, transport, request_timeout_s=timeout_s, sample_timeout_s=60.0))


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize("max_retries", [0, 1])
@in_loop
async def test_every_request_on_the_wire_is_counted(transport: TransportName, max_retries: int) -> None:
    """Also one that goes to a kept connection which the server closes instead of answering."""
    for wire, stream in CASES:
        used: set[int] = set()

        async def close_when_used_before(call: Call, wire: Wire = wire, stream: bool = stream) -> None:
            if call.connection in used:  # noqa: B023 - within the same turn
                call.close()
                return
            used.add(call.connection)  # noqa: B023
            if stream:
                await call.events(sse(wire.piece("fo"), wire.end))
            else:
                await call.json(wire.whole("fo"))

        async with (
            serving(close_when_used_before) as server,
            endpoint_at(server.url, transport, api=wire.api, max_retries=max_retries) as endpoint,
        ):
            found = [await endpoint.send(request_of(wire, stream)) for _ in range(6)]
            assert len(server.calls) == endpoint.requests_sent == sum(reply.attempts for reply in found)
            failed = {reply.failure.kind for reply in found if reply.failure}
            assert failed <= ({"connection"} if max_retries == 0 else set())


# -- status 200 without an answer --


def with_body(body: bytes) -> Fault:
    """The body in place of a reply, also where a stream was wanted."""

    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        await call.answer(body, Content_Type="application/json")

    return fault


def as_event(data: bytes) -> Fault:
    """The same, as an event where a stream was wanted."""

    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        if stream:
            await call.events(b"data: " + data + b"\n\n", sse(wire.end))
        else:
            await call.answer(data)

    return fault


def in_field(value: Any) -> Fault:
    """The value where the answer should be, alone in a reply or in every event of a stream."""

    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        event: dict[str, Any] = {wire.field: value}
        if stream and wire.api == "responses":
            event = {"type": "response.completed", "response": event}
        if stream:
            await call.events(sse(event, event))
        else:
            await call.json(event)

    return fault


async def no_field(call: Call, wire: Wire, stream: bool) -> None:
    if stream:
        await call.events(sse({"id": "x"}, {"id": "x"}))
    else:
        await call.json({"id": "x"})


def content(value: Any) -> Fault:
    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        if stream:
            await call.events(sse(wire.piece(value), wire.end))
        else:
            await call.json(wire.whole(value))

    return fault


def error_inside(error: Any) -> Fault:
    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        if stream:
            await call.events(sse(wire.piece("fo"), {"error": error}, done=False))
        else:
            await call.json({"error": error})

    return fault


BAD = "bad_reply ×2"


@pytest.mark.parametrize(
    ("fault", "verdict"),
    [
        (with_body(PAGE), BAD),
        (with_body(b""), BAD),
        (with_body(b"[]"), BAD),
        (with_body(b"null"), BAD),
        (with_body(b"7"), BAD),
        (with_body(b"\xff\xfe{}"), BAD),
        (with_body(b'{"a": "' + b"x" * 2000), BAD),
        (with_body(b"[" * 300 + b"]" * 300), BAD),
        (with_body(b"[" * 5000 + b"]" * 5000), BAD),
        (as_event(b"[]"), BAD),
        (as_event(b"null"), BAD),
        (as_event(b'"text"'), BAD),
        (as_event(b"\xff\xfe{}"), BAD),
        (as_event(b'{"a": "x'), BAD),
        (as_event(b'{"a":' * 300 + b"1" + b"}" * 300), BAD),
        (no_field, BAD),
        (in_field("text"), BAD),
        (in_field([7]), BAD),
        (in_field({"0": {}}), BAD),
        (in_field(7), BAD),
        (error_inside("out of memory"), "server_error ×2"),
        (error_inside({"message": "busy", "code": 429}), "rate_limited ×2"),
    ],
    ids=["page", "empty body", "list", "null", "number", "not UTF-8", "cut JSON", "nested 300", "nested 5000",
         "event is a list", "event is null", "event is a text", "event not UTF-8", "cut event", "nested event",
         "no field", "text in the field", "numbers in the field", "object in the field", "number in the field",
         "error inside", "error with a status inside"],
)  # fmt: skip
@in_loop
async def test_status_200_without_an_answer(
    fault: Fault, verdict: str, request: pytest.FixtureRequest
) -> None:
    cases = CASES
    name = request.node.callspec.id
    if "text in the field" in name:  # which is the answer where the field holds a text
        cases = [case for case in CASES if case[0].field in ("choices", "output")]
    if "status inside" in name:  # the text formats name none there
        cases = [case for case in CASES if case[0].api in ("openai", "responses")]
    all_are(verdict, await replies(fault, cases=cases))


@pytest.mark.parametrize("value", [None, []], ids=["null", "empty list"])
@in_loop
async def test_no_choices_at_all(value: Any) -> None:
    cases = [case for case in CASES if case[0].field in ("choices", "output")]
    all_are(BAD, await replies(in_field(value), cases=cases))


@in_loop
async def test_null_or_blank_content_is_the_models_own_silence() -> None:
    cases = [case for case in CASES if case[0].api != "responses" or not case[1]]
    for value in (None, "", " "):
        found = await replies(content(value), cases=cases)
        for name, reply in found:
            if name in ("tgi completions stream", "mindie completions stream"):
                continue  # their last event holds the whole text
            assert (reply.status, reply.attempts) == ("empty", 1), name


@in_loop
async def test_content_of_another_type_is_no_answer() -> None:
    for value in (7, {"a": 1}, [7], True):
        all_are(BAD, await replies(content(value)))


def ending(finish: Any, text: Any) -> Fault:
    """The text and the finish reason in one choice."""

    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        choice = orjson.loads(orjson.dumps((wire.piece if stream else wire.whole)(text)))
        choice["choices"][0]["finish_reason"] = finish
        await (call.events(sse(choice)) if stream else call.json(choice))

    return fault


@in_loop
async def test_a_wrong_content_next_to_a_finish_reason_is_no_answer() -> None:
    cases = [case for case in CASES if case[0].api == "openai"]
    all_are(BAD, await replies(ending("stop", 7), cases=cases))
    all_are("answered ×1", await replies(ending("stop", "fo"), cases=cases))


@pytest.mark.parametrize("finish", [7, {"type": "stop"}, ["stop"], True], ids=str)
@in_loop
async def test_a_finish_reason_of_another_type_is_no_answer(finish: Any) -> None:
    cases = [case for case in CASES if case[0].api == "openai"]
    all_are(BAD, await replies(ending(finish, "fo"), cases=cases))


@in_loop
async def test_of_several_choices_the_first_by_number_is_the_answer() -> None:
    async def several(call: Call, wire: Wire, stream: bool) -> None:
        whole = orjson.loads(orjson.dumps((wire.piece if stream else wire.whole)("fo")))
        (choice,) = whole["choices"]
        other = orjson.loads(orjson.dumps(choice).replace(b"fo", b"another"))
        whole["choices"] = [{**other, "index": 1}, {**choice, "index": 0, "finish_reason": "stop"}]
        await (call.events(sse(whole)) if stream else call.json(whole))

    found = await replies(several, cases=[case for case in CASES if case[0].api == "openai"])
    assert {name: reply.text for name, reply in found} == {name: "fo" for name, _ in found}


@in_loop
async def test_a_byte_order_mark_hides_no_part_of_an_answer() -> None:
    mark = b"\xef\xbb\xbf"

    async def marked(call: Call, wire: Wire, stream: bool) -> None:
        if stream:
            await call.events(mark + sse(wire.piece("fo"), wire.end))
        else:
            await call.answer(mark + orjson.dumps(wire.whole("fo")))

    found = await replies(marked)
    assert {name: reply.text for name, reply in found} == {name: "fo" for name, _ in found}
    all_are("answered ×1", found)


@pytest.mark.parametrize("finish", ["error", "abort"])
@in_loop
async def test_an_answer_that_the_server_broke_off_is_none(finish: str) -> None:
    cases = [case for case in CASES if case[0].api == "openai"]
    for text in ("fo", "", None):
        all_are("server_error ×2", await replies(ending(finish, text), cases=cases))


@in_loop
async def test_a_response_that_is_not_finished_is_no_answer() -> None:
    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        await call.json({"status": "in_progress", "output": []})

    cases = [case for case in CASES if case[0].api == "responses"]
    all_are(BAD, await replies(fault, cases=cases))


@in_loop
async def test_single_tokens_without_the_whole_text_were_cut() -> None:
    async def fault(call: Call, wire: Wire, stream: bool) -> None:
        await call.events(sse({"token": {"text": "fo"}}))

    cases = [case for case in CASES if case[0].api == "mindie" and case[1]]
    all_are("broken_stream ×2", await replies(fault, cases=cases))


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@in_loop
async def test_body_beyond_the_limit(transport: TransportName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.endpoints._lean_connection.MAX_BODY_BYTES", 5000)
    monkeypatch.setattr("benchwright.endpoints._reqwest.MAX_BODY_BYTES", 5000)

    async def flood(call: Call, wire: Wire, stream: bool) -> None:
        if stream:
            await call.events(*[sse(wire.piece("x" * 900), done=False)] * 9)
        else:
            await call.events(orjson.dumps(wire.whole("x" * 9000)))  # in chunks

    cases = [case for case in CASES if case[0].api != "mindie"]  # its events must continue each other
    all_are(BAD, await replies(flood, transport, cases=cases))


# -- how streams end --


@in_loop
async def test_stream_that_ends_with_done_alone_was_cut() -> None:
    streams = [case for case in CASES if case[1]]

    async def cut(call: Call, wire: Wire, stream: bool) -> None:
        await call.events(sse(wire.piece("fo")))

    found = await replies(cut, cases=[case for case in streams if not case[0].ends_with_body])
    all_are("broken_stream ×2", found)
    for name, reply in found:
        assert reply.failure is not None
        assert "[DONE] and without a finish reason" in reply.failure.message, name
    by_design = await replies(cut, cases=[case for case in streams if case[0].ends_with_body])
    assert {reply.text for _, reply in by_design} == {"fo"}
    all_are("answered ×1", by_design)

    async def nothing_but_done(call: Call, wire: Wire, stream: bool) -> None:
        await call.events(b"data: [DONE]\n\n")

    all_are("broken_stream ×2", await replies(nothing_but_done, cases=streams))


@in_loop
async def test_stream_with_a_finish_reason_needs_no_done() -> None:
    async def whole(call: Call, wire: Wire, stream: bool) -> None:
        await call.events(sse(wire.piece("fo"), wire.end, done=False))

    found = await replies(whole, cases=[case for case in CASES if case[1]])
    all_are("answered ×1", found)
    assert {reply.text for _, reply in found} == {"fo"}
