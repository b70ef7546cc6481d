"""What is tried again, how often, and after which pause. A scripted transport, no sockets."""

from __future__ import annotations

import asyncio
import datetime
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st
from loopback_server import chat, chat_json, in_loop

from benchwright.core import ModelReply, RequestFailure, encode_json
from benchwright.endpoints import EndpointSettings
from benchwright.endpoints._http1 import RawHeaders
from benchwright.endpoints._http_endpoint import HttpEndpoint
from benchwright.endpoints._retry import FailedAttempt, pause_s, retry_after_s
from benchwright.endpoints._transport import HttpReply, HttpStream, Stamps, TransportFailure

GOOD = encode_json(chat_json("four"))


class ScriptedTransport:
    """Answers with the statuses, failures or bodies of a list, the last one for ever."""

    def __init__(self, *answers: int | Exception | bytes) -> None:
        self.answers = answers
        self.urls: list[str] = []

    async def post(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpReply:
        answer = self.answers[min(len(self.urls), len(self.answers) - 1)]
        self.urls.append(url)
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        status, body = (answer, b'{"error": "no"}') if isinstance(answer, int) else (200, answer)
        return HttpReply(status, RawHeaders(b""), body)

    async def stream(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpStream:
        raise NotImplementedError

    async def aclose(self) -> None: ...


def endpoint_with(
    *answers: int | Exception | bytes, **settings: object
) -> tuple[HttpEndpoint, ScriptedTransport]:
    transport = ScriptedTransport(*answers)
    values: dict[str, Any] = {"url": "http://h/v1", "model_id": "m", "retry_backoff_s": 0.0, **settings}
    return HttpEndpoint(EndpointSettings(**values), transport), transport


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
@in_loop
async def test_max_retries_bounds_the_attempts(status: int) -> None:
    for retries in (0, 1, 3):
        endpoint, transport = endpoint_with(status, max_retries=retries)
        reply = await endpoint.send(chat())
        assert reply.status == "failed"
        assert reply.attempts == len(transport.urls) == endpoint.requests_sent == retries + 1
        assert endpoint.retries == retries


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("retries", [0, 1, 3])
@in_loop
async def test_max_retries_bounds_the_attempts_of_requests_refused_together(
    status: int, retries: int
) -> None:
    endpoint, transport = endpoint_with(status, max_retries=retries, parallelism=30)
    replies = await asyncio.gather(*(endpoint.send(chat()) for _ in range(30)))
    assert all(reply.failure is not None and reply.failure.http_status == status for reply in replies)
    attempts = [reply.attempts for reply in replies]
    assert len(transport.urls) == endpoint.requests_sent == sum(attempts)
    assert max(attempts) <= 1 + 2 * retries
    assert min(attempts) >= 1 + retries
    assert retries == 0 or max(attempts) > 1 + retries  # some were refused only because of the others


@in_loop
async def test_bad_reply_is_tried_once_more_only() -> None:
    endpoint, transport = endpoint_with(b"<html></html>", max_retries=5)
    reply = await endpoint.send(chat())
    assert reply.failure is not None
    assert (reply.failure.kind, len(transport.urls)) == ("bad_reply", 2)
    endpoint, transport = endpoint_with(b"<html></html>", GOOD)
    assert (await endpoint.send(chat())).text == "four"


@in_loop
async def test_bad_replies_and_other_failures_are_counted_apart() -> None:
    page, broken = b"<html></html>", TransportFailure("broken_stream", "gone")
    endpoint, _ = endpoint_with(500, page, broken, GOOD, max_retries=2)
    reply = await endpoint.send(chat())
    assert (reply.text, reply.attempts) == ("four", 4)
    endpoint, transport = endpoint_with(500, page, page, GOOD, max_retries=2)
    assert (await endpoint.send(chat())).failure is not None
    assert len(transport.urls) == 3


@in_loop
async def test_bad_replies_of_a_server_that_has_answered_cost_no_row() -> None:
    page = b"<html></html>"
    endpoint, _ = endpoint_with(GOOD, 500, 500, page, page, page, GOOD, max_retries=5)
    await endpoint.send(chat())
    reply = await endpoint.send(chat())  # by then it has failed more often than answered
    assert (reply.text, reply.attempts) == ("four", 6)


@given(st.lists(st.sampled_from([408, 429, 500, 503, b"<html></html>", b'{"choices": []}']), max_size=5))
def test_no_row_of_a_server_that_has_answered_fails_for_as_many_faults_as_retries(faults: list[Any]) -> None:
    async def ask() -> ModelReply:
        endpoint, _ = endpoint_with(GOOD, *faults, GOOD, max_retries=5)
        await endpoint.send(chat())
        return await endpoint.send(chat())

    assert asyncio.run(ask()).text == "four"


@in_loop
async def test_a_server_that_answers_most_requests_gets_more_attempts() -> None:
    for failures in ([500] * 6, [b"<html></html>"] * 4):
        endpoint, transport = endpoint_with(*[GOOD] * 20, *failures, GOOD, retry_backoff_s=0.0)
        for _ in range(20):
            await endpoint.send(chat())
        reply = await endpoint.send(chat())
        assert (reply.text, reply.attempts) == ("four", 1 + len(failures))
    endpoint, transport = endpoint_with(*[GOOD] * 20, 500, GOOD, max_retries=0)
    for _ in range(20):
        await endpoint.send(chat())
    assert (await endpoint.send(chat())).failure is not None
    assert len(transport.urls) == 21


@in_loop
async def test_empty_account_is_permanent_although_it_is_a_429() -> None:
    class OutOfMoney(ScriptedTransport):
        async def post(self, *args: object) -> HttpReply:
            self.urls.append("")
            body = b'{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}'
            return HttpReply(429, RawHeaders(b""), body)

    transport = OutOfMoney()
    reply = await HttpEndpoint(EndpointSettings(url="http://h", model_id="m"), transport).send(chat())
    assert reply.failure is not None
    assert (reply.failure.kind, len(transport.urls)) == ("rejected", 1)


@in_loop
async def test_transport_failures_keep_their_kind() -> None:
    for kind in ("timeout", "connection", "broken_stream"):
        endpoint, _ = endpoint_with(TransportFailure(kind, "so"), max_retries=1)
        reply = await endpoint.send(chat())
        assert reply.failure is not None
        assert (reply.failure.kind, reply.failure.http_status, reply.attempts) == (kind, None, 2)
    endpoint, _ = endpoint_with(OSError("no buffer space"), GOOD)
    assert (await endpoint.send(chat())).attempts == 2


@in_loop
async def test_only_permanent_failures_are_kept_as_the_first() -> None:
    endpoint, _ = endpoint_with(500, 401, 400, max_retries=0)
    for _ in range(3):
        await endpoint.send(chat())
    assert endpoint.first_failure is not None
    assert endpoint.first_failure.http_status == 401
    endpoint.forget_failure()
    assert endpoint.first_failure is None


@pytest.mark.parametrize(
    ("first", "second", "text", "paths"),
    [
        (404, GOOD, "four", ["/v1/chat/completions", "/chat/completions", "/chat/completions"]),
        (405, GOOD, "four", ["/v1/chat/completions", "/chat/completions", "/chat/completions"]),
        (GOOD, GOOD, "four", ["/v1/chat/completions", "/v1/chat/completions"]),
    ],
)
@in_loop
async def test_bare_host_is_asked_without_v1_once_and_remembered(
    first: int | bytes, second: bytes, text: str, paths: list[str]
) -> None:
    endpoint, transport = endpoint_with(first, second, url="http://h:1")
    assert (await endpoint.send(chat())).text == text
    assert (await endpoint.send(chat())).text == text
    assert transport.urls == [f"http://h:1{path}" for path in paths]


@in_loop
async def test_bare_host_that_knows_neither_reports_the_first_answer() -> None:
    endpoint, transport = endpoint_with(404, url="http://h:1")
    reply = await endpoint.send(chat())
    assert len(transport.urls) == 2
    assert reply.failure is not None
    assert "404 from http://h:1/v1/chat/completions" in reply.failure.message
    assert "also tried http://h:1/chat/completions" in reply.failure.message
    assert "--model-url" in reply.failure.message


@in_loop
async def test_404_after_v1_has_answered_is_about_the_model() -> None:
    endpoint, transport = endpoint_with(GOOD, 404, url="http://h:1")
    await endpoint.send(chat())
    assert (await endpoint.send(chat())).status == "failed"
    assert len(transport.urls) == 2


@in_loop
async def test_many_at_once_all_find_the_place_without_v1() -> None:
    class WithoutV1(ScriptedTransport):
        async def post(
            self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
        ) -> HttpReply:
            self.urls.append(url)
            await asyncio.sleep(0.001 * (len(self.urls) % 5))
            known = "/v1/" not in url
            return HttpReply(200 if known else 404, RawHeaders(b""), GOOD if known else b"")

    transport = WithoutV1()
    endpoint = HttpEndpoint(EndpointSettings(url="http://h:1", model_id="m"), transport)
    replies = await asyncio.gather(*(endpoint.send(chat()) for _ in range(40)))
    assert {reply.text for reply in replies} == {"four"}
    so_far = len(transport.urls)
    assert (await endpoint.send(chat())).text == "four"
    (later,) = transport.urls[so_far:]
    assert "/v1/" not in later, "later ones ask at the right place"


@in_loop
async def test_pauses_grow_and_are_random_from_nothing() -> None:
    rng = random.Random(1)
    trouble = FailedAttempt(RequestFailure("server_error", "x", 500))
    for retries, ceiling in ((1, 0.5), (2, 1.0), (3, 2.0), (20, 30.0)):
        pauses = [pause_s(trouble, retries, 0.5, rng) for _ in range(300)]
        assert 0 <= min(pauses) < 0.1 * ceiling
        assert 0.9 * ceiling < max(pauses) <= ceiling
    asked = FailedAttempt(RequestFailure("rate_limited", "x", 429), retry_after_s=7.0)
    assert all(7.0 <= pause_s(asked, 1, 0.5, rng) <= 7.5 for _ in range(50))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (b"Retry-After: 3", 3.0),
        (b"Retry-After: 0", 0.0),
        (b"Retry-After: 1.5", 1.5),
        (b"Retry-After-Ms: 250", 0.25),
        (b"Retry-After: Wed, 21 Oct 2015 07:28:10 GMT", 10.0),
        (b"Retry-After: Wed, 21 Oct 2015 07:27:00 GMT", 0.0),
        (b"Retry-After: soon", None),
        (b"Retry-After: -3", None),
        (b"Retry-After: inf", None),
        (b"X: 1", None),
    ],
)
def test_retry_after_forms(header: bytes, seconds: float | None) -> None:
    now = datetime.datetime(2015, 10, 21, 7, 28, 0, tzinfo=datetime.UTC)
    assert retry_after_s(RawHeaders(b"HTTP/1.1 429 Slow\r\n" + header), now) == seconds
