"""Opens the run of a workflow: a managed run, a run to resume, or a new one; in the store or on a server."""

from __future__ import annotations

import json
import warnings
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from benchwright.config import named_store
from benchwright.core import JsonObject, JsonValue, NotFoundError, RunKind, RunOwnedError, UsageError, rfc3339
from benchwright.store import Lease, Owner, RunRecord, Store, find_workspace, named_run, open_store
from benchwright.workflows._canonical import stable_stringify
from benchwright.workflows._claiming import claimed_workflow, created_workflow
from benchwright.workflows._client import BenchwrightClient, RunRecord as ServerRun, WorkflowClient
from benchwright.workflows._environment import (
    DEFAULT_BASE_URL,
    Surroundings,
    code_change,
    frozen_manifest,
    frozen_settings,
    read_environment,
)
from benchwright.workflows._http import HttpRecorder
from benchwright.workflows._local import LocalClient, LocalRecorder
from benchwright.workflows._recorder import ApiError, Recorder


class RunRequest(Struct, frozen=True):
    """A request to run a workflow."""

    name: str
    """Name of the workflow."""
    handler: Callable[..., Any]
    """Its code."""
    input: Any
    """The caller's input; a managed or resumed run has its recorded input."""
    resume: int | str | None
    workspace: Path | None
    """The workspace; None: that of the environment, else the nearest one upwards from here."""
    force: bool
    """Whether to take the run from a live process."""


class Session(Struct, frozen=True):
    """A run that is ready to execute, or complete."""

    recorder: Recorder
    """Records it."""
    client: WorkflowClient
    """Gives code access to this and other runs."""
    input: JsonValue
    """The input of the handler."""
    ends_run: bool
    """Whether the end of the handler ends the run; over HTTP, the manager of a managed run ends it."""
    close: Callable[[], Awaitable[None]]
    """Releases everything."""
    done: bytes | None = None
    """Output of a run that is complete."""
    started_at: str = ""
    """When the run was first started; together with its number it is unique."""


async def open_session(request: RunRequest) -> Session:
    """Find or create the run. Raises `RunOwnedError`, `NotFoundError` or `UsageError` if that is not possible."""
    surroundings = read_environment()
    managed = surroundings.run_id is not None and request.resume is None
    if (
        request.workspace is None
        and surroundings.workspace is None
        and (managed or surroundings.base_url is not None)
    ):
        return await _on_server(request, surroundings)
    store = open_store(find_workspace(Path.cwd(), request.workspace or surroundings.workspace, named_store))
    try:
        if managed and surroundings.run_id is not None:
            return _managed(request, surroundings, store)
        if request.resume is not None:
            return _resumed(request, store)
        return _new(request, store)
    except BaseException:
        store.close()
        raise


def _new(request: RunRequest, store: Store) -> Session:
    text = stable_stringify(request.input)
    lease = created_workflow(
        store,
        request.name,
        input_json=text.encode(),
        settings=frozen_settings(request.name),
        manifest=frozen_manifest(request.handler),
        target=request.name,
    )
    return _session(store, lease, json.loads(text))


def _managed(request: RunRequest, surroundings: Surroundings, store: Store) -> Session:
    assert surroundings.run_id is not None
    run = store.run(surroundings.run_id)
    if run.status == "completed":
        return _complete(store, run)
    lease = claimed_workflow(store, run.id, token=surroundings.lease, force=request.force)
    if "modules" not in run.manifest:  # the parent process knows at most its file
        own = frozen_manifest(request.handler)
        store.update_run(run.id, manifest={**own, **run.manifest, "versions": own["versions"]})
    return _session(store, lease, surroundings.input)


def _resumed(request: RunRequest, store: Store) -> Session:
    run = find_workflow_run(store, str(request.resume), [request.name])
    _check_same(
        request, run.id, run.name if run.kind == RunKind.WORKFLOW else f"the {run.kind} {run.name}", run.input
    )
    if run.status == "completed":
        return _complete(store, run)
    lease = claimed_workflow(
        store, run.id, force=request.force, data=code_change(run.manifest, request.handler)
    )
    return _session(store, lease, run.input)


def _check_same(request: RunRequest, run_id: int, name: str, given: JsonValue) -> None:
    """Refuse to resume a run of another workflow, or with another input."""
    if name != request.name:
        raise UsageError(
            f"run {run_id} is one of {name!r}, not of the workflow {request.name!r}. See: benchwright list"
        )
    if request.input is not None and stable_stringify(request.input) != stable_stringify(given):
        raise UsageError(
            f"run {run_id} was started with another input, which it keeps. Resume it without one, or start a new run"
        )


