"""The wire formats besides OpenAI's chat and completions that the demo server speaks, so that each can be rehearsed."""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

import orjson

from benchwright.core import JsonObject, JsonValue, Route, completions_body
from benchwright.demo._completions import DemoChoice, DemoCompletion
from benchwright.demo._requests import DemoRefusalError
from benchwright.demo._words import split_tokens
from benchwright.endpoints import SERVED_BY_DEMO

_TRITON = re.compile(r"/v2/models/[^/]+(?:/versions/[^/]+)?/generate(_stream)?")
_MARK: JsonObject = {"system_fingerprint": SERVED_BY_DEMO}
"""Not part of these formats: nobody shall take the replies for those of a real model."""
_REASONS = {"stop": "eos_token", "length": "length"}


class Form(Protocol):
    """One wire format."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """The route and the body for the demo model; raises DemoRefusalError."""
        ...

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        """A reply in one piece."""
        ...

    def events(self, completion: DemoCompletion, model: str, number: int) -> list[bytes]:
        """The events of a stream, one for each token; the last closes it."""
        ...

    def headers(self, completion: DemoCompletion) -> str:
        """Further lines of the head of a whole reply."""
        ...

    def error(self, message: str) -> bytes:
        """An error body."""
        ...


class Served(NamedTuple):
    """A route of another format."""

    form: Form
    """How it is spoken."""
    stream: bool | None
    """Whether the route always or never streams; None: as the body says."""


def served_at(path: str) -> Served | None:
    """The format that a path belongs to."""
    if path in ("/generate", "/generate_stream"):
        return Served(TgiForm(), path == "/generate_stream")
    if path == "/infer":
        return Served(MindieForm(), None)
    if path in ("/v1/responses", "/responses"):
        from benchwright.demo._responses_form import ResponsesForm

        return Served(ResponsesForm(), None)
    found = _TRITON.fullmatch(path)
    return None if found is None else Served(TritonForm(), found.group(1) is not None)


class TgiForm:
    """Text Generation Inference."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """`inputs` and `parameters`, with the bounds that TGI sets them."""
        parameters = _parameters(body)
        top_p = parameters.get("top_p")
        if isinstance(top_p, int | float) and not 0 < top_p < 1:
            raise DemoRefusalError(
                "Input validation error: `top_p` must be > 0.0 and < 1.0", "top_p", status=422
            )
        return "completions", _text_body(body.get("inputs"), "inputs", parameters, stream=body.get("stream"))

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        """The text, and why it ended."""
        choice = completion.choices[0]
        text = choice.text + self._kept(choice)
        return orjson.dumps({"generated_text": text, "details": _details(choice), **_MARK})

    def events(self, completion: DemoCompletion, model: str, number: int) -> list[bytes]:
        """One for each token; the end comes with the whole text."""
        choice = completion.choices[0]
        text = choice.text + self._kept(choice)
        events = [self._event(token, None, None) for token in split_tokens(text)]
        details: JsonObject = {**_details(choice), "input_length": completion.prompt_tokens}
        return [*events, self._event("", text, details, special=True)]

    def headers(self, completion: DemoCompletion) -> str:
        """Token counts stand here."""
        made = completion.choices[0].tokens
        return f"x-prompt-tokens: {completion.prompt_tokens}\r\nx-generated-tokens: {made}\r\n"

    def error(self, message: str) -> bytes:
        """With its type."""
        return orjson.dumps({"error": message, "error_type": "validation"})

    def _event(
        self, text: str, whole: str | None, details: JsonObject | None, *, special: bool = False
    ) -> bytes:
        token: JsonObject = {"id": 0, "text": text, "logprob": 0.0, "special": special}
        event: JsonObject = {"token": token, "generated_text": whole, "details": details, **_MARK}
        return b"data:" + orjson.dumps(event) + b"\n\n"

    def _kept(self, choice: DemoChoice) -> str:
        """The stop text: TGI leaves it at the end of the answer."""
        return choice.stopped_by


class MindieForm(TgiForm):
    """MindIE's own route: the same words, single tokens and then all of them."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """`inputs`, `stream` and `parameters`."""
        return "completions", _text_body(
            body.get("inputs"), "inputs", _parameters(body), stream=body.get("stream")
        )

    def events(self, completion: DemoCompletion, model: str, number: int) -> list[bytes]:
        """The last holds the whole text."""
        choice = completion.choices[0]
        events: list[JsonObject] = [
            {"token": {"id": 0, "text": token}} for token in split_tokens(choice.text)
        ]
        events.append({"generated_text": choice.text, "details": _details(choice), **_MARK})
        return [b"data: " + orjson.dumps(event) + b"\n\n" for event in events]

    def headers(self, completion: DemoCompletion) -> str:
        """None."""
        return ""

    def _kept(self, choice: DemoChoice) -> str:
        """Nothing."""
        return ""


class TritonForm:
    """Triton's generate extension."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """`text_input`, and `parameters` or the model's inputs, under vLLM's names as well as MindIE's. A temperature
        of 0 is greedy, as back-ends of Triton take it."""
        parameters = {**body, **_parameters(body)}
        parameters.setdefault("max_new_tokens", parameters.get("max_tokens", 100))
        temperature = parameters.pop("temperature", None)
        if temperature is not None and temperature != 0:
            parameters = {"do_sample": True, **parameters, "temperature": temperature}
        return "completions", _text_body(body.get("text_input"), "text_input", parameters, stream=None)

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        """The text."""
        return orjson.dumps(self._output(completion.choices[0].text, model))

    def events(self, completion: DemoCompletion, model: str, number: int) -> list[bytes]:
        """Pieces of the text; the end is that of the body."""
        pieces = [*split_tokens(completion.choices[0].text), ""]
        return [b"data: " + orjson.dumps(self._output(piece, model)) + b"\n\n" for piece in pieces]

    def headers(self, completion: DemoCompletion) -> str:
        """None."""
        return ""

    def error(self, message: str) -> bytes:
        """A text only."""
        return orjson.dumps({"error": message})

    def _output(self, text: str, model: str) -> JsonObject:
        return {"model_name": model, "model_version": "1", "text_output": text, **_MARK}


def _parameters(body: JsonObject) -> JsonObject:
    parameters = body.get("parameters")
    if parameters is None:
        return {}
    if not isinstance(parameters, dict):
        raise DemoRefusalError("'parameters' must be an object", "parameters", status=422)
    return parameters


def _text_body(prompt: JsonValue, name: str, parameters: JsonObject, *, stream: JsonValue) -> JsonObject:
    """A completions body. Greedy unless sampling is requested, whatever the temperature says."""
    if not isinstance(prompt, str) or not prompt:
        raise DemoRefusalError(f"'{name}' must be a text that is not empty", name, status=422)
    temperature = parameters.get("temperature")
    if isinstance(temperature, int | float) and temperature <= 0:
        raise DemoRefusalError(
            "Input validation error: `temperature` must be strictly positive", "temperature", status=422
        )
    sampled = (1.0 if temperature is None else temperature) if parameters.get("do_sample") else 0.0
    same = ("seed", "stop", "ignore_eos", "min_tokens")
    body = completions_body("demo", prompt, parameters.get("max_new_tokens", 100), sampled)
    body |= {name: parameters[name] for name in same if parameters.get(name) is not None}
    return {**body, "stream": True} if stream is True else body


def _details(choice: DemoChoice) -> JsonObject:
    reason = _REASONS.get(choice.finish_reason, choice.finish_reason)
    if choice.stopped_by:
        reason = "stop_sequence"
    return {"finish_reason": reason, "generated_tokens": choice.tokens, "seed": None}
