"""Files that a run configuration names: in the current folder, or else next to the configuration."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from benchwright.config._config_layers import ConfigValue, Path as Key
from benchwright.config._run_config_keys import KEY_OF, MODULE, TYPE
from benchwright.core import expand_home

_FILES: tuple[Key, ...] = (
    TYPE,
    MODULE,
    *(KEY_OF[name] for name in ("dataset", "tool_data", "tool_data_template")),
)
"""Keys whose values may be files."""


def files_beside(file: Path, values: Iterable[ConfigValue]) -> tuple[list[ConfigValue], list[str]]:
    """The values with the places of files that are only next to the configuration, and a note on each such file."""
    found: list[ConfigValue] = []
    notes: list[str] = []
    for given in values:
        written = given.value
        if given.path in _FILES and isinstance(written, str):
            place, more = place_beside(file, written, may_be_name=given.path == TYPE)
            given, notes = replace(given, value=place), [*notes, *more]
        found.append(given)
    return found, notes


def place_beside(file: Path, written: str, *, may_be_name: bool = True) -> tuple[str, list[str]]:
    """The place of a file that is only next to the configuration, with the benchmark in it (`bench.py:NAME`), if one is named,
    and a note on it; anything else as written. `may_be_name`: a text without an ending is the name of an evaluation."""
    name, python, benchmark = written.partition(".py:")
    path = expand_home(name + python.removesuffix(":"))
    beside = file.parent / path
    named = path.suffix or not may_be_name
    if "://" in written or not named or path.exists() or not beside.exists():
        return written, []
    note = f"{file}: {written} is not in the current folder; the run uses the one next to {file.name}"
    return f"{beside}{python[3:]}{benchmark}", [note]
