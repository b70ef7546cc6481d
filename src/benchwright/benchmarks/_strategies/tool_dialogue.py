"""One sample's way through its turns: the messages so far, the functions on offer, and what each reply called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from benchwright.benchmarks._prompts import Prompt
from benchwright.benchmarks._tool_tasks import ToolTask, ToolTurn, function_document, is_tool, sent_name
from benchwright.core import JsonObject, JsonValue, encode_json

if TYPE_CHECKING:
    from benchwright.core import ModelReply
    from benchwright.toolcalls import Calls

InThread: TypeAlias = Callable[..., Awaitable[Any]]
"""As `Asking.in_thread`."""

CALL_SECONDS = 30.0
"""How long one call may take. Its thread cannot be ended, but the sample continues without it."""
_MARKS = (
    "<tool_call>", "<function=", "[TOOL_CALLS]", "<|tool_call", "<|python_tag|>", "<|tool_calls_section_begin|>",
    "<｜tool▁calls▁begin｜>", "to=functions.",
)  # fmt: skip
"""What models of several makers write before calls."""
_MORE_FUNCTIONS = "More functions are available now. Try again with them."
_MORE_DOCUMENTS = "More functions are available now (JSON): {functions}\nTry again with them."


class ToolStep(Struct, frozen=True):
    """The calls of one reply."""

    calls: Calls | None
    """The calls; None if the reply could not be read as calls."""
    error: str | None = None
    """Why not, in one word."""
    lenient: Calls | None = None
    """The calls by the lenient rules, if requested."""
    why: str | None = None
    """Why not, in a sentence."""


class ToolDialogue:
    """The state of one sample. `begin_turn` and `take` move it on."""

    def __init__(self, task: ToolTask, *, native: bool, lenient: bool = False) -> None:
        self.task = task
        self.native = native
        self.lenient = lenient
        """Whether replies are read a second time, by rules that forgive more. What is carried out stays the same."""
        self.acts = task.open is not None or len(task.turns) > 1
        """Whether calls are carried out, so that there may be several requests."""
        self.messages: list[JsonObject] = []
        """The messages so far."""
        self.tools: list[JsonValue] = []
        """The `tools` of requests; empty in prompting mode."""
        self.steps: list[list[ToolStep]] = []
        """For each turn, what its replies called."""
        self.counts: list[list[JsonValue]] = []
        """For each turn, prompt tokens, completion tokens and seconds of its replies."""
        self.stopped = False
        """Whether a turn took more steps than it may."""
        self._environment = None if task.open is None else task.open()

    def begin_turn(self) -> bool:
        """Add what the user says next; whether there was anything."""
        number = len(self.steps)
        if self.stopped or number >= len(self.task.turns):
            return False
        turn = self.task.turns[number]
        self.steps.append([])
        self.counts.append([])
        said: list[JsonObject] = [dict(message) for message in turn.messages]
        if self.native:
            self.tools = [*self.tools, *self._as_tools(turn)]  # earlier requests keep theirs
            if turn.functions and not said:
                said = [{"role": "user", "content": _MORE_FUNCTIONS}]
        elif number == 0:
            from benchwright.toolcalls import prompting_messages

            said = prompting_messages(said, self._documents(turn))
        elif turn.functions:
            text = _MORE_DOCUMENTS.format(functions=encode_json(self._documents(turn)).decode())
            said.insert(0, {"role": "user", "content": text})
        self.messages += said
        return True

    async def take(self, reply: ModelReply, in_thread: InThread) -> bool:
        """Take in a reply and carry out its calls; whether the model is to be asked again within this turn."""
        step = self._read(reply)
        self.steps[-1].append(step)
        usage = reply.usage
        tokens: list[JsonValue] = [None, None] if usage is None else [usage.prompt, usage.completion]
        self.counts[-1].append([*tokens, reply.latency_s])
        if not self.acts:
            return False
        calls = step.calls or []
        self.messages.append(self._said(reply, calls))
        if not calls or self._environment is None:
            return False
        if len(self.steps[-1]) > ToolTask.max_steps:
            self.stopped = True
            return False
        results = [await self._result(call, in_thread) for call in calls]
        self.messages += self._results(reply, calls, results)
        return True

    def as_prompt(self) -> Prompt:
        """The messages as one text, for routes that take no messages."""
        texts = [str(message.get("content") or "") for message in self.messages]
        return Prompt("\n\n".join(texts))

    def as_json(self, *, lenient: bool = False) -> list[JsonValue]:
        """The calls of each reply of each turn; null for a reply that was none."""
        return [[step.lenient if lenient else step.calls for step in turn] for turn in self.steps]  # type: ignore[misc]  # calls are JSON but for odd keys

    def _read(self, reply: ModelReply) -> ToolStep:
        from benchwright.toolcalls import CallDecodeError, decode_calls, read_tool_calls

        lenient = self._read_leniently(reply.text) if self.lenient else None
        try:
            if not self.native:
                return ToolStep(decode_calls(reply.text, self.task.language), lenient=lenient)
            if reply.tool_calls is not None:
                return ToolStep(read_tool_calls(reply.tool_calls))
        except CallDecodeError as error:
            cut = self.native and reply.finish_reason == "length"
            return ToolStep(None, "cut_off" if cut else error.reason, lenient, str(error))
        if self._holds_calls(reply.text):
            if reply.finish_reason == "length":
                # llama.cpp leaves a call in the text if it ends before its name.
                return ToolStep(None, "cut_off", why="it reached max_tokens before the end of a call")
            return ToolStep(
                None, "calls_as_text", why="it contains them as text, which the server did not read"
            )
        return ToolStep(None, "no_calls" if reply.text.strip() else "no_text")

    def _holds_calls(self, text: str) -> bool:
        """Whether a model wrote calls into its text because no parser reads them: with marks, as JSON, or as a list of calls of
        functions on offer."""
        from benchwright.toolcalls import CallDecodeError, decode_calls

        if any(mark in text for mark in _MARKS) or (
            '"name"' in text and ('"arguments"' in text or '"parameters"' in text)
        ):
            return True
        if "(" not in text:
            return False
        offered = {sent_name(item) for turn in self.task.turns for item in turn.functions}
        try:
            return any(name in offered for call in decode_calls(text) for name in call)
        except CallDecodeError:
            return False

    def _read_leniently(self, text: str) -> Calls | None:
        """By the forgiving rules, or else by the published ones: these may drop what those stumble over."""
        from benchwright.toolcalls import CallDecodeError, decode_calls

        offered = self.task.turns[: len(self.steps)]
        functions = [function_document(item) for turn in offered for item in turn.functions]
        for forgiving in (True, False):
            with suppress(CallDecodeError):
                return decode_calls(text, self.task.language, lenient=forgiving, functions=functions)
        return None

    async def _result(self, call: dict[str, dict[Any, Any]], in_thread: InThread) -> str:
        assert self._environment is not None  # calls are carried out only if there is one
        ((name, arguments),) = call.items()
        try:
            return str(
                await asyncio.wait_for(in_thread(self._environment.call, name, arguments), CALL_SECONDS)
            )
        except TimeoutError:
            return f"Error during execution: {name} took more than {CALL_SECONDS:g} seconds"
        except Exception as error:  # the user's own environment may raise; the model gets to see what
            return f"Error during execution: {error}"

    def _said(self, reply: ModelReply, calls: Calls) -> JsonObject:
        if not self.native or not reply.tool_calls or not calls:
            return {"role": "assistant", "content": reply.text}
        sent: list[JsonValue] = [
            {**call, "id": identity}
            for call, identity in zip(reply.tool_calls, self._identities(reply.tool_calls), strict=True)
            if isinstance(call, dict)
        ]
        return {"role": "assistant", "content": reply.text or None, "tool_calls": sent}

    def _results(self, reply: ModelReply, calls: Calls, results: list[str]) -> list[JsonObject]:
        if self.native:
            return [
                {"role": "tool", "tool_call_id": identity, "content": result}
                for identity, result in zip(self._identities(reply.tool_calls or ()), results, strict=True)
            ]
        from benchwright.toolcalls import Call

        messages: list[JsonValue] = [
            {"role": "tool", "name": str(Call.of(call)), "content": result}
            for call, result in zip(calls, results, strict=True)
        ]
        return [{"role": "user", "content": encode_json(messages).decode()}]

    def _identities(self, calls: Sequence[JsonValue]) -> list[str]:
        """The ids of a reply's calls. Servers that give none, or one to several calls, get others back, since results must name
        their call."""
        found: list[str] = []
        for number, call in enumerate(calls):
            given = call.get("id") if isinstance(call, dict) else None
            if not isinstance(given, str) or not given or given in found:
                given = f"call_{len(self.steps) - 1}_{len(self.steps[-1]) - 1}_{number}"
            found.append(given)
        return found

    def _as_tools(self, turn: ToolTurn) -> list[JsonValue]:
        from benchwright.toolcalls import tools_of

        tools: list[JsonValue] = []
        for item in turn.functions:
            tools += [dict(item)] if is_tool(item) else tools_of([item], self.task.language)
        return tools

    def _documents(self, turn: ToolTurn) -> list[JsonObject]:
        """The functions as prompting mode describes them: tools as they are, documents with a hint at their language."""
        from benchwright.toolcalls import hinted

        found: list[JsonObject] = []
        for item in turn.functions:
            document = dict(function_document(item))
            found += [document] if is_tool(item) else hinted([document], self.task.language)
        return found
