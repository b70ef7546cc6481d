"""When a proxy is used, and which transport follows from it."""

from __future__ import annotations

import asyncio
import socket

import pytest
from loopback_server import Call, chat, in_loop, serving

from benchwright.core import ConfigError
from benchwright.endpoints import LOOP_CLOCK, USUAL, EndpointSettings, open_endpoint
from benchwright.endpoints._addresses import proxy_for
from benchwright.endpoints._lean import LeanTransport
from benchwright.endpoints._open import _transport, proxy_of
from benchwright.endpoints._reqwest import ReqwestTransport


@pytest.mark.parametrize(
    ("scheme", "host", "environment", "proxy"),
    [
        ("http", "model.corp", {}, None),
        ("http", "model.corp", {"HTTP_PROXY": "http://p:3128"}, "http://p:3128"),
        ("http", "model.corp", {"http_proxy": "http://q", "HTTP_PROXY": "http://p"}, "http://q"),
        ("http", "model.corp", {"HTTPS_PROXY": "http://p"}, None),
        ("https", "model.corp", {"HTTPS_PROXY": "p:3128"}, "http://p:3128"),
        ("https", "model.corp", {"ALL_PROXY": "socks5://p"}, "socks5://p"),
        ("http", "model.corp", {"HTTP_PROXY": "http://p", "REQUEST_METHOD": "GET"}, None),
        ("http", "localhost", {"HTTP_PROXY": "http://p"}, None),
        ("http", "api.localhost", {"HTTP_PROXY": "http://p"}, None),
        ("http", "127.0.0.7", {"HTTP_PROXY": "http://p"}, None),
        ("http", "::1", {"HTTP_PROXY": "http://p"}, None),
        ("http", "model.corp", {"HTTP_PROXY": "http://p", "NO_PROXY": "*"}, None),
        ("http", "model.corp", {"HTTP_PROXY": "http://p", "NO_PROXY": "x, corp"}, None),
        ("http", "model.corp", {"HTTP_PROXY": "http://p", "no_proxy": ".corp"}, None),
        ("http", "model.corp", {"HTTP_PROXY": "http://p", "NO_PROXY": "*.corp"}, None),
        ("http", "model.corp", {"HTTP_PROXY": "http://p", "NO_PROXY": "model.corp:80"}, None),
        ("http", "model.corp", {"HTTP_PROXY": "http://p", "NO_PROXY": "model.corp:81"}, "http://p"),
        ("http", "notcorp", {"HTTP_PROXY": "http://p", "NO_PROXY": "corp"}, "http://p"),
        ("http", "10.1.2.3", {"HTTP_PROXY": "http://p", "NO_PROXY": "10.0.0.0/8"}, None),
        ("http", "11.1.2.3", {"HTTP_PROXY": "http://p", "NO_PROXY": "10.0.0.0/8"}, "http://p"),
    ],
)
def test_proxy_by_environment(scheme: str, host: str, environment: dict[str, str], proxy: str | None) -> None:
    assert proxy_for(scheme, host, 80, environment) == proxy


def test_transport_follows_scheme_and_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    def kind(url: str, **more: str) -> type:
        settings = EndpointSettings(url=url, model_id="m", **more)  # type: ignore[arg-type]
        return type(_transport(settings, proxy_of(settings), USUAL, LOOP_CLOCK))

    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert kind("http://model.corp") is LeanTransport
    assert kind("https://model.corp") is ReqwestTransport
    assert kind("http://model.corp", proxy="http://p:1") is ReqwestTransport
    assert kind("http://127.0.0.1:1", proxy="http://p:1") is LeanTransport
    monkeypatch.setenv("HTTP_PROXY", "http://p:1")
    assert kind("http://model.corp") is ReqwestTransport
    assert kind("http://localhost:1") is LeanTransport


@in_loop
async def test_requests_really_go_through_the_proxy_and_its_password_stays_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def proxy(call: Call) -> None:
        if call.number == 1:
            await call.says("via proxy")
        else:
            await call.error(403, f"hunter2-hunter2 said {call.headers.get('proxy-authorization')}")

    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with serving(proxy) as server:
        monkeypatch.setenv("http_proxy", f"http://me:hunter2-hunter2@127.0.0.1:{server.port}")
        endpoint = open_endpoint(EndpointSettings(url="http://model.corp/v1", model_id="m"))
        reply = await endpoint.send(chat())
        assert reply.text == "via proxy"
        assert server.calls[0].path == "http://model.corp/v1/chat/completions"
        assert server.calls[0].headers["proxy-authorization"].startswith("Basic ")
        refused = await endpoint.send(chat())
        assert "hunter2" not in repr(refused)
        await endpoint.aclose()


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize("url", ["http://model.corp/v1", "https://model.corp:8443/v1"])
@in_loop
async def test_a_dead_proxy_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str, scheme: str
) -> None:
    for name in (
        "NO_PROXY",
        "no_proxy",
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # nobody listens
        port = unused.getsockname()[1]
        monkeypatch.setenv("ALL_PROXY", f"{scheme}://me:hunter2-hunter2@127.0.0.1:{port}")
        endpoint = open_endpoint(EndpointSettings(url=url, model_id="m", max_retries=0))
        reply = await endpoint.send(chat())
        await endpoint.aclose()
    assert reply.failure is not None
    assert f"through the proxy {scheme}://127.0.0.1:{port}" in reply.failure.message
    assert "model.corp" in reply.failure.message
    assert "list model.corp in NO_PROXY" in reply.failure.message
    assert "hunter2" not in repr(reply)


@pytest.mark.parametrize(
    "proxy", ["ftp://proxy:21", "sock5://proxy:1080", "http://", "http://proxy:port", "http://[::1"]
)
def test_proxy_that_would_be_passed_by_is_refused(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", proxy.replace("://", "://user:secret@"))
    with pytest.raises(ConfigError, match=r"ALL_PROXY.*nothing was sent") as caught:
        open_endpoint(EndpointSettings(url="https://models.example", model_id="m"))
    assert "secret" not in str(caught.value)
    with pytest.raises(ConfigError, match="`proxy`"):
        EndpointSettings(url="https://models.example", model_id="m", proxy=proxy)
    open_endpoint(EndpointSettings(url="https://localhost", model_id="m"))  # never goes through one
    monkeypatch.setenv("NO_PROXY", "models.example")
    open_endpoint(EndpointSettings(url="https://models.example", model_id="m"))


def test_opening_needs_no_event_loop() -> None:
    endpoint = open_endpoint(EndpointSettings(url="http://127.0.0.1:1", model_id="m", parallelism=3))
    assert (endpoint.limit, endpoint.in_flight, endpoint.requests_sent, endpoint.retries) == (3, 0, 0, 0)
    assert endpoint.first_failure is None
    asyncio.run(endpoint.aclose())
