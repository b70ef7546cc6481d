"""https:// through the general transport, with a certificate made for the test."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from loopback_server import Call, chat, in_loop, serving, sse
from loopback_server import delta as piece

from benchwright.core import ConfigError
from benchwright.endpoints import EndpointSettings, open_endpoint

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl command")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = (
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost "
        f"-addext subjectAltName=IP:127.0.0.1,DNS:localhost -addext basicConstraints=critical,CA:FALSE -keyout {key} -out {cert}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return key, cert


def server_context(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate[1], certificate[0])
    return context


async def well(call: Call) -> None:
    if call.body.get("stream"):
        await call.events(sse(piece("four"), piece(None, "stop")))
    else:
        await call.says("four")


@pytest.mark.parametrize("http2", [False, True])
@in_loop
async def test_own_certificate_is_trusted_when_named(certificate: tuple[Path, Path], http2: bool) -> None:
    async with serving(well, server_context(certificate)) as server:
        for verify in (str(certificate[1]), False):
            endpoint = open_endpoint(
                EndpointSettings(url=server.url, model_id="m", verify=verify, http2=http2)
            )
            replies = await asyncio.gather(*(endpoint.send(chat(stream=n % 2 == 1)) for n in range(6)))
            assert {(r.status, r.text) for r in replies} == {("answered", "four")}
            await endpoint.aclose()


@in_loop
async def test_unknown_certificate_is_refused_with_the_cure(certificate: tuple[Path, Path]) -> None:
    async with serving(well, server_context(certificate)) as server:
        endpoint = open_endpoint(EndpointSettings(url=server.url, model_id="m", max_retries=0))
        reply = await endpoint.send(chat())
        assert reply.failure is not None
        assert reply.failure.kind == "connection"
        assert "verify" in reply.failure.message
        assert not server.calls
        await endpoint.aclose()


def test_unreadable_certificate_file_is_a_configuration_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pem", Path(__file__)):
        with pytest.raises(ConfigError, match=path.name):
            open_endpoint(EndpointSettings(url="https://h", model_id="m", verify=str(path)))
