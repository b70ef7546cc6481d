"""Where a workflow's run comes from: a managed one, one to be resumed, or a new one; in the store or on a server."""

from __future__ import annotations

import json
import warnings
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from benchwright.core import JsonObject, JsonValue, NotFoundError, RunKind, RunOwnedError, UsageError, rfc3339
from benchwright.store import Lease, RunRecord, Store, find_workspace, open_store, this_process
from benchwright.workflows._canonical import stable_stringify
from benchwright.workflows._client import BenchwrightClient, WorkflowClient
from benchwright.workflows._client import RunRecord as ServerRun
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


class Asked(Struct, frozen=True):
    """What somebody wants run."""

    name: str
    """Name of the workflow."""
    handler: Callable[..., Any]
    """Its code."""
    input: Any
    """What the caller gave; a managed or resumed run has its own."""
    resume: int | str | None
    """Run to resume."""
    workspace: Path | None
    """Where to record; None: as the environment says, else the workspace found upwards from here."""
    force: bool
    """Whether to take the run from a live process."""


class Session(Struct, frozen=True):
    """A run that can be executed, or is complete."""

    recorder: Recorder
    """Records it."""
    client: WorkflowClient
    """For code that wants to look at this and other runs."""
    input: JsonValue
    """What the handler is given."""
    ends_run: bool
    """Whether the end of the handler ends the run; over HTTP a managed run is ended by whoever manages it."""
    close: Callable[[], Awaitable[None]]
    """Releases everything."""
    done: bytes | None = None
    """Output of a run that is complete."""
    started_at: str = ""
    """When the run was first started: with its number, what tells it from all others."""


async def open_session(asked: Asked) -> Session:
    """Find or make the run. `RunOwnedError`, `NotFoundError`, `UsageError` say why it cannot be."""
    said = read_environment()
    managed = said.run_id is not None and asked.resume is None
    if asked.workspace is None and said.workspace is None and (managed or said.base_url is not None):
        return await _on_server(asked, said)
    store = open_store(find_workspace(Path.cwd(), asked.workspace or said.workspace))
    try:
        if managed and said.run_id is not None:
            return _managed(asked, said, store)
        if asked.resume is not None:
            return _resumed(asked, store)
        return _new(asked, store)
    except BaseException:
        store.close()
        raise


def _new(asked: Asked, store: Store) -> Session:
    text = stable_stringify(asked.input)
    lease = store.create_workflow(
        asked.name,
        input_json=text.encode(),
        settings=frozen_settings(asked.name),
        manifest=frozen_manifest(asked.handler),
        target=asked.name,
    )
    return _session(store, lease, json.loads(text))


def _managed(asked: Asked, said: Surroundings, store: Store) -> Session:
    assert said.run_id is not None
    run = store.run(said.run_id)
    if run.status == "completed":
        return _complete(store, run)
    lease = store.claim_workflow(run.id, token=said.lease, force=asked.force)
    if "modules" not in run.manifest:  # whoever started this process knows its file at most
        own = frozen_manifest(asked.handler)
        store.update_manifest(run.id, {**own, **run.manifest, "versions": own["versions"]})
    return _session(store, lease, said.input)


def _resumed(asked: Asked, store: Store) -> Session:
    run = find_workflow_run(store, str(asked.resume), [asked.name])
    _check_asked(
        asked, run.id, run.name if run.kind == RunKind.WORKFLOW else f"the {run.kind} {run.name}", run.input
    )
    if run.status == "completed":
        return _complete(store, run)
    lease = store.claim_workflow(run.id, force=asked.force, data=code_change(run.manifest, asked.handler))
    return _session(store, lease, run.input)


def _check_asked(asked: Asked, run_id: int, name: str, given: JsonValue) -> None:
    """Refuse to resume a run of another workflow, or with another input than its own."""
    if name != asked.name:
        raise UsageError(
            f"run {run_id} is one of {name!r}, not of the workflow {asked.name!r}. See: benchwright list"
        )
    if asked.input is not None and stable_stringify(asked.input) != stable_stringify(given):
        raise UsageError(
            f"run {run_id} was started with another input, which it keeps. Resume it without one, or start a new run"
        )


