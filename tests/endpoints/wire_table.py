"""How each wire format writes an answer: one row per format, and every test of all formats runs on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchwright.core import Route


@dataclass(frozen=True)
class Wire:
    """What a route calls things."""

    api: str
    route: Route
    field: str
    """Where the answer is."""
    whole: Callable[[Any], Any]
    """A reply with this content."""
    piece: Callable[[Any], Any]
    """An event with a piece of content."""
    end: Any
    """The event that ends the answer "fo"."""
    ends_with_body: bool = False
    """Whether a stream may end without a finish reason, by the format."""


def responses(content: Any) -> Any:
    part = None if content is None else [{"type": "output_text", "text": content}]
    return {"status": "completed", "output": [{"type": "message", "content": part}]}


WIRES = [
    Wire("openai", "chat", "choices",
         lambda text: {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]},
         lambda text: {"choices": [{"delta": {"content": text}}]},
         {"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    Wire("openai", "completions", "choices",
         lambda text: {"choices": [{"text": text, "finish_reason": "stop"}]},
         lambda text: {"choices": [{"text": text}]},
         {"choices": [{"text": "", "finish_reason": "stop"}]}),
    Wire("responses", "chat", "output", responses,
         lambda text: {"type": "response.output_text.delta", "delta": text},
         {"type": "response.completed", "response": {"status": "completed"}}),
    Wire("tgi", "completions", "generated_text",
         lambda text: {"generated_text": text},
         lambda text: {"token": {"text": text}, "generated_text": None},
         {"token": {"text": "", "special": True}, "generated_text": "fo", "details": {"finish_reason": "eos_token"}}),
    Wire("triton", "completions", "text_output",
         lambda text: {"text_output": text}, lambda text: {"text_output": text}, {"text_output": ""}, True),
    Wire("mindie", "completions", "generated_text",
         lambda text: {"generated_text": text}, lambda text: {"generated_text": text},
         {"generated_text": "fo"}, True),
]  # fmt: skip
