"""Configurations of NeMo Evaluator's launcher: several tasks in one file, each with a run configuration of its own.

execution: {output_dir: results}
target: {api_endpoint: {model_id: …, url: …}}
evaluation:
  nemo_evaluator_config: {config: {params: {…}}}      # for all tasks
  tasks:
    - name: my_qa
      nemo_evaluator_config: {config: {params: {…}}}  # for this one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from benchwright.config._config_layers import Layer, Path, leaves
from benchwright.config._run_config import override_layer, read_layer
from benchwright.core import ConfigError, suggest

_OWN = "nemo_evaluator_config"
_TOP = ("defaults", "execution", "deployment", "target", "evaluation", "metadata", "export", "user")
_EVALUATION = (_OWN, "tasks", "env_vars", "overrides")
_TASK = (
    "name", _OWN, "env_vars", "overrides", "container", "container_arch", "dataset_dir", "dataset_mount_path", "endpoint_type",
)  # fmt: skip
_NO_CONTAINER = ("container", "container_arch", "dataset_mount_path", "mounts", "extra_docker_args")
_EXECUTION = ("output_dir", "type", "mode", "env_vars", "auto_export", *_NO_CONTAINER)
_MODES = ("parallel", "sequential")


class LauncherTask(Struct, frozen=True):
    """One task of a launcher's file."""

    name: str
    layers: tuple[Layer, ...]
    """What the file sets for it."""
    overrides: tuple[Layer, ...]
    """What overrides set for it."""


class LauncherFile(Struct, frozen=True):
    """A launcher's file with overrides, before flags."""

    tasks: tuple[LauncherTask, ...]
    output_dir: str | None
    """Where the tasks have their folders."""
    at_once: bool
    """Whether the tasks run at the same time."""
    notes: tuple[str, ...]


def is_launcher_file(document: Mapping[str, Any]) -> bool:
    """Whether a document has the launcher's form."""
    return "evaluation" in document or ("execution" in document and "config" not in document)


def read_launcher(source: str, document: Mapping[str, Any], pairs: Sequence[tuple[str, Any]]) -> LauncherFile:
    """The tasks of a file. ConfigError names what is missing, not known, or not done here."""
    notes: list[str] = []
    _known(source, "", document, _TOP)
    if "defaults" in document:
        notes.append(f"{source}: the defaults list is ignored; nothing is composed from other files")
    notes += [f"{source}: {key} is ignored" for key in ("export", "user") if key in document]
    _deployment(source, document.get("deployment"))
    evaluation = _table(source, "evaluation", document.get("evaluation"))
    _known(source, "evaluation", evaluation, _EVALUATION)
    entries = _entries(source, evaluation.get("tasks"))
    pairs, own = _split(source, pairs, entries)
    execution = _table(source, "execution", document.get("execution"))
    for key in [key for key, _ in pairs if key.startswith("execution.")]:
        value = dict(pairs)[key]
        execution = {**execution, key.removeprefix("execution."): value}
        pairs = [pair for pair in pairs if pair[0] != key]
    at_once = _execution(source, execution, notes)
    _environment(source, "evaluation", evaluation.get("env_vars"))
    shared, more = _shared(source, document, evaluation)
    above = override_layer(pairs, "-o") if pairs else None
    tasks = []
    for number, (name, entry) in enumerate(entries):
        layer, found = _task_layer(source, number, name, entry, notes)
        notes += found
        overrides = [] if above is None else [above]
        if own.get(number):
            overrides.append(override_layer(own[number], "-o"))
        tasks.append(LauncherTask(name, (*shared, layer), tuple(overrides)))
    place = execution.get("output_dir")
    if place is not None and not isinstance(place, str):
        raise ConfigError(f"{source}: execution.output_dir is {place!r}; expected a folder")
    return LauncherFile(tuple(tasks), place, at_once, tuple(dict.fromkeys((*more, *notes))))


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


