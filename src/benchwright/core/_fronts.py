"""Subpackages that load the module of a name when the name is first used."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from benchwright.core._late_patterns import late_pattern

_IMPORT = late_pattern(r"^from (\S+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def lazy_front(package: str, file: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return `__getattr__` and `__all__` of a subpackage, so that start-up loads only the modules that a command uses.

    The stub next to its `__init__.py` is the only list of its names: type checkers and this function both read it.
    """
    homes: dict[str, str] = {}
    for module, several, one in _IMPORT.findall(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")):
        for name in (several or one).split(","):
            if name.strip():
                homes[name.split()[-1]] = module

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, sorted(
        homes, key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name)
    )
