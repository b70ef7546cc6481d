"""`call_llm`: calls a model from a workflow, through the same client as benchmarks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from benchwright.benchmarks import Generation
from benchwright.config import RunOptions, find_config
from benchwright.core import JsonObject, JsonValue, ModelReply, UsageError, refuse_while_loading, suggest
from benchwright.endpoints import (
    AdaptedEndpoint,
    Endpoint,
    EndpointSettings,
    ModelSettings,
    captured_bodies,
    open_endpoint,
)
from benchwright.engine import ChosenModel
from benchwright.workflows._context import WorkflowContext, current_context
from benchwright.workflows._llm_tools import LLMTool, LLMToolCall, tool_calls_of, tools_of_request
from benchwright.workflows._recorder import MissingKeyError, WorkflowError

_OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_KEY = "OPENAI_API_KEY"
_SCRATCH = "llm_endpoints"

ModelProvider: TypeAlias = Literal["openai", "demo"] | str
"""`openai` (also any server of that interface, by `base_url`), `demo`, or a name under `[models]`."""


class SystemMessage(TypedDict):
    """Instructions to the model."""

    role: Literal["system"]
    content: str


class UserMessage(TypedDict):
    """The prompt."""

    role: Literal["user"]
    content: str


class AssistantMessage(TypedDict):
    """An earlier reply of the model."""

    role: Literal["assistant"]
    content: str


class ToolMessage(TypedDict):
    """The result of a tool call."""

    role: Literal["tool"]
    tool_call_id: str
    content: str


LLMMessage: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
"""One message of a conversation."""


class LLMReply(TypedDict):
    """The reply of a model."""

    content: str
    """The answer without its reasoning; empty if there is none."""
    tokens: int
    """Tokens of prompt and answer; 0 if the server did not count them."""
    prompt_tokens: int
    completion_tokens: int
    """Tokens of the answer, including reasoning."""
    finish_reason: str | None
    """stop, length, content_filter, …, as the server reports it."""
    reasoning: str
    """The model's reasoning, if the server reports it."""
    tool_calls: list[LLMToolCall]
    """The tools that the model calls; empty if it calls none."""
    latency_s: float
    """Seconds of the last attempt from sending to the last byte."""
    raw: JsonValue
    """The body as the server sent it; None for the demo model."""


class LLMError(WorkflowError):
    """The model gave no usable reply, after all attempts."""

    __module__ = "benchwright"


async def call_llm(
    provider: ModelProvider,
    model_id: str | None = None,
    messages: Sequence[LLMMessage | Mapping[str, Any]] = (),
    *,
    temperature: float | None = 1,
    base_url: str | None = None,
    api_key_name: str | None = None,
    max_tokens: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    stop: str | list[str] | None = None,
    timeout: float | None = None,
    retries: int | None = None,
    max_concurrency: int | None = None,
    extra_body: JsonObject | None = None,
    tools: Sequence[LLMTool] = (),
    tool_choice: str | JsonObject | None = None,
) -> LLMReply:
    """Call a model. Failing requests are retried as in a benchmark. Raises `LLMError` if there is no usable reply.

    provider: `openai`: the server at `base_url`, else OPENAI_BASE_URL, else OpenAI's, with the key in
        OPENAI_API_KEY (`MissingKeyError` without one, unless another server is named); `demo`: the embedded
        demo model; else a model of benchwright.toml, whose settings are the defaults.
    model_id: the model's name at the server; may be None for a configured one.
    temperature: None leaves it to the server or the configuration.
    tools: the tools that the model may call: Python functions, or tools in the form of OpenAI's chat route. Calls are only
        returned: execute them yourself, or let `run_agent` do it.
    tool_choice: `auto`, `none`, `required`, or the one tool to call; None leaves it to the server.

    The call is not recorded by itself; make it in a step.
    """
    refuse_while_loading("call_llm")
    request_messages = _checked(messages)
    settings, generation = _model(provider, model_id, base_url, api_key_name)
    if temperature is None and provider in ("openai", "demo"):
        generation = generation.but(temperature=None)
    generation = generation.but(
        **_given(temperature=temperature, max_tokens=max_tokens, top_p=top_p, seed=seed, stop=stop),
        extra_body={**generation.extra_body, **(extra_body or {}), **_tool_fields(tools, tool_choice)},
    )
    patience = _given(request_timeout_s=timeout, max_retries=retries, parallelism=max_concurrency)
    settings = settings.at_server(**patience)
    request = generation.request(request_messages)
    ctx = current_context()
    with captured_bodies() as bodies:
        if ctx is not None:
            reply = await _kept(ctx, settings).send(request)
        else:
            endpoint = open_endpoint(settings)
            try:
                reply = await AdaptedEndpoint(endpoint).send(request)
            finally:
                await endpoint.aclose()
    return _told(reply, bodies[-1] if bodies else None)


