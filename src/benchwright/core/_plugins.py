"""The extension points, which say what an installed package can add; and its plugins, looked up by name: lazily, with checks,
and never in place of a built-in name. `docs/plugins.md` has the table of extension points for users; a test compares the two.

No package metadata is read before the first look-up of a name that is not built in, and only the plugin with that name is
imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from msgspec import Struct

from benchwright.core._errors import BenchwrightError, UsageError
from benchwright.core._texts import clause, normalise_name
from benchwright.core._trust import loading_code


class ExtensionPoint(Struct, frozen=True):
    """One kind of plugin."""

    kind: str
    """Its name, as `ls --plugins` prints it."""
    entry: str
    """What an entry point must refer to."""
    used_by: str
    """Where users type the name of an entry."""
    registry: str
    """The registry that checks entries and finds them by name: `module:attribute` in this package."""

    @property
    def group(self) -> str:
        """The entry-point group in a package's metadata."""
        return f"benchwright.{self.kind}"


EXTENSION_POINTS: tuple[ExtensionPoint, ...] = (
    ExtensionPoint(
        "benchmarks",
        "a module that defines benchmarks, or one function decorated with `@benchmark`",
        "`benchwright run NAME`",
        "benchmarks._loading:BENCHMARK_PLUGINS",
    ),
    ExtensionPoint(
        "scorers",
        "a function that takes a `ScorerInput` and returns a dict of scores",
        '`--evaluator NAME`, `grader = { type = "scorer", scorer = "NAME" }`, `find_scorer("NAME")`',
        "scorers._named:SCORER_PLUGINS",
    ),
    ExtensionPoint(
        "judge_templates",
        "a `JudgeTemplate`",
        '`judge_score(sample, template="NAME")`, `judge_template = "NAME"`',
        "scorers._judge_templates:TEMPLATE_PLUGINS",
    ),
    ExtensionPoint(
        "sources",
        "a function that takes a URI and returns rows, or a fetcher: an object with `fetch(uri)` that returns a file",
        "`NAME://…` wherever a dataset is expected",
        "datasets._fetchers:SOURCE_PLUGINS",
    ),
    ExtensionPoint(
        "formats",
        "a function that takes the path of a file and returns rows",
        "files that end in `.NAME`",
        "datasets._formats:FORMAT_PLUGINS",
    ),
    ExtensionPoint(
        "wires",
        "a class that implements `Wire`, with its `format`",
        '`--api NAME`, `api = "NAME"`',
        "endpoints._wires.formats:WIRE_PLUGINS",
    ),
    ExtensionPoint(
        "steps",
        "a class or function that makes a `Step` from its settings",
        '`pipeline = { interceptors = [{ name = "NAME" }] }`',
        "endpoints._pipeline.compiled:STEP_PLUGINS",
    ),
    ExtensionPoint(
        "reports",
        "a function that takes a run, as `show --json` prints it, and a folder of this machine with the run's files; what it writes "
        "there is kept with them",
        "`--report NAME`",
        "reports.files.run_files:REPORT_PLUGINS",
    ),
    ExtensionPoint(
        "trackers",
        "a class, or a function without parameters, that makes an object with `started(run)`, `progress(counts)` and "
        "`finished(run)`; each run is what `show --json` prints",
        "`--tracker NAME`",
        "reports.trackers.tracking:TRACKER_PLUGINS",
    ),
)


def extension_point(kind: str) -> ExtensionPoint:
    return next(point for point in EXTENSION_POINTS if point.kind == kind)


class PluginEntry(Struct, frozen=True):
    """An entry point that an installed package declares. Finding it imports nothing of the package."""

    name: str
    """The name users type."""
    target: str
    """What it points to: `package.module` or `package.module:attribute`."""
    package: str
    """The distribution that declares it; empty if the metadata does not say."""
    version: str
    """Version of that distribution; empty if the metadata does not say."""
    group: str
    """The entry-point group it was found in."""

    def __str__(self) -> str:
        origin = f" {self.version}" if self.version else ""
        return f"{self.name!r} of {self.package or 'an unnamed package'}{origin}"


@lru_cache(maxsize=64)
def _entries(group: str, path: tuple[str, ...]) -> tuple[PluginEntry, ...]:
    from importlib.metadata import entry_points

    found = set()  # a package that is on the path twice (editable install and wheel) is one plugin
    for point in entry_points(group=group):
        dist = point.dist
        package = dist.name if dist is not None else ""
        version = dist.version if dist is not None else ""
        found.add(PluginEntry(point.name, point.value, package or "", version or "", group))
    return tuple(sorted(found, key=lambda e: (e.name, e.package, e.version, e.target)))


T = TypeVar("T")


class InstalledPlugin(Generic[T], Struct, frozen=True):
    """One entry of an installed package, loaded and checked."""

    kind: str
    """Its kind, as in `EXTENSION_POINTS`."""
    entry: PluginEntry
    """Where it comes from."""
    value: T | None = None
    """The usable object; None if it cannot be used."""
    problem: str | None = None
    """Why it cannot be used."""


