"""Runs a program as a workflow, or resumes it: records the run, starts server and process, and records the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchwright.config import ConfigFile
from benchwright.core import (
    RUN_STATUSES,
    BenchwrightError,
    JsonObject,
    JsonValue,
    RunStatus,
    UsageError,
    encode_json,
    open_artifacts,
)
from benchwright.engine import RunLife
from benchwright.runs._child import Child, Ending, Looker, PassOn, ProgramWatcher, Supervisor
from benchwright.runs._programs import (
    ProgramPlan,
    ProgramResult,
    entry_file,
    plan_program,
)
from benchwright.store import Lease, RunRecord, Store, Workspace
from benchwright.workflows import child_environment, claimed_workflow, created_workflow

_TOLD = ("RUN_ID", "WORKFLOW_NAME", "INPUT", "BASE_URL", "TOKEN")
"""Variables that programs written for an older interface read under its prefix."""
_OURS = (*_TOLD, "WORKSPACE", "LEASE")


Serve = Callable[[Workspace, Lease], AbstractContextManager[tuple[str, str] | None]]
"""Starts a server that writes to the run of a lease on behalf of clients: its address and the token of its clients; None if
that is not possible."""


def run_program(
    store: Store,
    plan: ProgramPlan,
    *,
    tags: Mapping[str, str] | None = None,
    serve: Serve | None = None,
    timeout: float | None = None,
    watcher: ProgramWatcher | None = None,
) -> ProgramResult:
    """Run a program as a new workflow run. Raises UsageError if it cannot be started; then nothing is recorded."""
    plan.executable()
    labels: JsonObject = dict(tags or {})
    lease = created_workflow(
        store,
        plan.name,
        input_json=encode_json(plan.input),
        settings=plan.settings(),
        manifest=plan.manifest(),
        target=plan.target,
        tags=labels or None,
    )
    try:
        return _supervise(store, lease, plan, serve, timeout, watcher)
    except UsageError:
        store.remove_run(lease.run_id, number_is_free=True)
        raise


def resume_program(
    store: Store,
    run: RunRecord,
    *,
    config: ConfigFile | None = None,
    use_current_config: bool = False,
    force: bool = False,
    serve: Serve | None = None,
    timeout: float | None = None,
    watcher: ProgramWatcher | None = None,
) -> ProgramResult:
    """Resume a workflow run: the same command, input and folder as at its start.

    `use_current_config` takes command and input from the current configuration, else from `config`, and records them. A
    complete run returns its result again. Raises `RunOwnedError` while a live process executes it, unless forced.
    """
    plan = frozen_plan(run)
    if run.status == "completed":
        return _result(run, plan, None, None, warning=f"run {run.id} is complete; nothing was started")
    remarks: JsonObject = {}
    if use_current_config:
        if plan.config is not None and plan.config.is_file():
            config = ConfigFile.read(plan.config)
        plan, remarks = _current(run, plan, config)
    else:
        plan = _with_remark(run, plan)
    changed = _code_change(run, plan)
    if changed is not None:
        remarks["code_changed"] = changed
    plan.executable()
    lease = claimed_workflow(store, run.id, force=force, data=remarks or None)
    if use_current_config:
        changed_input = plan.input if plan.input != run.input else None
        store.update_run(run.id, settings=plan.settings(), input_value=changed_input)
    return _supervise(store, lease, plan, serve, timeout, watcher)


def frozen_plan(run: RunRecord) -> ProgramPlan:
    """The plan of a recorded run. Raises UsageError for a run that no command started."""
    settings: Mapping[str, Any] = run.settings
    command, cwd = settings.get("command"), settings.get("cwd")
    if not isinstance(command, list) or not command or not isinstance(cwd, str):
        raise UsageError(
            f"run {run.id} ({run.name}) was not started by a command; its own script resumes it, as in "
            f"python my_eval.py --resume {run.id}"
        )
    if not Path(cwd).is_dir():
        raise UsageError(f"run {run.id} was started in {cwd}, which is no longer there")
    given, config = settings.get("input_given"), settings.get("config")
    return ProgramPlan(
        name=run.name,
        workflow=settings.get("workflow"),
        target=run.target,
        command=tuple(str(word) for word in command),
        cwd=Path(cwd),
        input=run.input,
        given=given if isinstance(given, dict) else {},
        config=Path(config) if isinstance(config, str) else None,
    )


def _current(
    run: RunRecord, frozen: ProgramPlan, config: ConfigFile | None
) -> tuple[ProgramPlan, JsonObject]:
    plan = plan_program(run.target, config, frozen.cwd, frozen.given)
    if plan is None or plan.config is None:
        where = "there is no configuration here" if config is None else f"{config.path} has no such program"
        raise UsageError(f"--use-current-config: {where}: {run.target!r}")
    before, now = frozen.settings(), plan.settings()
    return plan, {
        "use_current_config": {
            "command": {"before": before["command"], "now": now["command"]},
            "input": {"before": frozen.input, "now": plan.input},
        }
    }


def _with_remark(run: RunRecord, frozen: ProgramPlan) -> ProgramPlan:
    """The same plan, with a warning that edits of the configuration since then have no effect."""
    if frozen.config is None:
        return frozen
    try:
        now = plan_program(run.target, ConfigFile.read(frozen.config), frozen.cwd, frozen.given)
    except (BenchwrightError, OSError):
        now = None
    differ = [
        what
        for what, same in (
            ("command", now is not None and now.command == frozen.command),
            ("input", now is not None and now.input == frozen.input),
        )
        if not same
    ]
    if not differ:
        return frozen
    return replace(
        frozen,
        warning=f"{frozen.config.name} has another {' and '.join(differ)} now than when run {run.id} was started; the "
        "run resumes as it was started. Take what it says now with --use-current-config",
    )


def _code_change(run: RunRecord, plan: ProgramPlan) -> JsonValue:
    before = run.manifest.get("entry")
    path = before.get("path") if isinstance(before, dict) else None
    if not isinstance(before, dict) or not isinstance(path, str):
        return None
    now = entry_file(("", path), plan.cwd)
    if now is not None and now["sha256"] == before.get("sha256"):
        return None
    return {
        "path": path,
        "before": before.get("sha256"),
        "now": None if now is None else now["sha256"],
    }


def _supervise(
    store: Store,
    lease: Lease,
    plan: ProgramPlan,
    serve: Serve | None,
    timeout: float | None,
    watcher: ProgramWatcher | None,
) -> ProgramResult:
    run = store.run(lease.run_id)
    if watcher is not None:
        done = store.workflow_step_counts(run.id).get("completed", 0) if run.starts > 1 else None
        watcher.begun(run.id, done)
    serving = nullcontext(None) if serve is None else serve(store.workspace, lease)
    with ProgramLife(store, run) as life, serving as server:
        pass_on: PassOn = _nowhere if watcher is None else watcher.output
        command = (plan.executable(), *plan.command[1:])
        environment = _environment(plan, lease, store.workspace, server)
        child = Child(command, plan.cwd, environment, open_artifacts(run.folder), pass_on)
        looker = None if watcher is None else Looker(store, lease, plan.name, watcher)
        try:
            ending = Supervisor(child, life, timeout=timeout, looker=looker).wait()
        finally:
            child.close()
        ended = _ended_as(store.run(run.id), ending, timeout)
        if ended is not None:
            life.end(*ended)
            life.finish()
    return _result(store.run(run.id), plan, ending, child, server=server, warning=plan.warning)


class ProgramLife(RunLife):
    """The life of a run whose steps a program records: it may also record how it ends, and its figures are those of its steps."""

    def finish(self) -> None:
        """Record how it ended, and release it, unless another process has taken it over or canceled it."""
        self.store.conclude_run(self.run.id, self.run.status, error=self.run.error)


def _environment(
    plan: ProgramPlan, lease: Lease, workspace: Workspace, server: tuple[str, str] | None
) -> dict[str, str]:
    """Our environment, without variables of another run."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("BENCHWRIGHT_", "QUANTILES_")) or name.partition("_")[2] not in _OURS
    }
    url, token = server or (None, None)
    variables = child_environment(
        lease,
        plan.workflow or "",
        plan.input,
        workspace.root,
        store=workspace.url,
        base_url=url,
        token=token,
    )
    variables = {name: value for name, value in variables.items() if value}
    older = {
        name.replace("BENCHWRIGHT_", "QUANTILES_"): value
        for name, value in variables.items()
        if name.partition("_")[2] in _TOLD
    }
    # Unbuffered, so that the output of a Python program appears at once.
    return {"PYTHONUNBUFFERED": "1", **kept, **variables, **older}


