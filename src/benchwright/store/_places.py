"""Paths in records: relative to the workspace, so that a copied or moved workspace uses its own files and no others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from benchwright.core import JsonObject, JsonValue

_HERE = "\0workspace"
"""Stands for the folder of the workspace. No path, argument or text of a user begins with this character."""


def kept_path(path: Path, root: Path) -> str:
    """A path for the record.

    >>> kept_path(Path("/a/runs/1"), Path("/a")), kept_path(Path("/b"), Path("/a"))
    ('\\x00workspace/runs/1', '/b')
    """
    return _kept(str(path), str(root))


def kept_settings(settings: JsonObject, root: Path) -> JsonObject:
    """Settings for the record: texts that are paths in the workspace are relative to it."""
    found: Any = _each(settings, lambda text: _kept(text, str(root)))
    return dict(found)


def folder_here(recorded: str, root: Path) -> Path:
    """The folder of a run in this workspace."""
    return Path(_found(recorded, str(root)))


def settings_here(settings: JsonObject, root: Path) -> JsonObject:
    """Recorded settings with the paths that they have now."""
    found: Any = _each(settings, lambda text: _found(text, str(root)))
    return dict(found)


def _kept(text: str, root: str) -> str:
    if text == root or (text.startswith(root) and text[len(root)] == os.sep):
        return _HERE + text[len(root) :]
    return text


def _found(text: str, root: str) -> str:
    return root + text[len(_HERE) :] if text.startswith(_HERE) else text


def _each(value: JsonValue, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each(item, change) for name, item in value.items()}
    return [_each(item, change) for item in value] if isinstance(value, list | tuple) else value
