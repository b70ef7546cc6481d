"""A server for a team: who may listen where, TLS, a proxy in front, and the names by which clients call it."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import warm
from benchwright import UsageError
from benchwright.cli import main
from benchwright.server import People, ServerSettings, _serving, new_open_url, serving
from benchwright.server._app import build_app
from benchwright.server._keys import Keys
from benchwright.server._state import ServerState
from benchwright.store import Workspace, open_store
from waiting import PATIENCE_S

TLS = {"tls_cert": "cert.pem", "tls_key": "key.pem"}
HERE = ("127.0.0.1", "127.0.0.2", "127.255.255.254", "::1", "::ffff:127.0.0.1", "localhost", "LOCALHOST")
ELSEWHERE = ("0.0.0.0", "::", "10.0.0.7", "192.168.1.5", "169.254.0.1", "fe80::1", "2001:db8::1", "8.8.8.8", "128.0.0.1", "bench.example", "localhost.example", "127.0.0.1.example", "127.1", "2130706433")  # fmt: skip


@pytest.mark.parametrize("host", HERE)
def test_an_address_of_this_machine_needs_nothing(host: str) -> None:
    settings = ServerSettings(host=host)
    assert settings.is_local
    assert not settings.shared
    settings.check_people(())
    assert settings.described("http://127.0.0.1:1", ()) == []
    assert {"127.0.0.1", "localhost", "[::1]"} <= settings.names()


@pytest.mark.parametrize("host", ELSEWHERE)
def test_every_other_address_needs_tls_or_a_proxy_and_a_token(host: str) -> None:
    with pytest.raises(UsageError, match=r"--tls-cert FILE and --tls-key FILE, or --behind-proxy"):
        ServerSettings(host=host)
    for given in (TLS, {"behind_proxy": True}, {**TLS, "behind_proxy": True}):
        settings = ServerSettings(host=host, **given)  # type: ignore[arg-type]
        assert settings.shared
        with pytest.raises(UsageError, match="benchwright token add NAME"):
            settings.check_people(())
        with pytest.raises(UsageError, match="--read-only"):
            ServerSettings(host=host, open_reads=True, **given)  # type: ignore[arg-type]
        for other in ("127.0.0.1", "localhost", "evil.example", "10.0.0.9"):
            assert not settings.answers_to(other, "192.0.2.1")


@pytest.mark.parametrize(
    "host", ["", "a b", "http://bench.example", "bench.example/", "bench.example:80", "-x", "x\n"]
)
def test_what_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="expected an address"):
        ServerSettings(host=host, behind_proxy=True)


def test_a_proxy_on_this_machine_lets_others_in() -> None:
    settings = ServerSettings(behind_proxy=True)
    assert settings.shared
    with pytest.raises(UsageError, match="token add"):
        settings.check_people(())


def test_a_server_on_every_address_answers_to_the_one_that_was_reached() -> None:
    settings = ServerSettings(host="::", **TLS)  # type: ignore[arg-type]
    name = socket.gethostname().lower()
    assert settings.answers_to("10.0.0.7:8765", "10.0.0.7")
    assert settings.answers_to("10.0.0.7", "::ffff:10.0.0.7")
    assert settings.answers_to("[2001:db8::1]:8765", "2001:db8::1")
    assert settings.answers_to(f"{name}:8765", "10.0.0.7")
    assert settings.answers_to("localhost", "127.0.0.1")
    assert not settings.answers_to("localhost", "10.0.0.7")
    assert not settings.answers_to("10.0.0.8", "10.0.0.7")
    assert settings.url(1) == f"https://{name}:1"


REFUSED: dict[str, tuple[list[str], str]] = {
    "neither": (["--host", "0.0.0.0"], "--tls-cert"),
    "a name": (["--host", "bench.example"], "--tls-cert"),
    "only a certificate": (["--host", "0.0.0.0", "--tls-cert", "c.pem"], "--tls-key"),
    "only a key": (["--tls-key", "k.pem"], "--tls-cert"),
    "no such file": (["--host", "0.0.0.0", "--tls-cert", "c.pem", "--tls-key", "k.pem"], "c.pem cannot be read"),
    "nobody": (["--host", "0.0.0.0", "--behind-proxy"], "benchwright token add NAME"),
    "nobody behind a local proxy": (["--behind-proxy"], "benchwright token add NAME"),
    "open": (["--behind-proxy", "--open-reads"], "token add NAME --read-only"),
    "--addr": (["--addr", "0.0.0.0:80"], "--tls-cert"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_before_it_listens(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, cure = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_serving, "_bind", lambda *_: pytest.fail("it listens"))
    assert main(["serve", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert cure in said


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench.test "
        f"-addext subjectAltName=IP:127.0.0.1,DNS:bench.test -addext basicConstraints=critical,CA:FALSE -keyout {key} -out {cert}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return cert, key


def asked(
    cert: Path, port: int, path: str, token: str | None = None, body: Any = None, **headers: str
) -> tuple[int, Any]:
    """What a server on loopback answers a client that trusts its certificate."""
    context = ssl.create_default_context(cafile=str(cert))
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE_S, context=context)
    try:
        sent = headers if token is None else {**headers, "Authorization": f"Bearer {token}"}
        method = "GET" if body is None else "POST"
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_a_team_server_speaks_https_and_answers_to_its_name(
    tmp_path: Path, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name leads to loopback, so that nothing listens to the outside; for the server it is a name like any other."""
    cert, key = files
    workspace = Workspace(tmp_path)
    ann = People(workspace).add("ann", read_only=True)
    found = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *a, **k: found("127.0.0.1" if host == "bench.test" else host, *a, **k),
    )
    settings = ServerSettings(host="bench.test", port=0, tls_cert=str(cert), tls_key=str(key))
    with serving(workspace, settings) as (address, _):
        assert address.url.startswith("https://bench.test:")
        assert address.open_url.startswith(f"{address.url}/?code=")
        host = address.url.removeprefix("https://")
        port = int(host.rpartition(":")[2])
        assert asked(cert, port, "/api/runs", ann, Host=host)[0] == 200
        assert asked(cert, port, "/api/runs", ann, Host=host, Origin=address.url)[0] == 200
        for wrong in (
            {},
            {"Host": "127.0.0.1"},
            {"Host": host, "Origin": f"http://{host}"},
            {"X-Forwarded-Host": host},
        ):
            status, told = asked(cert, port, "/api/runs", ann, **wrong)
            assert (status, told["error"]["code"].partition("_")[0]) == (403, "forbidden")
        assert asked(cert, port, "/api/runs", Host=host)[0] == 401
        assert asked(cert, port, "/api/runs", ann, {"workflow_name": "w"}, Host=host)[0] == 403
        plain = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        plain.request("GET", "/api/runs", headers={"Authorization": f"Bearer {ann}"})
        with pytest.raises((OSError, http.client.HTTPException)):
            plain.getresponse()
        plain.close()


