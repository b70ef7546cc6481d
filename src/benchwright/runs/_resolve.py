"""Resolves targets (benchmarks, a file of questions, a suite, a program or a workflow) in one place, so that commands and
Python functions take the same; and checks the types of arguments before anything is recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from benchwright.config import SUITE_SUFFIXES, ConfigFile, RunOptions, SuiteOptions, find_config
from benchwright.core import QUESTIONS, UsageError
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import Watcher
from benchwright.results import RunResult
from benchwright.runs._jobs import perform_jobs, reporting
from benchwright.runs._resolved import Resolved
from benchwright.runs._run import Plan, check_targets, planned, queue_plans
from benchwright.runs._session import Session
from benchwright.runs._targets import Target, find_targets

if TYPE_CHECKING:
    from benchwright.config import LoadOptions
    from benchwright.runs._programs import ProgramPlan
    from benchwright.runs._suites.suite import Suite


class Benchmarks(Resolved, frozen=True):
    """Benchmarks that Python code, a table of the configuration, or a package defines."""

    targets: tuple[Target, ...]
    """In order of definition."""

    def perform(
        self,
        session: Session,
        options: RunOptions,
        how: SuiteOptions,
        *,
        watcher: Watcher | None,
        finished: Callable[[RunResult], None] | None,
        endpoint: OpenEndpoint | None,
    ) -> Any:
        """Evaluate every benchmark, one after the other. All are checked before the first starts."""
        if how.mode == "infer":
            options = replace(options, infer_only=True)
        several, scripted = len(self.targets) > 1, endpoint is not None
        plans = [
            planned(found, options, session.config, several=several, scripted=scripted)
            for found in self.targets
        ]
        lanes = [[job] for job in queue_plans(session.store, plans)]
        ended = perform_jobs(
            session.store, lanes, watcher=watcher, finished=reporting(finished), endpoint=endpoint
        )
        results = [each.result for each in ended if each.result is not None]
        return results if several or not results else results[0]

    def check(self, session: Session, options: RunOptions, how: SuiteOptions) -> Any:
        """One report per benchmark."""
        from benchwright.runs._check_reports import CheckReports  # not for runs

        return CheckReports(check_targets(self.targets, options, session.config))

    def load_plans(
        self, session: Session, options: RunOptions, load: LoadOptions, *, ask_server: bool
    ) -> tuple[list[Plan], bool]:
        """The load tests, and whether there are several."""
        from benchwright.runs._perf import plan_loads

        plans = plan_loads(self.targets, options, load, session.config, ask_server=ask_server)
        return plans, len(plans) > 1


class Questions(Benchmarks, frozen=True):
    """A file of questions, or a dataset by its URI."""

    @property
    def target(self) -> Target:
        """The benchmark that is made of it."""
        return self.targets[0]


class Program(Resolved, frozen=True):
    """A command of the configuration."""

    plan: ProgramPlan
    """What is started."""

    def perform(
        self,
        session: Session,
        options: RunOptions,
        how: SuiteOptions,
        *,
        watcher: Watcher | None,
        finished: Callable[[RunResult], None] | None,
        endpoint: OpenEndpoint | None,
    ) -> Any:
        """Start the program and wait for it."""
        from benchwright.runs._run_program import run_program

        if endpoint is not None:
            raise UsageError(f"endpoint: {self.plan.target} is a program, which calls its models itself")
        return run_program(session.store, self.plan)

    def check(self, session: Session, options: RunOptions, how: SuiteOptions) -> Any:
        """The plan of a program whose command was found."""
        self.plan.executable()
        return self.plan

    def load_plans(
        self, session: Session, options: RunOptions, load: LoadOptions, *, ask_server: bool
    ) -> tuple[list[Plan], bool]:
        """Raise, because only the program knows its requests."""
        raise UsageError(
            f"{self.plan.target} is a program, which calls its models itself; give its data instead"
        )


class Workflow(Program, frozen=True):
    """A Python file with workflows."""


Written: TypeAlias = str | os.PathLike[str] | Callable[..., Any]
"""A target as users give it: a path, a URI, a name, or a decorated function."""


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
        from benchwright.runs._suites.names import command_suite

        return command_suite(targets=[target], models=how.models or (), config_dir=config_dir, cwd=cwd)
    found = tuple(find_targets(target, config, cwd, options))
    return Questions(found) if found[0].definition["kind"] == QUESTIONS else Benchmarks(found)


def _program(
    target: str, options: RunOptions, how: SuiteOptions, config: ConfigFile | None, cwd: Path
) -> Program | Workflow | None:
    entry = None if config is None else config.benchmarks.get(target)
    if (entry is None or not entry.command) and not target.partition(":")[0].endswith(".py"):
        return None
    from benchwright.runs._programs import plan_program, refuse_settings

    plan = plan_program(target, config, cwd, options.input)
    if plan is None:
        return None
    refuse_settings(target, [*options.given(), *how.given()])
    return Workflow(plan) if plan.config is None else Program(plan)


def _suite(target: str, how: SuiteOptions, config_dir: str | None, cwd: Path) -> Suite | None:
    if not target.lower().endswith(SUITE_SUFFIXES):
        return None
    from benchwright.runs._suites.suite import load_suite

    suite = load_suite(target, cwd=cwd)
    if suite is None or not how.models:
        return suite
    from benchwright.runs._suites.names import chosen_models

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
