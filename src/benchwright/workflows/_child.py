"""The program's process: started without a shell in a group of its own, listened to, signalled, waited for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from benchwright.core import STREAM_FILES, UsageError
from benchwright.workflows._captured import Captured, pump

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
        """Tell the program, and what it started."""
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
    """Modules that look after their locks when a process forks are loaded before it does: the server beside us, in
    its thread, would otherwise load one between the two halves of a fork, and its lock be released unlocked."""
    import concurrent.futures.thread
    import logging
    import random

    del concurrent, logging, random


def _die_with_parent() -> Callable[[], None] | None:
    """Should this process be killed, its program must not go on unseen: nobody would close its run."""
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    set_parent_death_signal, parent = 1, os.getpid()

    def ask() -> None:
        prctl(set_parent_death_signal, int(signal.SIGKILL))
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return ask
