"""The context of a workflow's handler: steps that are executed once, and metrics and events that are recorded."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import os
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import CoroutineType
from typing import Any, final

from benchwright.core import (
    BenchwrightError,
    JsonObject,
    JsonValue,
    RunOwnedError,
    UsageError,
    canonical_json,
)
from benchwright.store import BeginDecision, InputChange, RecordRefusedError, StepRequest, StoreError
from benchwright.workflows._canonical import hash_text, read_back, stable_stringify
from benchwright.workflows._client import WorkflowClient
from benchwright.workflows._recorder import ApiError, Recorder, StepTimeoutError
from benchwright.workflows._samples import WorkflowSample, row_of

Execute = Callable[[], Awaitable[Any] | Any]
"""The code of a step: an asynchronous or plain function without arguments that returns a JSON value."""

_OUR_FRAMES = (os.path.dirname(__file__), os.path.dirname(asyncio.__file__), "uvloop/")
_STOP_WITHIN_S = 30.0
"""How long a cancelled step may take."""
_NOT_THE_STEPS_FAULT = (RunOwnedError, StoreError, RecordRefusedError, ApiError)
"""Errors that executing the step again cannot cure."""


class _Scope:
    """The scope of emitted metrics: the run as a whole, or one attempt of a step."""

    __slots__ = ("_counts", "attempt", "owner", "step_id", "work")

    def __init__(
        self, owner: WorkflowContext, step_id: int | None = None, attempt: int = 0, work: str = ""
    ) -> None:
        self.owner = owner
        self.step_id = step_id
        self.attempt = attempt
        self.work = work
        """The identity of the work, the same in every attempt: key, generation and input of the step."""
        self._counts: dict[tuple[str, bytes], int] = {}

    def next_slot(self, name: str, tags: JsonObject | None) -> int:
        """The number of the next point with this name."""
        place = (name, canonical_json(tags) if tags else b"")
        number = self._counts.get(place, 0)
        self._counts[place] = number + 1
        return number


_SCOPE: contextvars.ContextVar[_Scope | None] = contextvars.ContextVar("benchwright_step", default=None)


@final
class WorkflowContext:
    """One execution of a workflow."""

    def __init__(
        self, recorder: Recorder, workflow_name: str, client: WorkflowClient, started_at: str = ""
    ) -> None:
        self._started_at = started_at
        self._calls: Counter[str] = Counter()
        self.recorder = recorder
        """Records everything."""
        self.run_id = recorder.run_id
        """Number of the run."""
        self.workflow_name = workflow_name
        self.client = client
        """Access to this and other runs, with the calls of the REST interface."""
        self.executed = 0
        """Steps executed by this start, counting each once."""
        self.replayed = 0
        """Steps whose recorded output was used."""
        self.rows: set[str] = set()
        """The keys of the steps that record rows. They are counted as rows, and not as steps."""
        self.scratch: dict[str, Any] = {}
        """Values that helper functions keep during this execution."""
        self._scope = _Scope(self)
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Close something when this execution ends in any way."""
        self._closers.append(close)

    async def cancel_steps(self) -> None:
        """Stop steps that the handler started and did not wait for, and wait until they have stopped."""
        open_tasks = self._tasks - {asyncio.current_task()}
        for task in open_tasks:
            task.cancel()
        if open_tasks:
            await asyncio.wait(open_tasks, timeout=_STOP_WITHIN_S)

    async def close(self) -> None:
        """Call the functions of `at_end`, the newest first."""
        while self._closers:
            await self._closers.pop()()

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this the workflow that `current_context` finds in the caller's task and in those it starts."""
        token = _SCOPE.set(self._scope)
        try:
            yield
        finally:
            _SCOPE.reset(token)

    async def step(
        self,
        *,
        step_key: str,
        execute: Execute,
        input_value: Any = None,
        retries: int = 0,
        backoff: float = 1.0,
        timeout: float | None = None,
        cache: bool = True,
        on_input_change: InputChange = "fail",
    ) -> Any:
        """Execute a function once per run; a step that is recorded as complete returns its recorded output.

        step_key: the key of the step; unique in the run.
        execute: called without arguments; may be asynchronous. It returns a JSON value, a dataclass or a pydantic model;
            the step returns it as JSON types, on the first pass as on a replay.
        input_value: the value that the output depends on. If it differs from the recorded one, the step fails and reports
            the difference, or, with `on_input_change="rerun"`, is executed again; the old record is kept.
        retries, backoff: how often a failing step is tried again, after `backoff` seconds, doubled each time. A run that was
            killed in between resumes with the remaining retries.
        timeout: seconds an attempt may take; asynchronous code only.
        cache: False executes the step although it is recorded.
        """
        request = _request(step_key, input_value, cache, on_input_change)
        if retries or timeout is not None:
            _check_patience(step_key, retries, backoff, timeout)
        decision = await self.recorder.begin(request)
        row = row_of(self)
        if row is not None:
            row.steps[step_key] = request.input, decision.output
        if decision.kind == "reuse":
            self.replayed += step_key not in self.rows
            return json.loads(decision.output or b"null")
        self.executed += step_key not in self.rows
        task = asyncio.current_task()
        outermost = task is not None and task not in self._tasks
        if outermost and task is not None:
            self._tasks.add(task)
        try:
            text = await self._persist(request, decision, execute, retries, backoff, timeout)
        finally:
            if outermost:
                self._tasks.discard(task)
        if row is not None:
            row.steps[step_key] = request.input, text.encode()
        return read_back(text)

    def sample(self, id: str | int, row: Any = None) -> WorkflowSample:
        """A row of an evaluation: `async with ctx.sample(id, row) as sample`. The steps inside belong to it, and `sample.score(…)` gives it
        scores, which get means with intervals and are compared row by row. A row that raises is recorded as failed."""
        return WorkflowSample(self, id, row)

    async def do(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function as a step: `await ctx.do(ask, row)`. A recorded step is not called again.

        The key consists of the file and name of the function and a hash of its arguments, which must be JSON values:
        `my_eval.ask(3f2a9c1b5d07)`. A second call with equal arguments is another step, `…#2`. So loops, even concurrent
        ones, need neither closures nor keys. A function that is renamed, or called with other arguments, is another step.
        """
        name = _name_of(function)
        given: JsonObject = {"arguments": list(arguments), "keywords": keywords}
        try:
            work = hash_text(stable_stringify(given))[:12]
        except UsageError as error:
            raise UsageError(f"the arguments of {name} cannot be recorded: {error}") from None
        key = f"{name}({work})"
        self._calls[key] += 1
        if self._calls[key] > 1:  # equal calls are interchangeable, so the order does not matter
            key = f"{key}#{self._calls[key]}"
        return await self.step(
            step_key=key, execute=lambda: function(*arguments, **keywords), input_value=given
        )

    @property
    def idempotency_token(self) -> str:
        """A token for the work of the current step: the same in every attempt, even after a kill and a resume, and different
        for every other step, input and run. A step is executed at least once; with this token a service can recognise a
        repetition."""
        scope = _SCOPE.get()
        if scope is None or scope.owner is not self or scope.step_id is None:
            raise UsageError("idempotency_token is for the code of a step: ask for it inside one")
        return hash_text(f"{self.run_id}\n{self._started_at}\n{scope.work}")[:32]

    async def emit(
        self,
        metric_name: str,
        metric_value: float,
        unit: str | None = None,
        *,
        tags: JsonObject | None = None,
    ) -> None:
        """Record a metric point of the current step, else of the run. NaN and infinity are refused.

        A resumed run, which executes the code between steps again, replaces the points emitted there.
        """
        scope = _SCOPE.get()
        if scope is None or scope.owner is not self:
            scope = self._scope
        await self.recorder.emit(
            metric_name,
            metric_value,
            unit=unit,
            tags=tags,
            step_id=scope.step_id,
            attempt=scope.attempt,
            slot=scope.next_slot(metric_name, tags),
        )

    async def event(self, type: str, message: str = "", data: Any = None) -> None:
        """Record an event; `show --events` lists it. Names that begin with `run.` or `step.` are reserved."""
        if not type or type.startswith(("run.", "step.")):
            raise UsageError(
                f"an event cannot be called {type!r}: names that begin with run. or step. are reserved. "
                "Choose another, such as 'sampling.done'."
            )
        scope = _SCOPE.get()
        step_id = scope.step_id if scope is not None and scope.owner is self else None
        facts: JsonValue = None if data is None else json.loads(stable_stringify(data))
        await self.recorder.event(type, message, data=facts, step_id=step_id)

    async def _persist(
        self,
        request: StepRequest,
        decision: BeginDecision,
        execute: Execute,
        retries: int,
        pause_s: float,
        timeout: float | None,
    ) -> str:
        """Make attempts until one succeeds or none is left. Returns the output as JSON."""
        recorder = self.recorder
        # A step without remaining retries has failed its run; a resumed run gets all retries again.
        used = decision.failures % (retries + 1)
        retries -= used
        pause_s *= 2**used
        while True:
            try:
                text = await self._attempt(request, decision, execute, timeout)
                break
            except Exception as error:
                with suppress(*_NOT_THE_STEPS_FAULT):  # the user must see the first error
                    await recorder.fail(decision.step_id, decision.attempt, traceback_text(error))
                if retries <= 0 or isinstance(error, _NOT_THE_STEPS_FAULT):
                    raise
            except BaseException as error:
                with suppress(BenchwrightError):
                    reason = f"cancelled ({type(error).__name__})"
                    await recorder.fail(decision.step_id, decision.attempt, reason, interrupted=True)
                raise
            retries -= 1
            await asyncio.sleep(pause_s)
            pause_s *= 2
            decision = await recorder.begin(request)
        await recorder.complete(decision.step_id, decision.attempt, text.encode())
        return text

    async def _attempt(
        self, request: StepRequest, decision: BeginDecision, execute: Execute, timeout: float | None
    ) -> str:
        """Make one attempt. Returns the output as canonical JSON."""
        key = request.key
        work = f"{decision.generation}\n{request.input_hash}\n{key}"
        token = _SCOPE.set(_Scope(self, decision.step_id, decision.attempt, work))
        try:
            value = execute()
            if type(value) is CoroutineType or inspect.isawaitable(value):  # the first is faster and usual
                value = await value if timeout is None else await _within(timeout, value, key)
        finally:
            _SCOPE.reset(token)
        try:
            return stable_stringify(value)
        except UsageError as error:
            raise UsageError(f"the output of step {key!r} cannot be recorded: {error}") from None


async def step(
    ctx: WorkflowContext,
    *,
    step_key: str,
    execute: Execute,
    input_value: Any = None,
    retries: int = 0,
    backoff: float = 1.0,
    timeout: float | None = None,
    cache: bool = True,
    on_input_change: InputChange = "fail",
) -> Any:
    """`ctx.step(…)` as a function."""
    return await ctx.step(
        step_key=step_key,
        execute=execute,
        input_value=input_value,
        retries=retries,
        backoff=backoff,
        timeout=timeout,
        cache=cache,
        on_input_change=on_input_change,
    )


async def emit(
    ctx: WorkflowContext,
    metric_name: str,
    metric_value: float,
    unit: str | None = None,
    *,
    tags: JsonObject | None = None,
) -> None:
    """`ctx.emit(…)` as a function."""
    await ctx.emit(metric_name, metric_value, unit, tags=tags)


def current_context() -> WorkflowContext | None:
    """The context of the current workflow, if there is one."""
    scope = _SCOPE.get()
    return None if scope is None else scope.owner


def traceback_text(error: BaseException) -> str:
    """The traceback for records and messages, from the user's first frame on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OUR_FRAMES):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))


def _request(key: str, input_value: Any, cache: bool, on_input_change: InputChange) -> StepRequest:
    if not isinstance(key, str) or not key:
        raise UsageError(f"a step key is {key!r}; expected a text that names the step in its run")
    if on_input_change not in ("fail", "rerun"):
        raise UsageError(f'step {key!r}: on_input_change is {on_input_change!r}; expected "fail" or "rerun"')
    try:
        text = stable_stringify(input_value)
    except UsageError as error:
        raise UsageError(f"the input of step {key!r} cannot be recorded: {error}") from None
    return StepRequest(key, hash_text(text), text.encode(), on_input_change, cache)


def _name_of(function: Callable[..., Any]) -> str:
    """`file.function`: the same whether the file is run as a program or imported."""
    plain = inspect.unwrap(function.func if isinstance(function, partial) else function)
    name = str(getattr(plain, "__qualname__", type(plain).__qualname__)).rpartition("<locals>.")[2]
    if name == "<lambda>":
        raise UsageError(
            "ctx.do() makes the key of a step out of the function's name; a lambda has none. Use def"
        )
    code = getattr(plain, "__code__", None)
    place = getattr(plain, "__module__", "") if code is None else os.path.basename(code.co_filename)
    return f"{str(place).removesuffix('.py')}.{name}"


def _check_patience(key: str, retries: int, backoff: float, timeout: float | None) -> None:
    if retries < 0 or backoff < 0:
        raise UsageError(
            f"step {key!r}: retries and backoff are {retries!r} and {backoff!r}; expected 0 or more"
        )
    if timeout is not None and not timeout > 0:
        raise UsageError(f"step {key!r}: timeout is {timeout!r}; expected seconds above 0")


async def _within(timeout: float, work: Awaitable[Any], key: str) -> Any:
    try:
        async with asyncio.timeout(timeout) as limit:
            return await work
    except TimeoutError as error:
        if limit.expired():
            raise StepTimeoutError(f"step {key!r} took longer than its timeout of {timeout:g} s") from error
        raise
