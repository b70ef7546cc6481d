"""`workflow`: a name and a handler, ready to be run."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchwright.core import JsonValue, UsageError

Handler = Callable[..., Awaitable[Any] | Any]
"""`async def handler(input_value, ctx)` or `async def handler(ctx)`; returns what JSON can hold."""


class RunWorkflow(Protocol):
    """Runs a workflow to its end and gives its output."""

    async def __call__(
        self,
        input_value: Any = None,
        *,
        resume: int | str | None = None,
        workspace: Path | str | None = None,
        force: bool = False,
    ) -> JsonValue:
        """`resume`: go on with that run. `workspace`: where it is recorded. `force`: take it from a live process."""
        ...


@dataclass(frozen=True, slots=True)
class WorkflowDescriptor:
    """A workflow: `await descriptor.run(input)` runs it, `entrypoint(descriptor)` makes a script of it."""

    name: str
    """What runs of it are called."""
    run: RunWorkflow
    """Runs it."""


def workflow(name: str, handler: Handler) -> WorkflowDescriptor:
    """Name a handler, so that it can be run, recorded and resumed.

    The handler is called with the input and a `WorkflowContext`; one with a single required parameter gets the
    context only.

    >>> async def handler(input_value, ctx):
    ...     return {"rows": input_value["rows"]}
    >>> workflow("my_eval", handler).name
    'my_eval'
    """
    from benchwright.workflows._execution import Execution

    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"a workflow's name is {name!r}; expected a text, such as 'my_eval'")
    if not callable(handler):
        raise UsageError(f"workflow {name!r}: the handler is {handler!r}; expected an async function")
    return WorkflowDescriptor(name, Execution(name, handler, takes_input(name, handler)))


def takes_input(name: str, handler: Handler) -> bool:
    """Whether a handler is called with (input, ctx) rather than with (ctx)."""
    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):
        return True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [p for p in parameters if p.kind in positional]
    required = [p for p in places if p.default is p.empty]
    if len(required) == 1:
        return False
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(required) > 2 or (len(places) < 2 and not open_ended):
        raise UsageError(
            f"workflow {name!r}: the handler takes {len(required)} arguments; "
            "write it as handler(input_value, ctx) or handler(ctx)"
        )
    return True
