"""Arguments of the functions that are objects, checked before anything is recorded."""

from __future__ import annotations

import os
from collections.abc import Mapping

from benchwright.config import RunOptions
from benchwright.core import UsageError
from benchwright.endpoints import OpenEndpoint
from benchwright.runs import RunResult

_ENDPOINT = tuple(name for name in dir(OpenEndpoint) if not name.startswith("_"))
"""What an endpoint must have."""


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
    """Refuse, with UsageError, what is not of the type that `caller` takes. None: not given."""
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
    for name, value, fits, wanted in expected:
        if value is not None and not fits:
            raise _refused(caller, name, value, wanted)


def check_run(caller: str, run: object, name: str = "run") -> None:
    """Refuse, with UsageError, what cannot name a recorded run."""
    if isinstance(run, bool) or not isinstance(run, str | int | os.PathLike | RunResult):
        raise _refused(caller, name, run, "the number, name or folder of a run, or its result")


def _refused(caller: str, name: str, value: object, wanted: str) -> UsageError:
    return UsageError(f"{caller}(): {name} is {value!r} (of type {type(value).__name__}); expected {wanted}")