class Registry(Generic[T]):
    """The installed plugins of one kind."""

    def __init__(
        self,
        kind: str,
        check: Callable[[object], T],
        *,
        built_in: Callable[[], Iterable[str]] = tuple,
        error: type[BenchwrightError] = UsageError,
    ) -> None:
        """`check` returns the usable form of an entry and raises TypeError or ValueError for anything else.
        `built_in` lists the names that no plugin can have. `error` is raised for plugins that cannot be used."""
        self.point = extension_point(kind)
        self._check = check
        self._built_in = built_in
        self._error = error
        self._found: dict[tuple[str, tuple[str, ...]], T] = {}

    def names(self) -> list[str]:
        """Names of installed plugins. Imports none of them."""
        taken = {_key(name) for name in self._built_in()}
        return sorted({entry.name for entry in self._entries() if _key(entry.name) not in taken})

    def find(self, name: str) -> T | None:
        """The plugin with this name; None if no package offers one.

        Case does not matter, nor does the difference between `-` and `_`. `package.name` is the plugin of one package. Raises
        this registry's error for a plugin that cannot be used, and for a name that two packages offer.
        """
        place = (name, tuple(sys.path))  # scorers look up the same name for every sample
        if place in self._found:
            return self._found[place]
        same = self._named(name)
        if not same or _key(same[0].name) in {_key(name) for name in self._built_in()}:
            return None
        if (conflict := self._conflict(same[0], same)) is not None:
            raise self._error(conflict)
        plugin = self._loaded(same[0])
        if plugin.value is None:
            raise self._error(plugin.problem or str(same[0]))
        self._found[place] = plugin.value
        return plugin.value

    def entry(self, name: str) -> PluginEntry | None:
        """The entry with this name. Imports nothing."""
        return next((entry for entry in self._entries() if _key(entry.name) == _key(name)), None)

    def installed(self) -> list[InstalledPlugin[T]]:
        """All installed plugins, by name. Imports all of them; `problem` says what is wrong with one."""
        taken = {_key(name) for name in self._built_in()}
        entries = self._entries()
        found: list[InstalledPlugin[T]] = []
        for entry in entries:
            problem = self._conflict(
                entry, [other for other in entries if _key(other.name) == _key(entry.name)]
            )
            if _key(entry.name) in taken:
                problem = (
                    f"plugin {entry} is never used: {entry.name!r} is a built-in name; rename the entry point"
                )
            found.append(
                self._loaded(entry)
                if problem is None
                else InstalledPlugin(self.point.kind, entry, problem=problem)
            )
        return found

    def _entries(self) -> list[PluginEntry]:
        return Registry.entries_of(self.point.kind)

    def _named(self, name: str) -> list[PluginEntry]:
        """Entries with this name, else with `package.name`."""
        entries = self._entries()
        if same := [entry for entry in entries if _key(entry.name) == _key(name)]:
            return same
        package, _, short = name.rpartition(".")
        wanted = (_key(package), _key(short))
        return [entry for entry in entries if package and (_key(entry.package), _key(entry.name)) == wanted]

    def _conflict(self, entry: PluginEntry, same: list[PluginEntry]) -> str | None:
        if len(same) == 1:
            return None
        offered = " and ".join(map(str, same))
        return f"{self.point.kind}: the name {entry.name!r} is offered twice: by {offered}; uninstall all but one"

    def _loaded(self, entry: PluginEntry) -> InstalledPlugin[T]:
        """Import an entry and check it. One that cannot be used is a value too, so that it does not affect others."""
        from importlib.metadata import EntryPoint

        try:
            with loading_code():
                value = EntryPoint(entry.name, entry.target, entry.group).load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plugin may raise anything, SystemExit included
            cure = f"update or uninstall {entry.package or 'its package'}"
            if isinstance(error, ModuleNotFoundError) and error.name:
                cure = f"install the missing module ({error.name}), or {cure}"
            reason = f"{type(error).__name__}: {clause(error)}; {cure}"
        else:
            try:
                return InstalledPlugin(self.point.kind, entry, self._check(value))
            except (TypeError, ValueError) as error:
                reason = f"{entry.target} {clause(error)}; expected {self.point.entry}"
        return InstalledPlugin(self.point.kind, entry, problem=f"plugin {entry} cannot be used: {reason}")

    @staticmethod
    def entries_of(kind: str) -> list[PluginEntry]:
        """Entry points of a kind of plugin, by name, without importing anything. A name that two packages offer is listed twice.

        The metadata of installed packages is read once for each `sys.path`, because it takes about 20 ms. So a package that is
        installed while Python runs is found only after a restart.
        """
        return list(_entries(extension_point(kind).group, tuple(sys.path)))

    @staticmethod
    def all_installed() -> list[InstalledPlugin[Any]]:
        """Every plugin of the installed packages, by kind and name. Imports all of them."""
        return [plugin for registry in registries() for plugin in registry.installed()]

    @staticmethod
    def check_function(value: object, arguments: int) -> Callable[..., Any]:
        """Check that a value is a function that takes this many arguments. Raises TypeError if not."""
        if not callable(value) or isinstance(value, type):
            raise TypeError(f"is {getattr(value, '__name__', type(value).__name__)}, which is not a function")
        from inspect import signature

        try:
            signature(value).bind(*range(arguments))
        except ValueError:  # a function in C without a signature
            pass
        except TypeError:
            raise TypeError(f"cannot be called with {arguments} argument{'s' * (arguments > 1)}") from None
        return value


def _key(name: str) -> str:
    return normalise_name(name) or name


def registries() -> list[Registry[Any]]:
    """The registry of every extension point, in their order. Imports the modules that have them."""
    places = [point.registry.split(":") for point in EXTENSION_POINTS]
    return [getattr(import_module(f"benchwright.{module}"), name) for module, name in places]
