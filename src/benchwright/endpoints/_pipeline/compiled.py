"""Makes the objects that perform the steps of a pipeline: built-in ones, plugins, and those of Python code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from benchwright.config import (
    STEPS,
    PayloadModifier,
    PipelineSettings,
    PipelineStep,
    Reasoning,
    StepEntry,
    SystemMessage,
)
from benchwright.core import ConfigError, Registry
from benchwright.endpoints._pipeline.bodies import BodyStep, payload_change, system_message
from benchwright.endpoints._pipeline.reasoning import ReasoningStep


def _check_plugin(value: object) -> Callable[..., Any]:
    if not callable(value):
        raise TypeError(f"is {type(value).__name__}, not a class or a function that makes a step")
    return value


STEP_PLUGINS: Registry[Callable[..., Any]] = Registry(
    "steps", _check_plugin, built_in=lambda: STEPS, error=ConfigError
)
"""Factories of steps of installed packages, by name."""


def compiled_steps(settings: PipelineSettings) -> list[Any]:
    """The steps for requests and replies; consecutive changes of the body are one step."""
    steps: list[Any] = []
    for entry in settings.steps:
        step = _runnable(entry)
        if isinstance(step, BodyStep) and steps and isinstance(steps[-1], BodyStep):
            steps[-1] = steps[-1].followed_by(step)
        elif step is not None:
            steps.append(step)
    return steps


_MADE_BY: dict[type[PipelineStep], Callable[[Any], Any]] = {
    SystemMessage: system_message,
    PayloadModifier: payload_change,
    Reasoning: ReasoningStep,
}
"""What performs each kind of built-in step. The others are settings of the log, of the cache and of reports."""


def _runnable(entry: StepEntry) -> Any:
    """The object that performs a step; None if another part of the program does."""
    if entry.built_in is None:
        return _foreign(entry)
    make = _MADE_BY.get(type(entry.built_in))
    return None if make is None else make(entry.built_in)


def _foreign(entry: StepEntry) -> Any:
    if entry.own is not None:
        return entry.own.step
    if entry.package.startswith("python:"):
        raise ConfigError(
            f"step {entry.name} was an object in a Python program ({entry.package.removeprefix('python:')}), which is not "
            "recorded. Start the run again in that program, with the step: it takes the replies that are recorded. For runs that "
            "resume, install the step as a plugin (entry point benchwright.steps)"
        )
    make = STEP_PLUGINS.find(entry.name)
    if make is None:
        raise ConfigError(f"step {entry.name} of {entry.package} is not installed any more; install it again")
    try:
        inspect.signature(make).bind(**entry.config)
        step = make(**entry.config)
    except Exception as error:
        raise ConfigError(
            f"step {entry.name} ({entry.package}) cannot be used with {entry.config}: {error}"
        ) from error
    if not hasattr(step, "on_request") and not hasattr(step, "on_reply"):
        raise ConfigError(f"step {entry.name} ({entry.package}) has neither on_request nor on_reply")
    return step
