"""Values of a launcher's file: applies overrides, and resolves references such as `${target.api_endpoint.url}`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.core import ConfigError, is_secret_name

_REFERENCE = re.compile(r"(?<!\\)\$\{((?:oc\.env:[^{}]*)|(?:[A-Za-z_]\w*(?:\.\w+)+))\}")
"""Matches references between `${` and `}`. Other texts are not references: `${HOME}` is for a shell."""
_DEPTH = 20


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


def resolve_references(source: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve references in a document, to its other values and to variables of the environment."""

    def resolved(value: Any, where: str, depth: int = 0) -> Any:
        if isinstance(value, Mapping):
            return {key: resolved(entry, f"{where}.{key}", depth) for key, entry in value.items()}
        if isinstance(value, list):
            return [resolved(entry, f"{where}.{number}", depth) for number, entry in enumerate(value)]
        if not isinstance(value, str) or "${" not in value:
            return value
        if depth > _DEPTH:
            raise ConfigError(f"{source}: {where[1:]}: {value} stands for itself")
        whole = _REFERENCE.fullmatch(value)
        if whole:
            return resolved(_found(source, where, document, whole[1]), where, depth + 1)
        return _REFERENCE.sub(
            lambda each: str(resolved(_found(source, where, document, each[1]), where, depth + 1)), value
        ).replace("\\${", "${")

    return dict(resolved(document, ""))


def _found(source: str, where: str, document: Mapping[str, Any], reference: str) -> Any:
    place = f"{source}: {where[1:]}: ${{{reference}}}"
    if reference.startswith("oc.env:"):
        name, comma, otherwise = reference.removeprefix("oc.env:").partition(",")
        if is_secret_name(name):
            raise ConfigError(
                f"{place}: keys are not put into configurations; name the variable: api_key_name: {name}"
            )
        value = os.environ.get(name.strip(), otherwise.strip() if comma else None)
        if value is None:
            raise ConfigError(f"{place}: the variable is not set; export {name}")
        return value
    found: Any = document
    for word in reference.split("."):
        if isinstance(found, list) and word.isdigit() and int(word) < len(found):
            found = found[int(word)]
        elif isinstance(found, Mapping) and word in found:
            found = found[word]
        else:
            raise ConfigError(f"{place}: there is no such key; write \\${{{reference}}} if it is a text")
    return found
