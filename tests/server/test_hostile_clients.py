"""What programs and web pages on the same machine may send to the server, and what it costs."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import warm
from benchwright.server import ServerAddress, _connections as connections, serving
from benchwright.store import Workspace
from waiting import PATIENCE_S, until, until_line


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAddress]:
    with serving(Workspace(tmp_path_factory.mktemp("served"))) as (address, _):
        yield address


def connected(address: ServerAddress) -> socket.socket:
    host, _, port = address.url.removeprefix("http://").rpartition(":")
    return socket.create_connection((host, int(port)), PATIENCE_S)


def received(client: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    pieces = []
    try:
        while piece := client.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def status(address: ServerAddress, *lines: str) -> int:
    """The status of a request that consists of these lines, the token and the end of the connection."""
    request = [*lines, f"Authorization: Bearer {address.token}", "Connection: close", "", ""]
    with closing(connected(address)) as client:
        client.sendall("\r\n".join(request).encode("latin-1"))
        return int(received(client).split()[1])


OWN = ["localhost", "LOCALHOST", "LocalHost:8765", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:65535", "[::1]", "[::1]:80", " localhost ", "\tlocalhost"]  # fmt: skip
FOREIGN = [
    "", "evil.example", "evil.example:8765", "evil@localhost", "localhost@evil", "user:pw@localhost", "a@127.0.0.1:8765",
    "localhost:abc", "localhost:", "localhost:0", "localhost:65536", "localhost:99999", "localhost:123456", "localhost:-1",
    "localhost:+80", "localhost:8 0", "localhost:80:80", "localhost.", "localhost..", "localhost.:80", "127.0.0.1.",
    "127.0.0.1.evil.example", "localhost.evil.example", "evil.localhost", "127.1", "127.0.0.2", "0", "0.0.0.0",
    "0x7f.0.0.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.01", "::1", "[::1", "::1]", "[::1]evil", "[::1].", "[::1]:",
    "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::1%25lo]", "[127.0.0.1]", "[localhost]", "localhost/", "localhost/evil",
    "localhost#", "localhost?", "localhost\\evil", "localhost,evil.example", "localhost evil.example", "http://localhost",
    "//localhost", "localhost%00", "locaLho\xdft", "localhos\xb2", "\xe9localhost", "%6cocalhost", "127。0。0。1".encode().decode("latin-1"),
]  # fmt: skip


@pytest.mark.parametrize("host", OWN)
def test_hosts_of_this_machine_are_served(address: ServerAddress, host: str) -> None:
    assert status(address, "GET /runs HTTP/1.1", f"Host: {host}") == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_all_other_hosts_are_refused(address: ServerAddress, host: str) -> None:
    assert status(address, "GET /runs HTTP/1.1", f"Host: {host}") in (400, 403)


@pytest.mark.parametrize(
    "lines",
    [
        ["GET /runs HTTP/1.1"],
        ["GET /runs HTTP/1.0"],
        ["GET /runs HTTP/1.1", "Host: localhost", "Host: localhost"],
        ["GET /runs HTTP/1.1", "Host: localhost", "hOST: evil.example"],
        ["GET /runs HTTP/1.1", "Host: evil.example", "Host: localhost"],
        ["GET http://evil.example/runs HTTP/1.1", "Host: localhost"],
        ["GET http://localhost/runs HTTP/1.1", "Host: localhost"],
        ["GET HTTP://evil@localhost/runs HTTP/1.1", "Host: localhost"],
        ["GET https://127.0.0.1/runs HTTP/1.1", "Host: 127.0.0.1"],
        ["OPTIONS * HTTP/1.1", "Host: localhost"],
        ["CONNECT localhost:80 HTTP/1.1", "Host: localhost"],
        ["GET /runs HTTP/1.1", "Host: localhost", "Origin: http://localhost", "Origin: http://evil.example"],
        ["GET /runs HTTP/1.1", "Host: localhost", "Authorization: Bearer x"],
        ["GET /runs HTTP/1.1", "Host: localhost", "Origin: http://evil@localhost"],
        ["GET /runs HTTP/1.1", "Host: localhost", "Origin: http://localhost.evil.example"],
    ],
)  # fmt: skip
def test_requests_that_can_be_read_in_two_ways_are_refused(address: ServerAddress, lines: list[str]) -> None:
    assert status(address, *lines) in (400, 403)


ANSWERED = {
    "a page": "GET /runs HTTP/1.1\r\nHost: localhost\r\n{token}",
    "the description": "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n{token}",
    "no token": "GET /runs HTTP/1.1\r\nHost: localhost\r\n",
    "another host": "GET /runs HTTP/1.1\r\nHost: evil.example\r\n{token}",
    "nothing there": "GET /x HTTP/1.1\r\nHost: localhost\r\n{token}",
    "wrong method": "DELETE /runs HTTP/1.1\r\nHost: localhost\r\n{token}",
    "a wrong body": "POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n{token}",
    "no HTTP": "\x01\x02",
}


@pytest.mark.parametrize("request_", ANSWERED.values(), ids=list(ANSWERED))
def test_every_answer_tells_browsers_to_keep_it_to_itself(address: ServerAddress, request_: str) -> None:
    with closing(connected(address)) as client:
        token = f"Authorization: Bearer {address.token}\r\n"
        client.sendall((request_.replace("{token}", token) + "Connection: close\r\n\r\n").encode("latin-1"))
        head = received(client).partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")
    for line in (
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
        "cache-control: no-store",
        "content-security-policy: default-src 'none'; frame-ancestors 'none'",
    ):
        assert head.count(line) == 1, head


HALF_SENT = {
    "nothing": b"",
    "empty lines": b"\r\n\r\n",
    "half a method": b"G",
    "half a header": b"GET /runs HTTP/1.1\r\nHost: local",
    "headers without an end": b"GET /runs HTTP/1.1\r\nHost: localhost\r\n",
    "half a body": b"POST /runs HTTP/1.1\r\nHost: localhost\r\n{token}Content-Length: 100\r\n\r\n{",
    "half a chunk": b"POST /runs HTTP/1.1\r\nHost: localhost\r\n{token}Transfer-Encoding: chunked\r\n\r\nff\r\n{",
    "half a refused body": b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
    "half a second request": b"GET /runs HTTP/1.1\r\nHost: localhost\r\n{token}\r\nGET /runs",
}


@pytest.mark.parametrize("dripping", [False, True], ids=["silent", "dripping"])
@pytest.mark.parametrize("sent", HALF_SENT.values(), ids=list(HALF_SENT))
def test_half_sent_requests_end(
    address: ServerAddress, sent: bytes, dripping: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADERS_S", 0.5)
    monkeypatch.setattr(connections, "BODY_S", 0.5)
    with closing(connected(address)) as client:
        client.sendall(sent.replace(b"{token}", f"Authorization: Bearer {address.token}\r\n".encode()))
        client.settimeout(0.05 if dripping else PATIENCE_S)
        ended = []

        def over() -> bool:
            try:
                ended.append(client.recv(65536))
                return not ended[-1]
            except TimeoutError:
                client.sendall(b"x" if sent.strip() else b"\r\n")
                return False
            except (ConnectionResetError, BrokenPipeError):
                return True

        until(over, "the server to close the connection")


def test_answers_that_nobody_reads_end(address: ServerAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READING_S", 0.2)
    paused: list[object] = []
    real = connections.BoundedProtocol.pause_writing
    lost: list[object] = []
    ended = connections.BoundedProtocol.connection_lost
    monkeypatch.setattr(
        connections.BoundedProtocol, "pause_writing", lambda self: (paused.append(self), real(self))[1]
    )
    monkeypatch.setattr(
        connections.BoundedProtocol, "connection_lost", lambda self, exc: (lost.append(self), ended(self, exc))[1]
    )  # fmt: skip
    with closing(connected(address)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ask = (
            f"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {address.token}\r\n\r\n"
        )
        client.settimeout(0.05)

        def asked() -> bool:
            try:
                client.sendall(ask.encode())
            except (TimeoutError, ConnectionResetError, BrokenPipeError):
                return True
            return bool(paused)

        until(asked, "the answers to fill the connection")
        until(lambda: lost, "the server to give up")


def test_endless_headers_end(address: ServerAddress) -> None:
    with closing(connected(address)) as client:
        client.sendall(b"GET /runs HTTP/1.1\r\n")

        def over() -> bool:
            try:
                client.sendall(b"x-more: " + b"y" * 60_000 + b"\r\n")
                return False
            except (ConnectionResetError, BrokenPipeError):
                return True

        until(over, "the server to close the connection")
    assert status(address, "GET /runs HTTP/1.1", "Host: localhost") == 200


def test_idle_connections_make_way(address: ServerAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_PER_ADDRESS", 20)
    crowd = [connected(address) for _ in range(100)]
    try:
        assert status(address, "GET /runs HTTP/1.1", "Host: localhost") == 200
        gone = [received(client) for client in crowd[:50]]  # those that waited longest
        assert gone == [b""] * 50
    finally:
        for client in crowd:
            client.close()


@pytest.mark.parametrize("what", ["half a request", "no HTTP"])
def test_a_flood_uses_up_no_descriptors_and_fills_no_log(tmp_path: Path, what: str) -> None:
    limited = "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300)); sys.argv = sys.argv[1:]; runpy.run_module('benchwright', run_name='__main__')"  # fmt: skip
    log = tmp_path / "log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", limited, "benchwright", "serve", "--port", "0", "--json", "--workspace", str(tmp_path)],
            stdout=subprocess.PIPE, stderr=errors, text=True, cwd=tmp_path,
        )  # fmt: skip
    crowd: list[socket.socket] = []
    try:
        assert process.stdout is not None
        told = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        address = ServerAddress(told["url"], told["token"])
        for _ in range(600):
            crowd.append(connected(address))
            crowd[-1].sendall(
                b"GET /runs HTTP/1.1\r\nHost: " if what == "half a request" else b"\x00\xff\r\n"
            )
        # Who comes sooner than the crowd is turned away may still meet the limit of connections.
        until(lambda: status(address, "GET /runs HTTP/1.1", "Host: localhost") == 200)
        assert len(os.listdir(f"/proc/{process.pid}/fd")) < 300
    finally:
        for client in crowd:
            client.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
        process.communicate()
    assert log.stat().st_size < 4_000, log.read_text()


def test_entries_of_one_kind_are_logged_now_and_then_with_their_number() -> None:
    now = [0.0]
    spare = connections._Sparing(lambda: now[0])
    passed = []
    for _ in range(1000):
        record = logging.LogRecord("n", logging.WARNING, "", 0, "Invalid request", None, None)
        if spare.filter(record):
            passed.append(record.getMessage())
        now[0] += 0.02
    assert passed == ["Invalid request", "Invalid request (500 more of this kind since the last entry)"]


def served(folder: Path, *flags: str) -> tuple[dict[str, str], subprocess.Popen[str]]:
    process = warm.Popen(
        [sys.executable, "-m", "benchwright", "serve", "--json", "--workspace", str(folder), *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip
    assert process.stdout is not None
    return json.loads("".join(iter(process.stdout.readline, "}\n")) + "}"), process


def stopped(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> None:
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)


def test_a_second_server_leaves_the_record_of_the_first(tmp_path: Path) -> None:
    record = tmp_path / ".benchwright" / "server.json"
    first, one = served(tmp_path, "--port", "0")
    try:
        before = record.read_text()
        second, two = served(tmp_path, "--port", "0")
        try:
            note = until_line(two, "also served")
            assert first["url"] in note
            assert f"kill -INT {one.pid}" in note
            assert record.read_text() == before
            assert second["url"] != first["url"]
        finally:
            stopped(two)
        assert record.read_text() == before
        port = first["url"].rpartition(":")[2]
        third = warm.run(
            [sys.executable, "-m", "benchwright", "serve", "--workspace", str(tmp_path), "--port", port],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        assert third.returncode == 2
        assert f"This workspace is served at {first['url']} by process {one.pid}" in third.stderr
        assert "another --port" in third.stderr
        assert record.read_text() == before
    finally:
        stopped(one)
    assert not record.exists()


def test_the_record_of_a_dead_server_is_replaced(tmp_path: Path) -> None:
    record = tmp_path / ".benchwright" / "server.json"
    first, one = served(tmp_path, "--port", "0")
    stopped(one, signal.SIGKILL)
    assert json.loads(record.read_text())["url"] == first["url"]
    second, two = served(tmp_path, "--port", "0")
    try:
        told = json.loads(record.read_text())
        assert (told["url"], told["pid"]) == (second["url"], two.pid)
        assert record.stat().st_mode & 0o777 == 0o600
    finally:
        stopped(two)
    assert not record.exists()


def test_a_new_code_comes_from_the_living_server_only(tmp_path: Path) -> None:
    """The port of a dead server may be another program's by now, which must not get the token."""
    asked = [sys.executable, "-m", "benchwright", "serve", "--workspace", str(tmp_path), "--new-code"]
    none = warm.run(asked, capture_output=True, text=True, cwd=tmp_path)
    assert none.returncode == 4
    assert "is not served; start a server with `benchwright serve`" in none.stderr
    first, one = served(tmp_path, "--port", "0")
    told = warm.run(asked, capture_output=True, text=True, cwd=tmp_path)
    assert told.stdout.startswith(f"open: {first['url']}/?code=")
    assert told.stdout.split()[1] != first["open_url"]
    stopped(one, signal.SIGKILL)
    with closing(socket.create_server(("127.0.0.1", int(first["url"].rpartition(":")[2])))) as other:
        assert warm.run(asked, capture_output=True, text=True, cwd=tmp_path).returncode == 4
        other.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody called
            other.accept()


@pytest.mark.parametrize("left", ["a damaged record", "a link"])
def test_what_lies_in_the_records_place_is_replaced(tmp_path: Path, left: str) -> None:
    record = tmp_path / ".benchwright" / "server.json"
    record.parent.mkdir()
    if left == "a link":
        (tmp_path / "elsewhere").write_text("mine")
        record.symlink_to(tmp_path / "elsewhere")
    else:
        record.write_text('{"url": [')
        record.chmod(0o644)
    told, process = served(tmp_path, "--port", "0")
    try:
        assert json.loads(record.read_text())["token"] == told["token"]
        assert record.stat().st_mode & 0o777 == 0o600
    finally:
        stopped(process)
    if left == "a link":
        assert (tmp_path / "elsewhere").read_text() == "mine"
