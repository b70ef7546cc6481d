"""Programs as runs: the command and its input, recorded with the run so that it can resume, and the result. Python files
with workflows are recognised by their text, without running them."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from benchwright.config import ConfigFile
from benchwright.core import (
    RUN_STATUSES,
    VERSION,
    JsonObject,
    JsonValue,
    RunStatus,
    UsageError,
    as_json,
    expand_home,
    suggest,
)


class ProgramResult(Struct, frozen=True):
    """One start of a program as a workflow."""

    run_id: int
    """Number of the run."""
    workflow_name: str
    input: JsonValue
    warning: str | None
    """A warning about something that the user may not have meant."""
    command: tuple[str, ...]
    """The command that was started."""
    base_url: str | None
    """The server next to it; None if there is none."""
    server_started_by_us: bool
    """Whether that server was started for this run."""
    status: RunStatus
    """How the run ended."""
    success: bool
    """Whether it completed."""
    exit_code: int | None
    """Exit status of the program; None: a signal ended it, or it was not started."""
    signal: str | None
    """The signal that ended it."""
    duration_seconds: float
    """How long processes worked on the run, over all starts, as `show` and `list` print it."""
    stdout: str
    """Its standard output, or the last mebibyte of it."""
    stderr: str
    """Its standard error, or the last mebibyte of it."""
    error: str | None
    """Why it failed."""
    metrics: dict[str, float]
    """Each metric's mean."""
    rows: int
    """Its rows, of `ctx.sample`."""
    steps: dict[str, int]
    """Steps per status, without the records of rows."""
    output: JsonValue
    """The output of the workflow."""
    folder: Path
    """Folder of the run's files."""

    @property
    def exit_status(self) -> int:
        """The exit code of the command."""
        return RUN_STATUSES[self.status].exit_code

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        from benchwright.reports import in_notebook  # terminals do not need it

        return in_notebook(self)

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        found: JsonObject = as_json(self)
        return found


_PYTHON = ("python", "python3")


