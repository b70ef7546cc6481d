"""Reads configurations of NeMo Evaluator's launcher: several tasks in one file, each with a run configuration.

execution: {output_dir: results}
target: {api_endpoint: {model_id: …, url: …}}
evaluation:
  nemo_evaluator_config: {config: {params: {…}}}      # for all tasks
  tasks:
    - name: my_qa
      nemo_evaluator_config: {config: {params: {…}}}  # for this one
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.bridges._launcher_overrides import OWN, patch, split_overrides, with_overrides
from benchwright.bridges._references import References
from benchwright.config import (
    KEY_OF,
    TO_BE_GIVEN,
    Layer,
    RunConfig,
    RunConfigs,
    config_of,
    files_beside,
    flag_layer,
    leaves,
    merge_variables,
    note_on,
    override_layer,
    place_beside,
    read_layer,
    read_variables,
)
from benchwright.core import ConfigError, suggest

KEYS = (
    "defaults", "execution", "deployment", "target", "evaluation", "metadata", "export", "user", "env_vars",
    "auxiliary_deployments", "user_config_path",
)  # fmt: skip
_EVALUATION = (OWN, "tasks", "env_vars", "overrides")
_TASK = (
    "name", OWN, "env_vars", "overrides", "container", "container_arch", "dataset_dir", "dataset_mount_path", "endpoint_type",
)  # fmt: skip
_NO_CONTAINER = ("container", "container_arch", "dataset_mount_path", "mounts", "extra_docker_args")
_NO_CLUSTER = ("endpoint_readiness_timeout", "walltime", "num_instances")
_EXECUTION = ("output_dir", "type", "mode", "env_vars", "auto_export", *_NO_CONTAINER, *_NO_CLUSTER)
_MODES = ("parallel", "sequential")


class LauncherTask(Struct, frozen=True):
    """One task of a launcher's file."""

    name: str
    layers: tuple[Layer, ...]
    """The values in the file."""
    overrides: tuple[Layer, ...]
    """The values in overrides."""
    variables: Mapping[str, str] = {}
    """Its variables and those of all tasks, each `host:NAME` or `lit:VALUE`."""


class LauncherFile(Struct, frozen=True):
    """A launcher's file with overrides, before flags."""

    tasks: tuple[LauncherTask, ...]
    output_dir: str | None
    """The folder that contains the folders of the tasks."""
    at_once: bool
    """Whether the tasks run at the same time."""
    notes: tuple[str, ...]


def recognises(document: Mapping[str, Any]) -> bool:
    """Whether a document has the launcher's form."""
    return "evaluation" in document or ("execution" in document and "config" not in document)


def read(
    file: Path, document: Mapping[str, Any], flags: Mapping[str, Any], overrides: Sequence[tuple[str, Any]]
) -> RunConfigs:
    """Merge a launcher's file with flags and overrides: one run configuration for each task."""
    typed = flag_layer({name: value for name, value in flags.items() if name != "output_dir"})
    found = read_launcher(str(file), document, overrides, typed)
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


def read_launcher(
    source: str, document: Mapping[str, Any], pairs: Sequence[tuple[str, Any]], typed: Layer | None = None
) -> LauncherFile:
    """The tasks of a file. References in it mean the value that holds in the end: that of an override, or of a `typed` flag.
    Raises ConfigError for keys that are missing, unknown or not supported."""
    notes: list[str] = []
    _known(source, "", document, KEYS)
    evaluation = _table(source, "evaluation", document.get("evaluation"))
    tasks = [entry for _, entry in _entries(source, evaluation.get("tasks"))]
    document = {**document, "evaluation": {**evaluation, "tasks": tasks}}
    every, own, rest = split_overrides(source, pairs, [task["name"] for task in tasks])
    for key, _ in rest:
        _known("-o", "", {key.partition(".")[0]: None}, KEYS)
    document = patch(source, document, rest)
    flags = [] if typed is None else [(".".join(path), value) for path, value in typed.values.items()]
    references = References(with_overrides(source, document, [*flags, *every], own))
    document = references.resolved(source, document)
    every = [(key, references.resolved("-o", value, key)) for key, value in every]
    own = {
        number: [(key, references.resolved("-o", value, key)) for key, value in of_task]
        for number, of_task in own.items()
    }
    if "defaults" in document:
        notes.append(f"{source}: the defaults list is ignored; nothing is composed from other files")
    notes += [f"{source}: {key} is ignored" for key in ("export", "user") if key in document]
    _deployment(source, document)
    evaluation = _table(source, "evaluation", document.get("evaluation"))
    _known(source, "evaluation", evaluation, _EVALUATION)
    execution = _table(source, "execution", document.get("execution"))
    at_once = _execution(source, {"type": _composed(document, "execution"), **execution}, notes)
    variables = [
        _environment(source, place, table.get("env_vars"))
        for place, table in (("", document), ("execution.", execution), ("evaluation.", evaluation))
    ]
    shared, more = _shared(source, document, evaluation)
    above = override_layer(every, "-o") if every else None
    found_tasks = []
    for number, (name, entry) in enumerate(_entries(source, evaluation.get("tasks"))):
        own_variables = _environment(source, f"evaluation.tasks.{number}.", entry.get("env_vars"))
        layer, found = _task_layer(source, number, name, entry, notes)
        notes += found
        overrides = [] if above is None else [above]
        if own.get(number):
            overrides.append(override_layer(own[number], "-o"))
        merged = merge_variables(*variables, own_variables)
        found_tasks.append(LauncherTask(name, (*shared, layer), tuple(overrides), merged))
    place = execution.get("output_dir")
    if place is not None and not isinstance(place, str):
        raise ConfigError(f"{source}: execution.output_dir is {place!r}; expected a folder")
    notes = [*dict.fromkeys((*more, *notes))]
    return LauncherFile(tuple(found_tasks), place, at_once, tuple(notes))


