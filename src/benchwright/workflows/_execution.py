"""Carries out a workflow: finds or makes its run, calls the handler, records how it ended."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchwright.core import BenchwrightError, JsonValue, RunStatus
from benchwright.store import HEARTBEAT_S
from benchwright.workflows._canonical import stable_stringify
from benchwright.workflows._context import WorkflowContext, traceback_text
from benchwright.workflows._errors import WorkflowError
from benchwright.workflows._recorder import Recorder
from benchwright.workflows._sessions import Asked, Session, open_session


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
        resumed. A run that is complete gives its recorded output without doing anything. `watch` is told the
        context, and whether the run is complete already.
        """
        asked = Asked(
            self.name,
            self.handler,
            input_value,
            resume,
            None if workspace is None else Path(workspace),
            force,
        )
        session = await open_session(asked)
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
    told = f"interrupted ({type(error).__name__})" if status == "interrupted" else traceback_text(error)
    try:
        await recorder.finish(status, error=told)
    except BenchwrightError as failure:
        error.add_note(f"(The run's end could not be recorded: {failure})")


async def _beat(recorder: Recorder) -> None:
    """Signs of life for as long as the run goes on. One that fails is no reason to stop: the steps will tell."""
    while True:
        await asyncio.sleep(HEARTBEAT_S)
        with suppress(BenchwrightError):
            await recorder.heartbeat()
