"""Runs a program in a process: starts it without a shell in a separate group, keeps its output, passes on signals, and
watches it until it ends, with progress, time limit and heartbeat."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from msgspec import Struct

from benchwright.core import STREAM_FILES, Artifacts, BenchwrightError, UsageError, known_secrets
from benchwright.engine import RunLife
from benchwright.store import Lease, Store

KEPT_BYTES = 1024 * 1024
"""Bytes kept of each stream."""
_LONGEST_LINE = 65536
"""Longer lines are kept in parts."""


class Captured:
    """The end of one stream, in memory and in a file, without secrets. A resumed run's output follows that of earlier
    starts."""

    def __init__(self, files: Artifacts, name: str) -> None:
        self._files, self._name = files, name
        self._tail = bytearray()
        self._line = bytearray()
        self._size = 0
        self._file: BinaryIO | None = None
        with suppress(OSError):  # the run's records report a full disk; the output is still shown
            self._open()

    def add(self, data: bytes) -> None:
        """Keep printed output by whole lines, because a secret may arrive in pieces."""
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
            self._file.write(data)
            self._size += len(data)
            if self._size > 2 * KEPT_BYTES:
                self._shorten()
        except OSError:
            self._release()

    def text(self) -> str:
        """The output of this start, or the end of it; complete after `close`."""
        return self._tail[-KEPT_BYTES:].decode("utf-8", "replace")

    def close(self) -> None:
        """End the stream; a file without content is deleted."""
        if self._line:
            self._keep(bytes(self._line))
            self._line.clear()
        with suppress(OSError):
            if self._file is not None and self._size > KEPT_BYTES:
                self._shorten()
            if self._size == 0:
                self._files.remove(self._name)
        self._release()

    def _open(self) -> None:
        self._file = self._files.append(self._name)
        self._size = self._file.tell()

    def _shorten(self) -> None:
        with self._files.open(self._name) as file:
            file.seek(-KEPT_BYTES, os.SEEK_END)
            kept = file.read()
        self._files.write(self._name, kept)
        self._release()
        self._open()

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def pump(pipe: BinaryIO, captured: Captured, pass_on: Callable[[bytes], None]) -> None:
    """Read a stream to its end, and close it."""
    with pipe, suppress(OSError):
        while data := os.read(pipe.fileno(), 65536):
            captured.add(data)
            with suppress(OSError, ValueError):  # the reader has gone; the run continues
                pass_on(data)


Stream = Literal["stdout", "stderr"]
PassOn = Callable[[Stream, bytes], None]
_STREAMS: tuple[Stream, ...] = ("stdout", "stderr")
_LAST_WORDS_S = 2.0
"""How long streams may stay open after the program has ended, because a process that it started may keep them."""


class Child:
    """One start of a program."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        files: Artifacts,
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
                process_group=0,  # Ctrl-C goes to this process, which passes it on once
                preexec_fn=_die_with_parent() if sys.platform == "linux" else None,
            )
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be started in {cwd}: {error.strerror}") from None
        self.captured = {name: Captured(files, STREAM_FILES[name]) for name in _STREAMS}
        self._threads = [self._listen(name, pass_on) for name in _STREAMS]

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def wait(self, seconds: float) -> int | None:
        """The exit status, negative for a signal; None if it still runs after that time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program and the processes that it started."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def close(self) -> None:
        """Read the rest of its output."""
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
    """Load modules with fork hooks before forking. Otherwise the server in another thread might load one during the fork, and
    its lock would be released without being held."""
    import concurrent.futures.thread
    import logging
    import random

    del concurrent, logging, random


def _die_with_parent() -> Callable[[], None] | None:
    """Make the program end if this process is killed, because nothing else would close its run."""
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


_EVERY_S = 0.5
_SHARE = 20
"""Reading progress takes at most one part in this many of the time, so a run of a million steps is read less often."""


class ProgramProgress(Struct, frozen=True):
    """The progress of a run."""

    run_id: int
    """Number of the run."""
    name: str
    steps: dict[str, int]
    """Steps per status."""
    metrics: dict[str, float]
    """Each metric's mean so far."""
    seconds: float
    """Seconds since the start."""
    stopping: str = ""
    """Why it is being stopped."""


