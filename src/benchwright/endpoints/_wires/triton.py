"""Triton's generate extension: `/v2/models/NAME/generate` and `…/generate_stream`."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from benchwright.core import (
    WIRE_FORMATS,
    JsonObject,
    JsonValue,
    ModelRequest,
    RequestFailure,
    Route,
    encode_json,
)
from benchwright.endpoints._addresses import Address
from benchwright.endpoints._replies import BadReply
from benchwright.endpoints._transport import Headers
from benchwright.endpoints._wires.plain_text import (
    TextCollector,
    openai_reply,
    parameters_of,
    prompt_of,
    read_details,
    without_text,
)
from benchwright.endpoints._wires.wire import RouteUrls, TranslatingWire, Urls, Wire

_OURS = ("max_new_tokens", "do_sample")
"""Names that a back end with OpenAI's names (vLLM) refuses."""
_LACKS = re.compile(r"\b(?:missing|required?|requires)\b", re.IGNORECASE)


class TritonWire(TranslatingWire):
    """Implements `Wire`. Parameters depend on the model: MindIE's are sent first, and vLLM's once the server has refused
    them. Inputs that a model says it requires (TensorRT-LLM's `max_tokens`) are added."""

    format = WIRE_FORMATS["triton"]

    def __init__(self) -> None:
        self._plain_names = False
        self._inputs: list[str] = []

    def urls(self, address: Address, model: str) -> Urls:
        """The model's name, and maybe its version, are part of the path."""
        base = ""
        if address.named_model is None:
            top = "" if address.path.endswith("/v2") else "/v2"
            base = f"{top}/models/{quote(model, safe='')}"
        urls = RouteUrls(address.url_of(f"{base}/generate"), address.url_of(f"{base}/generate_stream"))
        return {"chat": urls, "completions": urls}

    def payload(self, request: ModelRequest) -> bytes:
        """A fresh `id` for every attempt; it is not part of the request's identity."""
        parameters = parameters_of(request, length="max_tokens" if self._plain_names else "max_new_tokens")
        if self._plain_names:
            parameters.pop("do_sample", None)
            for name in ("temperature", "top_p"):
                if (value := request.body.get(name)) is not None:
                    parameters[name] = value
            if request.body.get("stream"):
                parameters["stream"] = True
        stop = parameters.get("stop")
        if isinstance(stop, list) and len(stop) == 1:
            parameters["stop"] = stop[0]  # the protocol does not allow lists as parameters
        body: JsonObject = {"id": uuid4().hex, "text_input": prompt_of(request), "parameters": parameters}
        for name in self._inputs:
            body[name] = _input(name, request)
        return encode_json(body)

    def collector(self, request: ModelRequest) -> TritonCollector:
        """For one stream."""
        return TritonCollector(request.route, prompt_of(request))

    def translate(
        self, data: JsonValue, request: ModelRequest, headers: Headers | None
    ) -> JsonValue | BadReply:
        """The text, and its details if the back end gives any."""
        if not isinstance(data, dict) or "text_output" not in data:
            return without_text(data, "text_output")
        text = data["text_output"]
        if isinstance(text, str):
            text = _without_prompt(text, prompt_of(request))
        return openai_reply(request.route, text, read_details(data.get("details")))

    def learn(self, failure: RequestFailure, request: ModelRequest) -> bool:
        """Whether the back end wants other parameter names, or names inputs that it lacks."""
        if _LACKS.search(failure.message):
            named = dict.fromkeys(re.findall(r"[a-z_]+", failure.message))
            lacking = [name for name in named if _input(name, request) is not None]
            if lacking:
                self._inputs = [*self._inputs, *(name for name in lacking if name not in self._inputs)]
                self._plain_names = True
                return True
        if not any(name in failure.message for name in _OURS):
            return False
        self._plain_names = True  # maybe already set by a request that was sent at the same time
        return True


def _input(name: str, request: ModelRequest) -> JsonValue:
    """The value for TensorRT-LLM's input of this name; None if there is nothing to send."""
    body = request.body
    if name == "max_tokens":
        return body.get("max_completion_tokens") or body.get("max_tokens")
    if name in ("temperature", "top_p"):
        return body.get(name)
    if name == "random_seed":
        return body.get("seed")
    if name == "stop_words":
        return body.get("stop") or ""
    if name == "bad_words":
        return ""
    return bool(body.get("stream")) if name == "stream" else None


class TritonCollector(TextCollector):
    """Collects events whose `text_output` is a further piece each. Unless the back end gives a finish reason, only the end of
    the body shows that the answer is complete."""

    __slots__ = ("_prompt",)

    def __init__(self, route: Route, prompt: str) -> None:
        super().__init__(route, "text_output")
        self._prompt = prompt

    def body_ended(self) -> None:
        """End the answer; there may be no other sign of its end."""
        self._ended = self._ended or self.events > 0

    def as_json(self) -> JsonObject:
        """The whole reply."""
        text = _without_prompt("".join(self._pieces), self._prompt)
        return {**openai_reply(self._route, text, self._details), **self._from}

    def _take(self, event: dict[str, Any]) -> str | None:
        text = self._text(event, "text_output")
        if text:
            self._pieces.append(text)
        details = read_details(event.get("details"))
        if details[0] is not None:
            self._details = details
            self._ended = True
        return text


def _without_prompt(text: str, prompt: str) -> str:
    """Remove the prompt, which some back ends (vLLM's by default) send back before the answer."""
    return text[len(prompt) :] if prompt and text.startswith(prompt) else text


WIRE: type[Wire] = TritonWire
"""The class that speaks this format."""
