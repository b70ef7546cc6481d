"""Call tools: the row offers functions, and the model's calls are the answer.

Functions are sent as `tools` or, in prompting mode, in a system message; calls are then read from the text. If the row
has an environment, calls are executed and their results are sent back to the model, turn after turn. Every reply is one
recorded call, so a resumed run replays them against a fresh environment and asks only for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.benchmarks._fields import at_path
from benchwright.benchmarks._missing_fields import has_column, parameter_without_column
from benchwright.benchmarks._prompts import Prompt
from benchwright.benchmarks._requests import completions_request, conversation_request
from benchwright.benchmarks._strategies.base import (
    Answer,
    Asking,
    RowPlan,
    Strategy,
    size_of,
    tokens_of,
)
from benchwright.benchmarks._tool_tasks import (
    ToolTask,
    function_document,
    gold_calls,
    sent_name,
    task_of_prompt,
    with_system,
)
from benchwright.core import UNANSWERED, MissingFieldError, UsageError, encode_json, late_pattern

if TYPE_CHECKING:
    from benchwright.benchmarks._scan import RowScan, ScannedRow
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.benchmarks._strategies.tool_dialogue import ToolDialogue
    from benchwright.core import JsonObject, ModelReply, ModelRequest, ModelType, Row

_TAKEN_NAME = late_pattern(r"[A-Za-z0-9_-]{1,64}")
"""Function names that OpenAI's chat route and most servers accept."""
_MOST_NAMES = 3


