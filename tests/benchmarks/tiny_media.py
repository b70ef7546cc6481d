"""Real media of a few bytes, and a server that keeps what it is sent."""

from __future__ import annotations

import base64
import io
import json
import threading
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01" + b"\x00" * 32
MP4 = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2mp41" + b"\x00" * 32


def wav(frames: int = 8) -> bytes:
    """A sound of silence."""
    held = io.BytesIO()
    with wave.open(held, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\x00\x00" * frames)
    return held.getvalue()


class Recorder:
    """A chat server on loopback that answers the same to everybody."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    @property
    def contents(self) -> list[Any]:
        """The user's content of each request."""
        return [body["messages"][-1]["content"] for body in self.bodies]


@contextmanager
def recording(answer: str = "B") -> Iterator[Recorder]:
    recorder = Recorder(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            recorder.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": recorder.answer}
            body = json.dumps(
                {
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: Any) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    recorder.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield recorder
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
