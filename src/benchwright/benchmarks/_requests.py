"""Turns prompts into requests: bodies exactly as OpenAI-compatible servers expect them, encoded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.benchmarks._prompts import Prompt
from benchwright.benchmarks._spec import MediaPart
from benchwright.config import BODY_SETTINGS
from benchwright.core import (
    JsonObject,
    JsonValue,
    ModelRequest,
    Route,
    Row,
    completions_body,
    encode_json,
    suggest,
)

_DEFAULTS: JsonObject = {setting.name: setting.default for setting in BODY_SETTINGS}


class Generation(Struct, frozen=True):
    """How the model should generate: the settings that `BODY_SETTINGS` declares, by name.

    >>> Generation.of("m", seed=1, temperature=None).settings["seed"]
    1
    """

    model: str
    """Model name as the server knows it."""
    settings: Mapping[str, JsonValue] = field(default_factory=lambda: dict(_DEFAULTS))
    """Every declared setting. None leaves a setting out of the body, so the server decides."""
    extra_body: Mapping[str, JsonValue] = field(default_factory=dict)
    """Further keys of the body; they override the settings."""

    @classmethod
    def of(
        cls, model: str, *, extra_body: Mapping[str, JsonValue] | None = None, **settings: JsonValue
    ) -> Generation:
        """The defaults, with other values for some settings."""
        for name in settings:
            if name not in _DEFAULTS:
                raise TypeError(f"{name!r} is not a setting of request bodies.{suggest(name, _DEFAULTS)}")
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
        return cls(model, {**_DEFAULTS, **plain}, extra_body or {})

    def but(self, **changes: Any) -> Generation:
        """A copy with other values of settings, `model` or `extra_body`."""
        return Generation.of(
            **{"model": self.model, "extra_body": self.extra_body, **self.settings, **changes}
        )

    def to_json(self) -> JsonObject:
        """The recorded form; `Generation.of(**record)` is its reverse."""
        return {"model": self.model, **self.settings, "extra_body": dict(self.extra_body)}

    def request(
        self, asked: str | Sequence[JsonObject], route: Route = "chat", *, repeat: int = 0
    ) -> ModelRequest:
        """A request with these settings: messages go to the chat route unchanged, a text to the route as the user's turn or as the
        prompt."""
        if not isinstance(asked, str):
            return conversation_request(asked, self, repeat=repeat)
        write = chat_requests if route == "chat" else completions_requests
        return write(self)(Prompt(asked), repeat)


def chat_request(
    prompt: Prompt,
    generation: Generation,
    *,
    repeat: int = 0,
    history: Sequence[JsonObject] = (),
    media: Sequence[MediaPart] = (),
) -> ModelRequest:
    """A request to the chat route: system message, `history`, and the prompt as the user's turn.

    If the history begins with a system message, that of the prompt is not added. Content parts in `media` come before the
    text, which is then a part as well; the record has their recorded form.
    """
    messages: list[JsonValue] = []
    if prompt.system is not None and not (history and history[0].get("role") == "system"):
        messages.append({"role": "system", "content": prompt.system})
    if history:
        messages += [dict(message) for message in history]
    if not media:
        messages.append({"role": "user", "content": prompt.text})
        return _chat(messages, generation, repeat)
    text: JsonObject = {"type": "text", "text": prompt.text}
    messages.append({"role": "user", "content": [*(sent for sent, _ in media), text]})
    request = _chat(messages, generation, repeat)
    if all(recorded is sent for sent, recorded in media):
        return request
    kept: JsonObject = {"role": "user", "content": [*(recorded for _, recorded in media), text]}
    record = {**request.body, "messages": [*messages[:-1], kept]}
    return replace(request, record=encode_json(record))


def chat_requests(generation: Generation) -> Callable[[Prompt, int], ModelRequest]:
    """Build requests for many prompts, like `chat_request` without history and media."""
    model, settings = generation.model, body_settings(generation)

    def request(prompt: Prompt, repeat: int) -> ModelRequest:
        messages: list[JsonValue] = [{"role": "user", "content": prompt.text}]
        if prompt.system is not None:
            messages.insert(0, {"role": "system", "content": prompt.system})
        body: JsonObject = {"model": model, "messages": messages, **settings}
        return ModelRequest("chat", body, encode_json(body), repeat)

    return request


def completions_requests(generation: Generation) -> Callable[[Prompt, int], ModelRequest]:
    """Build requests for many prompts, like `completions_request`."""
    model, settings = generation.model, body_settings(generation)

    def request(prompt: Prompt, repeat: int) -> ModelRequest:
        body: JsonObject = {"model": model, "prompt": prompt.flat, **settings}
        return ModelRequest("completions", body, encode_json(body), repeat)

    return request


def conversation_request(
    conversation: Sequence[JsonObject], generation: Generation, *, repeat: int = 0
) -> ModelRequest:
    """A request to the chat route with unchanged messages."""
    return _chat([dict(message) for message in conversation], generation, repeat)


def open_conversation(prompt: Prompt) -> list[JsonObject]:
    """The messages a conversation starts with: the system message, if any, and the first user turn."""
    first: JsonObject = {"role": "user", "content": prompt.text}
    return [first] if prompt.system is None else [{"role": "system", "content": prompt.system}, first]


def with_row_length(generation: Generation, row: Row, field: str) -> Generation:
    """The settings with the maximum reply length of the row; empty, null and 0 keep the run's setting."""
    value = row.get(field)
    if value is None or value == "" or value == 0:
        return generation
    # In CSV a text, perhaps "512.0"; values that are not numbers were refused before the first request.
    length = int(value) if type(value) is int else int(float(value))
    return generation.but(max_tokens=length) if length > 0 else generation


def completions_request(prompt: Prompt, generation: Generation, *, repeat: int = 0) -> ModelRequest:
    """A request to the completions route; a system text and a newline come before the prompt."""
    return completions_requests(generation)(prompt, repeat)


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

    `max_tokens` is 0 unless the server is known to refuse that; then it is 1, and the code that reads the echo drops the
    generated token.
    """
    body = completions_body(model, context + choice, max_tokens, logprobs=1, echo=True)
    if extra_body:
        body.update(extra_body)
    return ModelRequest("completions", body, encode_json(body), repeat)


def _chat(messages: list[JsonValue], generation: Generation, repeat: int) -> ModelRequest:
    body: JsonObject = {"model": generation.model, "messages": messages, **body_settings(generation)}
    return ModelRequest("chat", body, encode_json(body), repeat)


def body_settings(generation: Generation) -> JsonObject:
    """The keys of a body that control generation."""
    # A switch that is off is left out, because not every server supports it.
    body: JsonObject = {
        name: value for name, value in generation.settings.items() if value is not None and value is not False
    }
    body.update(generation.extra_body)
    return body
