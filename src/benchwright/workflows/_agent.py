"""`run_agent`: lets a model call tools until it has an answer. Each model call and each tool call is a step of the
workflow."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from benchwright.core import JsonObject, JsonValue, UsageError, encode_json
from benchwright.workflows._context import WorkflowContext
from benchwright.workflows._llm import LLMMessage, LLMReply, ModelProvider, call_llm
from benchwright.workflows._llm_tools import LLMToolCall, tool_of


class AgentResult(TypedDict):
    content: str
    """The last answer; empty if the model was stopped while it still called tools."""
    messages: list[JsonObject]
    """The whole conversation, including calls and results."""
    model_calls: int
    """How often the model was called."""
    tool_calls: int
    """How many calls it made."""
    stopped: bool
    """Whether it was stopped, because it still called tools after `max_steps` replies."""


async def run_agent(
    ctx: WorkflowContext,
    provider: ModelProvider,
    model_id: str | None = None,
    messages: Sequence[LLMMessage | Mapping[str, Any]] = (),
    *,
    tools: Sequence[Callable[..., Any]],
    max_steps: int = 10,
    step_key: str = "agent",
    **options: Any,
) -> AgentResult:
    """Call a model, execute the tools that it calls, send it the results, and repeat until it calls none.

    Each model call is a step `{step_key}/1/model`, each tool call a step `{step_key}/1/tool-1-NAME`. A run that was stopped
    resumes after the last recorded step, so it neither pays for an answer nor executes a tool twice.

    Args:
        ctx: The workflow.
        provider: As in `call_llm`.
        model_id: As in `call_llm`.
        messages: The start of the conversation.
        tools: Python functions, plain or asynchronous. Signature and docstring describe them to the model. An exception is
            reported to the model as the result of its call.
        max_steps: The most replies of the model.
        step_key: Prefix of the step keys; several agents of one workflow need different keys.
        **options: Further options of `call_llm`, such as `temperature`.
    """
    functions = {str(_name(tool)): tool for tool in tools}
    if len(functions) != len(tools):
        raise UsageError("run_agent: two tools have the same name; rename one of them")
    if max_steps < 1:
        raise UsageError(f"run_agent: max_steps is {max_steps}; expected 1 or more")
    given: Sequence[Any] = messages
    history: list[JsonObject] = [dict(message) for message in given]
    carried_out = 0
    for number in range(1, max_steps + 1):

        async def ask(said: Sequence[JsonObject] = tuple(history)) -> LLMReply:
            return await call_llm(provider, model_id, said, tools=tools, **options)

        reply = await ctx.step(step_key=f"{step_key}/{number}/model", input_value=list(history), execute=ask)
        calls: list[LLMToolCall] = reply["tool_calls"]
        history.append(_said(reply))
        if not calls:
            return _result(reply["content"], history, number, carried_out)
        for position, call in enumerate(calls, 1):
            carried_out += 1
            text = await _carried_out(ctx, f"{step_key}/{number}/tool-{position}", call, functions)
            history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return _result("", history, max_steps, carried_out, stopped=True)


def _name(tool: Callable[..., Any]) -> JsonValue:
    function = tool_of(tool)["function"]
    if isinstance(tool, Mapping) or not isinstance(function, dict):
        raise UsageError("run_agent: its tools are Python functions, since it carries out their calls")
    return function["name"]


def _said(reply: LLMReply) -> JsonObject:
    """The model's message for the next request."""
    calls = reply["tool_calls"]
    if not calls:
        return {"role": "assistant", "content": reply["content"]}
    sent: list[JsonValue] = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": encode_json(call["arguments"]).decode()},
        }
        for call in calls
    ]
    return {"role": "assistant", "content": reply["content"] or None, "tool_calls": sent}


async def _carried_out(
    ctx: WorkflowContext, key: str, call: LLMToolCall, functions: Mapping[str, Callable[..., Any]]
) -> str:
    """The text of the result. A call that cannot be executed gives a text too, but no step."""
    name, arguments = call["name"], call["arguments"]
    function = functions.get(name)
    if function is None:
        return f"Error: there is not a tool {name!r}; there are {', '.join(functions)}"
    if call["error"] is not None:
        return f"Error: {call['error']}"

    async def execute() -> str:
        try:
            inspect.signature(function).bind(**arguments)
            found = function(**arguments)
            if inspect.isawaitable(found):
                found = await found
        except Exception as error:  # the model sees it and may try something else
            return f"Error: {type(error).__name__}: {error}"
        return found if isinstance(found, str) else encode_json(found).decode()

    text: str = await ctx.step(
        step_key=f"{key}-{name}", input_value={"name": name, "arguments": arguments}, execute=execute
    )
    return text


def _result(
    content: str, history: list[JsonObject], model_calls: int, tool_calls: int, *, stopped: bool = False
) -> AgentResult:
    return {
        "content": content,
        "messages": history,
        "model_calls": model_calls,
        "tool_calls": tool_calls,
        "stopped": stopped,
    }
