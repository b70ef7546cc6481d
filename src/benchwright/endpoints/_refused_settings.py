"""Handles servers that refuse a setting: learns from the refusal and rewrites requests so that they are accepted.

Only settings of generation are ever left out. Settings that decide what is requested (tools, log-probabilities, formats,
a user's `extra_body`) are not: the request fails with the server's message. The format of a judge's verdict may be left
out, because the question also asks for the grade in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from msgspec.structs import replace

from benchwright.config import BODY_SETTINGS
from benchwright.core import (
    JsonObject,
    JsonValue,
    ModelReply,
    ModelRequest,
    RequestFailure,
    encode_json,
    is_verdict_format,
)
from benchwright.endpoints._endpoint import Endpoint

_OPTIONAL = [setting.name for setting in BODY_SETTINGS if setting.can_be_left_out]
_SETTINGS = (*(name for name in _OPTIONAL[1:]), "max_completion_tokens", *_OPTIONAL[:1])
"""Settings that may be left out or renamed. If two exclude each other, the first is left out; temperature is the last."""
_OTHER_NAMES = {"max_output_tokens": "max_tokens", "max_new_tokens": "max_tokens"}
_STATUSES = (200, 400, 422, 501)
"""200: an error inside a stream; 501: llama.cpp's status for settings that it does not support."""
_REFUSAL = (
    r"\bunsupported\b|\bnot?\b (?:longer )?(?:be )?(?:currently )?(?:yet )?(?:support|permit|allow|accept|recogni|available)"
    r"|n't (?:support|allow|accept)|\bunrecogni[sz]ed\b|\bdeprecated\b|\bonly (?:the default|[\d.]+ is allowed)\b"
    r"|\b(?:unknown|unexpected|extra|extraneous|additional) (?:request |keyword |body |input )?"
    r"(?:param|arg|field|key|input|propert)|\b(?:cannot|can't|can not) both be\b"
)
_TOGETHER = r"\bboth\b|\bsame time\b|\btogether\b|\bsimultaneous"
_OUT_OF_RANGE = r"\btoo (?:large|long|small|many)|\bmaximum (?:context|value|length)|\bmust be\b"
_HEAD = r"^\d{3} from \S+: "
_CLIENT_STOP = "client_side_stop"
_FORMAT = "response_format"
_ABOUT_FORMATS = r"response.?format|json.?schema|\bschema|structured|guided|grammar"


def _says(pattern: str, words: str) -> bool:
    """Whether the server's message matches. Patterns are compiled at the first refusal, because most runs meet none."""
    return re.search(pattern, words, re.IGNORECASE) is not None