def _split(
    source: str, pairs: Sequence[tuple[str, Any]], entries: Sequence[tuple[str, Any]]
) -> tuple[list[tuple[str, Any]], dict[int, list[tuple[str, Any]]]]:
    """Overrides of all tasks, and those of single ones by their number. Keys lose what leads to the run configuration."""
    every: list[tuple[str, Any]] = []
    own: dict[int, list[tuple[str, Any]]] = {}
    names = [name for name, _ in entries]
    for key, value in pairs:
        if key.startswith(f"evaluation.{_OWN}."):
            every.append((key.removeprefix(f"evaluation.{_OWN}."), value))
            continue
        if not key.startswith("evaluation."):
            every.append((key, value))
            continue
        rest = key.removeprefix("evaluation.tasks.")
        # Names of tasks may hold dots; the longest that fits is meant.
        name = max(
            (name for name in names if rest.startswith(f"{name}.")), key=len, default=rest.partition(".")[0]
        )
        chosen = [number for number, each in enumerate(names) if each == name]
        if name.isdigit() and int(name) < len(names):
            chosen = [int(name)]
        if rest == key or not chosen:
            raise ConfigError(
                f"-o {key}: {source} has no task of that name.{suggest(name, names)} Tasks: {', '.join(names)}"
            )
        inner = rest.removeprefix(f"{name}.")
        if not inner.startswith(f"{_OWN}."):
            raise ConfigError(
                f"-o {key}: expected evaluation.tasks.{name}.{_OWN}.config.… or .target.… after the task's name"
            )
        for number in chosen:
            own.setdefault(number, []).append((inner.removeprefix(f"{_OWN}."), value))
    return every, own


def _shared(
    source: str, document: Mapping[str, Any], evaluation: Mapping[str, Any]
) -> tuple[list[Layer], tuple[str, ...]]:
    """What holds for all tasks: the model, and the configuration next to the list of tasks."""
    top = {key: document[key] for key in ("target", "metadata") if document.get(key) is not None}
    first, more = read_layer("run config", source, dict(leaves(top)))
    values = _config_values(source, f"evaluation.{_OWN}", evaluation)
    second, others = read_layer("run config", f"{source}: evaluation.{_OWN}", values)
    return [first, second], (*more, *others)


def _task_layer(
    source: str, number: int, name: str, entry: Mapping[str, Any], notes: list[str]
) -> tuple[Layer, tuple[str, ...]]:
    place = f"evaluation.tasks.{number}"
    _environment(source, place, entry.get("env_vars"))
    notes += [
        f"{source}: {place}.{key} is ignored: the evaluation runs in this process, in no container"
        for key in (*_NO_CONTAINER, "dataset_dir", "endpoint_type")
        if entry.get(key) is not None
    ]
    values = _config_values(source, f"{place}.{_OWN}", entry)
    return read_layer("run config", f"{source}: {name}", values)


def _config_values(source: str, place: str, entry: Mapping[str, Any]) -> dict[Path, Any]:
    """The values of a configuration and of the older `overrides` next to it, whose keys are dotted."""
    values = dict(leaves(_table(source, place, entry.get(_OWN))))
    older = _table(source, place.replace(_OWN, "overrides"), entry.get("overrides"))
    for path, value in leaves(older):
        values[(*path[0].split("."), *path[1:])] = value
    return values


def _deployment(source: str, deployment: Any) -> None:
    kind = deployment.get("type") if isinstance(deployment, Mapping) else deployment
    if kind not in (None, "none"):
        raise ConfigError(
            f"{source}: deployment is {kind!r}, and servers are not started here; start yours, give its address as "
            "target.api_endpoint.url, and set deployment: none"
        )


def _execution(source: str, execution: Mapping[str, Any], notes: list[str]) -> bool:
    _known(source, "execution", execution, _EXECUTION)
    kind, mode = execution.get("type", "local"), execution.get("mode", "sequential")
    if kind != "local":
        raise ConfigError(
            f"{source}: execution.type is {kind!r}; evaluations run on this machine: expected local"
        )
    if mode not in _MODES:
        raise ConfigError(f"{source}: execution.mode is {mode!r}; expected {' or '.join(_MODES)}")
    _environment(source, "execution", execution.get("env_vars"))
    ignored = [key for key in (*_NO_CONTAINER, "auto_export") if execution.get(key)]
    notes += [f"{source}: execution.{key} is ignored" for key in ignored]
    return bool(mode == "parallel")


def _environment(source: str, place: str, variables: Any) -> None:
    """A container gets variables by name; a process has them already, under the names they have."""
    for name, value in _table(source, f"{place}.env_vars", variables).items():
        if value not in (None, name, f"${name}", f"host:{name}"):
            raise ConfigError(  # the value is not repeated: it may be a key
                f"{source}: {place}.env_vars.{name} gives the variable another value; export {name} before you start "
                f"instead, and write {name}: {name}"
            )


def _table(source: str, place: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: {place} is {value!r}; expected a table")
    return dict(value)


def _known(source: str, place: str, table: Mapping[str, Any], names: Sequence[str]) -> None:
    for key in table:
        if key == "pre_cmd":
            raise ConfigError(
                f"{source}: {place}.pre_cmd: no command is run from a configuration; run it before"
            )
        if key not in names:
            where = f"{place}.{key}" if place else key
            raise ConfigError(
                f"{source}: {where} is not known.{suggest(key, names)} Known: {', '.join(names)}"
            )
