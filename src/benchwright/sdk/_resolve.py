"""What a target is: benchmarks, a file of questions, a suite, a program or a workflow.

The command line and the functions of Python resolve their targets here, so that both take the same things.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchwright.config import ConfigFile, RunOptions, SuiteOptions, find_config
from benchwright.runs import Target, find_targets
from benchwright.suites import Suite, chosen_models, command_suite, load_suite
from benchwright.workflows import ProgramPlan, plan_program, refuse_settings


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """Benchmarks that Python code, a table of the configuration, or a package defines."""

    targets: tuple[Target, ...]
    """In order of definition."""


@dataclass(frozen=True, slots=True)
class Questions:
    """A file of questions, or a dataset by its URI."""

    target: Target
    """The benchmark that it comes to."""

    @property
    def targets(self) -> tuple[Target, ...]:
        """The one benchmark."""
        return (self.target,)


@dataclass(frozen=True, slots=True)
class Program:
    """A command of the configuration."""

    plan: ProgramPlan
    """What is started."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A Python file with workflows."""

    plan: ProgramPlan
    """What is started."""


Written: TypeAlias = str | os.PathLike[str] | Callable[..., Any]
"""What users give as a target: a path, a URI, a name, or a decorated function."""

Resolved: TypeAlias = Benchmarks | Questions | Suite | Program | Workflow
"""What a target can be."""


def resolve(
    target: Written,
    options: RunOptions | None = None,
    how: SuiteOptions | None = None,
    *,
    config: ConfigFile | None = None,
    cwd: Path | None = None,
    config_dir: str | None = None,
) -> Resolved:
    """What `target` is, loaded and checked as far as that goes without reading all of its data.

    `config` is the configuration in which names are looked up; None: the one found upwards from `cwd`.
    `how` makes a suite of any target as soon as it says something that only suites understand, such as several models.
    `config_dir` is the folder in which names of models are looked up. Raises NotFoundError, with near names, for a
    target that is not there, and UsageError for options that it does not take.
    """
    options, how = options or RunOptions(), how or SuiteOptions()
    cwd = cwd or Path.cwd()
    config = config or find_config(cwd)
    if isinstance(target, str | os.PathLike):
        written = os.fspath(target)
        plan = plan_program(written, config, cwd, options.input)
        if plan is not None:
            refuse_settings(written, [*options.given(), *how.given()])
            return Workflow(plan) if plan.config is None else Program(plan)
        suite = load_suite(written, cwd=cwd)
        if suite is not None:
            if not how.models:
                return suite
            return chosen_models(suite, how.models, config_dir=config_dir, cwd=cwd)
        target = written
    if how.needs_a_suite and (isinstance(target, str) or callable(target)):
        return command_suite(targets=[target], models=how.models or (), config_dir=config_dir, cwd=cwd)
    found = tuple(find_targets(target, config, cwd, options))
    return Questions(found[0]) if found[0].questions is not None else Benchmarks(found)
