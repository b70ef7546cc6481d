"""Makes run configurations from a file, flags and overrides: one, or one for each task of a launcher's file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.config._beside import files_beside, note_on, place_beside
from benchwright.config._config_layers import Layer, leaves
from benchwright.config._environment import unset_variables
from benchwright.config._files import read_document
from benchwright.config._launcher import LAUNCHER_KEYS, LauncherFile, is_launcher_file, read_launcher
from benchwright.config._overrides import read_override, read_overrides
from benchwright.config._recorded_runs import with_options
from benchwright.config._run_config import (
    TO_BE_GIVEN,
    RunConfig,
    config_of,
    flag_layer,
    override_layer,
    read_layer,
)
from benchwright.config._run_config_keys import KEY_OF, RECORDS, RUN_CONFIG_KEYS
from benchwright.core import ConfigError

_HOLDS = "a run configuration has the keys config and target, that of several tasks evaluation and target"


_KEYS = {*(path[0] for path in RUN_CONFIG_KEYS), *LAUNCHER_KEYS, "datasets", "models"}
"""The keys of a run configuration, of a launcher's file, and of a suite, which is recognised here."""


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
    document = {} if file is None else read_document(file, _HOLDS, _KEYS, [path[0] for path in RECORDS])
    if "datasets" in document and "config" not in document:
        raise ConfigError(f"{file} is a suite of models and datasets; start it with: benchwright run {file}")
    if file is not None and is_launcher_file(document):
        typed = flag_layer({name: value for name, value in flags.items() if name != "output_dir"})
        return _tasks(file, read_launcher(str(file), document, above, typed), flags, typed)
    layers: list[Layer] = []
    notes: tuple[str, ...] = ()
    if file is not None:
        layer, notes = read_layer("run config", str(file), dict(leaves(with_options(document))))
        layer, places = files_beside(file, layer)
        layers.append(layer)
        notes = (*notes, *places)
    layers.append(flag_layer(flags))
    if overrides:
        layers.append(override_layer(read_overrides(overrides), "--overrides"))
    if pairs:
        layers.append(override_layer([read_override(pair) for pair in pairs], "-o"))
    config = config_of(layers, notes=notes, variables=_recorded(document))
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


def _tasks(file: Path, found: LauncherFile, flags: Mapping[str, Any], typed: Layer) -> RunConfigs:
    if flags.get("eval_type") is not None:
        raise ConfigError(
            "the file lists what is evaluated as evaluation.tasks; leave the name on the command line out"
        )
    labels = _labels([task.name for task in found.tasks])
    folders = _labels([_folder(label) for label in labels])
    place = flags.get("output_dir") or found.output_dir
    if place == TO_BE_GIVEN:
        raise ConfigError(
            f"execution.output_dir is {place}, a folder that is still to be given: --output-dir DIR"
        )
    configs = []
    notes = list(found.notes)
    for task, label, own in zip(found.tasks, labels, folders, strict=True):
        placed = [files_beside(file, layer) for layer in task.layers]
        name = place_beside(file, task.name)
        notes += [note_on(file, task.name)] if name != task.name else []
        notes += [note for _, more in placed for note in more]
        layers = [*(layer for layer, _ in placed), typed, *task.overrides]
        if place is not None:
            folder = {KEY_OF["output_dir"]: str(Path(place) / own)}
            source = "--output-dir" if flags.get("output_dir") else "execution.output_dir"
            typed_place = bool(flags.get("output_dir"))  # otherwise the folder of a task takes precedence
            at = len(task.layers) + (1 if typed_place else -1)
            layers.insert(at, Layer("run config", folder, source))
        configs.append(config_of(layers, label=label, name=name, variables=task.variables))
    _refuse_shared_folders(configs)
    return RunConfigs(tuple(configs), True, found.at_once, tuple(dict.fromkeys(notes)))


def _labels(names: Sequence[str]) -> list[str]:
    """The names, numbered if one occurs more than once.

    >>> _labels(["a", "b", "a", "a.1"])
    ['a.2', 'b', 'a.3', 'a.1']
    """
    found: list[str] = []
    for name in names:
        number, label = 0, name
        while names.count(name) > 1 and label in (*names, *found):
            number += 1
            label = f"{name}.{number}"
        found.append(label)
    return found


def _refuse_shared_folders(configs: Sequence[RunConfig]) -> None:
    """Raise for tasks that share a folder, because they would overwrite each other's results."""
    owners: dict[str, str] = {}
    for config in configs:
        if (place := config.options.get("output_dir")) is None:
            continue
        first = owners.setdefault(os.path.abspath(place), config.label)
        if first != config.label:
            raise ConfigError(
                f"{first} and {config.label} would both write their results into {place}; give each task its own "
                "config.output_dir"
            )


def _folder(label: str) -> str:
    """The folder name of a task."""
    return re.sub(r"[^\w.-]+", "_", label).strip("._") or "task"
