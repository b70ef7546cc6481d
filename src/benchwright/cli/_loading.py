"""Loading what a command needs, and keeping the garbage collector away from it.

What is loaded stays to the end. Looked through while it is loaded, and again when the process ends, it costs a
short run a tenth of its time.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module

_state = {"ours": False}
"""Whether the whole process is one command; in a caller's process only the caller knows what stays."""


def begin(*, ours: bool) -> None:
    """Before anything is loaded. `ours`: the process does nothing but this command."""
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
    """Before the process ends. What is frozen then is never let go: a file that a user's module left open would not be
    flushed."""
    if _state["ours"]:
        gc.unfreeze()
