"""`cancel` and `rm`: runs that nobody needs any more, ended or deleted."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from benchwright.core import RUN_STATUSES, BenchwrightError, RunOwnedError, UsageError
from benchwright.store import Owner, RunRecord, Store

_PATIENCE_S = 15.0
"""How long a process may take to stop."""


class Canceled(Struct, frozen=True):
    """What canceling a run did."""

    run_id: int
    """The run."""
    signalled: int | None
    """Process that got a signal to stop."""
    note: str | None = None
    """What the user must know."""


class Removed(Struct, frozen=True):
    """What deleting a run did."""

    run_id: int
    """The run."""
    folder: Path | None
    """Folder that went with it."""
    kept: Path | None
    """Folder outside the workspace, which stays."""


def cancel_benchmark(store: Store, run: RunRecord) -> Canceled:
    """Interrupt the process of a benchmark run, wait for its end, and record the run as canceled."""
    owner, note = _owner(store, run)
    if owner is not None and note is not None:
        raise RunOwnedError(f"run {run.id}: {note.partition(';')[0]}. Stop it there: kill -INT {owner.pid}")
    signalled = _signal(owner, signal.SIGINT)
    _wait(store, run.id)
    store.finish_run(run.id, "canceled", summary=store.run(run.id).summary, error="canceled by command")
    return Canceled(run.id, signalled)


def cancel_workflow(store: Store, run: RunRecord) -> Canceled:
    """Record a workflow run as canceled, and end its process."""
    owner, note = _owner(store, run)
    # On record first: the process then finds that the run is no longer its own, whatever it does.
    store.cancel_workflow(run.id, "canceled by command")
    return Canceled(run.id, _signal(owner, signal.SIGTERM), note)


def _owner(store: Store, run: RunRecord) -> tuple[Owner | None, str | None]:
    """The process of a run, and a note where no signal can reach it. UsageError for a run that has ended."""
    if RUN_STATUSES[run.status].final:
        raise UsageError(f"run {run.id} has ended already ({run.status}). See: benchwright show {run.id}")
    owner = store.run_owner(run.id)
    if owner is None or owner.host == socket.gethostname():
        return owner, None
    return owner, f"process {owner.pid} on {owner.host} cannot be told from here; it can record nothing more"


def remove_run(store: Store, run: RunRecord) -> Removed:
    """Delete a run's record and its own folder. `RunOwnedError` while a live process executes it."""
    owner = store.run_owner(run.id)
    if owner is not None:
        raise RunOwnedError(
            f"run {run.id} is being executed by process {owner.pid} on {owner.host}. "
            f"End it first: benchwright cancel {run.id}"
        )
    store.remove_run(run.id)
    inside = run.folder.is_relative_to(store.workspace.state / "runs")
    if not inside:
        return Removed(run.id, None, run.folder if run.folder.exists() else None)
    shutil.rmtree(run.folder, ignore_errors=True)
    return Removed(run.id, run.folder, None)


def _signal(owner: Owner | None, number: signal.Signals) -> int | None:
    if owner is None or owner.host != socket.gethostname() or owner.pid == os.getpid():
        return None
    with suppress(ProcessLookupError, PermissionError):
        os.kill(owner.pid, number)
        return owner.pid
    return None


def _wait(store: Store, run_id: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while (owner := store.run_owner(run_id)) is not None:
        if time.monotonic() > deadline:
            raise BenchwrightError(
                f"run {run_id} does not stop: process {owner.pid} is still finishing. Try again, or: kill {owner.pid}"
            )
        time.sleep(0.05)
