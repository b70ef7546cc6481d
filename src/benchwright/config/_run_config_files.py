"""Makes run configurations from a file, flags and overrides: one, or one for each task of a launcher's file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from benchwright.config._config_layers import ConfigValue, Path as Key, leaves
from benchwright.config._environment import unset_variables
from benchwright.config._files import read_document
from benchwright.config._named_files import files_beside, place_beside
from benchwright.config._overrides import read_override, read_overrides
from benchwright.config._recorded_runs import with_options
from benchwright.config._run_config import (
    RunConfig,
    flag_layer,
    override_layer,
    read_layer,
)
from benchwright.config._run_config_keys import KEY_OF, RECORDS, RUN_CONFIG_KEYS
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

    @classmethod
    def read(
        cls,
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
            raise ConfigError(
                f"{file} is a suite of models and datasets; start it with: benchwright run {file}"
            )
        if file is not None and launcher.recognises(document):
            return _of_several(file, launcher, document, flags, above)
        layers = () if file is None else ((str(file), dict(leaves(with_options(document)))),)
        typed = (
            ("--overrides", read_overrides(overrides) if overrides else []),
            ("-o", [read_override(pair) for pair in pairs]),
        )
        run = DescribedRun(layers=layers, overrides=typed, variables=_recorded(document))
        config, notes = _merged(file or Path(), run, flag_layer(flags))
        return cls((config,), False, notes=tuple(notes))


class DescribedRun(Struct, frozen=True):
    """A run as a file describes it, before its values are checked."""

    name: str = ""
    """Its target, if no value says so."""
    label: str = ""
    """Its name among several."""
    folder: str = ""
    """The name of its folder, in that of several runs."""
    layers: tuple[tuple[str, Mapping[Key, Any]], ...] = ()
    """Tables of values with their sources, the lowest first."""
    overrides: tuple[tuple[str, Sequence[tuple[str, Any]]], ...] = ()
    """What overrides file and flags, with the sources."""
    variables: Mapping[str, str] = {}
    """Its environment variables, each `host:NAME` or `lit:VALUE`."""


class ConfigsOfSeveral(Protocol):
    """A bridge to files that describe several runs at once."""

    KEYS: tuple[str, ...]
    """The keys that such a file may have."""

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """Whether a document is such a file."""
        ...

    def read(
        self,
        source: str,
        document: Mapping[str, Any],
        flags: Sequence[tuple[str, Any]],
        overrides: Sequence[tuple[str, Any]],
        *,
        placed: bool,
    ) -> tuple[list[DescribedRun], bool, list[str]]:
        """Its runs, whether they run at the same time, and notes."""
        ...


def _of_several(
    file: Path,
    launcher: ConfigsOfSeveral,
    document: Mapping[str, Any],
    flags: Mapping[str, Any],
    overrides: Sequence[tuple[str, Any]],
) -> RunConfigs:
    place = flags.get("output_dir")
    typed = flag_layer({name: value for name, value in flags.items() if name != "output_dir"})
    pairs = [(each.key, each.value) for each in typed]
    runs, at_once, notes = launcher.read(str(file), document, pairs, overrides, placed=bool(place))
    if flags.get("eval_type") is not None:
        raise ConfigError(
            "the file lists what is evaluated as evaluation.tasks; leave the name on the command line out"
        )
    configs = []
    for run in runs:
        own = (
            [ConfigValue(KEY_OF["output_dir"], str(Path(place) / run.folder), "flags", "--output-dir")]
            if place
            else []
        )
        config, more = _merged(file, run, [*typed, *own])
        configs.append(config)
        notes += more
    _refuse_shared_folders(configs)
    return RunConfigs(tuple(configs), True, at_once, tuple(dict.fromkeys(notes)))


def _merged(file: Path, run: DescribedRun, flags: Sequence[ConfigValue]) -> tuple[RunConfig, list[str]]:
    """The configuration of a run, and notes. Relative paths may start at the folder of the file."""
    target, notes = place_beside(file, run.name) if run.name else ("", [])
    given: list[ConfigValue] = []
    for source, values in run.layers:
        layer, more = read_layer("run config", source, values)
        layer, beside = files_beside(file, layer)
        given += layer
        notes = [*notes, *more, *beside]
    given += flags
    for source, pairs in run.overrides:
        given += override_layer(pairs, source)
    return RunConfig.of(given, label=run.label, name=target, variables=run.variables), notes


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
