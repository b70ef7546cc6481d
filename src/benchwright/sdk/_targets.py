"""From what the user has in hand to benchmarks: files, modules, installed names, names of benchwright.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.benchmarks import BenchmarkSpec, load_benchmarks
from benchwright.config import ConfigFile


@dataclass(frozen=True, slots=True)
class Target:
    """One benchmark to run."""

    spec: BenchmarkSpec
    """The benchmark."""
    written: str
    """What the user asked for."""
    reload: str
    """How a later process loads the same benchmark."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Run options that the configuration sets for it."""


def resolve_targets(target: str, config: ConfigFile | None, cwd: Path) -> list[Target]:
    """All benchmarks that `target` names. A name of the configuration comes before an installed one."""
    defaults: dict[str, Any] = dict(config.run) if config is not None else {}
    if config is not None and target in config.benchmarks:
        entry = config.benchmarks[target]
        defaults.update(entry.run)
        if entry.model is not None:
            defaults["model"] = entry.model
        specs = load_benchmarks(entry.file, cwd=config.path.parent)
        base = entry.file
    else:
        specs = load_benchmarks(target, cwd=cwd)
        base = target
    return [Target(spec, target, _reload(spec, base), defaults) for spec in specs]


def _reload(spec: BenchmarkSpec, written: str) -> str:
    """An absolute path for files; names of modules and packages stay as they are."""
    place = written.partition(":")[0]
    if spec.source is not None and place.endswith(".py"):
        return f"{spec.source.resolve()}:{spec.key}"
    return written
