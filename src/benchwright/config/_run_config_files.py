"""Makes run configurations from a file, flags and overrides: one, or one for each task of a launcher's file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from benchwright.config._config_layers import ConfigValue, leaves
from benchwright.config._environment import unset_variables
from benchwright.config._files import read_document
from benchwright.config._named_files import files_beside
from benchwright.config._overrides import read_override, read_overrides
from benchwright.config._recorded_runs import with_options
from benchwright.config._run_config import (
    RunConfig,
    flag_layer,
    override_layer,
    read_layer,
)
from benchwright.config._run_config_keys import RECORDS, RUN_CONFIG_KEYS
from benchwright.core import ConfigError, bridge

_HOLDS = "a run configuration has the keys config and target, that of several tasks evaluation and target"


_KEYS = {*(path[0] for path in RUN_CONFIG_KEYS), "datasets", "models"}
"""The keys of a run configuration, and of a suite, which is recognised here."""


class RunConfigs(Struct, frozen=True):
    """The run configurations of a file with flags and overrides."""

    configs: tuple[RunConfig, ...]
    """One for each task."""
    several: bool
    """Whether the file has the launcher's form, with any number of tasks."""
    at_once: bool = False
    """Whether the file requests its tasks to run at the same time."""
    notes: tuple[str, ...] = ()
    """Notes on keys without effect."""


class ConfigsOfSeveral(Protocol):
    """A bridge to files that describe several runs at once."""

    KEYS: tuple[str, ...]
    """The keys that such a file may have."""

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """Whether a document is such a file."""
        ...

    def read(
        self,
        file: Path,
        document: Mapping[str, Any],
        flags: Mapping[str, Any],
        overrides: Sequence[tuple[str, Any]],
    ) -> RunConfigs:
        """Merge the file with flags and overrides."""
        ...


def read_run_configs(
    file: Path | None,
    flags: Mapping[str, Any],
    overrides: str | None = None,
    pairs: Sequence[str] = (),
) -> RunConfigs:
    """Merge a file, flags and overrides: `overrides` as one text (`a.b=1,c.d=x`), `pairs` one by one.

    `flags` has options of a run by name, and `eval_type`. Raises ConfigError with the file, the key and similar ones.
    """
    above = [*(read_overrides(overrides) if overrides else ()), *map(read_override, pairs)]
    launcher: ConfigsOfSeveral = bridge("launcher")
    keys = {*_KEYS, *launcher.KEYS}
    document = {} if file is None else read_document(file, _HOLDS, keys, [path[0] for path in RECORDS])
    if "datasets" in document and "config" not in document:
        raise ConfigError(f"{file} is a suite of models and datasets; start it with: benchwright run {file}")
    if file is not None and launcher.recognises(document):
        return launcher.read(file, document, flags, above)
    given: list[ConfigValue] = []
    notes: tuple[str, ...] = ()
    if file is not None:
        given, notes = read_layer("run config", str(file), dict(leaves(with_options(document))))
        given, places = files_beside(file, given)
        notes = (*notes, *places)
    given += flag_layer(flags)
    given += override_layer(read_overrides(overrides) if overrides else (), "--overrides")
    given += override_layer([read_override(pair) for pair in pairs], "-o")
    config = RunConfig.of(given, variables=_recorded(document))
    return RunConfigs((config,), False, notes=notes)


def _recorded(document: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a recorded run; ConfigError with the cure if one of them cannot be set."""
    settings = document.get("settings")
    found = settings.get("variables") if isinstance(settings, dict) else None
    variables = {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
    for name, value in variables.items():
        kind, _, text = value.partition(":")
        if (text if kind == "host" else name) not in os.environ and kind != "lit":
            raise ConfigError(
                f"the recorded run had the variable {name}; before you start, {unset_variables({name: value})[0]}"
            )
    return variables
