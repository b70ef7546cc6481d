"""Common parts of TGI, Triton and MindIE: one text in, one text out, settings in `parameters`, `details` at the end."""

from __future__ import annotations

from typing import Any, TypeAlias

from benchwright.core import JsonObject, JsonValue, ModelRequest, Route
from benchwright.endpoints._replies import BadReply, error_inside, kind_of
from benchwright.endpoints._wires.wire import (
    BadEventError,
    EventCollector,
    UnsendableRequestError,
    read_event,
)

_NO_PARAMETERS = frozenset(("model", "messages", "prompt", "stream", "stream_options", "n"))
"""Keys of a body that are not settings of generation."""
_UNKNOWN = ("tools", "tool_choice", "response_format", "logprobs", "echo")
"""Settings that change an answer and have no equivalent in these formats."""
_FINISH = {
    "eos_token": "stop",
    "stop_sequence": "stop",
    "end_of_sequence_token": "stop",
    "max_tokens": "length",
}
"""Finish reasons of these formats under OpenAI's names; `length` and `stop` are the same."""
_CURE = "Ask the server's OpenAI route instead (--api openai), if it has one"


Details: TypeAlias = tuple[str | None, int | None, int | None]
"""What a server reports about an answer, apart from its text: the finish reason, under OpenAI's name, prompt tokens and generated tokens."""
NO_DETAILS: Details = (None, None, None)
"""The server reported nothing."""


def prompt_of(request: ModelRequest) -> str:
    """The text to send. Messages are accepted only if they are not a conversation: a system text and one user text, joined
    as for the completions route. The server applies no chat template here."""
    if request.route == "completions":
        prompt = request.body.get("prompt")
        if isinstance(prompt, str):
            return prompt
        raise UnsendableRequestError(f"only a prompt of one text can be sent in this format. {_CURE}")
    messages = request.body.get("messages")
    turns = [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    roles = [turn.get("role") for turn in turns]
    if roles not in (["user"], ["system", "user"]):
        raise UnsendableRequestError(
            f"a conversation cannot be sent in this format, which takes one text. {_CURE}"
        )
    texts = [turn.get("content") for turn in turns]
    if not all(isinstance(text, str) for text in texts):
        raise UnsendableRequestError(
            f"images, audio and video cannot be sent in this format, which takes one text. {_CURE}"
        )
    return "\n".join(str(text) for text in texts)


def parameters_of(request: ModelRequest, *, length: str = "max_new_tokens") -> JsonObject:
    """The settings under the names of these formats.

    They accept neither a temperature of 0 nor a `top_p` of 1: the first is sent as `do_sample: false`, the second is left
    out. Keys that are not OpenAI's pass unchanged and take precedence.
    """
    body = request.body
    for name in _UNKNOWN:
        if body.get(name) not in (None, False, "none", []):
            raise UnsendableRequestError(f"{name!r} cannot be sent in this format. {_CURE}")
    rest = {name: body[name] for name in body if name not in _NO_PARAMETERS and name not in _UNKNOWN}
    parameters: JsonObject = {}
    new_name, old_name = rest.pop("max_completion_tokens", None), rest.pop("max_tokens", None)
    most = new_name or old_name
    if most is not None:
        parameters[length] = most
    temperature = rest.pop("temperature", None)
    if isinstance(temperature, int | float):
        parameters["do_sample"] = temperature > 0
        if temperature > 0:
            parameters["temperature"] = temperature
    top_p = rest.pop("top_p", None)
    if isinstance(top_p, int | float) and top_p < 1:
        parameters["top_p"] = top_p
    seed = rest.pop("seed", None)
    if seed is not None:
        parameters["seed"] = seed
    stop = rest.pop("stop", None)
    if stop:
        parameters["stop"] = [stop] if isinstance(stop, str) else stop
    return {**parameters, **rest}


def read_details(details: JsonValue) -> Details:
    """Read `details` of a reply or of a stream's last event; any part may be missing."""
    if not isinstance(details, dict):
        return NO_DETAILS
    reason = details.get("finish_reason")
    prefill = details.get("prefill")
    prompt = details.get("input_length") or (len(prefill) if isinstance(prefill, list) and prefill else None)
    made = details.get("generated_tokens")
    return (
        _FINISH.get(reason, reason) if isinstance(reason, str) else None,
        prompt if isinstance(prompt, int) else None,
        made if isinstance(made, int) else None,
    )


def openai_reply(route: Route, text: JsonValue, details: Details) -> JsonObject:
    """A text and its details as OpenAI's route would send them. Token counts are included only if both are known, because a
    missing one would be summed as zero."""
    finish_reason, prompt_tokens, completion_tokens = details
    choice: JsonObject = {"finish_reason": finish_reason}
    if route == "chat":
        choice["message"] = {"content": text}
    else:
        choice["text"] = text
    reply: JsonObject = {"choices": [choice]}
    if prompt_tokens is not None and completion_tokens is not None:
        reply["usage"] = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
        }
    return reply


