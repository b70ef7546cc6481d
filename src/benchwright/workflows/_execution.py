"""A workflow by name, and one execution of its handler."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from benchwright.core import BenchwrightError, JsonValue, RunStatus, UsageError
from benchwright.store import HEARTBEAT_S
from benchwright.workflows._canonical import stable_stringify
from benchwright.workflows._context import WorkflowContext, traceback_text
from benchwright.workflows._recorder import Recorder, WorkflowError
from benchwright.workflows._sessions import RunRequest, Session, open_session

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
        """`resume`: the run to resume. `workspace`: where it is recorded. `force`: take it from a live process."""
        ...


class WorkflowDescriptor(Struct, frozen=True):
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


class Execution:
    """Implements `RunWorkflow`."""

    def __init__(self, name: str, handler: Callable[..., Any], takes_input: bool) -> None:
        self.name = name
        self.handler = handler
        self._takes_input = takes_input

    async def __call__(
        self,
        input_value: Any = None,
        *,
        resume: int | str | None = None,
        workspace: Path | str | None = None,
        force: bool = False,
        watch: Callable[[WorkflowContext, bool], None] | None = None,
    ) -> JsonValue:
        """Run the workflow to its end and give its output, as JSON types.

        Whatever the handler raises is recorded and raised again; a cancelled run is `interrupted` and can be
        resumed. A run that is complete gives its recorded output without doing anything. `watch` gets the
        context, and whether the run is complete already.
        """
        request = RunRequest(
            self.name,
            self.handler,
            input_value,
            resume,
            None if workspace is None else Path(workspace),
            force,
        )
        session = await open_session(request)
        try:
            ctx = WorkflowContext(session.recorder, self.name, session.client, session.started_at)
            if watch is not None:
                watch(ctx, session.done is not None)
            if session.done is not None:
                output: JsonValue = json.loads(session.done)
                return output
            return await self._carry_out(session, ctx)
        finally:
            await session.close()

    async def _carry_out(self, session: Session, ctx: WorkflowContext) -> JsonValue:
        recorder = session.recorder
        beating = asyncio.create_task(_beat(recorder))
        try:
            with ctx.current():
                try:
                    text = await self._handle(session.input, ctx)
                finally:
                    await ctx.cancel_steps()
            if session.ends_run:
                await recorder.finish("completed", output=text.encode())
            else:
                await recorder.set_output(text.encode())
        except Exception as error:
            await _note_end(recorder, "failed", error)
            raise
        except SystemExit as error:
            await _note_end(recorder, "interrupted" if error.code in (0, None) else "failed", error)
            raise
        except BaseException as error:
            await _note_end(recorder, "interrupted", error)
            raise
        finally:
            beating.cancel()
            with suppress(asyncio.CancelledError):
                await beating
            await ctx.close()
        output: JsonValue = json.loads(text)
        return output

    async def _handle(self, input_value: JsonValue, ctx: WorkflowContext) -> str:
        value = self.handler(input_value, ctx) if self._takes_input else self.handler(ctx)
        if inspect.isawaitable(value):
            value = await value
        try:
            return stable_stringify(value)
        except BenchwrightError as error:
            raise WorkflowError(f"the output of workflow {self.name!r} cannot be recorded: {error}") from None


async def _note_end(recorder: Recorder, status: RunStatus, error: BaseException) -> None:
    """Record how a run ended badly. If even that fails, the first error says so."""
    text = f"interrupted ({type(error).__name__})" if status == "interrupted" else traceback_text(error)
    try:
        await recorder.finish(status, error=text)
    except BenchwrightError as failure:
        error.add_note(f"(The run's end could not be recorded: {failure})")


async def _beat(recorder: Recorder) -> None:
    """Signs of life for as long as the run lasts. One that fails is no reason to stop: the steps will tell."""
    while True:
        await asyncio.sleep(HEARTBEAT_S)
        with suppress(BenchwrightError):
            await recorder.heartbeat()
