"""A server that quotes keys from every place and in every spelling, and a search for them in everything that is written."""

from __future__ import annotations

import base64
import html
import json
import sqlite3
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq

SECRETS = {
    "MY_KEY": "sk-Very/Secret+0123456789=",
    "TEAM": "team-blue-7734-x",
    "JUDGE_KEY": 'jk_99f1c2d3e4&<"b5a697',
    "HF_TOKEN": "hf_QwErTyUiOpAsDfGh",
    "PANEL_KEY": "pk.Panel-8812_zyxwvu",
    "ADDED": "added-hdr-55x77-value",
    "PASSWORD": "Pa55/Vx+w0rd_qz91kk",
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
PLACES = ["reply", "reasoning", "tool", "tool name", "finish", "error", "page", "error in 200", "no json", "redirect",
          "header", "stream", "stream error", "judge", "judge error", "scorer", "cell", "score", "model"]  # fmt: skip


class Quoting(BaseHTTPRequestHandler):
    """Sends back what the row says, from the place that the row names."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/progress"):  # its key comes back in the words of the status
            self.send_response(403, f"not at {self.path} with {self.headers['Authorization']}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
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
        elif place.startswith("tool"):
            name, arguments = (text, "{}") if place == "tool name" else ("f", json.dumps({"k": text}))
            message["tool_calls"] = [{"id": text, "function": {"name": name, "arguments": arguments}}]
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
        name = text if place == "model" else body["model"]
        if raw is None and body.get("stream"):
            raw, headers = _streamed(name, message, finish), {"Content-Type": "text/event-stream"}
        elif raw is None:
            choices = [{"message": message, "finish_reason": finish}]
            raw = json.dumps({"model": name, "choices": choices}).encode()
        if body.get("stream") and place == "stream error":
            status = 200
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def _streamed(model: str, message: dict[str, Any], finish: str) -> bytes:
    """The message in pieces, none of which is long enough to be known for a key."""
    deltas: list[dict[str, Any]] = []
    for kind in ("content", "reasoning_content"):
        deltas += [{kind: piece} for piece in _pieces(message.get(kind, ""))]
    for call in message.get("tool_calls", ()):
        called = call["function"]
        deltas.append(
            {
                "tool_calls": [
                    {"index": 0, "id": call["id"], "function": {"name": called["name"], "arguments": ""}}
                ]
            }
        )
        for piece in _pieces(called["arguments"]):
            deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    choices: list[dict[str, Any]] = [{"delta": delta} for delta in deltas]
    choices.append({"delta": {}, "finish_reason": finish})
    events = [json.dumps({"model": model, "choices": [choice]}) for choice in choices]
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + 5] for at in range(0, len(text), 5))


@contextmanager
def quoting_server() -> Iterator[str]:
    """The URL of such a server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Quoting)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def squeezed(text: str) -> str:
    return "".join(filter(str.isalnum, text.encode("ascii", "ignore").decode().lower()))


NEEDLES = {  # base64 shares the outermost characters with its neighbours
    squeezed(spell(key))[3:-4]: f"{name} as {form}"
    for name, key in SECRETS.items()
    for form, spell in FORMS.items()
}


def traces(text: str) -> list[str]:
    """Which secrets stand in a text, and how: as they are written there, and in pieces of a stream put together."""
    found = []
    for whole in (text, _put_together(text)):
        plain = squeezed(whole)
        for needle, name in NEEDLES.items():
            if needle in plain:
                found.append(f"{name}: …{plain[max(0, plain.find(needle) - 40) :][:200]}")
    return found


def _put_together(text: str) -> str:
    """The pieces of streams that were written down whole."""
    pieces = []
    for line in text.replace("\\n", "\n").replace('\\"', '"').splitlines():
        if "data: {" in line:
            for kind in ("content", "arguments"):
                pieces += [part.partition('"')[0] for part in line.split(f'"{kind}": "')[1:]]
    return "".join(pieces)


def everything_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Each file as text: what stands in it, and what its format says stands in it."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        yield path.name, path.read_bytes().decode("latin-1")
        if path.suffix == ".parquet":
            yield f"{path.name} (rows)", json.dumps(pq.read_table(path).to_pylist(), default=str)
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as parts:
                for name in parts.namelist():
                    yield f"{path.name} {name}", parts.read(name).decode("latin-1")
        if path.suffix == ".db":
            with closing(sqlite3.connect(path)) as connection:
                tables = [
                    name
                    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                ]
                for table in tables:
                    for row in connection.execute(f"SELECT * FROM {table}"):
                        texts = [v.decode("latin-1") if isinstance(v, bytes) else str(v) for v in row]
                        yield f"{path.name} {table}", "\n".join(texts)
