"""`cancel`, `rm` and `doctor`: end or delete runs, check the records, and recover damaged ones."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from benchwright.core import (
    RUN_STATUSES,
    BenchwrightError,
    RunOwnedError,
    UsageError,
    open_artifacts,
)
from benchwright.results import kind_of, run_of_folder, steps_of_folder, table_of, writer_of
from benchwright.store import (
    Owner,
    Recovered,
    RunRecord,
    Store,
    Workspace,
    listed_run,
    open_store,
    store_problems,
    whole,
)

_PATIENCE_S = 15.0
"""How long a process may take to stop."""


Canceled: TypeAlias = tuple[int | None, str | None]
"""The process that got a signal to stop, and a note for the user; None each if there is none."""


def cancel_benchmark(store: Store, run: RunRecord) -> Canceled:
    """Interrupt the process of a benchmark run, wait for its end, and record the run as canceled."""
    owner, note = _owner(store, run)
    if owner is not None and note is not None:
        raise RunOwnedError(f"run {run.id}: {note.partition(';')[0]}. Stop it there: kill -INT {owner.pid}")
    signalled = _signal(owner, signal.SIGINT)
    _wait(store, run.id)
    store.finish_run(run.id, "canceled", summary=store.run(run.id).summary, error="canceled by command")
    return signalled, None


def cancel_workflow(store: Store, run: RunRecord) -> Canceled:
    """Record a workflow run as canceled, and end its process."""
    owner, note = _owner(store, run)
    # Recorded first, so that the process finds that it no longer owns the run.
    store.conclude_run(run.id, "canceled", error="canceled by command", whoever_owns_it=True)
    return _signal(owner, signal.SIGTERM), note


def _owner(store: Store, run: RunRecord) -> tuple[Owner | None, str | None]:
    """The process of a run, and a note if no signal can reach it. Raises UsageError for a run that has ended."""
    if RUN_STATUSES[run.status].final:
        raise UsageError(f"run {run.id} has already ended ({run.status}). See: benchwright show {run.id}")
    owner = store.run(run.id).owner
    if owner is None or owner.host == socket.gethostname():
        return owner, None
    return (
        owner,
        f"process {owner.pid} on {owner.host} cannot be stopped from here; it can record nothing more",
    )


def remove_run(store: Store, run: RunRecord) -> tuple[Path | None, Path | None]:
    """Delete a run's record and its folder in the workspace, and return that folder and one outside the workspace, which stays.

    Raises `RunOwnedError` while a live process executes it.
    """
    owner = listed_run(store, run.id).owner
    if owner is not None:
        raise RunOwnedError(
            f"run {run.id} is being executed by process {owner.pid} on {owner.host}. "
            f"End it first: benchwright cancel {run.id}"
        )
    files = open_artifacts(run.folder)
    if not run.folder.is_relative_to(store.workspace.runs):
        store.remove_run(run.id)
        return None, run.folder if files.names() else None
    # Out of the way first: a folder without a record would be taken for that of a lost run.
    with files.discard():
        store.remove_run(run.id)
    return run.folder, None


def _signal(owner: Owner | None, number: signal.Signals) -> int | None:
    if owner is None or owner.host != socket.gethostname() or owner.pid == os.getpid():
        return None
    with suppress(ProcessLookupError, PermissionError):
        os.kill(owner.pid, number)
        return owner.pid
    return None


def _wait(store: Store, run_id: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while (owner := store.run(run_id).owner) is not None:
        if time.monotonic() > deadline:
            raise BenchwrightError(
                f"run {run_id} does not stop: process {owner.pid} is still finishing. Try again, or: kill {owner.pid}"
            )
        time.sleep(0.05)


class Adopted(Struct, frozen=True):
    """A run that was listed again."""

    run_id: int
    """Its number, which is that of its folder."""
    name: str
    """Its benchmark."""
    folder: Path
    """Where its files are."""
    kind: str
    """What was run."""
    status: str
    """Its status, as far as its files show it."""
    samples: int
    """Samples that could be read."""
    problem: str | None = None
    """Why some could not be read."""


class Mended(Struct, frozen=True):
    """A run that had lost some of its records."""

    run_id: int
    """Its number."""
    name: str
    """Its benchmark."""
    kind: str
    """What was run."""
    restored: int
    """Records that were read from its folder."""
    lost: int
    """Samples or requests that are still missing. The run counts as interrupted."""
    problem: str | None = None
    """What is missing and what helps, if something is."""


class Diagnosis(Struct, frozen=True):
    """The findings and repairs of `doctor`."""

    workspace: Path
    problems: tuple[str, ...] = ()
    """Problems of the database; empty if it is sound, or if there is none."""
    recovered: Recovered | None = None
    """The result of recovering a damaged database."""
    adopted: tuple[Adopted, ...] = ()
    """Runs listed again."""
    orphans: tuple[Path, ...] = ()
    """Folders of runs that are not recorded, if nothing was to be changed."""
    exists: bool = True
    """Whether there is a workspace at all."""
    mended: tuple[Mended, ...] = ()
    """Runs that had lost records."""

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not (self.problems or self.adopted or self.orphans or self.mended)

    @property
    def whole(self) -> bool:
        """Whether every run on record has all samples and requests that it says it has."""
        return not any(run.lost for run in self.mended)


def diagnose(workspace: Workspace, *, repair: bool = True) -> Diagnosis:
    """Check the database, the run folders and the records of every run; with `repair`, recover and list what can be read.

    A damaged database is kept under another name. Folders are only read.
    """
    with _alone(workspace) if repair else nullcontext():
        return _diagnosed(workspace, repair=repair)


@contextmanager
def _alone(workspace: Workspace) -> Iterator[None]:
    """Keep another `doctor` from repairing the same workspace meanwhile. The lock ends with the process."""
    if not workspace.state.is_dir():
        yield
        return
    opened = os.open(workspace.state, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _diagnosed(workspace: Workspace, *, repair: bool) -> Diagnosis:
    found, recovered = store_problems(workspace, repair=repair)
    problems = found or []
    if found is None and not workspace.run_folders():
        return Diagnosis(workspace.root, exists=False)
    if not repair and (problems or found is None):
        folders = tuple(workspace.run_folders().values())
        return Diagnosis(workspace.root, tuple(problems), orphans=folders)
    with open_store(workspace, read_only=not repair) as store:
        runs = store.runs()
        orphans = workspace.run_folders({run.id for run in runs})
        adopted = (
            tuple(_adopted(store, number, folder) for number, folder in orphans.items()) if repair else ()
        )
        damaged = [run for run in (whole(store, run) for run in store.runs()) if run.lost]
        mended = tuple(_mended(store, run) if repair else _missing(run, 0) for run in damaged)
    left = () if repair else tuple(orphans.values())
    return Diagnosis(workspace.root, tuple(problems), recovered, adopted, left, mended=mended)


def _adopted(store: Store, number: int, folder: Path) -> Adopted:
    run = run_of_folder(number, folder)
    kind, problem = kind_of(run), None
    if kind.file is None:
        store.restore_run(run, ())
        problem = (
            "a workflow's folder contains what it printed; its input, steps, metrics and output are lost"
        )
        return Adopted(number, run.name, folder, run.kind, run.status, 0, problem)
    try:
        samples = store.restore_run(run, steps_of_folder(folder, run.kind))
    except Exception as error:  # the file is damaged, but the others are still useful
        problem = f"{kind.file} cannot be read: {error}"
        samples = store.restore_run(run, ())
    return Adopted(number, run.name, folder, run.kind, store.run(number).status, samples, problem)


def _mended(store: Store, run: RunRecord) -> Mended:
    """Read the lost records of a run from its folder. If some are not there, the run is recorded as interrupted."""
    restored = 0
    if not run.settings.get("adopted") and writer_of(run.folder) in _names(store, run):
        with suppress(Exception):  # a damaged file holds nothing to restore
            restored = store.restore_run(run, steps_of_folder(run.folder, run.kind))
    found = store.run(run.id)
    if not found.lost:
        return Mended(run.id, run.name, run.kind, restored, 0)
    if found.settings.get("adopted") or kind_of(found).samples is None:
        cure = "Its files do not contain them either. Start it again"
    else:
        cure = f"Its files do not contain them either. Request them again: benchwright resume {run.id}"
    if cure not in (found.error or ""):
        error = f"{found.loss}. {cure}"
        store.update_run(
            run.id, status=found.status, error=error, summary=found.summary, event=("run.damaged", error)
        )
        found = store.run(run.id)
    return _missing(found, restored)


def _names(store: Store, run: RunRecord) -> set[tuple[int, str]]:
    """The run by each name that it had: its files keep the one that they were written with."""
    renamed = [event.data for event in store.events(run.id) if event.kind == "run.renamed"]
    return {(run.id, run.name), *((run.id, str(table_of(data).get("from"))) for data in renamed)}


def _missing(run: RunRecord, restored: int) -> Mended:
    return Mended(run.id, run.name, run.kind, restored, run.lost, run.error)
