"""Every way a server can misbehave has a named outcome, over both transports."""

from __future__ import annotations

import asyncio
import datetime
import random
from email.utils import format_datetime

import pytest
from loopback_server import (
    Call,
    Handler,
    TransportName,
    chat,
    chat_json,
    completion,
    cut,
    endpoint_at,
    in_loop,
    one_after_another,
    serving,
)

from waiting import PATIENCE_S

pytestmark = pytest.mark.parametrize("transport", ["lean", "reqwest"])


async def well(call: Call) -> None:
    await call.says("four")


async def close_without_reply(call: Call) -> None:
    call.close()


async def reset_without_reply(call: Call) -> None:
    call.reset()


async def half_a_body(call: Call) -> None:
    await call.raw(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices": [')
    call.close()


async def half_a_body_then_reset(call: Call) -> None:
    await call.raw(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices": [', pause_s=0.02)
    call.reset()


async def hang(call: Call) -> None:
    await asyncio.sleep(30)


async def hang_half_way(call: Call) -> None:
    await call.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
    await asyncio.sleep(30)


async def html(call: Call) -> None:
    await call.answer(
        b"<!DOCTYPE html><html><title>Welcome  to\nnginx</title></html>", Content_Type="text/html"
    )


async def not_json(call: Call) -> None:
    await call.answer(b"OK")


async def no_choices(call: Call) -> None:
    await call.json({"id": "x", "object": "chat.completion"})


async def error_in_200(call: Call) -> None:
    await call.json({"error": {"message": "upstream is asleep", "code": 502}})


def status(code: int, message: str = "so it is") -> Handler:
    async def handle(call: Call) -> None:
        await call.error(code, message)

    return handle


@in_loop
async def test_a_good_reply_is_read_completely(transport: TransportName) -> None:
    async with serving(well) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat())
    assert (reply.status, reply.text, reply.finish_reason, reply.attempts) == ("answered", "four", "stop", 1)
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.source) == (5, 2, "server")
    assert 0 < reply.latency_s < PATIENCE_S
    assert reply.started_at > 1.6e9
    assert reply.ttft_s is None


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (close_without_reply, "connection"),
        (reset_without_reply, "connection"),
        (half_a_body, "broken_stream"),
        (half_a_body_then_reset, "broken_stream"),
        (hang, "timeout"),
        (hang_half_way, "timeout"),
        (html, "bad_reply"),
        (not_json, "bad_reply"),
        (no_choices, "bad_reply"),
        (error_in_200, "server_error"),
        (status(500), "server_error"),
        (status(502), "server_error"),
        (status(503), "server_error"),
        (status(529), "server_error"),
        (status(409), "server_error"),
        (status(408), "timeout"),
        (status(429), "rate_limited"),
    ],
)
@in_loop
async def test_transient_fault_is_retried_and_named_when_it_stays(
    transport: TransportName, fault: Handler, kind: str
) -> None:
    # The time for all attempts is long: it must not be over on a slow machine.
    settings = {"request_timeout_s": 0.1, "sample_timeout_s": 60.0} if kind == "timeout" else {}
    async with (
        serving(one_after_another(fault, well)) as server,
        endpoint_at(server.url, transport) as endpoint,
    ):
        if fault in (hang, hang_half_way):
            endpoint._timeout_s = 0.1
        reply = await endpoint.send(chat())
        assert (reply.status, reply.text, reply.attempts) == ("answered", "four", 2)
        assert (endpoint.requests_sent, endpoint.retries) == (2, 1)
    async with (
        serving(fault) as server,
        endpoint_at(server.url, transport, max_retries=1, **settings) as endpoint,
    ):
        reply = await endpoint.send(chat())
        assert reply.failure is not None
        assert (reply.status, reply.failure.kind, reply.attempts) == ("failed", kind, 2), reply.failure
        assert endpoint.in_flight == 0


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 413, 422, 301])
@in_loop
async def test_permanent_error_is_not_retried_and_keeps_the_servers_words(
    transport: TransportName, code: int
) -> None:
    async with serving(status(code, "the model is on holiday")) as server:
        async with endpoint_at(server.url + "/v1", transport) as endpoint:
            reply = await endpoint.send(chat())
            again = await endpoint.send(chat())
        assert len(server.calls) == 2
    assert reply.failure is not None
    assert (reply.failure.kind, reply.failure.http_status, reply.attempts) == ("rejected", code, 1)
    assert "the model is on holiday" in reply.failure.message
    assert again.failure == endpoint.first_failure == reply.failure


@in_loop
async def test_messages_name_the_cure(transport: TransportName) -> None:
    async def moved(call: Call) -> None:
        await call.answer(b"", 308, Location="https://elsewhere/v1")

    async def login(call: Call) -> None:
        await call.answer(b"<html><head><title>Sign in</title></head><body>x</body></html>", 401)

    async with serving(moved) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat())
        assert reply.failure is not None
        assert "redirects to https://elsewhere/v1" in reply.failure.message
    async with serving(login) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat())
        assert reply.failure is not None
        assert 'an HTML page titled "Sign in"' in reply.failure.message
        assert "--api-key-name" in reply.failure.message
    async with serving(html) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat())
        assert reply.failure is not None
        assert '"Welcome to nginx"' in reply.failure.message
        assert reply.attempts == 2, "a 200 that is not a reply is retried once"


@in_loop
async def test_refused_connection_is_a_failure_not_an_exception(transport: TransportName) -> None:
    async with serving(well) as server:
        url = server.url
    async with endpoint_at(url, transport, max_retries=1) as endpoint:
        reply = await endpoint.send(chat())
    assert reply.failure is not None
    assert (reply.failure.kind, reply.attempts) == ("connection", 2)
    assert "cannot connect" in reply.failure.message