def _tool_fields(tools: Sequence[LLMTool], choice: str | JsonObject | None) -> JsonObject:
    offered = tools_of_request(tools)
    if choice is not None and not offered:
        raise UsageError("call_llm: tool_choice chooses among tools; give tools=[…] as well")
    return {**({"tools": offered} if offered else {}), **({} if choice is None else {"tool_choice": choice})}


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _model(
    provider: str, model_id: str | None, base_url: str | None, api_key_name: str | None
) -> tuple[ModelSettings, Generation]:
    if provider == "openai":
        settings = _openai(model_id, base_url, api_key_name)
        return settings, Generation.of(settings.model_id, temperature=None, max_tokens=None, top_p=None)
    config = find_config(Path.cwd())
    known = [*(config.models if config is not None else {}), "demo", "openai"]
    if provider not in known:
        raise UsageError(
            f"provider {provider!r} is not known.{suggest(provider, known)} Known: {', '.join(known)}. "
            "For any server that speaks OpenAI's interface: provider 'openai' with base_url"
        )
    chosen = ChosenModel.of(RunOptions(model=provider, api_key_name=api_key_name), config)
    if chosen.pipeline is not None and chosen.pipeline.changing:
        raise UsageError(
            f"call_llm: [models.{provider}] has a pipeline that changes requests or replies, which calls of workflows do not "
            "pass. Name a model without one"
        )
    named = {**({"model_id": model_id} if model_id else {}), **({"url": base_url} if base_url else {})}
    endpoint = chosen.endpoint.at_server(**named)
    return endpoint, chosen.generation.but(model=endpoint.model_id)


def _openai(model_id: str | None, base_url: str | None, api_key_name: str | None) -> EndpointSettings:
    if not model_id:
        raise UsageError("call_llm: the model has no id. Give the name the server knows it by: model_id='…'")
    elsewhere = base_url or os.environ.get("OPENAI_BASE_URL")
    variable = api_key_name or _OPENAI_KEY
    has_key = bool(os.environ.get(variable, "").strip())
    if not has_key and (elsewhere is None or api_key_name is not None):
        raise MissingKeyError(
            f"the environment variable {variable} is not set; nothing was sent. Export the key "
            f"(export {variable}=…), or name a server that needs none with base_url"
        )
    return EndpointSettings(
        url=elsewhere or _OPENAI_URL, model_id=model_id, api_key_name=variable if has_key else None
    )


def _checked(messages: Sequence[LLMMessage | Mapping[str, Any]]) -> list[JsonObject]:
    if not messages or isinstance(messages, str | Mapping):
        raise UsageError("call_llm: messages is a list such as [{'role': 'user', 'content': '…'}]")
    checked: list[JsonObject] = []
    given: Sequence[Any] = messages
    for number, message in enumerate(given):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise UsageError(
                f"call_llm: message {number} is {message!r}; expected {{'role': 'user', 'content': '…'}}"
            )
        checked.append(dict(message))
    return checked


def _kept(ctx: WorkflowContext, settings: ModelSettings) -> Endpoint:
    """One endpoint per server and settings for a whole run, with its connections, its limit of requests at once, and the
    settings that the server refuses."""
    endpoints: dict[str, Endpoint] = ctx.scratch.setdefault(_SCRATCH, {})
    place = repr(settings) + repr(sorted(getattr(settings, "headers", {}).items()))
    if place not in endpoints:
        endpoint = open_endpoint(settings)
        ctx.at_end(endpoint.aclose)
        endpoints[place] = AdaptedEndpoint(endpoint)
    return endpoints[place]


def _told(reply: ModelReply, raw: JsonValue) -> LLMReply:
    if reply.failure is not None:
        raise LLMError(f"the model gave no usable reply: {reply.failure.message}")
    usage = reply.usage
    prompt, completion = (usage.prompt, usage.completion) if usage is not None else (0, 0)
    return {
        "content": reply.text,
        "tokens": prompt + completion,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "finish_reason": reply.finish_reason,
        "reasoning": reply.reasoning,
        "tool_calls": tool_calls_of(reply),
        "latency_s": reply.latency_s,
        "raw": raw,
    }
