"""Logs requests and replies to disk, without secrets: the first ones, those that failed, and those that the user saves."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import BinaryIO, TypeAlias

from benchwright.config import Caching, FailedRequests, PipelineSettings, RequestLogging, ResponseLogging
from benchwright.core import (
    REDACTED,
    Artifacts,
    JsonObject,
    JsonValue,
    ModelReply,
    ModelRequest,
    encode_json,
    expand_home,
    is_secret_name,
    known_secrets,
    load_json,
    open_artifacts,
    public_url,
    redact,
)

LOG_FILE = "exchanges.jsonl"
"""The log, in the folder of a run."""
_LONGEST_BODY = 64 * 1024
"""The most characters of a body in the log. Saved exchanges are complete."""
_ALL = 1 << 62

Pairs = Iterable[tuple[str, str]]


_Place: TypeAlias = tuple[Artifacts, str]
"""A file that gets lines, and where it is."""


class ExchangeLog:
    """Writes JSON lines. A disk that cannot be written to ends the log, not the run."""

    def __init__(self, settings: PipelineSettings, files: Artifacts, url: str) -> None:
        self._log, self._url = (files, LOG_FILE), public_url(url)
        requests: RequestLogging | None = settings.find(RequestLogging)
        replies: ResponseLogging | None = settings.find(ResponseLogging)
        saving: Caching | None = settings.find(Caching)
        self._failures = settings.find(FailedRequests) is not None
        self._requests_left = 0 if requests is None else requests.value("max_requests")
        self._replies_left = 0 if replies is None else _limit(replies.max_responses)
        self._request_parts = requests or RequestLogging()
        self._reply_parts = replies or ResponseLogging()
        self._save_requests = self._save_replies = 0
        saved_in, start = files, "cache/"
        if saving is not None:
            if saving.cache_dir:
                saved_in, start = open_artifacts(expand_home(saving.cache_dir)), ""
            self._save_requests = _limit(saving.max_saved_requests) if saving.value("save_requests") else 0
            self._save_replies = _limit(saving.max_saved_responses) if saving.value("save_responses") else 0
        self._sent = saved_in, f"{start}requests.jsonl"
        self._replies = saved_in, f"{start}responses.jsonl"
        self.wants_requests = self._requests_left > 0 or self._save_requests > 0
        """Whether the next request is written."""
        self.wants_replies = self._replies_left > 0 or self._save_replies > 0
        """Whether the next good reply is written."""
        self._files: dict[str, BinaryIO] = {}
        self.notes: list[str] = []
        """What could not be written."""

    @staticmethod
    def wanted(settings: PipelineSettings) -> bool:
        """Whether a pipeline writes anything here."""
        saving: Caching | None = settings.find(Caching)
        saves = saving is not None and (saving.value("save_requests") or saving.value("save_responses"))
        return saves or any(settings.find(form) for form in (RequestLogging, ResponseLogging, FailedRequests))

    def sent(self, url: str, headers: Pairs, payload: bytes) -> None:
        """Log a request that is being sent."""
        if self._requests_left > 0:
            self._requests_left -= 1
            event = self._request(url, headers, payload, self._request_parts)
            self._write(self._log, {"event": "request", **event})
        if self._save_requests > 0:
            self._save_requests -= 1
            self._write(self._sent, {"url": public_url(url), "body": _value(payload)})
        self.wants_requests = self._requests_left > 0 or self._save_requests > 0

    def answered(
        self, url: str, sent: Pairs, payload: bytes, status: int, headers: Pairs, body: bytes
    ) -> None:
        """Log a reply of any status."""
        if self._replies_left > 0:
            self._replies_left -= 1
            event = self._reply(url, status, headers, body)
            self._write(self._log, {"event": "response", **event})
        if status == 200:
            if self._save_replies > 0:
                self._save_replies -= 1
                saved: JsonObject = {"request": _value(payload), "status": status, "body": _value(body)}
                self._write(self._replies, saved)
            self.wants_replies = self._replies_left > 0 or self._save_replies > 0
        elif self._failures:
            request = self._request(url, sent, payload, RequestLogging())
            reply = {"status": status, "headers": _masked(headers), "body": _shown(body)}
            self._write(self._log, {"event": "failed", **request, "response": reply})

    def failed(self, url: str, sent: Pairs, payload: bytes, reason: str) -> None:
        """Log a request without a reply."""
        if self._failures:
            request = self._request(url, sent, payload, RequestLogging())
            self._write(self._log, {"event": "failed", **request, "error": redact(reason)})

    def ended(self, request: ModelRequest, reply: ModelReply, *, by_http: bool) -> None:
        """Log the end of a call. Without HTTP this is the only information; with HTTP, only a 200 that was not a reply is new."""
        failure = reply.failure
        kept = request.payload if request.record is None else request.record
        if by_http:
            if failure is not None and failure.http_status == 200:
                self.failed(self._url, (), kept, failure.message)
            return
        self.sent(self._url, (), kept)
        if failure is not None:
            self.failed(self._url, (), kept, failure.message)
        else:
            text = {"text": reply.text, "reasoning": reply.reasoning, "finish_reason": reply.finish_reason}
            self.answered(self._url, (), kept, 200, (), encode_json({**text, "tool_calls": reply.tool_calls}))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _request(self, url: str, headers: Pairs, payload: bytes, parts: RequestLogging) -> JsonObject:
        event: JsonObject = {"at": time.time(), "url": public_url(url)}
        if parts.value("log_request_headers"):
            event["headers"] = _masked(headers)
        if parts.value("log_request_body"):
            event["body"] = _shown(payload)
        return event

    def _reply(self, url: str, status: int, headers: Pairs, body: bytes) -> JsonObject:
        event: JsonObject = {"at": time.time(), "url": public_url(url), "status": status}
        if self._reply_parts.value("log_response_headers"):
            event["headers"] = _masked(headers)
        if self._reply_parts.value("log_response_body"):
            event["body"] = _shown(body)
        return event

    def _write(self, place: _Place, event: JsonObject) -> None:
        files, name = place
        try:
            file = self._files.get(name)
            if file is None:
                file = self._files[name] = files.append(name)
            line = known_secrets().clean_json(encode_json(event)) + b"\n"
            if file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            note = f"{name.rpartition('/')[2]} is not complete: {error.strerror or error}"
            if note not in self.notes:
                self.notes.append(note)


def _limit(most: int | None) -> int:
    return _ALL if most is None else most


def _masked(headers: Pairs) -> JsonValue:
    """Headers as a list of pairs, because a name may occur twice."""
    return [[name, REDACTED if is_secret_name(name) else redact(value)] for name, value in headers]


def _value(body: bytes) -> JsonValue:
    """A body as JSON if possible, else as text."""
    try:
        found: JsonValue = load_json(body)
    except ValueError:
        return REDACTED if _held_in_pieces(body) else body.decode("utf-8", "replace")
    return found


def _held_in_pieces(body: bytes) -> bool:
    """Whether the events of a stream together contain a secret that none of them contains alone."""
    redactor = known_secrets()
    texts: dict[str, list[str]] = {}

    def gather(value: JsonValue, place: str) -> None:
        if isinstance(value, str):
            texts.setdefault(place, []).append(value)
        elif isinstance(value, dict):
            for name, entry in value.items():
                gather(entry, f"{place}.{name}")
        elif isinstance(value, list):
            for entry in value:
                gather(entry, place)

    if redactor.guards:
        for line in body.splitlines():
            if line.startswith(b"data:"):
                with suppress(ValueError):
                    gather(load_json(line[5:]), "")
    return any(redactor.found_in("".join(pieces).encode()) for pieces in texts.values())


def _shown(body: bytes) -> JsonValue:
    """Return the value of a body, shortened if it is long."""
    if len(body) <= _LONGEST_BODY:
        return _value(body)
    if _held_in_pieces(body):
        return REDACTED
    text = known_secrets().clean_record(
        body.decode("utf-8", "replace")
    )  # before it is cut, which could leave part of a secret
    return f"{text[:_LONGEST_BODY]}… ({len(body)} bytes)"