class ProgramWatcher(Protocol):
    """Shows a run."""

    def output(self, stream: Stream, data: bytes) -> None:
        """Show output of the program. Called from other threads."""
        ...

    def begun(self, run_id: int, recorded: int | None = None) -> None:
        """Called when the run is recorded, with the number of completed steps if it is resumed."""
        ...

    def progress(self, progress: ProgramProgress) -> None:
        """Called when the state of the run has changed."""
        ...


class Looker:
    """Reads the state of a run at intervals."""

    def __init__(self, store: Store, lease: Lease, name: str, watcher: ProgramWatcher) -> None:
        self._store = store
        self._run_id = lease.run_id
        self._name = name
        self._watcher = watcher
        self._began = time.monotonic()
        self._next = self._began + _EVERY_S

    def look(self, stopping: str) -> None:
        """Read the state if it is time."""
        now = time.monotonic()
        if now < self._next:
            return
        steps = self._store.workflow_step_counts(self._run_id)
        metrics = {name: totals.mean for name, totals in self._store.metric_totals(self._run_id).items()}
        seconds = now - self._began
        self._watcher.progress(ProgramProgress(self._run_id, self._name, steps, metrics, seconds, stopping))
        self._next = time.monotonic() + max(_EVERY_S, _SHARE * (time.monotonic() - now))


_STEP_S = 0.1
_GRACE_S = 10.0
"""How long a program gets to clean up after its time limit."""
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ending(Struct, frozen=True):
    """How a program ended."""

    status: int
    """Exit status; negative: ended by that signal."""
    stopped_by: signal.Signals | None
    """The signal that was received and passed on."""
    timed_out: bool
    """Whether its time was up."""
    seconds: float
    """How long it ran."""

    @property
    def signal(self) -> str | None:
        """Name of the signal that ended it."""
        if self.status >= 0:
            return None
        try:
            return signal.Signals(-self.status).name
        except ValueError:  # a real-time signal
            return str(-self.status)


class Supervisor:
    """Waits for one program. The first signal is passed on to it, the second kills it."""

    def __init__(self, child: Child, life: RunLife, *, timeout: float | None, looker: Looker | None) -> None:
        self._child = child
        self._life = life
        self._timeout = timeout
        self._looker = looker
        self._stopped_by: signal.Signals | None = None

    def wait(self) -> Ending:
        """Wait until it has ended."""
        began = time.monotonic()
        timed_out = killed = False
        with self._signals():
            while (status := self._child.wait(_STEP_S)) is None:
                spent = time.monotonic() - began
                if self._timeout is not None and spent > self._timeout and not timed_out:
                    timed_out = True
                    self._child.signal(signal.SIGTERM)
                if timed_out and not killed and spent > (self._timeout or 0) + _GRACE_S:
                    killed = True
                    self._child.signal(signal.SIGKILL)
                self._tend(timed_out)
        return Ending(status, self._stopped_by, timed_out, time.monotonic() - began)

    def _tend(self, timed_out: bool) -> None:
        try:
            self._life.beat(lambda: None)  # the program's process tells how far it has come
            if self._looker is not None:
                stopping = "its time is up" if timed_out else "stopping" if self._stopped_by else ""
                self._looker.look(stopping)
        except BenchwrightError:
            pass  # the end of the run reports problems with the records

    @contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # Ignored signals stay ignored, as under `nohup` and in background jobs of a script.
        heeded = [number for number in _PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._pass_on) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _pass_on(self, number: int, frame: object) -> None:
        if self._stopped_by is None:
            self._stopped_by = signal.Signals(number)
            self._child.signal(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)
        else:
            self._child.signal(signal.SIGKILL)
