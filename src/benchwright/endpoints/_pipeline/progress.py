"""Posts the number of finished samples from a separate thread, so that a URL that fails or hangs neither stops nor slows a
run. A file in the run's folder has the same number."""

from __future__ import annotations

import asyncio
import threading
import time
from base64 import b64encode
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import unquote

from benchwright.config import ProgressTracking, resolve_headers
from benchwright.core import Artifacts, encode_json, public_url, redact, url_owner

_TIMEOUT_S = 5.0
_LAST_S = 5.0
"""How long the end of a run may wait for the last post."""
_LOOK_S = 0.005
"""Seconds between two checks whether it was sent."""
PROGRESS_FILE = "progress"
"""The file with the number, where readers of such folders expect it."""
_MOST_WAITING = 64
"""The most posts that wait for a slow URL; the oldest are dropped, because the newest tells more."""


class ProgressPoster:
    """Counts finished samples. Belongs to one run."""

    def __init__(self, step: ProgressTracking, files: Artifacts | None = None) -> None:
        self._files = files
        self._url: str = resolve_headers({"url": step.value("progress_tracking_url")})["url"]
        self._headers = {"Content-Type": "application/json"}
        if (owner := url_owner(self._url)) is not None:  # `urllib` takes a password for a part of the host
            self._url = self._url.replace(owner + "@", "", 1)
            self._headers["Authorization"] = f"Basic {b64encode(unquote(owner).encode()).decode()}"
        self._method: str = step.value("request_method")
        self._every: int = step.value("progress_tracking_interval")
        self._every_s: float | None = step.progress_tracking_interval_seconds
        self._waiting: deque[int] = deque(maxlen=_MOST_WAITING)
        self._done = self._total = 0
        self._posted_at = time.monotonic()
        self._closing = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.note = ""
        """The error, if there was one."""

    def count(self, recorded: int) -> None:
        """Count a finished sample, in addition to those that earlier starts of the run recorded."""
        self._done += 1
        self._total = self._done + recorded
        late = self._every_s is not None and time.monotonic() - self._posted_at >= self._every_s
        if self._done % self._every == 0 or late:
            self._posted_at = time.monotonic()
            self._put(self._total)

    async def aclose(self, hurried: Callable[[], bool]) -> None:
        """Post the last number and wait briefly for it, unless the user is in a hurry."""
        if self._done and self._done % self._every:
            self._put(self._total)
        with self._changed:
            self._closing = True
            self._changed.notify()
        thread = self._thread
        deadline = time.monotonic() + _LAST_S
        # Not waited for in a thread, because the event loop could not end before it.
        while thread is not None and thread.is_alive():
            if hurried() or time.monotonic() > deadline:
                self._failed("the last number has no answer yet")
                return
            await asyncio.sleep(_LOOK_S)

    def _put(self, done: int) -> None:
        if self._files is not None:
            with suppress(OSError):  # other files of the folder report a full disk
                self._files.write(PROGRESS_FILE, str(done).encode())
        with self._changed:
            self._waiting.append(done)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._post_all, name="benchwright-progress", daemon=True
                )
                self._thread.start()
            self._changed.notify()

    def _post_all(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if not self._waiting:
                    return
                if self.note:  # after a failure only the newest number is worth another attempt
                    while len(self._waiting) > 1:
                        self._waiting.popleft()
                done = self._waiting.popleft()
            self._post(done)

    def _post(self, done: int) -> None:
        import urllib.error
        import urllib.request

        body = encode_json({"samples_processed": done})
        try:
            request = urllib.request.Request(self._url, body, self._headers, method=self._method)
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S):
                pass
        except urllib.error.HTTPError as error:
            self._failed(f"{error.code} {error.reason}")
            error.close()
        except Exception as error:  # a wrong URL, a closed port or any other error: the run continues
            self._failed(f"{getattr(error, 'reason', None) or error}")

    def _failed(self, reason: str) -> None:
        if not self.note:
            self.note = redact(f"progress could not be posted to {public_url(self._url)}: {reason}")
