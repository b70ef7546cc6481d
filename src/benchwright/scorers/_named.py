"""Finds scorers by name: built-in scorers first, then those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from benchwright.core import Registry, UsageError, check_function, suggest
from benchwright.scorers._qa import QA_METRICS
from benchwright.scorers._scorer import NAMED_SCORERS, Scorer


def _load_all() -> Mapping[str, Scorer]:
    for module in iter_modules([str(Path(__file__).parent)]):
        if module.name != __name__.rpartition(".")[2]:
            import_module(f"{__package__}.{module.name}")
    return dict(sorted(NAMED_SCORERS.items()))  # independent of the order of loading


BUILTIN_SCORERS = _load_all()
"""Every scorer of one sample by name. Commands, files and the manual's tests take the names from here."""


def _names() -> tuple[str, ...]:
    return (*BUILTIN_SCORERS, *QA_METRICS, "mcq")


SCORER_PLUGINS: Registry[Scorer] = Registry(
    "scorers", lambda value: check_function(value, 1), built_in=_names
)
"""Scorers of installed packages by name."""


def find_scorer(name: str) -> Scorer:
    """The built-in or installed scorer with this name.

    Raises:
        UsageError: there is none; the text has similar names.
    """
    found = BUILTIN_SCORERS.get(name) or SCORER_PLUGINS.find(name)
    if found is None:
        known = (*BUILTIN_SCORERS, *SCORER_PLUGINS.names())
        raise UsageError(f"no scorer named {name!r}.{suggest(name, known)} Known: {', '.join(known)}")
    return found
