"""Overrides of a launcher's file: which tasks they are for, and what they change in the file itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from benchwright.config import leaves
from benchwright.core import ConfigError, suggest

OWN = "nemo_evaluator_config"
"""The key of a run configuration in a launcher's file."""
_RUN_CONFIG = ("target", "config", "metadata")
"""The first words of overrides for all tasks, besides `evaluation.nemo_evaluator_config`."""

Pairs: TypeAlias = list[tuple[str, Any]]


def split_overrides(
    source: str, pairs: Sequence[tuple[str, Any]], names: Sequence[str]
) -> tuple[Pairs, dict[int, Pairs], Pairs]:
    """Overrides of all tasks, of single tasks by number, and of the file itself. Keys of the first two are relative to the run
    configuration."""
    every: Pairs = []
    own: dict[int, Pairs] = {}
    rest: Pairs = []
    for key, value in pairs:
        if key.partition(".")[0] in _RUN_CONFIG:
            every.append((key, value))
        elif (inner := _inside(key, f"evaluation.{OWN}", value)) is not None:
            every += inner
        elif not key.startswith("evaluation.tasks."):
            rest.append((key, value))
        else:
            name, chosen = _chosen(source, key, names)
            after = key.removeprefix(f"evaluation.tasks.{name}").removeprefix(".")
            if not after and not isinstance(value, Mapping):
                raise ConfigError(
                    f"-o {key} is {value!r}; expected a table, or a key of the task: {key}.{OWN}.…"
                )
            of_task = [(after, value)] if after else value.items()
            for number, (inner_key, each) in product(chosen, of_task):
                inner = _inside(inner_key, OWN, each)
                if inner is None:
                    rest.append((f"evaluation.tasks.{number}.{inner_key}", each))
                else:
                    own.setdefault(number, []).extend(inner)
    return every, own, rest


def with_overrides(
    source: str, document: Mapping[str, Any], every: Pairs, own: Mapping[int, Pairs]
) -> dict[str, Any]:
    """The document with the values that references to it mean: those of overrides, wherever the file has such a value."""
    pairs = [(f"{table}{key}", value) for key, value in every for table in ("", f"evaluation.{OWN}.")]
    pairs += [
        (f"evaluation.tasks.{number}.{OWN}.{key}", value)
        for number, of_task in own.items()
        for key, value in of_task
    ]
    return patch(
        source,
        document,
        [
            (".".join((key, *path)), each)
            for key, value in pairs
            for path, each in (leaves(value) if isinstance(value, Mapping) else [((), value)])
        ],
    )


def _inside(key: str, table: str, value: Any) -> Pairs | None:
    """The values that an override sets inside a table; None if it concerns something else."""
    if key == table:
        return list(value.items()) if isinstance(value, Mapping) else None
    return [(key.removeprefix(f"{table}."), value)] if key.startswith(f"{table}.") else None


def _chosen(source: str, key: str, names: Sequence[str]) -> tuple[str, list[int]]:
    """The name of a task in an override, and the numbers of the matching tasks: by number, by name, or by the name after that of
    the framework or the file. Names may contain dots; the longest match counts."""
    after = key.removeprefix("evaluation.tasks.")
    name = after.partition(".")[0]
    if name.isdigit() and int(name) < len(names):
        return name, [int(name)]
    name = max((name for name in names if f"{after}.".startswith(f"{name}.")), key=len, default=name)
    if found := [number for number, each in enumerate(names) if each == name]:
        return name, found
    ending = {each for each in names if each.endswith((f".{name}", f":{name}"))}
    if len(ending) == 1:
        return name, [number for number, each in enumerate(names) if each in ending]
    wrong = "several tasks whose names end so" if ending else "no task of that name"
    raise ConfigError(f"-o {key}: {source} has {wrong}.{suggest(name, names)} Tasks: {', '.join(names)}")


def patch(source: str, document: Mapping[str, Any], pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The document with the values of dotted keys; numbers are positions in lists."""
    patched: Any = _copy(document)
    for key, value in pairs:
        if (key, value) == ("execution", "local"):
            continue  # selects one of the launcher's tables
        place = patched
        *path, last = key.split(".")
        for word in path:
            if isinstance(place, list):
                place = place[int(word)] if word.isdigit() and int(word) < len(place) else None
            else:
                if not isinstance(place.get(word), dict | list):
                    place[word] = {}  # replaces, for example, `deployment: none`
                place = place[word]
            if not isinstance(place, dict | list):
                raise ConfigError(f"-o {key}: {source} has no table at {word}")
        if isinstance(place, list):
            raise ConfigError(
                f"-o {key}: {source} has a list there; expected a key of an entry, after its number"
            )
        place[last] = value
    return dict(patched)


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(entry) for key, entry in value.items()}
    return [_copy(entry) for entry in value] if isinstance(value, list) else value