def find_workflow_run(store: Store, named: str, names: Sequence[str]) -> RunRecord:
    """A run by number, name or folder; `last` is the newest run of these workflows, not of all runs."""
    if named in ("last", "latest"):
        newest = [store.runs(kind=RunKind.WORKFLOW, name=name, limit=1) for name in names]
        if found := [run for page in newest for run in page]:
            return max(found, key=lambda run: run.id)
    return named_run(store, named)


def _session(store: Store, lease: Lease, input_value: JsonValue) -> Session:
    if (kind := store.workspace.network_filesystem()) is not None:
        text = f"{store.workspace.state} is on a network file system ({kind}), where records can get lost or mixed up"
        store.update_run(lease.run_id, event=("warning", text))
        warnings.warn(f"{text}; choose a workspace on a disk of this machine", RuntimeWarning, stacklevel=2)
    recorder = LocalRecorder(store, lease)
    client = LocalClient(store, recorder)

    async def close() -> None:
        try:
            await client.close()
            await recorder.close()
        finally:
            store.close()

    started_at = rfc3339(store.run(lease.run_id).created_at)
    return Session(recorder, client, input_value, True, close, started_at=started_at)


def _complete(store: Store, run: RunRecord) -> Session:
    """The session of a complete run; nothing is claimed."""
    recorder = LocalRecorder(store, Lease(run.id, ""))
    client = LocalClient(store, recorder)
    output = stable_stringify(run.output).encode()

    async def close() -> None:
        await recorder.close()
        store.close()

    return Session(recorder, client, run.input, True, close, done=output)


async def _on_server(request: RunRequest, surroundings: Surroundings) -> Session:
    client = BenchwrightClient(base_url=surroundings.base_url or DEFAULT_BASE_URL, token=surroundings.token)
    managed = surroundings.run_id is not None and request.resume is None
    done: bytes | None = None
    try:
        await client.health()
        if managed and surroundings.run_id is not None:
            input_value, run_id = surroundings.input, surroundings.run_id
        elif request.resume is not None:
            run = await _run_on_server(request, client)
            input_value, run_id = run.input, run.id
            done = stable_stringify(run.output).encode() if run.status == "completed" else None
        else:
            input_value = json.loads(stable_stringify(request.input))
            run_id = (await client.create_run(request.name, input_value)).id
        started_at = ""
        if done is None:
            await _take_up(client, run_id)
            with suppress(ApiError):  # a server that does not list its runs
                started_at = (await client.get_run(run_id)).started_at
    except BaseException:
        await client.close()
        raise
    return Session(
        HttpRecorder(client, run_id), client, input_value, not managed, client.close,
        done=done, started_at=started_at,
    )  # fmt: skip


async def _run_on_server(request: RunRequest, client: BenchwrightClient) -> ServerRun:
    """The run to resume: by its number, or the newest of the workflow (`last`, or its name)."""
    named = str(request.resume)
    if not named.isdecimal():
        if named not in ("last", "latest", request.name):
            raise UsageError(f"no run {named!r} on {client.base_url}; give its number, or last")
        path = f"/runs?kind=workflow&limit=1&name={quote(request.name, safe='')}"
        found = (await client.call("GET", path)).get("runs")
        newest = (
            found[0].get("id") if isinstance(found, list) and found and isinstance(found[0], dict) else None
        )
        if newest is None:
            raise NotFoundError(f"no run of {request.name!r} on {client.base_url} yet")
        named = str(newest)
    try:
        run = await client.get_run(int(named))
    except ApiError as error:
        if error.status != 404:
            raise
        raise NotFoundError(str(error)) from None
    _check_same(request, run.id, run.workflow_name, run.input)
    return run


async def _take_up(client: BenchwrightClient, run_id: int) -> None:
    """Tell the server which process executes the run. The server then releases steps that a dead process left open, and raises
    `RunOwnedError` while another process lives. A server without that route gets no second request."""
    process = Owner.here()
    body: JsonObject = {"host": process.host, "pid": process.pid, "started": process.started}
    try:
        await client.call("POST", f"/runs/{run_id}/resume", body)
    except ApiError as error:
        if error.code == "run_owned":
            raise RunOwnedError(str(error)) from None
        if error.status not in (404, 405, 501):
            raise
