"""`[benchmarks.NAME]`: something to run under a short name, with its own defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.config._run_settings import ENDPOINT_SETTINGS, RUN_SETTINGS
from benchwright.config._setting import Setting
from benchwright.config._tables import read_table
from benchwright.core import ConfigError, JsonObject, JsonValue

_ENDPOINT_HINT = 'describe the endpoint in a [models.NAME] table and write model = "NAME" here'
_PLACE_HINT = "give this on the command line: written here, every run would use the same folder"
_HINTS = {
    **dict.fromkeys(ENDPOINT_SETTINGS, _ENDPOINT_HINT),
    **dict.fromkeys(("workspace", "output_dir"), _PLACE_HINT),
}

_RUN = tuple(s for s in RUN_SETTINGS if s.name not in _HINTS and s.name != "dataset")
_BENCHMARK = (
    Setting("file", "text", "file.py, file.py:name, package.module, package.module:name, or a data file"),
    Setting("description", "text", "one line for listings"),
    *(s for s in RUN_SETTINGS if s.name not in _HINTS),
)


@dataclass(frozen=True, slots=True)
class BenchmarkConfig:
    """A benchmark as the configuration file names it."""

    name: str
    """The name users type."""
    file: str
    """What to load; a path is absolute by now, `:name` included where given."""
    description: str = ""
    """One line for listings."""
    model: str | None = None
    """Model to use unless the command line names another."""
    run: JsonObject = field(default_factory=dict)
    """Defaults of run settings for this benchmark, under their canonical names."""


def read_benchmark(file: Path, name: str, values: Mapping[str, object]) -> BenchmarkConfig:
    """One `[benchmarks.NAME]` table, checked."""
    table = f"benchmarks.{name}"
    checked = read_table(file, table, values, _BENCHMARK, hints=_HINTS)
    target = checked.pop("file", None)
    if target is None:
        raise ConfigError(f'{file}: [{table}] has no file. Add, for example: file = "my_bench.py"')
    _resolve_paths(file, checked)
    model = checked.pop("model", None)
    return BenchmarkConfig(
        name=name,
        file=_target(file, str(target)),
        description=_text(checked.pop("description", "")),
        model=None if model is None else str(model),
        run=checked,
    )


def read_run_defaults(file: Path, values: Mapping[str, object]) -> JsonObject:
    """The `[run]` table, checked."""
    hints = {**_HINTS, "dataset": "set this in a [benchmarks.NAME] table or on the command line"}
    checked = read_table(file, "run", values, _RUN, hints=hints)
    _resolve_paths(file, checked)
    return checked


_PATHS = ("dataset", "fewshot_dataset", "meta_path")
_TEXTS_OR_FILES = ("template", "system")


def _resolve_paths(file: Path, checked: JsonObject) -> None:
    """Paths in the file are relative to the file; what may be a text is a path if there is such a file."""
    for name in _PATHS:
        value = checked.get(name)
        if isinstance(value, str):
            checked[name] = _from_here(file, value)
    for name in _TEXTS_OR_FILES:
        value = checked.get(name)
        if isinstance(value, str) and "\n" not in value and _is_file(file, value):
            checked[name] = _from_here(file, value)


def _target(file: Path, target: str) -> str:
    if "://" in target:
        return target
    path, colon, name = target.partition(":")
    if path.endswith(".py") or "/" in path or _is_file(file, path):
        return _from_here(file, path) + colon + name
    return target


def _is_file(file: Path, path: str) -> bool:
    try:
        return (file.parent / Path(path).expanduser()).is_file()
    except (OSError, RuntimeError, ValueError):  # a whole prompt is no possible file name
        return False


def _from_here(file: Path, path: str) -> str:
    """Paths in the file are relative to the file, wherever the command is typed. URIs stay."""
    if "://" in path:
        return path
    return str(file.parent / Path(path).expanduser())


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