def without_text(data: JsonValue, name: str, code: int | None = None) -> BadReply:
    """The failure for a reply without the field of its text; `code` is the status that its error corresponds to."""
    if isinstance(data, dict):
        if data.get("error"):
            return error_inside(data, code=code)
        keys = ", ".join(list(data)[:8]) or "nothing"
        return BadReply(f"the reply has no {name}; it has {keys}. Does the server speak another API (--api)?")
    return BadReply(f"the reply is {kind_of(data)}, not an object with {name}")


class TextCollector(EventCollector):
    """Base of the collectors of these formats; implements `Collector` except for `_take`."""

    __slots__ = ("_details", "_ended", "_from", "_pieces", "_route")

    def __init__(self, route: Route, field: str) -> None:
        super().__init__(field)
        self._route = route
        self._pieces: list[str] = []
        self._details = NO_DETAILS
        self._ended = False
        self._from: JsonObject = {}  # the model and server, if an event names them

    @property
    def complete(self) -> bool:
        """Whether the answer is complete."""
        return self._ended

    def add(self, data: bytes) -> None:
        """Add one event."""
        if data.strip() == b"[DONE]":  # some gateways add it
            self.done = True
            self.body_ended()
            return
        event = read_event(data)
        self.events += 1
        error = event.get("error")
        if error:
            self.error = {"error": {"message": error, "code": self._status_of(event)}}
            return
        if "system_fingerprint" in event:
            self._from = {"system_fingerprint": event["system_fingerprint"]}
        if text := self._take(event):
            self.add_text(text)

    def as_json(self) -> JsonObject:
        """The whole reply."""
        return {**openai_reply(self._route, "".join(self._pieces), self._details), **self._from}

    def _take(self, event: dict[str, Any]) -> str | None:
        """Add an event that is not an error. Returns the new text in it, if any."""
        raise NotImplementedError

    def _text(self, event: dict[str, Any], name: str) -> str | None:
        """The text under `name`, the field that identifies an event of the format."""
        if name not in event:
            return None
        self.lacks = ""
        text = event[name]
        if text is not None and not isinstance(text, str):
            raise BadEventError(f"the {name} of an event is {kind_of(text)}, not a text")
        return text

    def _token(self, event: dict[str, Any]) -> str | None:
        """The text of the event's `token`, unless it is a special one."""
        token = event.get("token")
        if token is None:
            return None
        if not isinstance(token, dict):
            raise BadEventError(f"the token of an event is {kind_of(token)}, not an object")
        text = self._text(token, "text")
        return None if token.get("special") is True else text

    def _status_of(self, event: dict[str, Any]) -> int | None:
        """The HTTP status that an error inside a stream corresponds to."""
        code = event.get("code")
        return code if isinstance(code, int) else None
