"""What a user asks to evaluate, and what it turns out to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from benchwright.benchmarks import BenchmarkSpec
from benchwright.config import ConfigFile, RunOptions
from benchwright.core import JsonObject

if TYPE_CHECKING:
    from benchwright.config import BenchmarkConfig


class Target(Struct, frozen=True):
    """One benchmark to run."""

    spec: BenchmarkSpec
    """The benchmark."""
    written: str
    """The target as the user wrote it."""
    definition: JsonObject
    """What a run records, so that any process can make the same benchmark again."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Run options that the configuration sets for it."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that a run configuration sets for it, as records hold them."""
    input: JsonObject | None = None
    """What `--input` changed in its description; settings of the run in it are recorded as such."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where a run configuration has each option."""


class Asked(Struct, frozen=True):
    """What a user asks to evaluate, and what the configuration says about it."""

    target: Any
    """A path, a URI, a name, or a decorated function."""
    cwd: Path
    """The folder where the user asks."""
    config: ConfigFile | None
    options: RunOptions
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Run options that the configuration sets for the target."""
    entry: BenchmarkConfig | None = None
    """The table of the configuration that has this name."""
    place: str = ""
    """The file, URI or name that the target stands for: the target itself, or what its table names."""
    folder: Path = Path()
    """Where a relative `place` starts."""

    @property
    def name(self) -> str:
        """The target in messages."""
        return (
            self.target
            if isinstance(self.target, str)
            else getattr(self.target, "__name__", repr(self.target))
        )

    @property
    def own(self) -> dict[str, Any]:
        """The settings of the table, for this target alone."""
        if self.entry is None:
            return {}
        model = {} if self.entry.model is None else {"model": self.entry.model}
        return {**self.entry.run, **model}


class TargetKind(Struct, frozen=True):
    name: str
    """Its name in records."""
    recognise: Callable[[Asked], bool]
    """Whether a target is of this kind, found out without loading it."""
    define: Callable[[Asked], list[Target]]
    """Loads the benchmarks of the target, each with its definition. Raises UsageError for options that it does not take."""
    load: Callable[[JsonObject], BenchmarkSpec]
    """Makes the benchmark again from its definition."""
    takes: frozenset[str] = frozenset()
    """Groups of settings that it takes, of those that only some kinds take: `questions`, `tools` and `input`."""
