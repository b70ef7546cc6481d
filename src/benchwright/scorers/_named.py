"""Scorers by name: the built-in ones, then those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.core import UsageError, suggest
from benchwright.plugins import Registry, check_function
from benchwright.scorers._input import Scorer


def _built_in() -> Mapping[str, Scorer]:
    from benchwright.scorers import BUILTIN_SCORERS  # the front has the table, and imports this file

    return BUILTIN_SCORERS


def _names() -> tuple[str, ...]:
    from benchwright.scorers._qa import QA_METRICS

    return (*_built_in(), *QA_METRICS, "mcq")


SCORER_PLUGINS: Registry[Scorer] = Registry(
    "scorers", lambda value: check_function(value, 1), built_in=_names
)
"""Scorers of installed packages by name."""


def find_scorer(name: str) -> Scorer:
    """The built-in or installed scorer with this name.

    Raises:
        UsageError: there is none; the text has near names.
    """
    built_in = _built_in()
    found = built_in.get(name) or SCORER_PLUGINS.find(name)
    if found is None:
        known = (*built_in, *SCORER_PLUGINS.names())
        raise UsageError(f"no scorer named {name!r}.{suggest(name, known)} Known: {', '.join(known)}")
    return found
