"""Benchmarks in Python: a decorated function, a file, a module, or an installed package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchwright.benchmarks import (
    BUILTIN_EVALUATIONS,
    BenchmarkSpec,
    load_benchmarks,
)
from benchwright.core import JsonObject, UsageError
from benchwright.runs._questions import refuse_second_system
from benchwright.runs._targets.function_calling import near_evaluations
from benchwright.runs._targets.values import Asked, Target, TargetKind


def _definition(kind: str, target: str, spec: BenchmarkSpec, folder: Path) -> JsonObject:
    return {"kind": kind, "target": target, "folder": str(folder), "benchmark": spec.key, "settings": {}}


def _is_function(asked: Asked) -> bool:
    return not isinstance(asked.target, str)


def _of_function(asked: Asked) -> list[Target]:
    spec: Any = getattr(asked.target, "_benchmark", None)
    if spec is None:
        raise UsageError(f"{asked.target!r} is not decorated with @benchmark")
    refuse_second_system(asked.options.system, spec)
    # A benchmark that no file defines, such as one from a notebook, has only its name.
    place = spec.key if spec.source is None else f"{spec.source}:{spec.key}"
    kind = FUNCTION.name if spec.source is None else FILE.name
    return [Target(spec, place, _definition(kind, place, spec, asked.cwd), asked.defaults)]


def _defined_here(definition: JsonObject) -> BenchmarkSpec:
    key = str(definition["benchmark"])
    spec = BenchmarkSpec.without_file(key)
    if spec is None and key == "judge_calibrate":
        raise UsageError(
            "this run was made by judge-calibrate --judge. Give that command again: it asks the judge only for what is missing"
        )
    if spec is None:
        raise UsageError(
            f"{key!r} was defined by a notebook or an interactive session, and no file contains it. Define it again, or give "
            "the function: resume(RUN, target=FUNCTION), rescore(RUN, target=FUNCTION)"
        )
    return spec


def _is_file(asked: Asked) -> bool:
    return asked.place.partition(":")[0].endswith(".py")


def _of_file(asked: Asked) -> list[Target]:
    found = []
    for spec in _loaded(asked):
        place = asked.place if spec.source is None else f"{spec.source.resolve()}:{spec.key}"
        found.append(
            Target(spec, asked.target, _definition(FILE.name, place, spec, asked.cwd), asked.defaults)
        )
    return found


def _installed(asked: Asked) -> list[Target]:
    return [
        Target(spec, asked.target, _definition(INSTALLED.name, asked.place, spec, asked.cwd), asked.defaults)
        for spec in _loaded(asked)
    ]


def _loaded(asked: Asked) -> list[BenchmarkSpec]:
    names = [
        *(asked.config.benchmarks if asked.config is not None else ()),
        *BUILTIN_EVALUATIONS,
        *near_evaluations(asked.target),
    ]
    specs = load_benchmarks(asked.place, cwd=asked.folder, names=names)
    for spec in specs:
        refuse_second_system(asked.own.get("system", asked.options.system), spec)
    return specs


def _load(definition: JsonObject) -> BenchmarkSpec:
    target, key = str(definition["target"]), str(definition["benchmark"])
    for spec in load_benchmarks(target, cwd=Path(str(definition["folder"]))):
        if spec.key == key:
            return spec
    raise UsageError(f"{target} has no benchmark {key!r} any more")


FUNCTION = TargetKind("function", _is_function, _of_function, _defined_here)
FILE = TargetKind("file", _is_file, _of_file, _load)
INSTALLED = TargetKind("installed", lambda asked: True, _installed, _load)
"""Modules too. Last in the table: it explains what a name that nobody knows could have meant."""