def _ended_as(run: RunRecord, ending: Ending, timeout: float | None) -> tuple[RunStatus, str | None] | None:
    """How a run ended by the exit of its program, and why; None if that is what the program recorded."""
    recorded: RunStatus | None = run.status if run.finished_at is not None else None
    stopped = ending.signal is not None or ending.stopped_by is not None or ending.timed_out
    if recorded == "completed" and (ending.status == 0 or stopped):
        return None  # a signal after the end of the work does not matter
    if ending.stopped_by is not None:
        return "interrupted", f"interrupted ({ending.stopped_by.name})"
    if ending.timed_out:
        return "failed", f"took longer than --timeout {timeout:g} seconds"
    if recorded == "completed":
        return "failed", f"exited with status {ending.status}, after the workflow had completed"
    if recorded is not None:
        return None
    if ending.signal is not None:
        return "failed", f"was terminated by signal {ending.signal}"
    return ("completed", None) if ending.status == 0 else ("failed", f"exited with status {ending.status}")


def _result(
    run: RunRecord,
    plan: ProgramPlan,
    ending: Ending | None,
    child: Child | None,
    *,
    server: tuple[str, str] | None = None,
    warning: str | None = None,
) -> ProgramResult:
    summary: Mapping[str, Any] = run.summary or {}
    ran = ending is not None and ending.status >= 0
    error = run.error
    if RUN_STATUSES[run.status].live and ending is not None:
        error = "the run was taken over by another process"
    return ProgramResult(
        run_id=run.id,
        workflow_name=run.name,
        input=run.input,
        warning=warning,
        command=plan.command,
        base_url=None if server is None else server[0],
        server_started_by_us=server is not None,
        status=run.status,
        success=run.status == "completed",
        exit_code=ending.status if ran and ending is not None else None,
        signal=None if ending is None else ending.signal,
        duration_seconds=round(_worked(run, ending), 6),
        stdout="" if child is None else child.captured["stdout"].text(),
        stderr="" if child is None else child.captured["stderr"].text(),
        error=error,
        metrics={name: metric["value"] for name, metric in summary.get("metrics", {}).items()},
        rows=summary.get("rows", 0),
        steps=dict(summary.get("steps", {})),
        output=run.output,
        folder=run.folder,
    )


def _worked(run: RunRecord, ending: Ending | None) -> float:
    """How long processes worked on the run, as it is recorded; of a run that another process took over, this start."""
    if run.finished_at is not None and run.worked is not None:
        return run.worked
    return 0.0 if ending is None else ending.seconds


def _nowhere(stream: str, data: bytes) -> None:
    pass
