"""`tag`, `rename`, and the process in which a page lets a run be resumed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping

import orjson

from benchwright.core import RUN_STATUSES, BenchwrightError, RunOwnedError, UsageError, normalise_name
from benchwright.results import kind_of
from benchwright.store import RunRecord, Store

_LOOK_S = 0.1
"""Seconds between two looks at whether a process has claimed its run."""
_LONGEST_START_S = 60.0
_MOST_TAGS = 100


def tag_run(store: Store, run: RunRecord, tags: Mapping[str, str | None]) -> dict[str, str]:
    """Give a run labels, and take away those whose value is None. Returns the labels that it has then."""
    for name in tags:
        if not name.strip() or "=" in name:
            raise UsageError(f"{name!r} is not a name for a tag; use words without =, such as prompt")
    known = {name: str(value) for name, value in (run.tags or {}).items()}
    if missing := [name for name, value in tags.items() if value is None and name not in known]:
        has = f"; it has {', '.join(known)}" if known else ""
        raise UsageError(f"run {run.id} has no tag {missing[0]!r}{has}")
    changed = {**known, **tags}
    found = {name: value for name, value in changed.items() if value is not None}
    if len(found) > _MOST_TAGS:
        raise UsageError(f"run {run.id} would have {len(found)} tags; {_MOST_TAGS} are the most")
    store.relabel_run(run.id, tags=dict(found))
    return found


def rename_run(store: Store, run: RunRecord, name: str) -> str:
    """Give a run another name, under which lists and histories show it. Its files keep the name that they were written with.

    Raises `RunOwnedError` while a process executes it.
    """
    plain = normalise_name(name, any_script=True)
    if not plain:
        raise UsageError(f"{name!r} is not a name for a run; use letters and digits, such as quiz_de")
    if RUN_STATUSES[run.status].live:
        raise RunOwnedError(f"run {run.id} is {run.status}; it can be renamed when it has ended")
    if plain != run.name:
        store.relabel_run(run.id, name=plain)
    return plain


def resume_apart(store: Store, run: RunRecord) -> int:
    """Resume a run in a process of its own, as `benchwright resume` does. Returns the process when it has begun to work on the run, or has read
    its data for a minute.

    Raises BenchwrightError with the words of the process if it ended without beginning.
    """
    if kind_of(run).requests is not None:
        raise UsageError(f"run {run.id} is a load test, and load tests cannot be resumed. Start it again")
    if run.status == "completed":
        raise UsageError(f"run {run.id} is complete; there is nothing to resume")
    workspace, starts = store.workspace, run.starts
    command = [sys.executable, "-m", "benchwright", "resume", str(run.id), "--workspace", str(workspace.root), "--json", "-q"]  # fmt: skip
    named = {} if workspace.url is None else {"BENCHWRIGHT_STORE": workspace.url}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command,
            env={**os.environ, **named},
            cwd=workspace.root,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it outlives the server
        )
        threading.Thread(target=process.wait, name="benchwright-resumed", daemon=True).start()
        deadline = time.monotonic() + _LONGEST_START_S
        while process.poll() is None and time.monotonic() < deadline:
            now = store.run(run.id)
            if now.starts > starts:  # a claim alone may still be given up
                return process.pid
            time.sleep(_LOOK_S)
        if process.poll() and store.run(run.id).starts == starts:
            said.seek(0)
            raise BenchwrightError(_why(said.read()) or f"`resume {run.id}` ended at once")
    return process.pid


def _why(said: bytes) -> str:
    try:
        return str(orjson.loads(said)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return said.decode(errors="replace").strip()[-500:]
