"""Resolves targets (benchmarks, a file of questions, a suite, a program or a workflow) in one place, so that commands and
Python functions take the same; and checks the types of arguments before anything is recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from msgspec import Struct

from benchwright.config import SUITE_SUFFIXES, ConfigFile, RunOptions, SuiteOptions, find_config
from benchwright.core import UsageError
from benchwright.endpoints import OpenEndpoint
from benchwright.runs import RunResult, Target, find_targets

if TYPE_CHECKING:
    from benchwright.suites import Suite
    from benchwright.workflows import ProgramPlan


class Benchmarks(Struct, frozen=True):
    """Benchmarks that Python code, a table of the configuration, or a package defines."""

    targets: tuple[Target, ...]
    """In order of definition."""


class Questions(Struct, frozen=True):
    """A file of questions, or a dataset by its URI."""

    target: Target
    """The benchmark that is made of it."""

    @property
    def targets(self) -> tuple[Target, ...]:
        """The one benchmark."""
        return (self.target,)


class Program(Struct, frozen=True):
    """A command of the configuration."""

    plan: ProgramPlan
    """What is started."""


class Workflow(Struct, frozen=True):
    """A Python file with workflows."""

    plan: ProgramPlan
    """What is started."""


Written: TypeAlias = str | os.PathLike[str] | Callable[..., Any]
"""A target as users give it: a path, a URI, a name, or a decorated function."""

Resolved: TypeAlias = Union[Benchmarks, Questions, "Suite", Program, Workflow]
"""The kinds of targets."""


def resolve(
    target: Written,
    options: RunOptions | None = None,
    how: SuiteOptions | None = None,
    *,
    config: ConfigFile | None = None,
    cwd: Path | None = None,
    config_dir: str | None = None,
) -> Resolved:
    """Find out what `target` is; load and check it as far as possible without reading all of its data.

    `config` is the configuration in which names are looked up; None: the one found upwards from `cwd`.
    If `how` contains options that only suites have, such as several models, any target becomes a suite. `config_dir` is
    the folder in which names of models are looked up. Raises NotFoundError, with similar names, for a target that does
    not exist, and UsageError for options that it does not take.
    """
    options, how = options or RunOptions(), how or SuiteOptions()
    cwd = cwd or Path.cwd()
    config = config or find_config(cwd)
    if isinstance(target, str | os.PathLike):
        target = os.fspath(target)
        other = _program(target, options, how, config, cwd) or _suite(target, how, config_dir, cwd)
        if other is not None:
            return other
    if how.needs_a_suite and (isinstance(target, str) or callable(target)):
        from benchwright.suites import command_suite

        return command_suite(targets=[target], models=how.models or (), config_dir=config_dir, cwd=cwd)
    found = tuple(find_targets(target, config, cwd, options))
    return Questions(found[0]) if found[0].questions is not None else Benchmarks(found)


def _program(
    target: str, options: RunOptions, how: SuiteOptions, config: ConfigFile | None, cwd: Path
) -> Program | Workflow | None:
    entry = None if config is None else config.benchmarks.get(target)
    if (entry is None or entry.code is None) and not target.partition(":")[0].endswith(".py"):
        return None
    from benchwright.workflows import plan_program, refuse_settings

    plan = plan_program(target, config, cwd, options.input)
    if plan is None:
        return None
    refuse_settings(target, [*options.given(), *how.given()])
    return Workflow(plan) if plan.config is None else Program(plan)


def _suite(target: str, how: SuiteOptions, config_dir: str | None, cwd: Path) -> Suite | None:
    if not target.lower().endswith(SUITE_SUFFIXES):
        return None
    from benchwright.suites import chosen_models, load_suite

    suite = load_suite(target, cwd=cwd)
    if suite is None or not how.models:
        return suite
    return chosen_models(suite, how.models, config_dir=config_dir, cwd=cwd)


_ENDPOINT = tuple(name for name in dir(OpenEndpoint) if not name.startswith("_"))
"""The members that an endpoint must have."""


def check_arguments(
    caller: str,
    *,
    options: object = None,
    endpoint: object = None,
    watcher: object = None,
    finished: object = None,
    target: object = None,
    overrides: object = None,
) -> None:
    """Raise UsageError for an argument of the wrong type for `caller`. None: not given."""
    cure = "; name a model with model='demo'" if isinstance(endpoint, str) else ""
    expected = (
        ("options", options, isinstance(options, RunOptions), "RunOptions"),
        (
            "endpoint",
            endpoint,
            not isinstance(endpoint, type) and all(hasattr(endpoint, member) for member in _ENDPOINT),
            f"an endpoint, such as a ScriptedEndpoint{cure}",
        ),
        (
            "watcher",
            watcher,
            not isinstance(watcher, type) and callable(getattr(watcher, "show", None)),
            "an object with a method show(progress)",
        ),
        ("finished", finished, callable(finished), "a function that takes a RunResult"),
        (
            "target",
            target,
            isinstance(target, str | os.PathLike) or callable(target),
            "a path, a name, or a function decorated with @benchmark",
        ),
        ("overrides", overrides, isinstance(overrides, Mapping), "a table of settings"),
    )
    for name, value, fits, kind in expected:
        if value is not None and not fits:
            raise _refused(caller, name, value, kind)


def check_run(caller: str, run: object, name: str = "run") -> None:
    """Raise UsageError for a value that cannot name a recorded run."""
    if isinstance(run, bool) or not isinstance(run, str | int | os.PathLike | RunResult):
        raise _refused(caller, name, run, "the number, name or folder of a run, or its result")


def _refused(caller: str, name: str, value: object, kind: str) -> UsageError:
    return UsageError(f"{caller}(): {name} is {value!r} (of type {type(value).__name__}); expected {kind}")