class RequestAdapter:
    """The settings that one endpoint is known to refuse, for one run. The set grows during the run and never shrinks."""

    def __init__(
        self,
        refused: Mapping[str, JsonValue] | None = None,
        *,
        learned: Callable[[], None] | None = None,
        shared: set[str] | None = None,
    ) -> None:
        self.refused: JsonObject = dict(refused or {})
        """Refused settings that this run would have sent, each with the value that was left out first."""
        self._learned = learned
        self.known = set() if shared is None else shared
        """The names of all settings known to be refused, including those that other runs in the same loop met."""
        self.known.update(self.refused)

    def apply(self, request: ModelRequest) -> ModelRequest:
        """Return the request in a form that the server accepts; the same object if nothing has to change.

        If stop texts are applied here, the record of the request still names them: they affect the reply and so belong to
        its key.
        """
        if not self.known:
            return request
        body = dict(request.body)
        names = [name for name in _SETTINGS if name in self.known and name in body]
        if _FORMAT in self.known and is_verdict_format(body.get(_FORMAT)):
            names.append(_FORMAT)
        for name in names:
            value = body.pop(name)
            self._remember(name, value)
            if name == "max_tokens" and "max_completion_tokens" not in body:
                if "max_completion_tokens" in self.known:
                    self._remember("max_completion_tokens", value)
                else:
                    body["max_completion_tokens"] = value
        if not names:
            return request
        record = request.record
        if record is not None or "stop" in names:
            messages = {} if record is None else _questions(orjson.loads(record))
            stops: JsonObject = {_CLIENT_STOP: request.body["stop"]} if "stop" in names else {}
            record = encode_json({**body, **messages, **stops})
        return replace(request, body=body, payload=encode_json(body), record=record)

    def finish(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """Return the reply to the original `request`, cut where the server would have stopped."""
        if "stop" not in self.refused or not request.body.get("stop"):
            return reply
        return cut_at(request.body["stop"], reply)

    def learn(self, sent: ModelRequest, failure: RequestFailure) -> bool:
        """Whether the request, as `sent`, was refused for a setting, so that it should be adapted and sent again."""
        name = refused_setting(failure, sent.body)
        if name is None:
            return False
        self.known.add(name)
        self._remember(name, sent.body[name])
        return True

    def _remember(self, name: str, value: JsonValue) -> None:
        if name not in self.refused:
            self.refused[name] = value
            if self._learned is not None:
                self._learned()

    def notes(self, who: str = "the server") -> list[str]:
        """Notes on the numbers."""
        return [_note(name, value, self.refused, who) for name, value in self.refused.items()]

    @staticmethod
    def advice(failure: RequestFailure, body: Mapping[str, JsonValue]) -> str:
        """The cure for a refusal that names a setting but does not say that it is unsupported; else an empty text."""
        if failure.http_status not in (400, 422):
            return ""
        named = [
            name
            for name in _named(re.sub(_HEAD, "", failure.message), body)
            if name != "max_completion_tokens"
        ]
        if not named:
            return ""
        flag = f"--{named[0].replace('_', '-')}"
        return f". Give another value, or leave it out of the requests: {flag} none"


class AdaptedEndpoint:
    """Implements `Endpoint` for calls that are not recorded: adapts requests to what the server accepts."""

    def __init__(self, endpoint: Endpoint, adapter: RequestAdapter | None = None) -> None:
        self._endpoint = endpoint
        self._adapter = adapter or RequestAdapter()

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply; a refused setting costs a further request."""
        attempts = lost = 0
        while True:
            sent = self._adapter.apply(request)
            reply = await self._endpoint.send(sent)
            attempts, lost = attempts + reply.attempts, lost + reply.lost
            if reply.failure is None or not self._adapter.learn(sent, reply.failure):
                return self._adapter.finish(request, replace(reply, attempts=attempts, lost=lost))

    def forget_failure(self) -> None:
        """Reset the endpoint's first failure, if it keeps one."""
        forget = getattr(self._endpoint, "forget_failure", None)
        if forget is not None:
            forget()


def refused_setting(failure: RequestFailure, body: Mapping[str, JsonValue]) -> str | None:
    """The setting in `body` that the server says it does not take; None for any other refusal.

    >>> words = "400 from http://h/v1: Unsupported parameter: 'seed' is not supported with this model."
    >>> refused_setting(RequestFailure("rejected", words, 400), {"seed": 1})
    'seed'
    >>> words = "400 from http://h/v1: 'max_tokens' is too large: 4096. The maximum context length is 2048"
    >>> refused_setting(RequestFailure("rejected", words, 400), {"max_tokens": 4096})
    """
    if failure.http_status not in _STATUSES:
        return None
    if is_verdict_format(body.get(_FORMAT)) and _says(_ABOUT_FORMATS, failure.message):
        return _FORMAT
    for sentence in re.split(r"[.;!]\s+", re.sub(_HEAD, "", failure.message)):
        if _says(_REFUSAL, sentence) and not _says(_OUT_OF_RANGE, sentence):
            named = _named(sentence, body)
            if named:
                return min(named, key=_SETTINGS.index) if _says(_TOGETHER, sentence) else named[0]
    return None


def without_stop(reply: ModelReply, request: ModelRequest) -> ModelReply:
    """The reply without the stop text of its request, which TGI and `transformers serve` keep."""
    if request.body.get("include_stop_str_in_output"):
        return reply
    return cut_at(request.body["stop"], reply)


def cut_at(stop: Any, reply: ModelReply) -> ModelReply:
    """Cut a reply as a server that supports `stop` would have done.

    >>> cut = cut_at(["\\n"], ModelReply("answered", "4\\nQ: 3+3", finish_reason="length"))
    >>> cut.status, cut.text, cut.finish_reason
    ('answered', '4', 'stop')
    """
    texts = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    found = [
        place for text in texts if text and isinstance(text, str) and (place := reply.text.find(text)) >= 0
    ]
    if not found or reply.status not in ("answered", "truncated"):
        return reply
    text = reply.text[: min(found)]
    answered = bool(text.strip()) or reply.tool_calls is not None
    return replace(reply, text=text, finish_reason="stop", status="answered" if answered else "empty")


def _named(sentence: str, body: Mapping[str, JsonValue]) -> list[str]:
    """Settings of the body that a sentence names, in its order."""
    named: list[str] = []
    for word in re.findall(r"[a-z_]+", sentence.lower()):
        name = _OTHER_NAMES.get(word, word)
        if name == "max_tokens" and name not in body:
            name = "max_completion_tokens"
        if name in _SETTINGS and name in body and name not in named:
            named.append(name)
    return named


def _questions(record: JsonObject) -> JsonObject:
    """The parts of a record that differ from the body: files as their hashes."""
    return {name: record[name] for name in ("messages", "prompt") if name in record}


def _note(name: str, value: JsonValue, refused: JsonObject, who: str) -> str:
    if name == "max_tokens" and "max_completion_tokens" not in refused:
        return f"{who} refuses max_tokens: it was sent as max_completion_tokens"
    if name == _FORMAT:
        return f"{who} refuses the JSON schema of verdicts: grades were read from its words"
    if name == "stop":
        return (
            f"{who} refuses stop: replies were cut at the stop texts after they arrived; tokens after the cut were "
            "generated and are counted"
        )
    return f"{who} refuses {name} = {value}: it was left out, and the server's own default applied"
