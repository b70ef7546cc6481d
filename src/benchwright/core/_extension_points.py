"""The extension points: what an installed package can add, declared once.

A subpackage creates a `Registry` for each of its points and looks up names in it. `docs/plugins.md` has this table for
users; a test compares the two.
"""

from __future__ import annotations

from msgspec import Struct


class ExtensionPoint(Struct, frozen=True):
    """One kind of plugin."""

    kind: str
    """Its name, as `ls --plugins` prints it."""
    entry: str
    """What an entry point must refer to."""
    used_by: str
    """Where users type the name of an entry."""
    room: str
    """The subpackage that checks entries and uses them."""

    @property
    def group(self) -> str:
        """The entry-point group in a package's metadata."""
        return f"benchwright.{self.kind}"


EXTENSION_POINTS: tuple[ExtensionPoint, ...] = (
    ExtensionPoint(
        "benchmarks",
        "a module that defines benchmarks, or one function decorated with `@benchmark`",
        "`benchwright run NAME`",
        "benchmarks",
    ),
    ExtensionPoint(
        "scorers",
        "a function that takes a `ScorerInput` and returns a dict of scores",
        '`--evaluator NAME`, `grader = { type = "scorer", scorer = "NAME" }`, `find_scorer("NAME")`',
        "scorers",
    ),
    ExtensionPoint(
        "judge_templates",
        "a `JudgeTemplate`",
        '`judge_score(sample, template="NAME")`, `judge_template = "NAME"`',
        "scorers",
    ),
    ExtensionPoint(
        "sources",
        "a function that takes a URI and returns rows, or a fetcher: an object with `fetch(uri)` that returns a file",
        "`NAME://…` wherever a dataset is expected",
        "datasets",
    ),
    ExtensionPoint(
        "formats",
        "a function that takes the path of a file and returns rows",
        "files that end in `.NAME`",
        "datasets",
    ),
    ExtensionPoint(
        "wires",
        "a class that implements `Wire`, with its `format`",
        '`--api NAME`, `api = "NAME"`',
        "endpoints",
    ),
    ExtensionPoint(
        "steps",
        "a class or function that makes a `Step` from its settings",
        '`pipeline = { interceptors = [{ name = "NAME" }] }`',
        "endpoints",
    ),
    ExtensionPoint(
        "reports",
        "a function that takes a run, as `show --json` prints it, and a folder of this machine with the run's files; what it writes "
        "there is kept with them",
        "`--report NAME`",
        "reports",
    ),
    ExtensionPoint(
        "trackers",
        "a class, or a function without parameters, that makes an object with `started(run)`, `progress(counts)` and "
        "`finished(run)`; each run is what `show --json` prints",
        "`--tracker NAME`",
        "reports",
    ),
)
"""All extension points."""


def extension_point(kind: str) -> ExtensionPoint:
    """The extension point of a kind."""
    return next(point for point in EXTENSION_POINTS if point.kind == kind)
