"""The extension points: what an installed package can add, declared once.

The registry of a point looks up names. `docs/plugins.md` has this table for users; a test compares the two.
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
"""All extension points."""


def extension_point(kind: str) -> ExtensionPoint:
    """The extension point of a kind."""
    return next(point for point in EXTENSION_POINTS if point.kind == kind)
