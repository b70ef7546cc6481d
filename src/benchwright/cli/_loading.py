"""Imports what a command needs, without garbage collection.

Modules stay until the end of the process. Collecting garbage among them while they load, and again at the end, takes a
tenth of the time of a short run.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module

_state = {"ours": False}
"""Whether the process runs one command only; another caller's process is left alone."""


def begin(*, ours: bool) -> None:
    """Prepare, before anything is imported. `ours`: the process runs this command only."""
    _state["ours"] = ours
    if not ours:
        return
    # Arrow's own allocator keeps what it once had: 30 MB more at the end of a run than the system's.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # Arrow loads NumPy where there is one, and its OpenBLAS starts a thread per core that waits for work in a
    # loop: 0.1 s of each core. 2^20 cycles are as good as 2^26 between two calls, and over in no time.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    # A sample makes hundreds of objects and no cycles; looking for some after every 700 took 8 % of a run.
    gc.set_threshold(50_000, 20, 50)


def load(room: str) -> None:
    """Import a room with all it needs."""
    if not _state["ours"]:
        return
    gc.disable()
    try:
        import_module(f"benchwright.{room}")
    finally:
        gc.freeze()
        gc.enable()


def end() -> None:
    """Clean up before the process ends. Frozen objects are never released: a file that a user's module left open would
    not be flushed."""
    if _state["ours"]:
        gc.unfreeze()
