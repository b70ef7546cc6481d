"""What a run freezes at its start: the command, the entry file and its hash, the folder, the versions."""

from __future__ import annotations

import hashlib
import inspect
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchwright.core import VERSION, JsonObject, JsonValue

_PACKAGES = ("pydantic", "orjson", "pyarrow", "numpy", "openai", "torch", "transformers")
"""Whose versions are recorded, where they are loaded."""


def frozen_settings(name: str) -> JsonObject:
    """How the run was started; what `resume` needs."""
    command: list[JsonValue] = [sys.executable, *sys.orig_argv[1:]]
    return {"workflow": name, "command": command, "cwd": str(Path.cwd())}


def frozen_manifest(handler: Callable[..., Any]) -> JsonObject:
    """What the run was made of."""
    from benchwright.benchmarks import imported_modules  # not every use of a workflow starts one

    entry = entry_of(handler)
    path = entry.get("path")
    modules: JsonObject = dict(imported_modules(Path(str(path)))) if path else {}
    return {"entry": entry, "modules": modules, "versions": _versions()}


def entry_of(handler: Callable[..., Any]) -> JsonObject:
    """The file that defines a handler, and the SHA-256 of its content; nulls where there is no file."""
    try:
        found = inspect.getsourcefile(inspect.unwrap(handler))
    except TypeError:
        found = None
    path = Path(found).resolve() if found else None
    if path is None or not path.is_file():  # typed at a prompt
        return {"path": None, "sha256": None}
    return {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def code_change(manifest: JsonObject, handler: Callable[..., Any]) -> JsonObject | None:
    """What differs between the code a run was started with and the code it goes on with; None: nothing."""
    before, now = manifest.get("entry"), entry_of(handler)
    if not isinstance(before, dict) or before.get("sha256") == now.get("sha256"):
        return None
    return {
        "code_changed": {"path": now.get("path"), "before": before.get("sha256"), "now": now.get("sha256")}
    }


def _versions() -> JsonObject:
    versions: JsonObject = {"benchwright": VERSION, "python": platform.python_version()}
    for name in _PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            versions[name] = version
    return versions
