"""Finds and reads configuration files: `benchwright.toml`, and suite files as plain values.

A key that occurs twice in a file is refused, because people see the first and the program would use the last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, field

from benchwright.config._values import sub_table
from benchwright.config._yaml import aliased_keys, load_yaml
from benchwright.core import (
    ConfigError,
    JsonObject,
    NotFoundError,
    TooDeepError,
    check_depth,
    clause,
    nearest,
    own_ancestors,
    refuse_foreign,
    suggest,
)

if TYPE_CHECKING:
    from benchwright.config._benchmark import BenchmarkConfig
    from benchwright.config._model import ModelConfig


FOREIGN_NAMES = ("quantiles.toml", ".quantiles.toml")
"""Names that another tool reads too. Its tables are ignored, and built-in evaluations need no type."""

_TABLES = ("benchmarks", "models", "perf", "run")


class ConfigFile(Struct, frozen=True):
    """A configuration file, parsed and checked."""

    names: ClassVar[tuple[str, ...]] = (
        "benchwright.toml",
        ".benchwright.toml",
        "quantiles.toml",
        ".quantiles.toml",
    )
    """Names of the configuration file."""

    path: Path
    """Its path; relative paths in it start at its folder."""
    models: dict[str, ModelConfig] = field(default_factory=dict)
    """`[models.NAME]` tables."""
    benchmarks: dict[str, BenchmarkConfig] = field(default_factory=dict)
    """`[benchmarks.NAME]` tables."""
    run: JsonObject = field(default_factory=dict)
    """Defaults of run settings, under their canonical names."""
    perf: JsonObject = field(default_factory=dict)
    """Defaults of load tests, under their canonical names."""

    @classmethod
    def read(cls, path: Path) -> ConfigFile:
        """Parse and check one file. `ConfigError` names the file, the table and the key."""
        return read_config(path)


def find_config(start: Path) -> ConfigFile | None:
    """The nearest configuration file, from `start` upwards.

    Folders that everybody may write to, such as /tmp, end the search. A file that another user owns or can write to
    is refused, because it decides where keys are sent and which code is run.
    """
    for folder in own_ancestors(start):
        found = [folder / name for name in ConfigFile.names if (folder / name).is_file()]
        if len(found) > 1:
            names = " and ".join(path.name for path in found)
            raise ConfigError(f"{folder} has both {names}; keep one of them")
        if found:
            refuse_foreign(found[0], "configuration", start)
            config = read_config(found[0])
            for entry in config.benchmarks.values():  # code that it names must be trusted like the file
                code = Path(re.sub(r"(?<=\.py):\w+$", "", entry.file))
                if code.suffix == ".py" and code.is_file():
                    refuse_foreign(code, "benchmark", start)
            return config
    return None


def read_config(path: Path) -> ConfigFile:
    """Parse and check one file. `ConfigError` names the file, the table and the key."""
    import tomllib

    # Imported here, because a run without such a file needs none of its tables.
    from benchwright.config._benchmark import read_benchmark, read_run_defaults
    from benchwright.config._model import read_model

    try:
        # utf-8-sig, because some editors write a byte-order mark, which TOML does not allow.
        document: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        check_depth(document)
    except (RecursionError, TooDeepError):
        raise ConfigError(f"{path}: {TooDeepError()}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path} is not valid TOML: {clause(error)}. Texts need quotes, tables look like [run]"
        ) from error
    foreign = path.name in FOREIGN_NAMES
    for key in document:
        if key not in (*_TABLES, "store") and not foreign:  # the store is read with the workspace
            raise ConfigError(
                f"{path}: [{key}] is not known.{suggest(key, _TABLES)} Known tables: [run], [perf], [models.NAME], "
                "[benchmarks.NAME]"
            )
    tables = sub_table(path, "models", document.get("models", {}))
    models = {n: read_model(path, n, sub_table(path, f"models.{n}", v)) for n, v in tables.items()}
    tables = sub_table(path, "benchmarks", document.get("benchmarks", {}))
    benchmarks = {
        n: read_benchmark(path, n, sub_table(path, f"benchmarks.{n}", v), foreign=foreign)
        for n, v in tables.items()
    }
    # A model that is described where it is used can be named like any other.
    models |= {b.model: b.own_model for b in benchmarks.values() if b.own_model is not None and b.model}
    return ConfigFile(
        path=path,
        models=models,
        benchmarks=benchmarks,
        run=read_run_defaults(path, sub_table(path, "run", document.get("run", {}))),
        perf=_load_defaults(path, document),
    )


def _load_defaults(path: Path, document: dict[str, object]) -> JsonObject:
    """The `[perf]` table. Its settings are loaded only if it is there, because most commands do not need them."""
    if "perf" not in document:
        return {}
    from benchwright.config._load_settings import read_load_defaults

    return read_load_defaults(path, sub_table(path, "perf", document["perf"]))


SUITE_SUFFIXES = (".toml", ".yaml", ".yml", ".json", ".py")
"""The endings of suite files."""


SUITE_HOLDS = "a suite has the keys models and datasets, each with a list"


def read_document(
    path: Path, expected: str = SUITE_HOLDS, known: Collection[str] = (), others: Collection[str] = ()
) -> dict[str, object]:
    """The top level of a TOML, YAML or JSON file. Raises `ConfigError` with the file and the place, and with `expected` if it
    is not a table.

    If `known` has the keys that such a file may have, keys that only hold values for others are left out: those that begin
    with `x-`, and those that aliases refer to, unless their names are similar to a known one. `others` are known too.
    """
    text = _text(path)
    read = {".toml": _toml, ".json": _json}.get(path.suffix.lower(), _yaml)
    document = _checked(path, text, read)
    if not isinstance(document, dict):
        found = "nothing" if document is None else f"a {type(document).__name__}"
        raise ConfigError(f"{path} contains {found}; {expected}")
    table = {str(key): value for key, value in document.items()}
    unknown = [key for key in table if known and key not in (*known, *others)]
    aliased = aliased_keys(text) if unknown and read is _yaml else set()
    for key in unknown:
        if key.startswith("x-") or (key in aliased and nearest(key, known) is None):
            del table[key]
    return table


def read_toml(path: Path) -> tuple[dict[str, object], str]:
    """The top level of a TOML file, whatever its name, and its text. It is read once, so it may be a pipe. Raises as `read_document`."""
    text = _text(path)
    document = _checked(path, text, _toml)
    assert isinstance(document, dict)  # as of every TOML file
    return document, text


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error


def _checked(path: Path, text: str, read: Callable[[Path, str], object]) -> object:
    try:
        document = read(path, text)
        check_depth(document)
        _check_size(path, document)
    except (RecursionError, TooDeepError):
        raise ConfigError(f"{path}: {TooDeepError()}") from None
    return document


_MOST_VALUES = 1_000_000


def _check_size(path: Path, document: object) -> None:
    """Refuse a document with so many aliases that it cannot be written out."""
    left, count = [document], 0
    while left:
        value = left.pop()
        inner = (
            value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        )
        count += len(inner)
        if count > _MOST_VALUES:
            raise ConfigError(
                f"{path} contains more than {_MOST_VALUES:,} values, counting those that aliases stand for (*name); write fewer"
            )
        left.extend(inner)


def _toml(path: Path, text: str) -> object:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {clause(error)}. Texts need quotes") from error


def _json(path: Path, text: str) -> object:
    def pairs(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for key, value in entries:
            if key in table:
                raise ConfigError(f"{path}: the key {key!r} appears twice in one object; keep one of them")
            table[key] = value
        return table

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path} is not valid JSON: line {error.lineno}: {error.msg}") from error


def _yaml(path: Path, text: str) -> object:
    import yaml

    try:
        return load_yaml(text, lambda node: f"{path}:{node.start_mark.line + 1}")
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        if mark is None or not problem:
            raise ConfigError(f"{path} is not valid YAML: {_in_one_line(error)}") from error
        place = f"line {mark.line + 1}, column {mark.column + 1}"
        raise ConfigError(f"{path} is not valid YAML: {place}: {problem}") from error


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
