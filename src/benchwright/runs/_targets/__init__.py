"""Targets: finds the benchmarks that the user names, by the first row of `TARGET_KINDS` that recognises them, and makes the
benchmark of a recorded run again from its definition."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec, custom_media_file, written_as
from benchwright.config import ConfigFile, RunOptions, layered
from benchwright.core import JsonObject, UsageError
from benchwright.runs._questions import given_questions, refuse_questions
from benchwright.runs._targets import described, function_calling, python, questions
from benchwright.runs._targets.values import Asked as Asked, Target as Target, TargetKind as TargetKind

TARGET_KINDS: dict[str, TargetKind] = {
    kind.name: kind
    for kind in (
        python.FUNCTION,
        described.NOCODE,
        described.BUILTIN,
        function_calling.KIND,
        questions.KIND,
        python.FILE,
        python.INSTALLED,
    )
}
"""By name, in the order in which a target is recognised. A new kind is a file with its row, and its name here."""

_EXPECTED = (
    "expected a file (bench.py, bench.py:name, or data such as test.csv), a module, an installed name, or a "
    "function decorated with @benchmark. Rows in memory belong into @benchmark(dataset=rows, …) or a file"
)


def find_targets(
    target: str | os.PathLike[str] | Callable[..., Any],
    config: ConfigFile | None,
    cwd: Path,
    options: RunOptions | None = None,
) -> list[Target]:
    """All benchmarks that `target` names. A name of the configuration takes precedence over a built-in one, and that over an
    installed one."""
    asked = _asked(target, config, cwd, options or RunOptions())
    kind = next(kind for kind in TARGET_KINDS.values() if kind.recognise(asked))
    _refuse_others(asked, kind)
    return kind.define(asked)


def load_definition(definition: JsonObject) -> BenchmarkSpec:
    """The benchmark of a recorded definition, as it is defined now."""
    return TARGET_KINDS[str(definition["kind"])].load(definition)


def _asked(target: Any, config: ConfigFile | None, cwd: Path, options: RunOptions) -> Asked:
    defaults = dict(config.run) if config is not None else {}
    asked = Asked(target, cwd, config, options, defaults=defaults, folder=cwd)
    if callable(target):
        return asked
    if not isinstance(target, (str, os.PathLike)):
        raise UsageError(f"{target!r} (of type {type(target).__name__}) names no benchmark; {_EXPECTED}")
    name = os.fspath(target)
    if not name.strip():
        raise UsageError(f"an empty text names no benchmark; {_EXPECTED}")
    if written_as(name) == "suite":
        raise UsageError(f"{name} is a suite of models and datasets: run_suite({name!r})")
    asked = replace(asked, target=name, place=name)
    entry = None if config is None else config.benchmarks.get(name)
    if entry is None:
        return replace(asked, place=custom_media_file(name, cwd) or name)
    if entry.command:
        raise UsageError(
            f"{name} is a program ({entry.command[0]} …), and this works on benchmarks; start it with: "
            f"benchwright run {name}"
        )
    assert config is not None  # it has the table
    asked = replace(asked, entry=entry, place=entry.file, folder=config.path.parent)
    return replace(asked, defaults=layered(defaults, asked.own))


def _refuse_others(asked: Asked, kind: TargetKind) -> None:
    """Raise UsageError for settings that only other kinds of targets take."""
    name = asked.name
    if "tools" not in kind.takes:
        function_calling.refuse_tool_settings(asked.options, asked.own, name)
    if "input" not in kind.takes and asked.options.input is not None:
        raise UsageError(
            f"--input: {name} takes none; tables of type custom_code, custom_nocode and builtin do"
        )
    if "questions" not in kind.takes:
        refuse_questions([*asked.own, *given_questions(asked.options)], name)
