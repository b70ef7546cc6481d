"""Every value that came from the environment, quoted back from every side and in every spelling: found nowhere."""

from __future__ import annotations

import base64
import html
import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pyarrow.parquet as pq
import pytest

from benchwright.cli import main
from benchwright.server import serving
from benchwright.store import Workspace

SECRETS = {
    "MY_KEY": "sk-Very/Secret+0123456789=",
    "TEAM": "team-blue-7734-x",
    "JUDGE_KEY": 'jk_99f1c2d3e4&<"b5a697',
    "HF_TOKEN": "hf_QwErTyUiOpAsDfGh",
}
FORMS = {
    "plain": lambda key: key,
    "url": lambda key: quote(key, safe=""),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 by one": lambda key: base64.b64encode(b"u" + key.encode() + b"x").decode(),
    "base64 by two": lambda key: base64.b64encode(b"u:" + key.encode() + b"xy").decode(),
    "hex": lambda key: key.encode().hex(),
    "json": lambda key: json.dumps(key).replace("/", "\\/"),
    "escapes": lambda key: "".join(f"\\u{ord(c):04x}" for c in key),
    "entities": lambda key: "".join(f"&#{ord(c)};" for c in key),
    "page": html.escape,
    "upper": str.upper,
    "split": lambda key: f"{key[:9]}\n  {key[9:]}",
}
PLACES = ["reply", "reasoning", "tool", "finish", "error", "page", "error in 200", "no json", "redirect",
          "header", "stream", "stream error", "judge", "judge error", "scorer", "cell", "score", "model"]  # fmt: skip

BENCH = """
import os
from benchwright import ScorerInput, benchmark, judge_score, scorer
from benchwright.scorers import exact_match

JUDGE = {{"url": "{url}", "model_id": "judge", "api_key": "JUDGE_KEY"}}

@benchmark(name="planted", dataset="rows.jsonl", prompt="{{place}} {{text}}", target_field="answer",
           extra={{"judge": JUDGE}})
@scorer
def check(sample: ScorerInput) -> dict:
    if sample.metadata["place"] == "scorer":
        raise RuntimeError(os.environ.get(sample.metadata["text"], sample.metadata["text"]))
    if sample.metadata["place"] == "score":
        return {{"correct": True, "found": sample.metadata["text"]}}
    if sample.metadata["place"].startswith("judge"):
        return judge_score(sample, template="binary_qa", criteria="right?")
    return exact_match(sample)
"""


