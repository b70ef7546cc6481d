"""Run configurations of NeMo Evaluator: a YAML file with `config` and `target`, which flags override, and overrides override
both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from benchwright.config._config_layers import ConfigValue, LayerName, Path, as_table, leaves, merged
from benchwright.config._recorded_runs import name_demo_model
from benchwright.config._run_config_keys import (
    ADAPTER,
    BAKED_IN,
    EXTRA,
    FAIL_ON_SKIP,
    KEY_OF,
    MODULE,
    RECORDS,
    RUN_CONFIG_KEYS,
    SHOWN_KEYS,
    TYPE,
    check_key,
    checked_value,
    is_table,
    option_of,
)
from benchwright.config._run_settings import BY_NAME
from benchwright.config._values import from_python
from benchwright.core import ConfigError

_FRAMEWORK = tuple(
    ConfigValue(path, default, "framework", "default")
    for path in SHOWN_KEYS
    if path[:2] == ("config", "params") and (default := BY_NAME[RUN_CONFIG_KEYS[path]].default) is not None
)
"""The defaults that a complete configuration shows."""


class RunConfig(Struct, frozen=True):
    """A merged run configuration."""

    to_be_given: ClassVar[str] = "???"
    """Marks a value in launchers' files that the user must give."""

    target: str
    """The target as written: a name, `FRAMEWORK.NAME`, or a file."""
    options: Mapping[str, Any]
    """Options of the run by name."""
    given: tuple[ConfigValue, ...]
    """The values as they were given, the lowest layer first."""
    share: float | None = None
    """The share of rows to evaluate; None: `options` give the number."""
    extra: Mapping[str, Any] = {}
    """Settings that the benchmark must declare."""
    repeated: Mapping[str, Any] = {}
    """Values that the configuration repeats from the benchmark, by its fields; a run cannot change them."""
    metadata: Mapping[str, Any] = {}
    """The section of this name, as written."""
    adapter_config: Mapping[str, Any] | list[Any] | None = None
    """Steps of the request pipeline, as written; None: not given."""
    label: str = ""
    """The task's name in a file with several."""
    variables: Mapping[str, str] = {}
    """Environment variables of the run, each `host:NAME` or `lit:VALUE`."""

    @classmethod
    def of(
        cls,
        given: Sequence[ConfigValue],
        *,
        label: str = "",
        name: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> RunConfig:
        """Merge the values of all layers into a configuration. `name` is the target if no layer gives one."""
        values = merged(given)
        for value in values.values():
            if value.value == RunConfig.to_be_given:
                raise ConfigError(
                    f"{value.source}: {value.key} is {RunConfig.to_be_given}, a value that is still to be given: -o {value.key}=VALUE"
                )
        found = {path: value.value for path, value in values.items()}
        target = found.get(TYPE, name)
        if not target:
            raise ConfigError(
                "no evaluation is named: give --eval_type NAME, or config.type in the run configuration"
            )
        options, extra, repeated = _by_purpose(found)
        metadata, adapter = options.pop("metadata", {}), options.pop("pipeline", None)
        if found.get(FAIL_ON_SKIP) and "max_failures" not in options:
            options["max_failures"] = 0
        if MODULE in found:
            target = _of_module(found[MODULE], target, options)
        if options.get("task") in (target, re.split("[.:]", target)[-1]):
            del options["task"]  # as files of other benchmarks write it
        name_demo_model(options)
        share = options.pop("limit") if isinstance(options.get("limit"), float) else None
        return cls(
            target,
            options,
            tuple(given),
            share,
            extra,
            repeated,
            metadata,
            adapter,
            label,
            variables or {},
        )

    @property
    def values(self) -> dict[str, Any]:
        """The values by their dotted keys."""
        return {value.key: value.value for value in self.explained()}

    def explained(self, lower: Sequence[ConfigValue] = ()) -> list[ConfigValue]:
        """Every value with its origin, by key; with `lower`, the layer of the task, complete."""
        found = merged(self._complete(lower))
        return [found[path] for path in sorted(found)]

    def as_document(self, lower: Sequence[ConfigValue] = ()) -> dict[str, Any]:
        """The configuration in the form of a file; with `lower`, the layer of the task, complete."""
        found = {path: value.value for path, value in merged(self._complete(lower)).items()}
        empty = {path: None for path in SHOWN_KEYS if path not in found} if lower else {}
        return as_table({**found, **empty})

    def _complete(self, lower: Sequence[ConfigValue]) -> tuple[ConfigValue, ...]:
        return (*_FRAMEWORK, *lower, *self.given) if lower else self.given

    def check_complete(self) -> None:
        """Raise ConfigError if a value that run_eval requires is missing."""
        options = self.options
        if options.get("output_dir") is None:
            raise ConfigError(
                "config.output_dir is missing: give --output_dir DIR, or config.output_dir in the run configuration"
            )
        if "model" in options or "host_ip" in options or "host_port" in options:
            return
        for name, flag, example in (
            ("model_url", "--model_url", "http://localhost:8000/v1"),
            ("model_id", "--model_id", "my-model"),
            ("model_type", "--model_type", "chat"),
        ):
            if options.get(name) is None:
                key = ".".join(KEY_OF[name])
                raise ConfigError(
                    f"{key} is missing: give {flag}, such as {flag} {example}, or {key} in the run configuration"
                )


def read_layer(
    layer: LayerName, source: str, values: Mapping[Path, Any]
) -> tuple[list[ConfigValue], tuple[str, ...]]:
    """Check the values of a layer. Returns them with notes on keys without effect."""
    found: dict[Path, Any] = {}
    records = {
        ".".join(record): None
        for record in RECORDS
        for path, value in values.items()
        if path[: len(record)] == record and value is not None
    }
    notes = [f"{source}: recorded by an earlier run, without effect: {', '.join(records)}"] if records else []
    for path, value in values.items():
        if any(path[: len(record)] == record for record in RECORDS):
            continue
        if value is None and is_table(path):
            found[path] = None
            continue
        if is_table(path) and path not in RUN_CONFIG_KEYS:
            if value != {}:
                raise ConfigError(f"{source}: {'.'.join(path)} is {value!r}; expected a table of keys")
            continue
        key = check_key(source, path)
        if key in found and found[key] != value:
            raise ConfigError(
                f"{source} sets {'.'.join(key)} twice, once as {'.'.join(path)}; keep one of them"
            )
        found[key] = value if value in (None, RunConfig.to_be_given) else checked_value(source, key, value)
    return [ConfigValue(path, value, layer, source) for path, value in found.items()], tuple(notes)


def flag_layer(flags: Mapping[str, Any]) -> list[ConfigValue]:
    """The layer of flags: options of a run by name, and `eval_type`. Tables are merged with those of the file."""
    keys = {**KEY_OF, "eval_type": TYPE, "extra": EXTRA}
    found: list[ConfigValue] = []
    for name, value in flags.items():
        if value is None:
            continue
        flag = f"--{name.replace('_', '-')}"
        if name in ("limit", "model_type"):
            checked_value(flag, keys[name], value)
        if name == "headers":
            value = from_python(BY_NAME[name], value)
        table = dict(leaves(value, keys[name])) if isinstance(value, Mapping) else {keys[name]: value}
        if keys[name] == ADAPTER and isinstance(value, Mapping):  # steps in flags replace those of the file
            table = {ADAPTER: None, **table}
        found += [ConfigValue(path, each, "flags", flag) for path, each in table.items()]
    return found


def override_layer(pairs: Sequence[tuple[str, Any]], source: str) -> list[ConfigValue]:
    """The layer of overrides; if a key is given twice, the last counts."""
    found: dict[Path, ConfigValue] = {}
    for key, value in pairs:
        for path, each in leaves({key: value}):
            words = (*path[0].split("."), *path[1:])
            for checked in read_layer("overrides", source, {words: each})[0]:
                found.pop(checked.path, None)  # later ones come last
                found[checked.path] = checked
    return list(found.values())


def _by_purpose(found: Mapping[Path, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The options of the run, the settings that the benchmark must declare, and the values that repeat its fields."""
    options: dict[str, Any] = {}
    extra: dict[Path, Any] = {}
    tables: dict[str, dict[Path, Any]] = {}
    repeated: dict[str, Any] = {}
    for path, value in found.items():
        head = next((path[:n] for n in range(len(path), 0, -1) if path[:n] in RUN_CONFIG_KEYS), None)
        if head is None:
            extra[path[len(EXTRA) :]] = value
        elif (option := option_of(head)) and head == path:
            options[option] = value
        elif option:
            tables.setdefault(option, {})[path[len(head) :]] = value
        elif head in BAKED_IN and head == path:
            repeated[BAKED_IN[head]] = value
        elif head in BAKED_IN:
            repeated.setdefault(BAKED_IN[head], {})[".".join(path[len(head) :])] = value
    repeated.pop("", None)  # repeats no field
    for name, held in tables.items():
        options[name] = as_table(held, as_written=True)
    return options, as_table(extra), repeated


def _of_module(module: str, target: str, options: dict[str, Any]) -> str:
    """The benchmark of a file that the configuration names, or that file of questions."""
    if target.startswith(("mcq.", "qa.")) and not module.endswith(".py"):
        options.pop("task", None)
        return module
    name = options.pop("task", None) or target.rpartition(".")[2]
    return f"{module}:{name}"
