"""Which benchmarks each module has defined. Filled by `@benchmark`, read and cleared by loading."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BenchmarkError

SPEC_ATTRIBUTE = "_benchmark"
"""Where the definition sits on the decorated function."""

_BY_MODULE: dict[tuple[str, Path | None], dict[str, BenchmarkSpec]] = {}
"""By name and file of the module: two folders may each have a module of the same name."""


def register(spec: BenchmarkSpec, module: str) -> None:
    """Note a definition under the module that wrote it.

    Two definitions of one file may not share a normalised name: results of one would overwrite the other's.
    Where there is no file (a notebook cell run again) the newer one replaces the older.
    """
    specs = _BY_MODULE.setdefault((module, spec.source), {})
    other = specs.get(spec.key)
    if other is not None and spec.source is not None:
        raise BenchmarkError(
            f"benchmark {spec.name!r} has the same normalised name ({spec.key}) as {other.name!r}"
            f"{f' in line {other.line}' if other.line else ''}; rename one of them"
        )
    specs[spec.key] = spec


def defined_without_file(key: str) -> BenchmarkSpec | None:
    """What this process has defined last under a normalised name outside any file, as in a notebook's cell."""
    found = [specs[key] for (_, source), specs in _BY_MODULE.items() if source is None and key in specs]
    return found[-1] if found else None


def forget(module: str, file: Path) -> None:
    """Drop what a module defined, before its code runs again."""
    _BY_MODULE.pop((module, file), None)


def defined_in(module: ModuleType) -> list[BenchmarkSpec]:
    """What a module and its submodules have defined, in order of definition."""
    inside = f"{module.__name__}."
    found: list[BenchmarkSpec] = []
    for (name, source), specs in _BY_MODULE.items():
        if name == module.__name__:
            owner: ModuleType | None = module
        else:
            owner = sys.modules.get(name) if name.startswith(inside) else None
        if owner is not None and file_of(owner) == source:
            found += specs.values()
    return found


def file_of(module: ModuleType) -> Path | None:
    """The file a module was made from."""
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) else None


def attach(function: Callable[..., Any], spec: BenchmarkSpec) -> None:
    """Leave the definition on the function, where it can hold attributes."""
    try:
        setattr(function, SPEC_ATTRIBUTE, spec)
    except (AttributeError, TypeError):
        return


def attached_to(thing: object) -> BenchmarkSpec | None:
    """The definition on a decorated function, or None for anything else."""
    spec = getattr(thing, SPEC_ATTRIBUTE, None)
    return spec if isinstance(spec, BenchmarkSpec) else None