class Quoting(BaseHTTPRequestHandler):
    """Sends back what the row says, from the place that the row names."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = body["messages"][-1]["content"]
        place, _, text = asked.partition(" ")
        place = place.replace("_", " ")
        if body["model"] == "judge":
            place, text = ("judge error" if "judge_error" in asked else "judge"), asked
        else:
            assert self.headers["Authorization"] == f"Bearer {SECRETS['MY_KEY']}"
            assert self.headers["X-Team"] == SECRETS["TEAM"]
        message: dict[str, Any] = {"content": "fine"}
        finish, status, headers = "stop", 200, {}
        raw: bytes | None = None
        if place in ("reply", "judge"):
            message["content"] = f"GRADE: C because {text}"
        elif place == "reasoning":
            message["reasoning_content"] = text
        elif place == "tool":
            message["tool_calls"] = [{"function": {"name": "f", "arguments": json.dumps({"k": text})}}]
        elif place == "finish":
            finish = text
        elif place in ("error", "judge error"):
            status, raw = 400, json.dumps({"error": {"message": f"Incorrect key: {text}"}}).encode()
        elif place == "page":
            status, raw = 500, f"<html><title>no {text}</title></html>".encode()
        elif place == "error in 200":
            raw = json.dumps({"error": {"message": text}}).encode()
        elif place == "no json":
            raw = f"sorry, {text}".encode()
        elif place == "redirect":
            status, raw, headers = 302, b"", {"Location": f"http://x/?q={quote(text)}"}
        elif place == "header":
            status, raw, headers = 429, b"", {"Retry-After": quote(text), "X-Said": quote(text)}
        elif place == "stream error":
            status, raw = 400, ("data: " + json.dumps({"error": {"message": text}}) + "\n\n").encode()
        if raw is None:
            name = text if place == "model" else body["model"]
            choices = [{"message": message, "finish_reason": finish}]
            raw = json.dumps({"model": name, "choices": choices}).encode()
        if body.get("stream") and place in ("reply", "stream"):
            pieces = [f"GRADE: {text[:7]}", text[7:12], text[12:]]
            events = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
            events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
            raw = (
                b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"
            )
            headers = {"Content-Type": "text/event-stream"}
        if body.get("stream") and place == "stream error":
            status = 200
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Quoting)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def squeezed(text: str) -> str:
    return "".join(c for c in text.lower() if c.isascii() and c.isalnum())


def traces(text: str) -> list[str]:
    """Which secrets stand in a text, and how."""
    found = []
    plain = squeezed(text)
    for name, key in SECRETS.items():
        for form, spell in FORMS.items():
            needle = squeezed(spell(key))[3:-4]  # base64 shares the outermost with its neighbours
            if needle in plain:
                found.append(f"{name} as {form}: …{text[max(0, plain.find(needle) - 40) :][:200]}")
    return found


def everything_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Each file as text: what stands in it, and what its format says stands in it."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        yield path.name, path.read_bytes().decode("latin-1")
        if path.suffix == ".parquet":
            yield f"{path.name} (rows)", json.dumps(pq.read_table(path).to_pylist(), default=str)
        if path.suffix == ".db":
            with sqlite3.connect(path) as connection:
                for table in ("runs", "steps", "events", "metrics", "workflow_steps"):
                    for row in connection.execute(f"SELECT * FROM {table}"):
                        texts = [v.decode("latin-1") if isinstance(v, bytes) else str(v) for v in row]
                        yield f"{path.name} {table}", "\n".join(texts)


def test_values_of_the_environment_are_found_nowhere(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    rows = [
        {"place": place.replace(" ", "_"), "text": spell(key), "answer": "fine"}
        for place in PLACES
        for key in SECRETS.values()
        for spell in FORMS.values()
        if key != SECRETS["HF_TOKEN"]
    ]
    rows.append({"place": "scorer", "text": "HF_TOKEN", "answer": "fine"})  # read by the user's code alone
    data = tmp_path / "data"
    data.mkdir()
    (data / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (data / "bench.py").write_text(BENCH.format(url=url))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    printed = ""
    run = ["run", "../data/bench.py", "--model-url", url, "--model-id", "m", "--api-key-name", "MY_KEY"]
    run += ["--header", "X-Team=${TEAM}", "--max-retries", "0"]
    for words in (
        [*run, "--output-dir", str(work / "files"), "--debug"],
        ["show", "1"], ["show", "1", "--json"], ["show", "1", "3"], ["list"], ["list", "--json"],
        ["export", "1", "--format", "csv"], ["export", "1", "--format", "jsonl"],
        ["rescore", "1"], ["compare", "1", "2"], ["resume", "1", "--retry-failed", "--json"],
        [*run, "--stream", "--json"],
        ["run", "../data/rows.jsonl", "--model-url", "http://127.0.0.1:1/v1", "--model-id", "m", "--json"],
    ):  # fmt: skip
        main(words)
        said = capfd.readouterr()
        printed += said.out + said.err
        assert not traces(said.out + said.err), words
    assert "[redacted]" in printed
    assert "held a value of the environment" in printed
    for name, text in everything_in(work):
        assert not traces(text), name
    with serving(Workspace(work)) as (address, _):
        for path in ("/runs", "/runs/1", "/runs/1/events", "/runs/1/samples"):
            request = Request(address.url + path, headers={"Authorization": f"Bearer {address.token}"})
            try:
                text = urlopen(request).read().decode()
            except OSError as error:
                text = str(error)
            assert not traces(text), path


LOCAL = """
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import exact_match

@benchmark(name="local", dataset="rows.jsonl", prompt="{place} {text}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""


class Echo(BaseHTTPRequestHandler):
    """Answers `localhost`, and counts."""

    protocol_version = "HTTP/1.1"
    asked = 0

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).asked += 1
        raw = json.dumps(
            {"choices": [{"message": {"content": "localhost"}, "finish_reason": "stop"}]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def test_a_reply_is_scored_as_it_came_and_stored_without_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_KEY", "localhost")
    rows = [{"place": "where", "text": f"is it {n}", "answer": "localhost"} for n in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "bench.py").write_text(LOCAL)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    Echo.asked = 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run = ["run", "bench.py", "--model-url", f"http://127.0.0.1:{server.server_port}/v1", "--model-id", "m"]

    def told(*words: str) -> dict[str, Any]:
        main([*words, "--json"])
        printed = json.loads(capfd.readouterr().out)
        summary: dict[str, Any] = (printed["results"][0] if "results" in printed else printed)["summary"]
        return summary

    try:
        first = told(*run, "--api-key-name", "MY_KEY")
        assert Echo.asked == 3
        again = told(*run, "--api-key-name", "MY_KEY")
        assert Echo.asked == 6, "a reply that is not stored whole must not answer another run"
    finally:
        server.shutdown()
        server.server_close()
    for result in (first, again):
        assert (result["metrics"]["correct"]["value"], result["outcomes"]["scored"]) == (1.0, 3)
        notes = " ".join(result["notes"])
        assert "replies of 3 samples held a value of the environment" in notes
        assert "MY_KEY is a plain word" in notes
    main(["show", "1", "0"])
    assert "[redacted]" in capfd.readouterr().out
    scored_again = told("rescore", "1")
    assert scored_again["outcomes"]["skipped"] == 3, "what is not stored whole is not scored again"
