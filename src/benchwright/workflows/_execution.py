"""Named workflows, executions of their handlers, and `entrypoint`, which makes a script of workflows, for `benchwright run`
or plain `python my_eval.py`."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, Protocol

from msgspec import Struct

from benchwright.config import named_store
from benchwright.core import (
    BenchwrightError,
    JsonValue,
    RunOwnedError,
    RunStatus,
    UsageError,
    refuse_while_loading,
    shown,
    suggest,
)
from benchwright.store import HEARTBEAT_S, StoreError, find_workspace, open_store
from benchwright.workflows._canonical import stable_stringify
from benchwright.workflows._context import WorkflowContext, traceback_text
from benchwright.workflows._environment import parse_input, read_environment
from benchwright.workflows._recorder import Recorder, WorkflowError
from benchwright.workflows._sessions import RunRequest, Session, find_workflow_run, open_session

Handler = Callable[..., Awaitable[Any] | Any]
"""`async def handler(input_value, ctx)` or `async def handler(ctx)`; returns a JSON value."""


class RunWorkflow(Protocol):
    """Runs a workflow to its end and returns its output."""

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
    """The name of its runs."""
    run: RunWorkflow


def workflow(name: str, handler: Handler) -> WorkflowDescriptor:
    """Name a handler, so that it can be run, recorded and resumed.

    The handler is called with the input and a `WorkflowContext`; a handler with a single required parameter gets only the
    context.

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
        """Run the workflow to its end and return its output as JSON types.

        Exceptions of the handler are recorded and raised again; a cancelled run is `interrupted` and can be resumed. A
        complete run returns its recorded output without executing anything. `watch` gets the context, and whether the run is
        already complete.
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
    """Record how a run failed. If that fails too, the first error gets a note."""
    text = f"interrupted ({type(error).__name__})" if status == "interrupted" else traceback_text(error)
    try:
        await recorder.finish(status, error=text)
    except BenchwrightError as failure:
        error.add_note(f"(The run's end could not be recorded: {failure})")


async def _beat(recorder: Recorder) -> None:
    """Send heartbeats while the run lasts. A failed heartbeat does not stop the run; a failed step does."""
    while True:
        await asyncio.sleep(HEARTBEAT_S)
        with suppress(BenchwrightError):
            await recorder.heartbeat()


def entrypoint(*workflows: WorkflowDescriptor) -> None:
    """Run the chosen workflow; call this in the last line of a script.

    Under `benchwright run NAME` the name and the input are given. Started by hand, the script runs its only
    workflow, or the one named by `--name`; `--input JSON` gives the input, `--resume RUN` resumes a run,
    `--workspace DIR` says where it is recorded. Exits with 1 if the workflow fails, after printing the traceback; with 130 or
    143 if it was interrupted; with 2, 4 or 5 if it cannot be started.
    """
    refuse_while_loading("entrypoint")
    job = _Job()
    try:
        managed = read_environment()
        typed = _arguments(sys.argv[1:]) if managed.run_id is None else argparse.Namespace()
        name = managed.workflow_name or getattr(typed, "name", None)
        if name is None and len(workflows) > 1 and getattr(typed, "resume", None):
            name = _name_of(typed, workflows)
        job.run(_chosen(workflows, name), typed)
    except (StoreError, RunOwnedError) as error:  # the user's code is not to blame
        _leave(f"error: {error}\n", error.exit_code)
    except BenchwrightError as error:
        if job.ctx is None:  # it never began, so the message is enough
            _leave(f"error: {error}\n", error.exit_code)
        _leave(job.failure(error), 1)
    except Exception as error:
        _leave(job.failure(error), 1)
    except (KeyboardInterrupt, asyncio.CancelledError):
        number = job.stopped_by or signal.SIGINT
        _leave(f"interrupted ({number.name}){job.how_to_resume()}\n", 128 + number)
    if managed.run_id is None and job.ctx is not None:
        print(shown(job.ending()), file=sys.stderr)


_GRACE_S = 1.5
"""How long a step may delay the end of the process after the second signal."""


def _end(status: int, cure: str) -> None:
    """End the process. The records are committed, so the run can be resumed."""
    with suppress(OSError, ValueError):
        print(shown(f"ended a workflow whose step did not let go{cure}"), file=sys.stderr, flush=True)
    os._exit(status)


class _Job:
    """One run in a separate event loop, which signals stop."""

    def __init__(self) -> None:
        self.ctx: WorkflowContext | None = None
        self.stopped_by: signal.Signals | None = None
        self.complete_before = False
        self.output: JsonValue = None
        self._last_resort: threading.Timer | None = None
        self._task: asyncio.Task[JsonValue] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, chosen: WorkflowDescriptor, typed: argparse.Namespace) -> None:
        """Run to the end."""
        with asyncio.Runner(loop_factory=_loop_factory()) as runner, self._signals():
            self._loop = runner.get_loop()
            self.output = self._loop.run_until_complete(self._main(chosen, typed))

    async def _main(self, chosen: WorkflowDescriptor, typed: argparse.Namespace) -> JsonValue:
        self._task = asyncio.current_task()
        keywords: dict[str, Any] = {}
        if isinstance(chosen.run, Execution):
            keywords["watch"] = self._begun
        return await chosen.run(
            parse_input(getattr(typed, "input", None), "--input"),
            resume=getattr(typed, "resume", None),
            workspace=getattr(typed, "workspace", None),
            force=getattr(typed, "force", False),
            **keywords,
        )

    def _begun(self, ctx: WorkflowContext, complete: bool) -> None:
        self.ctx = ctx
        self.complete_before = complete

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Handle signals: the first cancels the workflow, which records open steps; the second ends it at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            if self._last_resort is not None:
                self._last_resort.cancel()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: object) -> None:
        first = self.stopped_by is None
        self.stopped_by = self.stopped_by or signal.Signals(number)
        if first and self._task is not None and not self._task.done() and self._loop is not None:
            # Not here: the signal may have come in the middle of a callback that is about to end what this would cancel.
            self._loop.call_soon_threadsafe(self._task.cancel)
            return
        if self._last_resort is None:  # a step may catch everything and continue
            self._last_resort = threading.Timer(_GRACE_S, _end, (128 + number, self.how_to_resume()))
            self._last_resort.daemon = True
            self._last_resort.start()
        raise KeyboardInterrupt

    def failure(self, error: BaseException) -> str:
        """The traceback and, if no `benchwright run` says it, the number of the run and how to resume it."""
        text = traceback_text(error)
        over = (
            "start a new run" in text.lower()
        )  # it has the cure: resumed as it is, the run would fail again
        if self.ctx is None or over or read_environment().run_id is not None:
            return text
        return (
            f"{text.rstrip()}\nrun {self.ctx.run_id} {self.ctx.workflow_name}: failed{self.how_to_resume()}\n"
        )

    def how_to_resume(self) -> str:
        """The command that resumes the run."""
        return (
            "" if self.ctx is None else f"; resume it with: python {sys.argv[0]} --resume {self.ctx.run_id}"
        )

    def ending(self) -> str:
        """One line about a completed run."""
        ctx = self.ctx
        assert ctx is not None
        if self.complete_before:
            return (
                f"run {ctx.run_id} {ctx.workflow_name}: complete already. See: benchwright show {ctx.run_id}"
            )
        steps = ctx.executed + ctx.replayed
        before = f", {ctx.replayed} of them recorded before" if ctx.replayed else ""
        counts = {"row": len(ctx.rows), "step": steps}
        told = [
            f"{count} {noun}{'s' * (count != 1)}" for noun, count in counts.items() if count or noun == "step"
        ]
        return (
            f"run {ctx.run_id} {ctx.workflow_name}: completed, {', '.join(told)}{before}. "
            f"See: benchwright show {ctx.run_id}"
        )


def _chosen(workflows: Sequence[WorkflowDescriptor], name: str | None) -> WorkflowDescriptor:
    names = [workflow.name for workflow in workflows]
    if not workflows:
        raise UsageError("entrypoint() was given no workflow; write entrypoint(workflow('my_eval', handler))")
    if len(set(names)) < len(names):
        raise UsageError(f"two workflows of this script have the same name: {', '.join(names)}")
    if name is None:
        if len(workflows) == 1:
            return workflows[0]
        raise UsageError(f"this script has several workflows ({', '.join(names)}); choose one with --name")
    for workflow in workflows:
        if workflow.name == name:
            return workflow
    raise UsageError(f"Unknown workflow: {name}.{suggest(name, names)} This script has: {', '.join(names)}")


def _name_of(typed: argparse.Namespace, workflows: Sequence[WorkflowDescriptor]) -> str:
    """The workflow of the run to resume."""
    place = typed.workspace or read_environment().workspace
    with open_store(find_workspace(Path.cwd(), None if place is None else Path(place), named_store)) as store:
        return find_workflow_run(store, typed.resume, [workflow.name for workflow in workflows]).name


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parse the command line of the script; unknown words belong to the script."""
    parser = argparse.ArgumentParser(description="Run a benchwright workflow.", allow_abbrev=False)
    parser.add_argument("--input", metavar="JSON", help="what the handler is given")
    parser.add_argument("--resume", metavar="RUN", help='resume a run: its number, or "last"')
    parser.add_argument("--name", metavar="NAME", help="which workflow, if the script has several")
    parser.add_argument("--workspace", metavar="DIR", help="where the run is recorded")
    parser.add_argument(
        "--force", action="store_true", help="with --resume: take the run from a live process"
    )
    typed, others = parser.parse_known_args(words)
    for word in others:
        _warn_of_misspelling(word.partition("=")[0])
    return typed


