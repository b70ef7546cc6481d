"""Rows of a workflow: `ctx.sample(id)` records what happened for one row, its scores, and the steps that it took."""

from __future__ import annotations

import contextvars
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.core import (
    SAMPLE_STEP,
    JsonObject,
    JsonValue,
    MetricSummary,
    Outcome,
    UsageError,
    encode_json,
    load_exact_json,
)

if TYPE_CHECKING:
    from types import TracebackType

    from benchwright.workflows._context import WorkflowContext

_ROW: contextvars.ContextVar[WorkflowSample | None] = contextvars.ContextVar("benchwright_row", default=None)


_TOKENS = ("prompt_tokens", "completion_tokens")


def row_of(ctx: WorkflowContext) -> WorkflowSample | None:
    """The row to which the steps of this task belong, if there is one."""
    row = _ROW.get()
    return row if row is not None and row.ctx is ctx else None


class WorkflowSample:
    """One row of a workflow, while its block is executed: `async with ctx.sample(id, row) as sample`."""

    def __init__(self, ctx: WorkflowContext, id: str | int, row: Any) -> None:
        self.ctx = ctx
        self.id = str(id)
        """Its name in the run."""
        self.row = row
        """The row of the data."""
        self.steps: dict[str, tuple[bytes | None, bytes | None]] = {}
        """The input and the output of each step so far (JSON), by its key, in the order in which they began; None for what is not there."""
        self._found: JsonObject = {}

    def score(self, *, response: Any = None, target: Any = None, **scores: float) -> None:
        """Record the scores of the row, each a number or a bool; the answer that was scored, and the expected one."""
        wrong = [
            name
            for name, value in scores.items()
            if not isinstance(value, bool | int | float) or not abs(value) < MetricSummary.LARGEST
        ]
        if wrong or not scores:
            raise UsageError(
                f"sample {self.id!r}: {wrong[0]} is {scores[wrong[0]]!r}; expected a number or a bool"
                if wrong
                else f"sample {self.id!r} has no score; name one: sample.score(correct=True)"
            )
        # A whole number beyond 64 bits would be recorded as text, and not count in the mean.
        known = {name: value if abs(value) < 2**63 else float(value) for name, value in scores.items()}
        self._found = {"scores": {**known}, "response": response, "target": target}

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
        steps = {key: (_value(given), _value(output)) for key, (given, output) in self.steps.items()}
        record = {
            "row": self.row,
            **self._found,
            "steps": list(steps),
            "messages": conversation(steps),
            "usage": _usage([output for _, output in steps.values()]),
            "outcome": _outcome(error),
        }

        async def execute() -> JsonObject:
            if error is not None:
                raise error
            scores: Any = self._found.get("scores") or {}
            for name, value in scores.items():
                await self.ctx.emit(name, float(value))
            return {"outcome": "scored" if scores else "not scored"}

        key = f"{SAMPLE_STEP}{self.id}"
        self.ctx.rows.add(key)
        try:
            # The whole record is the input: what a resumed run finds again is left as it is, and what has changed replaces it.
            await self.ctx.step(
                step_key=key,
                execute=execute,
                input_value=record,
                on_input_change="rerun",
            )
        except Exception as again:
            if again is not error:
                raise


_NOTHING = object()
"""The output of a step that has not ended well."""


def _value(text: bytes | None) -> Any:
    return _NOTHING if text is None else load_exact_json(text)


def _usage(outputs: Sequence[Any]) -> list[JsonValue] | None:
    """Prompt and completion tokens of all model calls; None if none of them counted any."""
    replies = [output for output in outputs if isinstance(output, dict)]
    counts = [[count for reply in replies if type(count := reply.get(name)) is int] for name in _TOKENS]
    return [sum(each) for each in counts] if any(map(any, counts)) else None


def _outcome(error: Exception | None) -> str:
    from benchwright.workflows._llm import LLMError  # which needs the context

    if error is None:
        return Outcome.SCORED
    return Outcome.REQUEST_FAILED if isinstance(error, LLMError) else Outcome.SCORER_FAILED


def conversation(steps: Mapping[str, tuple[Any, Any]]) -> list[JsonValue]:
    """What was said in some steps, in order: messages to a model, its replies, calls of tools with their results, and what other steps
    returned, as messages of the role `step`. A message that a later request repeats is given once.

    >>> asked = [{"role": "user", "content": "1+1?"}]
    >>> said = conversation({"ask": (asked, {"content": "2", "tool_calls": []})})
    >>> [(message["role"], message["content"]) for message in said]
    [('user', '1+1?'), ('assistant', '2')]
    """
    found: list[JsonObject] = []
    for key, (given, output) in steps.items():
        found += _new(_messages(given), found)
        if isinstance(output, dict) and isinstance(output.get("content"), str):
            calls = output.get("tool_calls")
            found.append(
                {
                    "role": "assistant",
                    "content": output["content"],
                    **({"tool_calls": [_call(call) for call in calls]} if calls else {}),
                }
            )
        elif output is _NOTHING:
            found.append({"role": "step", "name": key, "content": "no output"})
        elif isinstance(given, dict) and isinstance(given.get("name"), str) and "arguments" in given:
            found.append({"role": "tool", "name": given["name"], "content": _text(output)})
        else:
            found.append({"role": "step", "name": key, "content": _text(output)})
    return list(found)


def _messages(given: Any) -> list[JsonObject]:
    """The messages of a request: the input of a step, or its `messages`."""
    listed = given.get("messages") if isinstance(given, dict) else given
    return (
        [each for each in listed if isinstance(each, dict) and "role" in each]
        if isinstance(listed, list)
        else []
    )


def _new(messages: Sequence[JsonObject], before: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """The messages of a request that were not said before: those after the conversation so far, if the request goes on with it."""
    said = [_key(message) for message in before if message["role"] != "step"]
    if [_key(message) for message in messages[: len(said)]] == said:
        return messages[len(said) :]
    return [message for message in messages if _key(message) not in said]


def _key(message: JsonObject) -> tuple[str, str]:
    return str(message["role"]), _text(message.get("content") or "")


def _call(call: Any) -> JsonValue:
    """A call of a reply, as messages have it."""
    if not isinstance(call, dict) or "function" in call:
        found: JsonValue = call
        return found
    arguments = encode_json(call.get("arguments") or {}).decode()
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": call.get("name"), "arguments": arguments},
    }


def _text(value: Any) -> str:
    """A value as text, without the times of replies, which differ from run to run."""
    if isinstance(value, dict):
        value = {name: each for name, each in value.items() if name != "latency_s"}
    return value if isinstance(value, str) else encode_json(value).decode()