def _entries(source: str, tasks: Any) -> list[tuple[str, dict[str, Any]]]:
    """Name and table of each task, from a list or a table of them."""
    if isinstance(tasks, Mapping):
        tasks = [
            {"name": name, **_table(source, f"evaluation.tasks.{name}", entry)}
            for name, entry in tasks.items()
        ]
    if not isinstance(tasks, list) or not tasks:
        raise ConfigError(
            f"{source}: evaluation.tasks is {tasks!r}; expected a list of tasks, each with a name"
        )
    found = []
    for number, entry in enumerate(tasks):
        place = f"evaluation.tasks.{number}"
        entry = {"name": entry} if isinstance(entry, str) else _table(source, place, entry)
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            raise ConfigError(
                f"{source}: {place}.name is missing; expected an evaluation that benchwright ls lists"
            )
        _known(source, place, entry, _TASK)
        found.append((name, dict(entry)))
    return found


def _shared(
    source: str, document: Mapping[str, Any], evaluation: Mapping[str, Any]
) -> tuple[list[Layer], tuple[str, ...]]:
    """The values for all tasks: the model, and the configuration next to the list of tasks."""
    top = {key: document[key] for key in ("target", "metadata") if document.get(key) is not None}
    first, more = read_layer("run config", source, dict(leaves(top)))
    values = _config_values(source, f"evaluation.{OWN}", evaluation)
    second, others = read_layer("run config", f"{source}: evaluation.{OWN}", values)
    return [first, second], (*more, *others)


def _task_layer(
    source: str, number: int, name: str, entry: Mapping[str, Any], notes: list[str]
) -> tuple[Layer, tuple[str, ...]]:
    place = f"evaluation.tasks.{number}"
    notes += [
        f"{source}: {place}.{key} is ignored: the evaluation runs in this process, in no container"
        for key in (*_NO_CONTAINER, "dataset_dir")
        if entry.get(key) is not None
    ]
    values = _config_values(source, f"{place}.{OWN}", entry)
    if entry.get("endpoint_type") is not None:
        values.setdefault(KEY_OF["model_type"], entry["endpoint_type"])
    return read_layer("run config", f"{source}: {name}", values)


def _config_values(source: str, place: str, entry: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """The values of a configuration and of the older `overrides` next to it, whose keys are dotted."""
    values = dict(leaves(_table(source, place, entry.get(OWN))))
    older = _table(source, place.replace(OWN, "overrides"), entry.get("overrides"))
    for path, value in leaves(older):
        values[(*path[0].split("."), *path[1:])] = value
    return values


def _composed(document: Mapping[str, Any], table: str) -> str | None:
    """The choice of the defaults list for a table of the launcher, such as `deployment: vllm`."""
    chosen = document.get("defaults")
    tables = [each for each in chosen if isinstance(each, Mapping)] if isinstance(chosen, list) else []
    found = [each[table] for each in tables if table in each]
    return str(found[-1]).partition("/")[0] if found else None


def _deployment(source: str, document: Mapping[str, Any]) -> None:
    deployment = document.get("deployment")
    kind = deployment.get("type") if isinstance(deployment, Mapping) else deployment
    others = _table(source, "auxiliary_deployments", document.get("auxiliary_deployments"))
    kinds = [kind or _composed(document, "deployment")]
    kinds += [each.get("type", "none") if isinstance(each, Mapping) else each for each in others.values()]
    for each in kinds:
        if each not in (None, "none"):
            raise ConfigError(
                f"{source}: deployment is {each!r}, and servers are not started here; start yours, give its address as "
                "target.api_endpoint.url, and set deployment: none"
            )


def _execution(source: str, execution: Mapping[str, Any], notes: list[str]) -> bool:
    _known(source, "execution", execution, _EXECUTION)
    kind, mode = execution.get("type") or "local", execution.get("mode", "sequential")
    if kind != "local":
        raise ConfigError(
            f"{source}: execution.type is {kind!r}; evaluations run on this machine: expected local"
        )
    if mode not in _MODES:
        raise ConfigError(f"{source}: execution.mode is {mode!r}; expected {' or '.join(_MODES)}")
    ignored = [key for key in (*_NO_CONTAINER, *_NO_CLUSTER, "auto_export") if execution.get(key)]
    notes += [f"{source}: execution.{key} is ignored" for key in ignored]
    return bool(mode == "parallel")


def _environment(source: str, place: str, variables: Any) -> dict[str, str]:
    return read_variables(source, place, _table(source, f"{place}env_vars", variables))


def _table(source: str, place: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: {place} is {value!r}; expected a table")
    return dict(value)


def _known(source: str, place: str, table: Mapping[str, Any], names: Sequence[str]) -> None:
    for key in table:
        if key in ("pre_cmd", "post_cmd"):
            if not table[key]:
                continue
            raise ConfigError(f"{source}: {place}.{key}: a configuration runs no commands; run it yourself")
        if key not in names:
            where = f"{place}.{key}" if place else key
            raise ConfigError(
                f"{source}: {where} is not known.{suggest(key, names)} Known: {', '.join(names)}"
            )
