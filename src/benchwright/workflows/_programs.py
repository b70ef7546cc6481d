"""A program as a run: what is started with which input, frozen with the run so that it can resume, and its result."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from msgspec import Struct

from benchwright.config import ConfigFile
from benchwright.core import RUN_STATUSES, VERSION, JsonObject, JsonValue, RunStatus, UsageError
from benchwright.workflows._scripts import find_script


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """One start of a program as a workflow."""

    run_id: int
    """Number of the run."""
    workflow_name: str
    """Its name."""
    input: JsonValue
    """What the program was given."""
    warning: str | None
    """What the user may not have meant."""
    command: tuple[str, ...]
    """What was started."""
    base_url: str | None
    """The server next to it; None: none."""
    server_started_by_us: bool
    """Whether that server was started for this run."""
    status: RunStatus
    """How the run ended."""
    success: bool
    """Whether it completed."""
    exit_code: int | None
    """Exit status of the program; None: a signal ended it, or it was not started."""
    signal: str | None
    """That signal."""
    duration_seconds: float
    """How long this start took."""
    stdout: str
    """What it printed, or the last mebibyte of it."""
    stderr: str
    """The same of its errors."""
    error: str | None
    """Why it failed."""
    metrics: dict[str, float]
    """Each metric's mean."""
    steps: dict[str, int]
    """Steps per status."""
    output: JsonValue
    """What the workflow returned."""
    folder: Path
    """Folder of the run's files."""

    @property
    def exit_status(self) -> int:
        """What a command that did this should exit with."""
        return RUN_STATUSES[self.status].exit_code

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        told: JsonObject = {**asdict(self), "command": [*self.command], "folder": str(self.folder)}
        return told


_PYTHON = ("python", "python3")


class ProgramPlan(Struct, frozen=True):
    """One program to run as a workflow."""

    name: str
    """What the run is called."""
    workflow: str | None
    """Which workflow of the program is meant; None: its only one."""
    target: str
    """What the user typed."""
    command: tuple[str, ...]
    """Program and arguments; no shell is involved."""
    cwd: Path
    """Where it is started."""
    input: JsonValue
    """What it is given."""
    given: JsonObject
    """The part of the input that came from the command line."""
    config: Path | None = None
    """The configuration that names it."""
    warning: str | None = None
    """What the user may not have meant."""

    def settings(self) -> JsonObject:
        """The frozen form."""
        command: list[JsonValue] = [*self.command]
        return {
            "workflow": self.workflow,
            "command": command,
            "cwd": str(self.cwd),
            "input_given": self.given,
            "config": None if self.config is None else str(self.config),
        }

    def manifest(self) -> JsonObject:
        """What the run is made of. A workflow in Python adds its own file and packages if no file is named here."""
        found: JsonObject = {
            "executable": str(program_executable(self.command, self.cwd)),
            "benchwright": VERSION,
        }
        entry = entry_file(self.command, self.cwd)
        return found if entry is None else {**found, "entry": entry, "versions": {"benchwright": VERSION}}


def plan_program(
    target: str, config: ConfigFile | None, cwd: Path, given: Mapping[str, JsonValue] | None
) -> ProgramPlan | None:
    """The program that `target` names: an entry of type `custom_code`, or a Python file with workflows. Else None."""
    entry = None if config is None else config.benchmarks.get(target)
    if config is not None and entry is not None:
        if entry.code is None:
            return None
        merged, warning = merge_input(entry.code.input, given or {})
        return ProgramPlan(
            name=target,
            workflow=target,
            target=target,
            command=entry.code.command,
            cwd=entry.code.folder.resolve(),
            input=merged,
            given=dict(given or {}),
            config=config.path.resolve(),
            warning=warning,
        )
    found = find_script(target, cwd)
    if found is None:
        return None
    script, name = found
    if name is None and len(script.names) > 1:
        raise UsageError(
            f"{target} has several workflows ({', '.join(script.names)}); name one, as in {target}:{script.names[0]}"
        )
    name = name or next(iter(script.names), None)
    return ProgramPlan(
        name=name or script.path.stem,
        workflow=name,
        target=target,
        command=script.command(),
        cwd=cwd.resolve(),
        input=dict(given or {}),
        given=dict(given or {}),
    )


_TAKEN = ("input", "workspace")


def refuse_settings(program: str, names: Iterable[str]) -> None:
    """UsageError for settings of benchmarks and suites: a setting without effect is a mistake."""
    flags = [f"--{name.replace('_', '-')}" for name in names if name not in _TAKEN]
    if flags:
        raise UsageError(
            f"{', '.join(flags)}: {program} is a program, which is told everything by its input; "
            f"""give --input, as in --input '{{"limit": 10}}'"""
        )


def merge_input(
    configured: Mapping[str, JsonValue], given: Mapping[str, JsonValue]
) -> tuple[JsonObject, str | None]:
    """The configured input with the given keys in place of its own, and a warning that names those.

    >>> merge_input({"a": 1, "b": {"c": 2}}, {"b": 3, "d": 4})
    ({'a': 1, 'b': 3, 'd': 4}, '--input replaces b of the configuration')
    """
    replaced = [key for key in given if key in configured and configured[key] != given[key]]
    warning = f"--input replaces {', '.join(replaced)} of the configuration" if replaced else None
    return {**configured, **given}, warning


def program_executable(command: Sequence[str], cwd: Path) -> str:
    """The program of a command: a path from its folder, or a name on PATH. UsageError where there is none.

    `python` is that of the active environment; where none is active, the one that runs this.
    """
    program = command[0]
    if os.sep in program:
        path = os.path.normpath(os.path.join(cwd, os.path.expanduser(program)))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        raise UsageError(f"command: {program} is not a program in {cwd}; expected an executable file")
    if program in _PYTHON and not (os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")):
        return sys.executable
    found = shutil.which(program)
    if found is None and program in _PYTHON:
        return sys.executable
    if found is None:
        raise UsageError(f"command: there is no program {program!r} on PATH. Install it, or write its path")
    return found


def entry_file(command: Sequence[str], cwd: Path) -> JsonObject | None:
    """The first argument that is a file, and the SHA-256 of its content; else the program, if it lies in the folder."""
    words = [*command[1:], *([command[0]] if os.sep in command[0] else [])]
    for word in words:
        path = cwd / word
        try:
            if word and path.is_file():
                return {
                    "path": str(path.resolve()),
                    "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                }
        except (OSError, ValueError):  # a whole program as an argument is no possible file name
            continue
    return None
