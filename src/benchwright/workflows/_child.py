"""The process of a program: started without a shell in a group of its own, its output kept, signals passed on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal

from benchwright.core import STREAM_FILES, UsageError, known_secrets, write_whole

KEPT_BYTES = 1024 * 1024
"""Kept of each stream."""
_LONGEST_LINE = 65536
"""A line that is longer is kept in parts."""


class Captured:
    """The end of one stream, in memory and in a file, without secrets. A resumed run's output follows that of its
    former starts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tail = bytearray()
        self._line = bytearray()
        self._size = 0
        self._file: int | None = None
        with suppress(OSError):  # the run's records report a full disk; the output is shown all the same
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open()

    def add(self, data: bytes) -> None:
        """Keep what was printed, by whole lines: a secret may come in pieces."""
        self._line += data
        end = max(self._line.rfind(b"\n"), self._line.rfind(b"\r")) + 1
        if end or len(self._line) > _LONGEST_LINE:
            end = end or len(self._line)
            whole = bytes(self._line[:end])
            del self._line[:end]
            self._keep(whole)

    def _keep(self, data: bytes) -> None:
        redactor = known_secrets()
        if redactor.found_in(data):
            data = redactor.clean_record(data.decode("utf-8", "replace")).encode()
        self._tail += data
        if len(self._tail) > 2 * KEPT_BYTES:
            del self._tail[:-KEPT_BYTES]
        if self._file is None:
            return
        try:
            os.write(self._file, data)
            self._size += len(data)
            if self._size > 2 * KEPT_BYTES:
                self._shorten()
        except OSError:
            self._release()

    def text(self) -> str:
        """What was printed in this start, or the end of it; whole after `close`."""
        return self._tail[-KEPT_BYTES:].decode("utf-8", "replace")

    def close(self) -> None:
        """Nothing more comes. A file without content goes away."""
        if self._line:
            self._keep(bytes(self._line))
            self._line.clear()
        with suppress(OSError):
            if self._file is not None and self._size > KEPT_BYTES:
                self._shorten()
            if self._size == 0:
                self._path.unlink()
        self._release()

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._file).st_size

    def _shorten(self) -> None:
        with open(self._path, "rb") as file:
            file.seek(-KEPT_BYTES, os.SEEK_END)
            kept = file.read()
        write_whole(self._path, kept)
        self._release()
        self._open()

    def _release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def pump(pipe: BinaryIO, captured: Captured, pass_on: Callable[[bytes], None]) -> None:
    """Read a stream to its end, and close it."""
    with pipe, suppress(OSError):
        while data := os.read(pipe.fileno(), 65536):
            captured.add(data)
            with suppress(OSError, ValueError):  # nobody reads any more; the run continues
                pass_on(data)


Stream = Literal["stdout", "stderr"]
PassOn = Callable[[Stream, bytes], None]
_STREAMS: tuple[Stream, ...] = ("stdout", "stderr")
_LAST_WORDS_S = 2.0
"""How long streams may stay open when the program is gone: something it started may hold them."""


class Child:
    """One start of a program."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        folder: Path,
        pass_on: PassOn,
    ) -> None:
        _settle_fork_hooks()
        try:
            self._process = subprocess.Popen(
                list(command),
                cwd=cwd,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                process_group=0,  # Ctrl-C is for us; we pass it on, once
                preexec_fn=_die_with_parent() if sys.platform == "linux" else None,
            )
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be started in {cwd}: {error.strerror}") from None
        self.captured = {name: Captured(folder / STREAM_FILES[name]) for name in _STREAMS}
        self._threads = [self._listen(name, pass_on) for name in _STREAMS]

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def wait(self, seconds: float) -> int | None:
        """The exit status, negative for a signal; None when it still runs after that time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def signal(self, number: signal.Signals) -> None:
        """Send it to the program, and to what it started."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def close(self) -> None:
        """Take in the last words."""
        if self._process.poll() is None:
            self.signal(signal.SIGKILL)
            self._process.wait()
        for thread in self._threads:
            thread.join(_LAST_WORDS_S)
        for captured in self.captured.values():
            captured.close()

    def _listen(self, name: Stream, pass_on: PassOn) -> threading.Thread:
        pipe = getattr(self._process, name)
        thread = threading.Thread(
            target=pump,
            args=(pipe, self.captured[name], lambda data: pass_on(name, data)),
            name=f"benchwright-{name}",
            daemon=True,
        )
        thread.start()
        return thread


def _settle_fork_hooks() -> None:
    """Modules that look after their locks when a process forks are loaded before it does: the server next to us, in
    its thread, would otherwise load one between the two halves of a fork, and its lock be released unlocked."""
    import concurrent.futures.thread
    import logging
    import random

    del concurrent, logging, random


def _die_with_parent() -> Callable[[], None] | None:
    """Should this process be killed, its program must not run on unseen: nobody would close its run."""
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    set_parent_death_signal, parent = 1, os.getpid()

    def ask() -> None:
        prctl(set_parent_death_signal, int(signal.SIGKILL))
        if os.getppid() != parent:  # it died before this line
            os._exit(1)

    return ask