def find_workflow_run(store: Store, wanted: str, names: Sequence[str]) -> RunRecord:
    """A run by number, name or folder; `last` is the newest of these workflows, not of all there is."""
    if wanted in ("last", "latest"):
        newest = [store.page_runs(kind=RunKind.WORKFLOW, name=name, limit=1).items for name in names]
        if found := [run for page in newest for run in page]:
            return max(found, key=lambda run: run.id)
    return store.find_run(wanted)


def _session(store: Store, lease: Lease, input_value: JsonValue) -> Session:
    if (kind := store.workspace.network_filesystem()) is not None:
        text = f"{store.workspace.state} is on a network file system ({kind}), where records can get lost or mixed up"
        store.add_event(lease, "warning", text)
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
    """Nothing is left to do; nothing is claimed."""
    recorder = LocalRecorder(store, Lease(run.id, ""))
    client = LocalClient(store, recorder)
    output = stable_stringify(run.output).encode()

    async def close() -> None:
        await recorder.close()
        store.close()

    return Session(recorder, client, run.input, True, close, done=output)


async def _on_server(asked: Asked, said: Surroundings) -> Session:
    client = BenchwrightClient(base_url=said.base_url or DEFAULT_BASE_URL, token=said.token)
    managed = said.run_id is not None and asked.resume is None
    done: bytes | None = None
    try:
        await client.health()
        if managed and said.run_id is not None:
            input_value, run_id = said.input, said.run_id
        elif asked.resume is not None:
            run = await _run_on_server(asked, client)
            input_value, run_id = run.input, run.id
            done = stable_stringify(run.output).encode() if run.status == "completed" else None
        else:
            input_value = json.loads(stable_stringify(asked.input))
            run_id = (await client.create_run(asked.name, input_value)).id
        started_at = ""
        if done is None:
            await _take_up(client, run_id)
            with suppress(ApiError):  # a server that does not tell of its runs
                started_at = (await client.get_run(run_id)).started_at
    except BaseException:
        await client.close()
        raise
    return Session(
        HttpRecorder(client, run_id), client, input_value, not managed, client.close,
        done=done, started_at=started_at,
    )  # fmt: skip


async def _run_on_server(asked: Asked, client: BenchwrightClient) -> ServerRun:
    """The run to be resumed: by its number, or the newest of the workflow (`last`, or its name)."""
    wanted = str(asked.resume)
    if not wanted.isdecimal():
        if wanted not in ("last", "latest", asked.name):
            raise UsageError(f"no run {wanted!r} on {client.base_url}; give its number, or last")
        path = f"/runs?kind=workflow&limit=1&name={quote(asked.name, safe='')}"
        found = (await client.call("GET", path)).get("runs")
        newest = (
            found[0].get("id") if isinstance(found, list) and found and isinstance(found[0], dict) else None
        )
        if newest is None:
            raise NotFoundError(f"no run of {asked.name!r} on {client.base_url} yet")
        wanted = str(newest)
    try:
        run = await client.get_run(int(wanted))
    except ApiError as error:
        if error.status != 404:
            raise
        raise NotFoundError(str(error)) from None
    _check_asked(asked, run.id, run.workflow_name, run.input)
    return run


async def _take_up(client: BenchwrightClient, run_id: int) -> None:
    """Tell the server who executes the run. It then hands out again what a dead process left open, and refuses, with
    `RunOwnedError`, while another one lives; a server that knows no such question is not asked again."""
    process = this_process()
    body: JsonObject = {"host": process.host, "pid": process.pid, "started": process.started}
    try:
        await client.call("POST", f"/runs/{run_id}/resume", body)
    except ApiError as error:
        if error.code == "run_owned":
            raise RunOwnedError(str(error)) from None
        if error.status not in (404, 405, 501):
            raise
