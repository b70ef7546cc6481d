"""From a prompt to a request: bodies exactly as OpenAI-compatible servers take them, encoded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchwright.benchmarks._prompts import Prompt
from benchwright.benchmarks._spec import MediaPart
from benchwright.core import JsonObject, JsonValue, ModelRequest, Row, encode_json


@dataclass(frozen=True, slots=True)
class Generation:
    """How the model should generate. None leaves a setting out of the body, and so to the server."""

    model: str
    """Model name as the server knows it."""
    temperature: float | None = 0.0
    """Sampling temperature."""
    max_tokens: int | None = 4096
    """Most tokens of one reply."""
    top_p: float | None = 1.0
    """Nucleus sampling."""
    stop: str | list[str] | None = None
    """Texts that end a reply."""
    seed: int | None = None
    """Sampling seed, for servers that take one."""
    stream: bool = False
    """Whether the reply is to be streamed."""
    extra_body: Mapping[str, JsonValue] = field(default_factory=dict)
    """Further keys of the body; they win over the ones above."""


def chat_request(
    prompt: Prompt,
    generation: Generation,
    *,
    repeat: int = 0,
    history: Sequence[JsonObject] = (),
    media: Sequence[MediaPart] = (),
    settings: JsonObject | None = None,
) -> ModelRequest:
    """A request to the chat route: system message, `history`, and the prompt as the user's turn. Whoever makes many
    passes their `settings`, as `body_settings` gives them, to spare looking them up again.

    A history that opens with a system message of its own keeps it, and the prompt's is not added again. Content
    parts in `media` stand before the text, which is then a part as well; the record has their recorded form.
    """
    messages: list[JsonValue] = []
    if prompt.system is not None and not (history and history[0].get("role") == "system"):
        messages.append({"role": "system", "content": prompt.system})
    if history:
        messages += [dict(message) for message in history]
    if not media:
        messages.append({"role": "user", "content": prompt.text})
        return _chat(messages, generation, repeat, settings)
    text: JsonObject = {"type": "text", "text": prompt.text}
    messages.append({"role": "user", "content": [*(one.part for one in media), text]})
    request = _chat(messages, generation, repeat)
    if all(one.record is one.part for one in media):
        return request
    kept: JsonObject = {"role": "user", "content": [*(one.record for one in media), text]}
    record = {**request.body, "messages": [*messages[:-1], kept]}
    return request._replace(record=encode_json(record))


def conversation_request(
    conversation: Sequence[JsonObject], generation: Generation, *, repeat: int = 0
) -> ModelRequest:
    """A request to the chat route with the messages exactly as they stand."""
    return _chat([dict(message) for message in conversation], generation, repeat)


def open_conversation(prompt: Prompt) -> list[JsonObject]:
    """The messages a conversation starts with: the system message, if any, and the first user turn."""
    first: JsonObject = {"role": "user", "content": prompt.text}
    return [first] if prompt.system is None else [{"role": "system", "content": prompt.system}, first]


def with_row_length(generation: Generation, row: Row, field: str) -> Generation:
    """The settings with the row's own longest reply; empty, null and 0 leave what the run says."""
    value = row.get(field)
    if value is None or value == "" or value == 0:
        return generation
    # A text, in CSV, and perhaps "512.0"; what is no number was refused before the first request.
    length = int(value) if type(value) is int else int(float(value))
    return replace(generation, max_tokens=length) if length > 0 else generation


def completions_request(
    prompt: Prompt, generation: Generation, *, repeat: int = 0, settings: JsonObject | None = None
) -> ModelRequest:
    """A request to the completions route; a system text stands before the prompt, a newline between."""
    body: JsonObject = {"model": generation.model, "prompt": prompt.flat}
    body.update(body_settings(generation) if settings is None else settings)
    return ModelRequest("completions", body, encode_json(body), repeat)


def choice_request(
    context: str,
    choice: str,
    model: str,
    *,
    max_tokens: int = 0,
    repeat: int = 0,
    extra_body: Mapping[str, JsonValue] | None = None,
) -> ModelRequest:
    """A request that has the server echo context and candidate with log-probabilities.

    `max_tokens` is 0 unless the server is known to refuse that; then 1, and the generated token is dropped by
    whoever reads the echo.
    """
    body: JsonObject = {
        "model": model,
        "prompt": context + choice,
        "max_tokens": max_tokens,
        "temperature": 0.0,
        "logprobs": 1,
        "echo": True,
    }
    if extra_body:
        body.update(extra_body)
    return ModelRequest("completions", body, encode_json(body), repeat)


def _chat(
    messages: list[JsonValue], generation: Generation, repeat: int, settings: JsonObject | None = None
) -> ModelRequest:
    body: JsonObject = {"model": generation.model, "messages": messages}
    body.update(body_settings(generation) if settings is None else settings)
    return ModelRequest("chat", body, encode_json(body), repeat)


def body_settings(generation: Generation) -> JsonObject:
    """The keys of a body that say how to generate."""
    body: JsonObject = {}
    if generation.temperature is not None:
        body["temperature"] = generation.temperature
    if generation.max_tokens is not None:
        body["max_tokens"] = generation.max_tokens
    if generation.top_p is not None:
        body["top_p"] = generation.top_p
    stop = generation.stop
    if stop is not None:
        body["stop"] = stop if isinstance(stop, str) else list(stop)
    if generation.seed is not None:
        body["seed"] = generation.seed
    if generation.stream:
        body["stream"] = True
    if generation.extra_body:
        body.update(generation.extra_body)
    return body
