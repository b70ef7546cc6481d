"""https:// through the general transport, with a certificate made for the test."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from loopback_server import Call, chat, delta as piece, in_loop, serving, sse

import benchwright
from benchwright.cli import main
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
        assert "--ca-file FILE (in a table: ca_file), or SSL_CERT_FILE" in reply.failure.message
        assert "--no-verify" in reply.failure.message
        assert not server.calls
        await endpoint.aclose()


def test_unreadable_certificate_file_is_a_configuration_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pem", Path(__file__)):
        with pytest.raises(ConfigError, match=path.name):
            open_endpoint(EndpointSettings(url="https://h", model_id="m", verify=str(path)))


class Tls(ThreadingHTTPServer):
    """A chat server with a certificate of its own."""

    daemon_threads = True

    def __init__(self, certificate: tuple[Path, Path]) -> None:
        super().__init__(("127.0.0.1", 0), Four)
        self.socket = server_context(certificate).wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust the certificate hangs up."""


class Four(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"choices": [{"message": {"content": "four"}, "finish_reason": "stop"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def own_server(certificate: tuple[Path, Path]) -> Iterator[str]:
    server = Tls(certificate)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_certificates_are_named_by_flag_table_and_environment(
    tmp_path: Path,
    own_server: str,
    certificate: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(certificate[1], tmp_path / "own.pem")
    (tmp_path / "qa.jsonl").write_text('{"question": "2 + 2?", "answer": "four"}\n')
    table = f'[models.NAME]\nbase_url = "{own_server}"\nmodel = "m"\n'
    (tmp_path / "benchwright.toml").write_text(
        table.replace("NAME", "plain")
        + table.replace("NAME", "trusting")
        + "verify = false\n"
        + table.replace("NAME", "own")
        + 'ca_file = "own.pem"\n'
    )
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")

    def run(*flags: str) -> int:
        return main(["run", "../qa.jsonl", "--no-cache", "--max-retries", "0", "-q", *flags])

    assert run("--model", "plain") == 1
    assert "--ca-file FILE" in capfd.readouterr().err
    assert run("--model", "plain", "--no-verify") == 0
    assert run("--model", "plain", "--ca-file", "../own.pem") == 0
    assert run("--model", "trusting") == 0
    assert run("--model", "trusting", "--verify") == 1
    assert run("--model", "own") == 0
    assert run("--model", "plain", "--no-verify", "--ca-file", "../own.pem") == 2
    assert run("--ca-file", "../own.pem") == 2  # the demo model has no server
    options: Any = {"model_url": own_server, "model_id": "m", "cache": False}
    result = benchwright.run(str(tmp_path / "qa.jsonl"), ca_file=str(certificate[1]), **options)
    assert result.summary.outcomes["scored"] == 1
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    assert run("--model", "plain") == 0