@pytest.mark.parametrize("form", ["seconds", "date", "milliseconds"])
@in_loop
async def test_retry_after_is_obeyed(transport: TransportName, form: str) -> None:
    async def throttle(call: Call) -> None:
        if form == "seconds":
            await call.error(429, Retry_After="0.15")
        elif form == "milliseconds":
            await call.error(429, Retry_After_Ms="150")
        else:
            # The date has whole seconds; one and a half from now is at least half a second away.
            later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=1.5)
            await call.error(429, Retry_After=format_datetime(later, usegmt=True))

    times: list[float] = []

    async def timed(call: Call) -> None:
        times.append(asyncio.get_running_loop().time())
        await (throttle if call.number == 1 else well)(call)

    async with serving(timed) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat())
    assert reply.status == "answered"
    assert times[1] - times[0] >= (0.14 if form != "date" else 0.4)


@in_loop
async def test_retry_after_beyond_the_deadline_gives_up_at_once(transport: TransportName) -> None:
    async def throttle(call: Call) -> None:
        await call.error(429, "quota", Retry_After="3600")

    async with serving(throttle) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat())
        assert reply.failure is not None
        assert (reply.failure.kind, reply.attempts) == ("rate_limited", 1)
        assert "asks to wait 3600 s" in reply.failure.message


@in_loop
async def test_all_attempts_together_keep_the_sample_deadline(transport: TransportName) -> None:
    async with (
        serving(hang) as server,
        endpoint_at(
            server.url, transport, request_timeout_s=0.4, sample_timeout_s=3.0, max_retries=50
        ) as endpoint,
    ):
        begun = asyncio.get_running_loop().time()
        reply = await endpoint.send(chat())
        took = asyncio.get_running_loop().time() - begun
    assert reply.failure is not None
    assert reply.failure.kind == "timeout"
    assert 2 <= reply.attempts <= 8
    assert took < 20, "the server would have held each attempt for 30 s"


@pytest.mark.parametrize("size", [1, 7, 64])
@in_loop
async def test_chunked_and_dribbling_bodies_are_read(transport: TransportName, size: int) -> None:
    import orjson

    async def dribble(call: Call) -> None:
        await call.events(*cut(orjson.dumps(chat_json("vier – четыре")), size))

    async with serving(dribble) as server, endpoint_at(server.url, transport) as endpoint:
        replies = [await endpoint.send(chat()) for _ in range(2)]
        assert server.connections == 1
    assert [r.text for r in replies] == ["vier – четыре"] * 2


@in_loop
async def test_closing_and_kept_connections_both_work(transport: TransportName) -> None:
    async def close_after(call: Call) -> None:
        import orjson

        await call.answer(orjson.dumps(chat_json("bye")), Connection="close")
        call.close()

    async with serving(close_after) as server, endpoint_at(server.url, transport) as endpoint:
        assert [(await endpoint.send(chat())).text for _ in range(3)] == ["bye"] * 3
        assert server.connections == 3
    async with serving(well) as server, endpoint_at(server.url, transport) as endpoint:
        assert [(await endpoint.send(chat())).text for _ in range(3)] == ["four"] * 3
        assert server.connections == 1


@in_loop
async def test_cancellation_passes_and_frees_the_place(transport: TransportName) -> None:
    async with (
        serving(one_after_another(hang, well)) as server,
        endpoint_at(server.url, transport, parallelism=1) as endpoint,
    ):
        task = asyncio.create_task(endpoint.send(chat()))
        while not server.calls:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert endpoint.in_flight == 0
        assert (await endpoint.send(chat())).text == "four"


@in_loop
async def test_chaos_ends_with_a_value_for_every_request(transport: TransportName) -> None:
    rng = random.Random(5)
    faults = [
        close_without_reply,
        reset_without_reply,
        half_a_body,
        html,
        status(500),
        status(429),
        status(503),
        hang,
    ]

    async def chaos(call: Call) -> None:
        await (rng.choice(faults) if rng.random() < 0.3 else well)(call)

    async with (
        serving(chaos) as server,
        endpoint_at(
            server.url + "/v1", transport, parallelism=16, request_timeout_s=1.0, max_retries=6
        ) as endpoint,
    ):
        replies = await asyncio.gather(*(endpoint.send(chat()) for _ in range(200)))
        assert endpoint.in_flight == 0
        assert sum(r.attempts for r in replies) == endpoint.requests_sent <= len(server.calls)
        assert endpoint.retries == endpoint.requests_sent - 200
    assert sum(r.text == "four" for r in replies) >= 190
    assert all((r.status == "failed") == (r.failure is not None) for r in replies)


@in_loop
async def test_completions_route_reads_text(transport: TransportName) -> None:
    async def complete(call: Call) -> None:
        await call.json({"choices": [{"text": " 4", "finish_reason": "length"}]})

    async with serving(complete) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(completion())
        assert server.calls[0].path == "/v1/completions"
    assert (reply.status, reply.text, reply.finish_reason, reply.usage) == ("answered", " 4", "length", None)


@in_loop
async def test_the_request_arrives_as_built(transport: TransportName) -> None:
    async with (
        serving(well) as server,
        endpoint_at(
            server.url + "/v1?api-version=3", transport, headers={"X-Team": "a", "user-agent": "me"}
        ) as endpoint,
    ):
        request = chat("grüß dich")
        await endpoint.send(request)
        call = server.calls[0]
    assert call.path == "/v1/chat/completions?api-version=3"
    assert call.payload == request.payload
    assert call.headers["x-team"] == "a"
    assert call.headers["user-agent"] == "me"
    assert call.headers["accept-encoding"] == "identity"
    assert call.headers["content-type"] == "application/json"
    assert "authorization" not in call.headers
