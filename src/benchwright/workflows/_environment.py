"""The environment variables of a workflow process, and the environment that its run records."""

from __future__ import annotations

import hashlib
import inspect
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.core import VERSION, JsonObject, JsonValue, UsageError, load_exact_json
from benchwright.store import Lease
from benchwright.workflows._canonical import stable_stringify

DEFAULT_BASE_URL = "http://127.0.0.1:8765"
"""Where a server is expected by default."""
_PREFIXES = ("BENCHWRIGHT_", "QUANTILES_")
"""The second is for programs that were written for an older interface of the same form."""


class Surroundings(Struct, frozen=True):
    """The settings in the environment."""

    run_id: int | None
    """The run to execute; None: create one."""
    workflow_name: str | None
    """The workflow of the script to run."""
    input: JsonValue
    """Input of a managed run."""
    workspace: Path | None
    """Folder of the workspace."""
    base_url: str | None
    """Address of a server, without a trailing slash."""
    token: str | None
    """Token for the server."""
    lease: str | None
    """Token by which a run is handed over."""


def read_environment() -> Surroundings:
    """Read the variables. Raises `UsageError` for an invalid one."""

    def value(name: str) -> str | None:
        return next(
            (os.environ[prefix + name] for prefix in _PREFIXES if os.environ.get(prefix + name)), None
        )

    run_id = value("RUN_ID")
    if run_id is not None and not run_id.isdigit():
        raise UsageError(f"BENCHWRIGHT_RUN_ID is {run_id!r}; expected the number of a run")
    workspace, base_url = value("WORKSPACE"), value("BASE_URL")
    return Surroundings(
        run_id=None if run_id is None else int(run_id),
        workflow_name=value("WORKFLOW_NAME"),
        input=parse_input(value("INPUT"), "BENCHWRIGHT_INPUT"),
        workspace=None if workspace is None else Path(workspace),
        base_url=None if base_url is None else base_url.rstrip("/"),
        token=value("TOKEN"),
        lease=value("LEASE"),
    )


def child_environment(
    lease: Lease,
    name: str,
    input_value: JsonValue,
    workspace: Path,
    *,
    store: str | None = None,
    base_url: str | None = None,
    token: str | None = None,
) -> dict[str, str]:
    """Variables for a process that executes a run of this process.

    The run is handed over: the child becomes its owner and ends it. If the child dies first, the parent, which knows the same
    lease, can end it.
    """
    variables = {
        "BENCHWRIGHT_RUN_ID": str(lease.run_id),
        "BENCHWRIGHT_WORKFLOW_NAME": name,
        "BENCHWRIGHT_INPUT": stable_stringify(input_value),
        "BENCHWRIGHT_WORKSPACE": str(workspace),
        "BENCHWRIGHT_LEASE": lease.token,
    }
    if store is not None:
        variables["BENCHWRIGHT_STORE"] = store
    if base_url is not None:
        variables["BENCHWRIGHT_BASE_URL"] = base_url
    if token is not None:
        variables["BENCHWRIGHT_TOKEN"] = token
    return variables


def parse_input(text: str | None, what: str) -> JsonValue:
    """Parse a JSON text from a user or a parent process."""
    if text is None:
        return None
    try:
        value = load_exact_json(text)
    except ValueError as error:
        raise UsageError(f"""{what} is not JSON ({error}). Write it as '{{"limit": 10}}'""") from None
    return value


_PACKAGES = ("pydantic", "orjson", "pyarrow", "numpy", "openai", "torch", "transformers")
"""Packages whose versions are recorded, if they are loaded."""


def frozen_settings(name: str) -> JsonObject:
    """How the run was started, for `resume`."""
    command: list[JsonValue] = [sys.executable, *sys.orig_argv[1:]]
    return {"workflow": name, "command": command, "cwd": str(Path.cwd())}


def frozen_manifest(handler: Callable[..., Any]) -> JsonObject:
    """The code and packages of the run."""
    from benchwright.benchmarks import imported_modules  # not every use of a workflow starts one

    entry = entry_of(handler)
    path = entry.get("path")
    modules: JsonObject = dict(imported_modules(Path(str(path)))) if path else {}
    return {"entry": entry, "modules": modules, "versions": _versions()}


def entry_of(handler: Callable[..., Any]) -> JsonObject:
    """The file that defines a handler, and the SHA-256 of its content; nulls if there is no file."""
    try:
        found = inspect.getsourcefile(inspect.unwrap(handler))
    except TypeError:
        found = None
    path = Path(found).resolve() if found else None
    if path is None or not path.is_file():  # typed at a prompt
        return {"path": None, "sha256": None}
    return {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def code_change(manifest: JsonObject, handler: Callable[..., Any]) -> JsonObject | None:
    """The difference between the code at the start of a run and the code with which it resumes; None if there is none."""
    before, now = manifest.get("entry"), entry_of(handler)
    if not isinstance(before, dict) or before.get("sha256") == now.get("sha256"):
        return None
    return {
        "code_changed": {"path": now.get("path"), "before": before.get("sha256"), "now": now.get("sha256")}
    }


def _versions() -> JsonObject:
    versions: JsonObject = {"benchwright": VERSION, "python": platform.python_version()}
    for name in _PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            versions[name] = version
    return versions
