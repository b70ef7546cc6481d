"""What the wire formats declare is what their classes do."""

from __future__ import annotations

import pytest
from loopback_server import Call, chat, completion, endpoint_at, in_loop, serving

from benchwright.core import WIRE_FORMATS
from benchwright.endpoints import UnsendableRequestError
from benchwright.endpoints._http_endpoint import request_headers
from benchwright.endpoints._settings import EndpointSettings
from benchwright.endpoints._wires.formats import wire_of

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {}}}]


@pytest.mark.parametrize("api", WIRE_FORMATS)
def test_each_class_holds_its_declaration(api: str) -> None:
    wire = wire_of(api)
    declared = WIRE_FORMATS[api]
    assert wire.format is declared
    settings = EndpointSettings(url="http://h", model_id="m", api=api)
    for urls in wire.urls(settings.address, "m").values():
        for url in (urls.whole, urls.streamed):
            assert url.endswith(declared.routes), "a URL that is copied whole finds its base again"
            assert EndpointSettings(url=url, model_id="m", api=api).address.url_of("") in url


@pytest.mark.parametrize("api", WIRE_FORMATS)
def test_tools_are_taken_or_refused_as_declared(api: str) -> None:
    request = chat(tools=TOOLS)
    if WIRE_FORMATS[api].takes_tools:
        assert b'"f"' in wire_of(api).payload(request)
    else:
        with pytest.raises(UnsendableRequestError, match="tools"):
            wire_of(api).payload(request)


@pytest.mark.parametrize("api", WIRE_FORMATS)
@in_loop
async def test_the_key_goes_where_it_is_declared(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY_OF_FORMATS", "wire-key-4711-aa")

    async def refuse(call: Call) -> None:
        await call.error(400, "so it is")

    async with (
        serving(refuse) as server,
        endpoint_at(server.url, api=api, api_key_name="THE_KEY_OF_FORMATS") as endpoint,
    ):
        await endpoint.send(completion())
        name, prefix = WIRE_FORMATS[api].key_header
        assert server.calls[0].headers[name.lower()] == f"{prefix}wire-key-4711-aa"


def test_another_key_header_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from msgspec.structs import replace

    other = replace(WIRE_FORMATS["tgi"], key_header=("X-Api-Key", ""))
    monkeypatch.setitem(WIRE_FORMATS, "tgi", other)  # type: ignore[arg-type]
    headers = request_headers(EndpointSettings(url="http://h", model_id="m", api="tgi"), "k-1")
    assert headers["X-Api-Key"] == "k-1"
    assert "Authorization" not in headers