class ProgramPlan(Struct, frozen=True):
    """One program to run as a workflow."""

    name: str
    """The name of the run."""
    workflow: str | None
    """The workflow of the program to run; None: its only one."""
    target: str
    """The target as the user typed it."""
    command: tuple[str, ...]
    """Program and arguments; no shell is involved."""
    cwd: Path
    """The folder in which it is started."""
    input: JsonValue
    given: JsonObject
    """The part of the input that came from the command line."""
    config: Path | None = None
    """The configuration that names it."""
    warning: str | None = None
    """A warning about something that the user may not have meant."""

    def executable(self) -> str:
        """The program of a command: a path from its folder, or a name on PATH. Raises UsageError if there is none.

        `python` is that of the active environment; if none is active, the one that runs this.
        """
        program, cwd = self.command[0], self.cwd
        if os.sep in program:
            path = os.path.normpath(os.path.join(cwd, expand_home(program)))
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
            raise UsageError(f"command: {program} is not a program in {cwd}; expected an executable file")
        if program in _PYTHON and not (os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")):
            return sys.executable
        import shutil  # every run is looked at here, and few are programs

        found = shutil.which(program)
        if found is None and program in _PYTHON:
            return sys.executable
        if found is None:
            raise UsageError(
                f"command: there is no program {program!r} on PATH. Install it, or write its path"
            )
        return found

    def settings(self) -> JsonObject:
        """The recorded form."""
        command: list[JsonValue] = [*self.command]
        return {
            "workflow": self.workflow,
            "command": command,
            "cwd": str(self.cwd),
            "input_given": self.given,
            "config": None if self.config is None else str(self.config),
        }

    def manifest(self) -> JsonObject:
        """The files of the run. A workflow in Python adds its file and packages if no file is named here."""
        found: JsonObject = {
            "executable": self.executable(),
            "benchwright": VERSION,
        }
        entry = entry_file(self.command, self.cwd)
        return found if entry is None else {**found, "entry": entry, "versions": {"benchwright": VERSION}}


def plan_program(
    target: str, config: ConfigFile | None, cwd: Path, given: Mapping[str, JsonValue] | None
) -> ProgramPlan | None:
    """The program that `target` names: an entry of type `custom_code`, or a Python file with workflows; else None."""
    entry = None if config is None else config.benchmarks.get(target)
    if config is not None and entry is not None:
        if not entry.command:
            return None
        merged, warning = merge_input(entry.input, given or {})
        return ProgramPlan(
            name=target,
            workflow=target,
            target=target,
            command=entry.command,
            cwd=entry.folder.resolve(),
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
    """Raise UsageError for settings of benchmarks and suites, because they would have no effect."""
    flags = [f"--{name.replace('_', '-')}" for name in names if name not in _TAKEN]
    if flags:
        raise UsageError(
            f"{', '.join(flags)}: {program} is a program, which gets everything from its input; "
            f"""give --input, as in --input '{{"limit": 10}}'"""
        )


def merge_input(
    configured: Mapping[str, JsonValue], given: Mapping[str, JsonValue]
) -> tuple[JsonObject, str | None]:
    """Replace keys of the configured input by the given ones. Returns it with a warning that names these.

    >>> merge_input({"a": 1, "b": {"c": 2}}, {"b": 3, "d": 4})
    ({'a': 1, 'b': 3, 'd': 4}, '--input replaces b of the configuration')
    """
    replaced = [key for key in given if key in configured and configured[key] != given[key]]
    warning = f"--input replaces {', '.join(replaced)} of the configuration" if replaced else None
    return {**configured, **given}, warning


def entry_file(command: Sequence[str], cwd: Path) -> JsonObject | None:
    """The first argument that is a file, with the SHA-256 of its content; else the program, if it is in the folder."""
    words = [*command[1:], *([command[0]] if os.sep in command[0] else [])]
    for word in words:
        path = cwd / word
        try:
            if word and path.is_file():
                return {
                    "path": str(path.resolve()),
                    "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                }
        except (OSError, ValueError):  # a whole program as an argument is not a valid file name
            continue
    return None


class Script(Struct, frozen=True):
    """A Python file with workflows."""

    path: Path
    """The file."""
    names: tuple[str, ...]
    """Names of its workflows, if they are literal texts."""
    starts_itself: bool
    """Whether the file calls `entrypoint`."""

    def command(self) -> tuple[str, ...]:
        """The command that runs it."""
        if self.starts_itself:
            return (sys.executable, str(self.path))
        return (
            sys.executable,
            "-c",
            "from benchwright.workflows import run_script; run_script(__import__('sys').argv[1])",
            str(self.path),
        )


def find_script(target: str, cwd: Path) -> tuple[Script, str | None] | None:
    """The script that `file.py` or `file.py:name` means, and the named workflow; None for anything else.

    A file that defines benchmarks is not a program, nor is one that cannot be parsed: loading it reports why.
    """
    place, _, name = target.partition(":")
    path = cwd / expand_home(place)
    if path.suffix != ".py" or not path.is_file():
        return None
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return None
    script = _read(path, tree)
    if script is None:
        return None
    if name and script.names and name not in script.names:
        raise UsageError(
            f"{place} has no workflow {name!r}.{suggest(name, script.names)} It has: {', '.join(script.names)}"
        )
    return script, name or None


def _read(path: Path, tree: ast.Module) -> Script | None:
    ours = _imported(tree)
    called: set[str] = set()
    names: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if any(_word(decorator, ours) == "benchmark" for decorator in node.decorator_list):
                return None
        elif isinstance(node, ast.Call):
            word = _word(node, ours)
            called.add(word)
            if word == "workflow" and (first := _first_text(node)) is not None:
                names.append((node.lineno, node.col_offset, first))
    if not called & {"entrypoint", "workflow"}:
        return None
    return Script(
        path.resolve(), tuple(dict.fromkeys(name for *_, name in sorted(names))), "entrypoint" in called
    )


def _imported(tree: ast.Module) -> dict[str, str]:
    """Names in the file that refer to our functions; modules map to an empty text."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "benchwright":
            found.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "benchwright":
                    found[(alias.asname or alias.name).partition(".")[0]] = ""
    return found


def _word(node: ast.expr, ours: dict[str, str]) -> str:
    """The name of our function that an expression calls or names; empty for any other."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Name):
        return ours.get(node.id, "")
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and ours.get(node.value.id) == "":
        return node.attr
    return ""


def _first_text(call: ast.Call) -> str | None:
    given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "name"), None)
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None
