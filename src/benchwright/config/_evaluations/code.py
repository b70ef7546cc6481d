"""`type = "custom_code"`: a program that is the evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from benchwright.config._setting import Setting
from benchwright.config._values import read_values
from benchwright.core import ConfigError, JsonObject

CODE_SETTINGS = (
    Setting("type", "text", "custom_code"),
    Setting("description", "text", "one line for listings"),
    Setting("command", "texts", "program and arguments"),
    Setting("input", "table", "what the program gets"),
)
"""Everything such a table may hold."""


class CodeBenchmark(Struct, frozen=True):
    """A program and what it gets. No shell is involved."""

    command: tuple[str, ...]
    """Program and arguments, as written; never empty."""
    input: JsonObject = field(default_factory=dict)
    """What the program gets, before `--input` has replaced parts of it."""
    folder: Path = field(default_factory=Path)
    """Where it is started: the folder of the configuration file."""


def read_code(file: Path, where: str, values: Mapping[str, object]) -> tuple[CodeBenchmark, JsonObject]:
    """The program of a table, and the table as it was checked."""
    command = values.get("command")
    if isinstance(command, str):
        raise ConfigError(
            f"{where} command: {command!r} is a text; expected program and arguments as a list, without a shell: "
            f'command = ["python", "my_eval.py"]'
        )
    hints = {"model": "a program is told its model by input, as in input = { model = … }"}
    checked = read_values(where, values, CODE_SETTINGS, hints=hints)
    found = checked.get("command")
    if not isinstance(found, list) or not found:
        raise ConfigError(
            f'{where} has no command. Add program and arguments: command = ["python", "my_eval.py"]'
        )
    given = checked.get("input")
    code = CodeBenchmark(
        command=tuple(str(part) for part in found),
        input=given if isinstance(given, dict) else {},
        folder=file.parent,
    )
    return code, checked
