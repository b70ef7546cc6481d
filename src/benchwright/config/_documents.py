"""Suite files as plain values: TOML, YAML or JSON in, dicts and lists out. A key that stands twice is refused,
because the reader of the file sees the first and the program would take the last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchwright.core import ConfigError, NotFoundError, TooDeepError, check_depth

SUITE_SUFFIXES = (".toml", ".yaml", ".yml", ".json", ".py")
"""What a suite file may end in."""


def read_document(path: Path) -> dict[str, object]:
    """The top level of a TOML, YAML or JSON file. `ConfigError` names the file and the place."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error
    read = {".toml": _toml, ".json": _json}.get(path.suffix.lower(), _yaml)
    try:
        document = read(path, text)
        check_depth(document)
        _check_size(path, document)
    except (RecursionError, TooDeepError):
        raise ConfigError(f"{path}: {TooDeepError()}") from None
    if not isinstance(document, dict):
        found = "nothing" if document is None else f"a {type(document).__name__}"
        raise ConfigError(f"{path} holds {found}; a suite has the keys models and datasets, each with a list")
    return {str(key): value for key, value in document.items()}


_MOST_VALUES = 1_000_000


def _check_size(path: Path, document: object) -> None:
    """Refuse a document that refers to its own parts so often that it cannot be written out."""
    left, count = [document], 0
    while left:
        value = left.pop()
        inner = (
            value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        )
        count += len(inner)
        if count > _MOST_VALUES:
            raise ConfigError(
                f"{path} holds more than {_MOST_VALUES:,} values, counting those behind aliases (*name); write fewer"
            )
        left.extend(inner)


def _toml(path: Path, text: str) -> object:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Texts need quotes") from error


def _json(path: Path, text: str) -> object:
    def pairs(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for key, value in entries:
            if key in table:
                raise ConfigError(f"{path}: the key {key!r} stands twice in one object; keep one of them")
            table[key] = value
        return table

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path} is not valid JSON: line {error.lineno}: {error.msg}") from error


def _yaml(path: Path, text: str) -> object:
    import yaml

    class Loader(yaml.SafeLoader):
        """Plain values only, and no key twice."""

    def mapping(loader: Loader, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen = set()
        for key_node, _ in node.value:
            key = loader.construct_object(key_node, deep=True)
            place = f"{path}:{key_node.start_mark.line + 1}"
            if not isinstance(key, str):
                raise ConfigError(f"{place}: the key {key!r} is no text; put it into quotes")
            if key in seen:
                raise ConfigError(f"{place}: the key {key!r} stands twice; keep one of them")
            seen.add(key)
        built: dict[object, object] = yaml.SafeLoader.construct_mapping(loader, node, deep=True)
        return built

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        if mark is None or not problem:
            raise ConfigError(f"{path} is not valid YAML: {_in_one_line(error)}") from error
        place = f"line {mark.line + 1}, column {mark.column + 1}"
        raise ConfigError(f"{path} is not valid YAML: {place}: {problem}") from error


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
