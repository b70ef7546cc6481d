"""What we promise users, shown through the command line against a server that really misbehaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import warm
from waiting import PATIENCE_S, until, until_line

BENCH = """
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import exact_match

@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""
KEY = "sk-verysecret-0123456789"


class Server(ThreadingHTTPServer):
    """Answers `q<n>` with `a<n>`; `behave` may answer first."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave: Any = None
        self.asked: list[str] = []

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that was told to stop at once hangs up

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        assert isinstance(server, Server)
        question = body["messages"][-1]["content"]
        server.asked.append(question)
        status, answer = 200, {"choices": [{"message": {"content": question.replace("q", "a")}}]}
        if server.behave is not None:
            changed = server.behave(question, dict(self.headers))
            if changed is not None:
                status, answer = changed
        payload = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"question": f"q{n}", "answer": f"a{n}"} for n in range(100)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    return tmp_path


def command(folder: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return warm.run(
        [sys.executable, "-m", "benchwright", *words],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, env={**os.environ, **(env or {})},
    )  # fmt: skip


def model(server: Server) -> list[str]:
    return ["--model-url", server.url, "--model-id", "m", "--max-retries", "0"]


def test_every_request_failing_exits_1_with_the_servers_own_words(folder: Path, server: Server) -> None:
    server.behave = lambda question, headers: (401, {"error": {"message": "Incorrect API key provided"}})
    done = command(folder, "run", "bench.py", *model(server))
    assert done.returncode == 1
    assert "Incorrect API key provided" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert len(server.asked) < 100, "a hopeless run is not carried to its end"


def test_ten_percent_failing_exits_3_with_both_conventions(folder: Path, server: Server) -> None:
    server.behave = lambda question, headers: (500, {"error": "boom"}) if question.endswith("3") else None
    done = command(folder, "run", "bench.py", *model(server))
    assert done.returncode == 3
    assert "1.0000" in done.stdout
    assert "0.9000" in done.stdout
    assert "not comparable" in done.stdout


def test_a_key_is_found_in_no_file_and_no_output(folder: Path, server: Server) -> None:
    def echo_the_key(question: str, headers: dict[str, str]) -> tuple[int, Any] | None:
        assert headers["Authorization"] == f"Bearer {KEY}"
        if question.endswith("3"):
            return 500, {"error": {"message": f"cannot use {headers['Authorization']} here"}}
        return (200, "not even an object " + KEY) if question.endswith("7") else None

    server.behave = echo_the_key
    words = ["run", "bench.py", *model(server), "--api-key-name", "MY_SECRET_KEY"]
    done = command(folder, *words, env={"MY_SECRET_KEY": KEY})
    assert done.returncode == 3
    shown = [
        command(folder, *view).stdout
        for view in (["show", "last"], ["show", "last", "3"], ["list", "--json"])
    ]
    texts = [done.stdout, done.stderr, *shown]
    assert not any(KEY in text for text in texts)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 6
    assert [str(path) for path in files if KEY.encode() in path.read_bytes()] == []


def test_an_unset_key_is_named_before_anything_is_sent(folder: Path, server: Server) -> None:
    done = command(folder, "run", "bench.py", *model(server), "--api-key-name", "NOT_SET_ANYWHERE")
    assert done.returncode == 2
    assert "NOT_SET_ANYWHERE" in done.stderr
    assert server.asked == []


def test_bad_rows_are_all_named_before_anything_is_sent(folder: Path, server: Server) -> None:
    with (folder / "rows.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"qestion": "typo"}\n[1, 2]\n{"question": broken\n')
    done = command(folder, "run", "bench.py", *model(server))
    assert done.returncode == 2
    for line in (101, 102, 103):
        assert f"rows.jsonl:{line}" in done.stderr
    assert "qestion" in done.stderr
    assert server.asked == []


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return warm.Popen(
        [sys.executable, "-m", "benchwright", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def hold(release: threading.Event, held: bool = True) -> None:
    """Keep a request waiting until it is released."""
    if held:
        release.wait(PATIENCE_S)


def test_ctrl_c_once_finishes_what_is_in_flight_and_resume_goes_on(folder: Path, server: Server) -> None:
    release = threading.Event()
    server.behave = lambda question, headers: hold(release, len(server.asked) > 8)
    child = start(folder, "run", "bench.py", *model(server), "--parallelism", "4", "--output-dir", "out")
    until(lambda: len(server.asked) > 8)
    child.send_signal(signal.SIGINT)
    until_line(child, "interrupted; Ctrl-C stops at once")
    release.set()
    out, errors = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, errors
    sent = len(server.asked)
    assert sent < 100
    assert "partial" in out
    assert (folder / "out" / "results.yml").exists()
    server.behave = None
    done = command(folder, "resume", "last", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["requests_sent"] == 100 - sent
    assert sorted(server.asked) == sorted(f"q{n}" for n in range(100)), "nothing was asked twice"


def test_ctrl_c_twice_stops_at_once(folder: Path, server: Server) -> None:
    release = threading.Event()
    server.behave = lambda question, headers: hold(release)
    child = start(folder, "run", "bench.py", *model(server), "--parallelism", "2", "--json")
    until(lambda: len(server.asked) >= 2)
    child.send_signal(signal.SIGINT)
    until_line(child, "interrupted; Ctrl-C stops at once")
    assert child.poll() is None, "one Ctrl-C waits for what is in flight"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130
    assert json.loads(out)["results"][0]["requests_sent"] == 2, "what was in flight was sent"
    assert not release.is_set(), "it ended without the replies it had waited for"
    release.set()


def test_a_run_with_a_live_owner_cannot_be_resumed(folder: Path, server: Server) -> None:
    release = threading.Event()
    server.behave = lambda question, headers: hold(release, len(server.asked) > 2)
    child = start(folder, "run", "bench.py", *model(server), "--parallelism", "2")
    until(lambda: len(server.asked) > 2)
    done = command(folder, "resume", "1")
    child.send_signal(signal.SIGINT)
    release.set()
    child.communicate(timeout=PATIENCE_S)
    assert done.returncode == 5
    assert str(child.pid) in done.stderr


def test_what_is_not_there_exits_4(folder: Path) -> None:
    assert command(folder, "show", "99").returncode == 4
    assert command(folder, "run", "nothing.py").returncode == 4


def test_a_whole_run_works_from_a_url_without_its_path(folder: Path, server: Server) -> None:
    bare = server.url.removesuffix("/v1")
    done = command(
        folder, "run", "bench.py", "--model-url", bare, "--model-id", "m", "--limit", "3", "--json"
    )
    assert done.returncode == 0, done.stderr
