"""What a workflow process is told by whoever started it, and how to tell it.

With a run id the process is managed: the run exists, its input is given, and a token says that the run was handed over.
With a workspace the record is the database there; with only a URL it is a server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.core import JsonValue, UsageError, load_exact_json
from benchwright.store import Lease
from benchwright.workflows._canonical import stable_stringify

DEFAULT_BASE_URL = "http://127.0.0.1:8765"
"""Where a server is expected when nothing is said."""
_PREFIXES = ("BENCHWRIGHT_", "QUANTILES_")
"""The second is for programs written against an older interface of the same shape."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the environment says."""

    run_id: int | None
    """The run to execute; None: make one."""
    workflow_name: str | None
    """Which workflow of the script is meant."""
    input: JsonValue
    """Input of a managed run."""
    workspace: Path | None
    """Folder of the workspace."""
    base_url: str | None
    """Address of a server, without a slash at the end."""
    token: str | None
    """What the server wants to see."""
    lease: str | None
    """Word by which a run is handed over."""


def read_environment(variables: Mapping[str, str] | None = None) -> Surroundings:
    """Read the variables; `UsageError` for one that cannot be."""
    given = os.environ if variables is None else variables

    def value(name: str) -> str | None:
        return next((given[prefix + name] for prefix in _PREFIXES if given.get(prefix + name)), None)

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
    base_url: str | None = None,
    token: str | None = None,
) -> dict[str, str]:
    """Variables for a process that is to execute a run which this process has created or claimed.

    The run is handed over: the child becomes its owner and ends it. Should the child die without doing so, the
    parent, which knows the same lease, can.
    """
    variables = {
        "BENCHWRIGHT_RUN_ID": str(lease.run_id),
        "BENCHWRIGHT_WORKFLOW_NAME": name,
        "BENCHWRIGHT_INPUT": stable_stringify(input_value),
        "BENCHWRIGHT_WORKSPACE": str(workspace),
        "BENCHWRIGHT_LEASE": lease.token,
    }
    if base_url is not None:
        variables["BENCHWRIGHT_BASE_URL"] = base_url
    if token is not None:
        variables["BENCHWRIGHT_TOKEN"] = token
    return variables


def parse_input(text: str | None, what: str) -> JsonValue:
    """A JSON text that a user or a parent process wrote."""
    if text is None:
        return None
    try:
        value = load_exact_json(text.encode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise UsageError(f"""{what} is not JSON ({error}). Write it as '{{"limit": 10}}'""") from None
    return value
