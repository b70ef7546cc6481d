"""The wire formats that servers speak, what each can do, and the types of models, declared once for the whole package.

They are declared here because the configuration checks names of formats without importing `endpoints`. Each built-in
format has a module of the same name in `endpoints/_wires`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from benchwright.core._requests import ROUTE_PATHS

ModelType: TypeAlias = Literal["chat", "completions", "completions_logprob"]
"""What requests contain: chat messages, a plain prompt, or choices ranked by log-probability."""

MODEL_TYPES: tuple[ModelType, ...] = get_args(ModelType)


class WireFormat(Struct, frozen=True, kw_only=True):
    """What a wire format can do."""

    routes: tuple[str, ...]
    """Ends of URLs that users may copy along with the base URL, the longest first."""
    versioned: bool = False
    """Whether its routes are below `/v1`, which is added to a bare host."""
    takes_messages: bool = False
    """Whether it takes chat messages; otherwise it takes one text."""
    ranks_choices: bool = False
    """Whether it echoes prompts with log-probabilities, which ranked choices need."""
    takes_stop: bool = True
    """Whether it takes stop texts."""
    takes_tools: bool = False
    """Whether it takes tools and replies with tool calls."""
    key_header: tuple[str, str] = ("Authorization", "Bearer ")
    """The header that carries the API key, and the text before the key."""
    model_in: Literal["body", "url", "nothing"] = "body"
    """Where requests name the model."""
    model_lists: tuple[str, ...] = ("/v1/models",)
    """Routes that list the server's models, the likeliest first."""


WIRE_FORMATS: Mapping[str, WireFormat] = {
    "openai": WireFormat(
        routes=tuple(ROUTE_PATHS.values()),
        versioned=True,
        takes_messages=True,
        takes_tools=True,
        ranks_choices=True,
        model_lists=("/models",),
    ),
    "responses": WireFormat(
        routes=("/responses", *ROUTE_PATHS.values()),
        versioned=True,
        takes_messages=True,
        takes_tools=True,
        takes_stop=False,
        model_lists=("/models",),
    ),
    "tgi": WireFormat(
        routes=("/generate_stream", "/generate"), model_in="nothing", model_lists=("/v1/models", "/info")
    ),
    "triton": WireFormat(routes=("/generate_stream", "/generate"), model_in="url"),
    "mindie": WireFormat(routes=("/infer",), model_in="nothing"),
}
"""The built-in wire formats by name; plugins add others. Requests are built in OpenAI's form and translated."""
