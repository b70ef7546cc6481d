"""Imports what a command needs without garbage collection, and ends its process without releasing the modules.

Modules stay until the end of the process. Collecting garbage while they load takes a tenth of the time of a short run,
and releasing them one by one at the end takes as much again.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import stat
import sys
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import TextIO

_state = {"ours": False}
"""Whether the process runs one command only; another caller's process is left alone."""
_exit_code: list[int] = []
"""The exit code of the command, once it has returned."""
_inherited: set[int] = set()
"""Files that were open before the command began."""


def begin(*, ours: bool) -> None:
    """Prepare, before anything is imported. `ours`: the process runs this command only."""
    _state["ours"] = ours
    if not ours:
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # not if nohup ignores it
            signal.signal(number, _interrupted)
    # Arrow's allocator does not return memory: it has 30 MB more at the end of a run than the system's.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # Arrow loads NumPy if it is installed, and its OpenBLAS starts a thread per core that waits for work in a loop, which
    # takes 0.1 s of each core. Waiting 2^20 cycles instead of 2^26 between two calls works as well and takes no time.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    # A sample makes hundreds of objects and no cycles; searching for cycles after every 700 objects took 8 % of a run.
    gc.set_threshold(50_000, 20, 50)
    # Handlers are called in reverse order, so this one, registered first, runs last.
    if os.path.basename(sys.argv[0]) in ("benchwright", "__main__.py") and not _has_exit_handlers():
        try:
            _inherited.update(_open_files())
        except OSError:
            return
        atexit.register(_leave)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Raise as for Ctrl-C, so that running code cleans up, for example files that are half written."""
    raise KeyboardInterrupt


def load(package: str) -> None:
    """Import a subpackage with everything it needs."""
    if not _state["ours"]:
        return
    gc.disable()
    try:
        import_module(f"benchwright.{package}")
    finally:
        gc.freeze()
        gc.enable()


def end(code: int | None) -> None:
    """Clean up before the process ends. Frozen objects are never released, so a file that a user's module left open would
    not be flushed. `code` is the exit code of the command; None if it raised."""
    if _state["ours"]:
        gc.unfreeze()
        if code is not None:
            _exit_code.append(code)


def _has_exit_handlers() -> bool:
    """Whether other code has registered exit handlers, or may have."""
    count = getattr(atexit, "_ncallbacks", None)
    return count is None or count() > 0


def _leave() -> None:
    """End the process here, after its threads and all other exit handlers, unless an open file may contain unwritten
    data."""
    if len(_exit_code) != 1:
        return
    try:
        if _has_open_files():
            _flush_files()
            return
        for stream in standard_streams():
            stream.flush()
    except (OSError, ValueError):  # no such folder, or the output is closed; Python reports it
        return
    os._exit(_exit_code[0])


def _flush_files() -> None:
    """Flush open files. At its end Python closes the files of its modules, but not files that anything else refers to, such
    as a scorer that is kept."""
    for each in gc.get_objects():
        if issubclass(type(each), io.IOBase):
            with suppress(Exception):  # closed, or not for writing
                each.flush()


def standard_streams() -> list[TextIO]:
    """Standard output and standard error, also those that code uses to write past a redirected `sys.stdout`."""
    streams = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    return [stream for stream in streams if stream is not None]


def _has_open_files() -> bool:
    """Whether the command left a file open, or a pipe to another process. The event loop leaves both ends of a pipe open, which
    nobody else reads."""
    pipes: dict[int, int] = {}
    for number, found in _open_files().items():
        if number not in _inherited:
            if not stat.S_ISFIFO(found.st_mode):
                return True
            pipes[found.st_ino] = pipes.get(found.st_ino, 0) + 1
    return any(ends % 2 for ends in pipes.values())


def _open_files() -> dict[int, os.stat_result]:
    """What is open, by number."""
    found = {}
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):  # the descriptor of the listing itself is closed by now
            found[int(name)] = os.fstat(int(name))
    return found
