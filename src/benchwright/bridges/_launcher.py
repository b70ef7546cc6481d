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

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.bridges._launcher_overrides import OWN, Pairs, patch, split_overrides, with_overrides
from benchwright.bridges._references import References
from benchwright.config import KEY_OF, DescribedRun, RunConfig, leaves, read_variables
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


def recognises(document: Mapping[str, Any]) -> bool:
    """Whether a document has the launcher's form."""
    return "evaluation" in document or ("execution" in document and "config" not in document)


def read(
    source: str,
    document: Mapping[str, Any],
    flags: Sequence[tuple[str, Any]],
    overrides: Sequence[tuple[str, Any]],
    *,
    placed: bool,
) -> tuple[list[DescribedRun], bool, list[str]]:
    """The tasks of a file, whether they run at the same time, and notes on keys without effect.

    References in the file mean the value that holds in the end: that of an override, or of a flag. `placed`: a flag says where
    results go. Raises ConfigError for keys that are missing, unknown or not supported.
    """
    document, every, own = _with_overrides(source, document, overrides, flags)
    notes: list[str] = []
    if "defaults" in document:
        notes.append(f"{source}: the defaults list is ignored; nothing is composed from other files")
    notes += [f"{source}: {key} is ignored" for key in ("export", "user") if key in document]
    _deployment(source, document)
    evaluation = _table(source, "evaluation", document.get("evaluation"))
    _known(source, "evaluation", evaluation, _EVALUATION)
    execution = _table(source, "execution", document.get("execution"))
    at_once = _execution(source, {"type": _composed(document, "execution"), **execution}, notes)
    place = _place(source, execution, placed=placed)
    tables = [("", document), ("execution.", execution), ("evaluation.", evaluation)]
    top = {key: document[key] for key in ("target", "metadata") if document.get(key) is not None}
    of_all = f"evaluation.{OWN}"
    shared = [
        (source, dict(leaves(top))),
        (f"{source}: {of_all}", _config_values(source, of_all, evaluation)),
    ]
    entries = _entries(source, evaluation.get("tasks"))
    labels = _labels([name for name, _ in entries])
    folders = _labels([_folder(label) for label in labels])
    tasks = []
    for number, ((name, entry), label, folder) in enumerate(zip(entries, labels, folders, strict=True)):
        places = [*tables, (f"evaluation.tasks.{number}.", entry)]
        variables = read_variables(
            source,
            [(place, _table(source, f"{place}env_vars", each.get("env_vars"))) for place, each in places],
        )
        in_file = {} if place is None else {KEY_OF["output_dir"]: str(Path(place) / folder)}
        values = _task_values(source, number, entry, notes)
        layers = (*shared, ("execution.output_dir", in_file), (f"{source}: {name}", values))
        pairs = (("-o", every), ("-o", own.get(number, [])))
        tasks.append(DescribedRun(name, label, folder, layers, pairs, variables))
    return tasks, at_once, notes


def _with_overrides(
    source: str,
    document: Mapping[str, Any],
    pairs: Sequence[tuple[str, Any]],
    flags: Sequence[tuple[str, Any]],
) -> tuple[dict[str, Any], Pairs, dict[int, Pairs]]:
    """The document with its overrides and without references, and the overrides of run configurations: of all tasks, and of
    single ones by number."""
    _known(source, "", document, KEYS)
    evaluation = _table(source, "evaluation", document.get("evaluation"))
    tasks = [entry for _, entry in _entries(source, evaluation.get("tasks"))]
    document = {**document, "evaluation": {**evaluation, "tasks": tasks}}
    every, own, rest = split_overrides(source, pairs, [task["name"] for task in tasks])
    for key, _ in rest:
        _known("-o", "", {key.partition(".")[0]: None}, KEYS)
    document = patch(source, document, rest)
    references = References(with_overrides(source, document, [*flags, *every], own))

    def resolved(pairs: Pairs) -> Pairs:
        return [(key, references.resolved("-o", value, key)) for key, value in pairs]

    found = references.resolved(source, document)
    return found, resolved(every), {number: resolved(of_task) for number, of_task in own.items()}


def _place(source: str, execution: Mapping[str, Any], *, placed: bool) -> str | None:
    """The folder that contains the folders of the tasks, if the file decides."""
    written = execution.get("output_dir")
    if written is not None and not isinstance(written, str):
        raise ConfigError(f"{source}: execution.output_dir is {written!r}; expected a folder")
    if written == RunConfig.to_be_given and not placed:
        raise ConfigError(
            f"execution.output_dir is {written}, a folder that is still to be given: --output-dir DIR"
        )
    return None if placed else written


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


def _folder(label: str) -> str:
    """The folder name of a task."""
    return re.sub(r"[^\w.-]+", "_", label).strip("._") or "task"


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


def _task_values(
    source: str, number: int, entry: Mapping[str, Any], notes: list[str]
) -> dict[tuple[str, ...], Any]:
    place = f"evaluation.tasks.{number}"
    notes += [
        f"{source}: {place}.{key} is ignored: the evaluation runs in this process, in no container"
        for key in (*_NO_CONTAINER, "dataset_dir")
        if entry.get(key) is not None
    ]
    values = _config_values(source, f"{place}.{OWN}", entry)
    if entry.get("endpoint_type") is not None:
        values.setdefault(KEY_OF["model_type"], entry["endpoint_type"])
    return values


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
