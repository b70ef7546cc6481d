"""Opens a pipeline around a model: compiles steps, loads plugins, and opens the endpoint with what they need."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from benchwright.config import (
    STEPS,
    PayloadModifier,
    PipelineSettings,
    PipelineStep,
    ProgressTracking,
    Reasoning,
    StepEntry,
    SystemMessage,
)
from benchwright.core import Artifacts, ConfigError, Registry
from benchwright.endpoints._endpoint import OpenEndpoint
from benchwright.endpoints._pipeline.bodies import BodyStep, header_changes, payload_change, system_message
from benchwright.endpoints._pipeline.endpoint import PipelineEndpoint
from benchwright.endpoints._pipeline.exchange_log import ExchangeLog
from benchwright.endpoints._pipeline.progress import ProgressPoster
from benchwright.endpoints._pipeline.reasoning import ReasoningStep
from benchwright.endpoints._pipeline.transport import HttpSide
from benchwright.endpoints._settings import EndpointSettings
from benchwright.endpoints._transport import AroundHttp


def _check_plugin(value: object) -> Callable[..., Any]:
    if not callable(value):
        raise TypeError(f"is {type(value).__name__}, not a class or a function that makes a step")
    return value


STEP_PLUGINS: Registry[Callable[..., Any]] = Registry(
    "steps", _check_plugin, built_in=lambda: STEPS, error=ConfigError
)
"""Factories of steps of installed packages, by name."""


def check_pipeline(settings: PipelineSettings, model: object, *, ranks_choices: bool = False) -> None:
    """Raise ConfigError for a pipeline that could not be opened; nothing is sent."""
    if ranks_choices and settings.find(SystemMessage) is not None:
        raise ConfigError(
            "the pipeline adds a system message, and choices are ranked by their place after the prompt, so nothing may "
            "be put in front of it; give the system message to the benchmark, or as the model's `system`"
        )
    compiled_steps(settings)
    HttpSide(_header_steps(settings, model), None)
    if (progress := settings.find(ProgressTracking)) is not None:
        ProgressPoster(progress)


def open_pipeline(
    settings: PipelineSettings,
    model: object,
    files: Artifacts,
    opened: Callable[[AroundHttp | None], OpenEndpoint],
    *,
    url: str = "",
) -> OpenEndpoint:
    """Wrap the endpoint that `opened` returns in the pipeline; return it unchanged if no step needs to be between.

    `model` are the settings of the model. `files` get the log. Raises ConfigError for a step that cannot work.
    """
    steps, changing = compiled_steps(settings), _header_steps(settings, model)
    by_http = isinstance(model, EndpointSettings)
    log = ExchangeLog(settings, files, url) if ExchangeLog.wanted(settings) else None
    endpoint = opened(HttpSide(changing, log) if by_http and (changing or log is not None) else None)
    if not steps and log is None:
        return endpoint
    return PipelineEndpoint(steps, endpoint, log=log, by_http=by_http)


def _header_steps(settings: PipelineSettings, model: object) -> list[PayloadModifier]:
    """The steps that change headers. Raises ConfigError if the model has no headers."""
    steps = [entry.built_in for entry in settings.steps]
    changing = header_changes([step for step in steps if isinstance(step, PayloadModifier)])
    if changing and not isinstance(model, EndpointSettings):
        raise ConfigError(
            "the pipeline changes headers, and this model answers without HTTP; leave headers_to_… out"
        )
    return changing


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