_FLAGS = ("--input", "--resume", "--name", "--workspace", "--force")


def _warn_of_misspelling(word: str) -> None:
    """Warn of a word that may be meant for us: a start that was to resume a run would be a new one."""
    if not word.startswith("--") or len(word) < 5:
        return
    from difflib import get_close_matches

    # Nearer than a suggestion in an error must be: scripts have options of their own, such as --output.
    near = next(iter(get_close_matches(word, _FLAGS, n=1, cutoff=0.8)), None)
    near = near or next((flag for flag in _FLAGS if flag.startswith(word)), None)
    if near is not None:
        print(
            shown(
                f"warning: {word} is no option of benchwright and is left to the script. Did you mean {near}?"
            ),
            file=sys.stderr,
            flush=True,
        )


def _loop_factory() -> Any:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _leave(text: str, code: int) -> NoReturn:
    sys.stderr.write(shown(text))
    sys.stderr.flush()
    sys.exit(code)


def run_script(path: str) -> None:
    """Run the workflows of a file that does not call `entrypoint` itself."""
    import runpy

    sys.argv = [path]
    sys.path[0:1] = [str(Path(path).parent)]
    found = runpy.run_path(path, run_name="__benchwright_workflow__")
    entrypoint(*{id(v): v for v in found.values() if isinstance(v, WorkflowDescriptor)}.values())
