"""`benchwright.toml`: where it is found and what it holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from benchwright.config._values import sub_table
from benchwright.core import (
    ConfigError,
    JsonObject,
    TooDeepError,
    check_depth,
    own_ancestors,
    refuse_foreign,
    suggest,
)

if TYPE_CHECKING:
    from benchwright.config._benchmark import BenchmarkConfig
    from benchwright.config._model import ModelConfig

CONFIG_NAMES = ("benchwright.toml", ".benchwright.toml", "quantiles.toml", ".quantiles.toml")
"""Names under which the file is looked for."""

FOREIGN_NAMES = ("quantiles.toml", ".quantiles.toml")
"""Those that another tool reads too: its own tables are passed over, and built-in evaluations need no type."""

_TABLES = ("benchmarks", "models", "perf", "run")


class ConfigFile(Struct, frozen=True):
    """A configuration file, parsed and checked."""

    path: Path
    """Where it is; relative paths in it start at its folder."""
    models: dict[str, ModelConfig] = field(default_factory=dict)
    """`[models.NAME]` tables."""
    benchmarks: dict[str, BenchmarkConfig] = field(default_factory=dict)
    """`[benchmarks.NAME]` tables."""
    run: JsonObject = field(default_factory=dict)
    """Defaults of run settings, under their canonical names."""
    perf: JsonObject = field(default_factory=dict)
    """Defaults of load tests, under their canonical names."""


def find_config(start: Path) -> ConfigFile | None:
    """The configuration file of the nearest folder, from `start` upwards, that has one.

    Folders that everybody may write to, such as /tmp, end the search. A file that another user owns or can write to
    is refused: it says where keys are sent and which code is run.
    """
    for folder in own_ancestors(start):
        found = [folder / name for name in CONFIG_NAMES if (folder / name).is_file()]
        if len(found) > 1:
            names = " and ".join(path.name for path in found)
            raise ConfigError(f"{folder} has both {names}; keep one of them")
        if found:
            refuse_foreign(found[0], "configuration", start)
            config = read_config(found[0])
            for entry in config.benchmarks.values():  # code that it names is as good as the file itself
                code = Path(re.sub(r"(?<=\.py):\w+$", "", entry.file))
                if code.suffix == ".py" and code.is_file():
                    refuse_foreign(code, "benchmark", start)
            return config
    return None


def read_config(path: Path) -> ConfigFile:
    """Parse and check one file. `ConfigError` names the file, the table and the key."""
    import tomllib

    # For those who have such a file: a run without one needs none of its tables.
    from benchwright.config._benchmark import read_benchmark, read_run_defaults
    from benchwright.config._model import read_model

    try:
        # utf-8-sig: some editors put a byte-order mark in front, which TOML does not know.
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
            f"{path} is not valid TOML: {error}. Texts need quotes, tables look like [run]"
        ) from error
    foreign = path.name in FOREIGN_NAMES
    for key in document:
        if key not in _TABLES and not foreign:
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
    # A model that is described where it is used is known by a name of its own, like any other.
    models |= {b.model: b.own_model for b in benchmarks.values() if b.own_model is not None and b.model}
    return ConfigFile(
        path=path,
        models=models,
        benchmarks=benchmarks,
        run=read_run_defaults(path, sub_table(path, "run", document.get("run", {}))),
        perf=_load_defaults(path, document),
    )


def _load_defaults(path: Path, document: dict[str, object]) -> JsonObject:
    """The `[perf]` table. Its settings are loaded where somebody uses them: most commands do not."""
    if "perf" not in document:
        return {}
    from benchwright.config._load_settings import read_load_defaults

    return read_load_defaults(path, sub_table(path, "perf", document["perf"]))