@pytest.mark.parametrize("damage", ["swapped", "another key", "encrypted"])
def test_files_that_do_not_fit_are_refused(tmp_path: Path, files: tuple[Path, Path], damage: str) -> None:
    cert, key = files
    other = tmp_path / "other.pem"
    if damage == "swapped":
        cert, other = key, cert
    else:
        how = "genrsa -out" if damage == "another key" else f"ec -aes128 -passout pass:secret -in {key} -out"
        subprocess.run(["openssl", *how.split(), other], check=True, capture_output=True)
    settings = ServerSettings(tls_cert=str(cert), tls_key=str(other))
    with pytest.raises(UsageError, match=r"cannot be used .*give PEM files"):
        settings.check_files()


@pytest.fixture
def served(tmp_path: Path, files: tuple[Path, Path]) -> Iterator[tuple[Workspace, dict[str, str], Any]]:
    """A server behind a proxy, with TLS, that the command started."""
    people = People(Workspace(tmp_path))
    people.add("ann", read_only=True)
    people.add("bob", read_only=False)
    words = [
        "serve",
        "--port",
        "0",
        "--behind-proxy",
        "--tls-cert",
        str(files[0]),
        "--tls-key",
        str(files[1]),
    ]
    with warm.Popen(
        [sys.executable, "-m", "benchwright", *words, "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("}"):
                break
        yield Workspace(tmp_path), json.loads(said), process
        process.send_signal(signal.SIGINT)


def test_the_command_tells_who_can_reach_what(
    served: tuple[Workspace, dict[str, str], Any], files: tuple[Path, Path]
) -> None:
    workspace, told, process = served
    assert told["url"].startswith("https://127.0.0.1:")
    port = int(told["url"].rpartition(":")[2])
    assert [process.stderr.readline().rstrip("\n") for _ in range(3)] == [
        f"reached at: 127.0.0.1, port {port}, over TLS",
        "tokens: ann (read-only), bob. Each sees all runs; without (read-only), also changes them and sends requests in your name",
        f"names: Host must be 127.0.0.1:{port}, or X-Forwarded-Host the proxy's name; Origin must be the same",
    ]
    url = new_open_url(
        workspace
    )  # what other commands of this machine do: the certificate is the one in the file
    assert url.startswith(f"{told['url']}/?code=")
    status, made = asked(files[0], port, "/api/token", None, {"code": url.rpartition("=")[2]})
    assert (status, made["read_only"]) == (200, False)
    other, record = workspace.root / "other.pem", workspace.state / "server.json"
    other.write_text(files[0].read_text().replace("M", "N", 1))
    record.write_text(json.dumps(json.loads(record.read_bytes()) | {"tls_cert": str(other)}))
    with pytest.raises(Exception, match="another certificate"):
        new_open_url(workspace)


FORWARDED: list[tuple[bool, dict[str, str], bool]] = [
    (False, {"X-Forwarded-Host": "evil.example"}, True),  # nobody looks at it
    (False, {"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1"}, False),
    (False, {"Origin": "https://evil.example", "X-Forwarded-Host": "evil.example"}, False),
    (True, {"X-Forwarded-Host": "bench.example"}, True),
    (True, {"Host": "bench.example", "X-Forwarded-Host": "bench.example"}, True),
    (True, {"X-Forwarded-Host": "bench.example", "Origin": "https://bench.example"}, True),
    (True, {"X-Forwarded-Host": "bench.example:8443", "Origin": "https://bench.example:8443"}, True),
    (True, {"X-Forwarded-Host": "bench.example", "Origin": "https://evil.example"}, False),
    (True, {"X-Forwarded-Host": "bench.example", "Origin": "http://127.0.0.1"}, False),
    (True, {"X-Forwarded-Host": "bench.example, evil.example"}, False),
    (True, {"X-Forwarded-Host": ""}, False),
    (True, {"X-Forwarded-Host": "evil@bench.example"}, False),
    (True, {"Host": "bench.example"}, False),  # the proxy does not say what it was called
    (True, {}, True),
]


@pytest.mark.parametrize(("behind_proxy", "headers", "admitted"), FORWARDED)
def test_a_forwarded_host_counts_behind_a_proxy_only(
    tmp_path: Path, behind_proxy: bool, headers: dict[str, str], admitted: bool
) -> None:
    state = ServerState(open_store(Workspace(tmp_path)), Keys("token-of-all"))
    try:
        app = build_app(state, ServerSettings(behind_proxy=behind_proxy))
        with TestClient(app, base_url="http://127.0.0.1") as client:
            answer = client.get("/runs", headers={"Authorization": "Bearer token-of-all", **headers})
        assert answer.status_code == (200 if admitted else 403)
        assert answer.headers["x-frame-options"] == "DENY"
    finally:
        state.close()
