"""Rows of a workflow: `ctx.sample(id)` records what happened for one row, its scores, and the steps that it took."""

from __future__ import annotations

import contextvars
from math import isfinite
from typing import TYPE_CHECKING, Any

from benchwright.core import SAMPLE_STEP, JsonObject, UsageError

if TYPE_CHECKING:
    from types import TracebackType

    from benchwright.workflows._context import WorkflowContext

_ROW: contextvars.ContextVar[WorkflowSample | None] = contextvars.ContextVar("benchwright_row", default=None)


def note_step(ctx: WorkflowContext, key: str) -> None:
    """Note that a step belongs to the current row, if there is one."""
    row = _ROW.get()
    if row is not None and row.ctx is ctx:
        row.steps.append(key)


class WorkflowSample:
    """One row of a workflow, while its block is executed: `async with ctx.sample(id, row) as sample`."""

    def __init__(self, ctx: WorkflowContext, id: str | int, row: Any) -> None:
        self.ctx = ctx
        self.id = str(id)
        """Its name in the run."""
        self.row = row
        """The row of the data."""
        self.steps: list[str] = []
        """The keys of the steps so far."""
        self._found: JsonObject = {}

    def score(self, *, response: Any = None, target: Any = None, **scores: float) -> None:
        """Record the scores of the row, each a number or a bool; the answer that was scored, and the expected one."""
        wrong = [
            name
            for name, value in scores.items()
            if not isinstance(value, bool | int | float) or not isfinite(value)
        ]
        if wrong or not scores:
            raise UsageError(
                f"sample {self.id!r}: {wrong[0]} is {scores[wrong[0]]!r}; expected a number or a bool"
                if wrong
                else f"sample {self.id!r} has no score; name one: sample.score(correct=True)"
            )
        self._found = {"scores": dict(scores), "response": response, "target": target}

    async def __aenter__(self) -> WorkflowSample:
        """Begin the row: steps from here on belong to it, also those of tasks that are started here."""
        self._token = _ROW.set(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Record the row: as scored, or as failed with the error, which is raised again."""
        _ROW.reset(self._token)
        if error is not None and not isinstance(error, Exception):
            return  # the run is being stopped; the row is recorded when it is resumed
        record = {"row": self.row, **self._found, "steps": self.steps}

        async def execute() -> JsonObject:
            if error is not None:
                raise error
            scores: Any = self._found.get("scores") or {}
            for name, value in scores.items():
                await self.ctx.emit(name, float(value))
            return {"outcome": "scored" if scores else "not scored"}

        try:
            # The whole record is the input: what a resumed run finds again is left as it is, and what has changed replaces it.
            await self.ctx.step(
                step_key=f"{SAMPLE_STEP}{self.id}",
                execute=execute,
                input_value=record,
                on_input_change="rerun",
            )
        except Exception as again:
            if again is not error:
                raise