class CallTools(Strategy):
    """The model answers by calling functions."""

    name = "call_tools"
    threads = 32

    @classmethod
    def check(cls, spec: BenchmarkSpec, model_type: ModelType | None) -> None:
        kind = model_type or spec.endpoint_type
        if kind == "completions_logprob" or (kind == "completions" and spec.native_calling):
            raise UsageError(
                f"{spec.name} sends functions as tools, which only chat routes take. Use --model-type chat, or describe "
                "the functions in the prompt: --no-native-calling"
            )

    def plan(self, row: Row) -> RowPlan:
        """One request for each turn; the calls within a turn are not known yet."""
        task = self._task(row)
        tools = encode_json(task.functions).decode()
        said = task.text
        sent = (size_of(said) + size_of(tools)) * len(task.turns)
        return RowPlan(Prompt(said), len(task.turns), sent, (tools,))

    def requests(self, row: Row, repeat: int = 0) -> tuple[ModelRequest]:
        """The first request; later ones contain replies."""
        self._checked(row)
        dialogue = self._open(self._task(row))
        dialogue.begin_turn()
        return (self._request(dialogue, repeat),)

    async def answer(self, row: Row, repeat: int, asking: Asking) -> Answer:
        """Send turn after turn and, within a turn, ask again until a reply has no calls."""
        try:
            self._checked(row)
            task = self._task(row)
            if task.obstacle is not None and (why := await asking.in_thread(task.obstacle)) is not None:
                return Answer(None, "", row, skipped=why, extra={"group": f"{UNANSWERED} {task.group or ''}"})
            dialogue = self._open(task)
        except MissingFieldError as error:
            return Answer(None, "", row, skipped=str(error))
        replies: list[ModelReply] = []
        while dialogue.begin_turn():
            while True:
                part = f"t{len(replies):03d}" if dialogue.acts else None
                reply = await asking.ask(self._request(dialogue, repeat), part)
                replies.append(reply)
                if reply.failure is not None:
                    return Answer(
                        reply, "", row, usage=tokens_of(replies), extra={"group": dialogue.task.group}
                    )
                if not await dialogue.take(reply, asking.in_thread):
                    break
        return self._answer(row, dialogue, replies)

    def gold(self, scanned: ScannedRow, target: Any) -> Iterator[Answer]:
        """The expected calls themselves. For several turns, the author of the benchmark must try them; texts in other languages
        than Python cannot be made from them."""
        task = self._task(scanned.row)
        if task.open is not None or task.language != "python":
            return
        native = self._spec.native_calling
        functions = [function_document(item) for item in task.functions]
        for brief in (False, True):
            calls = gold_calls(target, functions, native=native, brief=brief)
            yield Answer(None, calls_text(calls), self._seen(scanned.row, task, calls=calls))

    def missing_fields(self, columns: Sequence[str], missing: Mapping[str, int]) -> Iterator[str]:
        """Fields that the prompt reads, and the column with the functions."""
        spec = self._spec
        if spec.tool_tasks is not None:
            return
        yield from super().missing_fields(columns, missing)
        if spec.tools_field is not None and not has_column(spec.tools_field, columns):
            yield parameter_without_column(spec, "tools_field", columns)

    def doubts(self, scan: RowScan, source: str) -> Iterator[str]:
        """Names that servers refuse, names that two functions share, and expected values that are not of the type of their
        schema."""
        native = self._spec.native_calling
        refused: dict[str, int] = {}
        shared: dict[str, int] = {}
        mistyped: dict[str, int] = {}
        for scanned in scan.first:
            functions = self._task(scanned.row).functions
            names = [
                sent_name(item) if native else str(function_document(item)["name"]) for item in functions
            ]
            for name in names:
                if native and _TAKEN_NAME.fullmatch(name) is None:
                    refused.setdefault(repr(name), scanned.line)
                if names.count(name) > 1:
                    shared.setdefault(repr(name), scanned.line)
            if (why := self._mistyped(scanned.row, functions)) is not None:
                mistyped.setdefault(why, scanned.line)
        if refused:
            yield (
                f"names of functions that servers refuse: {_placed(refused, source)}. Use letters, digits, _ and -, at most 64 "
                "of them"
            )
        if shared:
            yield (
                f"names that several functions of a row have when they are sent: {_placed(shared, source)}. Servers refuse them, or "
                "a call could mean either: rename one of them"
            )
        if mistyped:
            yield f"{_placed(mistyped, source)}. Correct the value or the schema: only this value scores as right"

    def _mistyped(self, row: Row, functions: Sequence[JsonObject]) -> str | None:
        """An expected value of a type that its schema does not give; datasets of function-calling evaluations find theirs."""
        field = self._spec.expected_calls_field
        if field is None:
            return None
        from benchwright.toolcalls import ground_truth_of, mistyped_value

        try:
            truths = ground_truth_of(at_path(row, field, None))
        except ValueError:
            return None  # reported where the expected calls are scored
        return mistyped_value([function_document(item) for item in functions], truths)

    def _task(self, row: Row) -> ToolTask:
        spec = self._spec
        if spec.tool_tasks is None:
            return task_of_prompt(spec, row, self._build(row))
        task = spec.tool_tasks(row)
        return task if spec.system is None else with_system(task, spec.system.render(row))

    def _open(self, task: ToolTask) -> ToolDialogue:
        from benchwright.benchmarks._strategies.tool_dialogue import ToolDialogue  # not for other runs

        return ToolDialogue(task, native=self._spec.native_calling, lenient=self._spec.lenient_calls)

    def _request(self, dialogue: ToolDialogue, repeat: int) -> ModelRequest:
        generation = self._generation
        if self._model_type != "chat":
            return completions_request(dialogue.as_prompt(), generation, repeat=repeat)
        if dialogue.tools:
            generation = generation.but(extra_body={"tools": dialogue.tools, **generation.extra_body})
        return conversation_request(dialogue.messages, generation, repeat=repeat)

    def _answer(self, row: Row, dialogue: ToolDialogue, replies: Sequence[ModelReply]) -> Answer:
        last = replies[-1]
        step = dialogue.steps[-1][-1]
        metadata = self._seen(
            row,
            dialogue.task,
            calls=step.calls,
            error=step.error,
            why=step.why,
            turns=dialogue.as_json(),
            stopped=dialogue.stopped,
        )
        if dialogue.lenient:
            metadata |= {"_lenient_calls": step.lenient, "_lenient_turns": dialogue.as_json(lenient=True)}
        extra: dict[str, Any] = {
            "tool_calls": dialogue.as_json() if dialogue.acts else step.calls,
            "group": dialogue.task.group,
        }
        if dialogue.acts:
            extra |= {"conversation": list(dialogue.messages), "reply_counts": dialogue.counts}
        return Answer(
            last,
            _unread(last, native=dialogue.native) if step.calls is None else calls_text(step.calls),
            metadata,
            conversation=list(dialogue.messages) if dialogue.acts else None,
            turn_index=len(dialogue.steps) - 1 if dialogue.acts else None,
            extra=extra,
            usage=tokens_of(replies),
        )

    def _seen(
        self,
        row: Row,
        task: ToolTask,
        *,
        calls: Sequence[Any] | None,
        error: str | None = None,
        why: str | None = None,
        turns: Sequence[Any] = (),
        stopped: bool = False,
    ) -> dict[str, Any]:
        """The row as scorers see it."""
        return {
            **row,
            "_calls": calls,
            "_call_error": error,
            "_call_problem": why,
            "_functions": [dict(function_document(item)) for item in task.functions],
            "_native_calling": self._spec.native_calling,
            "_turns": list(turns),
            "_stopped": stopped,
        }


def calls_text(calls: Sequence[Mapping[str, Mapping[Any, Any]]]) -> str:
    """Calls as a Python list, the format of prompting mode.

    >>> calls_text([{"area": {"base": 3, "unit": "m"}}])
    "[area(base=3, unit='m')]"
    """
    return (
        "["
        + ", ".join(
            f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
            for call in calls
            for name, arguments in call.items()
        )
        + "]"
    )


def _unread(reply: ModelReply, *, native: bool) -> str:
    """A reply that could not be read as calls, as it came: its text, and the native calls in it."""
    if not native or not reply.tool_calls:
        return reply.text
    sent = encode_json(reply.tool_calls).decode()
    return f"{reply.text}\n{sent}" if reply.text else sent


def _placed(found: Mapping[str, int], source: str) -> str:
    """The first remarks, each with the line of its row."""
    shown = ", ".join(f"{remark} ({source}:{line})" for remark, line in [*found.items()][:_MOST_NAMES])
    return f"{shown} and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else shown
