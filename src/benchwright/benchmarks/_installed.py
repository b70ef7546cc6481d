"""Benchmarks of installed packages.

An entry point names a module that defines benchmarks (`pkg.bench`) or one decorated function (`pkg.bench:check`).
"""

from __future__ import annotations

from types import ModuleType

from benchwright.benchmarks._nocode.builtins import BUILTIN_EVALUATIONS
from benchwright.benchmarks._registered import attached_to, defined_in
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BenchmarkError
from benchwright.plugins import Registry


def _check(value: object) -> tuple[BenchmarkSpec, ...]:
    if isinstance(value, ModuleType):
        specs = tuple(defined_in(value))
    else:
        spec = attached_to(value)
        specs = () if spec is None else (spec,)
    if not specs:
        raise ValueError("defines no benchmark")
    return specs


BENCHMARK_PLUGINS: Registry[tuple[BenchmarkSpec, ...]] = Registry(
    "benchmarks", _check, built_in=lambda: BUILTIN_EVALUATIONS, error=BenchmarkError
)
"""Installed benchmarks by name."""
