"""What installed packages add, for `ls --plugins`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchwright.plugins import Registry


def registries() -> tuple[Registry[Any], ...]:
    """One registry for each extension point, in the order of the points."""
    from benchwright.benchmarks import BENCHMARK_PLUGINS
    from benchwright.datasets import FORMAT_PLUGINS, SOURCE_PLUGINS
    from benchwright.endpoints import WIRE_PLUGINS
    from benchwright.reports import REPORT_PLUGINS
    from benchwright.scorers import SCORER_PLUGINS, TEMPLATE_PLUGINS  # not for `run`: all scorers

    return (
        BENCHMARK_PLUGINS,
        SCORER_PLUGINS,
        TEMPLATE_PLUGINS,
        SOURCE_PLUGINS,
        FORMAT_PLUGINS,
        WIRE_PLUGINS,
        REPORT_PLUGINS,
    )


@dataclass(frozen=True, slots=True)
class ListedPlugin:
    """One entry of an installed package."""

    kind: str
    """Its kind."""
    name: str
    """The name users type."""
    package: str
    """The package that offers it."""
    version: str
    """That package's version."""
    target: str
    """Where the package has it: `module:attribute`."""
    problem: str | None = None
    """Why it cannot be used, if it cannot."""


def list_plugins() -> list[ListedPlugin]:
    """Every plugin of the installed packages, by kind and name. Imports all of them."""
    return [
        ListedPlugin(
            plugin.kind,
            plugin.entry.name,
            plugin.entry.package,
            plugin.entry.version,
            plugin.entry.target,
            plugin.problem,
        )
        for registry in registries()
        for plugin in registry.installed()
    ]
