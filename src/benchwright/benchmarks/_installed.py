"""Benchmarks that installed packages bring, through the entry-point group `benchwright.benchmarks`.

An entry point names a module that defines benchmarks (`pkg.bench`) or one decorated function (`pkg.bench:check`).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from benchwright.benchmarks._registered import attached_to, defined_in
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BenchmarkError, normalise_name
from benchwright.plugins import BrokenPlugin, LoadedPlugin, find_plugins, load_plugin

GROUP = "benchwright.benchmarks"
"""The entry-point group."""


@dataclass(frozen=True, slots=True)
class InstalledBenchmark:
    """What one entry point offers."""

    name: str
    """The name users type."""
    package: str
    """The distribution that brings it."""
    version: str
    """That distribution's version."""
    specs: tuple[BenchmarkSpec, ...]
    """Its benchmarks; empty when it is broken or was not loaded."""
    problem: str | None = None
    """Why it cannot be used, if it cannot."""

    @property
    def description(self) -> str:
        """Display names of its benchmarks; empty when they are not known."""
        return ", ".join(spec.name for spec in self.specs)


def installed_benchmarks(*, load: bool = True) -> list[InstalledBenchmark]:
    """Every installed benchmark, by name. A broken one says so in `problem` and stops no other.

    With `load=False` nothing is imported: quick, but neither specs nor problems are known.
    """
    found = []
    for entry in find_plugins(GROUP):
        specs: tuple[BenchmarkSpec, ...] = ()
        problem = None
        if load:
            loaded = _specs_of(load_plugin(entry))
            if isinstance(loaded, str):
                problem = loaded
            else:
                specs = tuple(loaded)
        found.append(InstalledBenchmark(entry.name, entry.package, entry.version, specs, problem))
    return found


def installed_names() -> list[str]:
    """Names of the installed benchmarks; nothing is imported."""
    return sorted({entry.name for entry in find_plugins(GROUP)})


def find_installed(name: str) -> list[BenchmarkSpec] | None:
    """The benchmarks of an installed entry point, or None if none has that name. BenchmarkError if it is broken."""
    entries = [
        e for e in find_plugins(GROUP) if e.name == name or normalise_name(e.name) == normalise_name(name)
    ]
    if not entries:
        return None
    if len(entries) > 1:
        packages = " and ".join(entry.package for entry in entries)
        raise BenchmarkError(f"benchmark {name!r} is offered by {packages}; uninstall all but one")
    loaded = _specs_of(load_plugin(entries[0]))
    if isinstance(loaded, str):
        raise BenchmarkError(loaded)
    return loaded


def _specs_of(plugin: LoadedPlugin | BrokenPlugin) -> list[BenchmarkSpec] | str:
    if isinstance(plugin, BrokenPlugin):
        return str(plugin)
    value = plugin.value
    if isinstance(value, ModuleType):
        specs = defined_in(value)
    else:
        spec = attached_to(value)
        specs = [spec] if spec is not None else []
    if not specs:
        return f"plugin {plugin.entry} defines no benchmark at {plugin.entry.target}"
    return specs
