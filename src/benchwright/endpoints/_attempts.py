"""Makes one attempt at a request: sends it, reads the reply, and names any failure. Retries happen elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from msgspec.structs import replace

from benchwright.core import (
    Copied,
    FailureKind,
    JsonValue,
    ModelReply,
    ModelRequest,
    RequestFailure,
    TooDeepError,
    clause,
    redact,
)
from benchwright.endpoints._clock import Clock
from benchwright.endpoints._endpoint import capture
from benchwright.endpoints._half_pairs import join_halves, load_joined
from benchwright.endpoints._messages import Names, is_html, words_of_body, words_of_json
from benchwright.endpoints._plain_replies import plain_reply, plain_stream
from benchwright.endpoints._refused_settings import without_stop
from benchwright.endpoints._replies import BadReply, read_reply, served_as
from benchwright.endpoints._retry import FailedAttempt, again_of, kind_of_status, retry_after_s, too_long
from benchwright.endpoints._settings import EndpointSettings
from benchwright.endpoints._sse import EventTooLargeError
from benchwright.endpoints._stream_reader import StreamReader
from benchwright.endpoints._transport import Headers, HttpStream, Pieces, Stamps, Transport, TransportFailure
from benchwright.endpoints._wires.openai import OpenAiWire
from benchwright.endpoints._wires.wire import (
    BadEventError,
    Collector,
    RouteUrls,
    UnsendableRequestError,
    Wire,
)


class Attempter:
    """Makes attempts."""

    def __init__(
        self,
        transport: Transport,
        wire: Wire,
        headers: Mapping[str, str],
        settings: EndpointSettings,
        names: Names,
        clock: Clock,
    ) -> None:
        self._now = clock.now
        self._transport = transport
        self._wire = wire
        self._native = wire.native
        self._shapes = wire.shapes if isinstance(wire, OpenAiWire) else None
        self._headers = headers
        self._settings = settings
        self._names = names

    async def attempt(
        self, request: ModelRequest, urls: RouteUrls, timeout_s: float, stamps: Stamps
    ) -> ModelReply | FailedAttempt:
        """Send once. Only cancellation is raised."""
        begun_at = self._now()
        if stamps.planned is None:
            stamps.planned = begun_at
        try:
            if request.body.get("stream"):
                result = await self._attempt_stream(request, urls.streamed, timeout_s, stamps)
            else:
                payload = request.payload if self._native else self._wire.payload(request)
                reply = await self._transport.post(urls.whole, payload, self._headers, timeout_s, stamps)
                if stamps.arrivals is not None:
                    stamps.take_head(reply.headers)
                if reply.status == 200:
                    if self._native and (plain := plain_reply(reply.body, request, stamps)) is not None:
                        return plain
                    result = self._read(reply.body, request, stamps, reply.headers)
                else:
                    result = self._of_status(reply.status, reply.headers, reply.body, urls.whole)
        except TransportFailure as failure:
            result = self._of_failure(failure)
        except OSError as error:
            result = self._of_failure(TransportFailure("connection", f"{error}"))
        except UnsendableRequestError as error:
            return FailedAttempt(RequestFailure("rejected", str(error)), begun_at=begun_at)
        except Exception as error:  # a server's reply may fail a sample, but not the run
            result = self._of_bad_reply(BadReply(_unreadable(error)))
        if isinstance(result, ModelReply):
            return result
        return replace(result, begun_at=begun_at, times=stamps.times(failed=self._now()))

    async def _attempt_stream(
        self, request: ModelRequest, url: str, timeout_s: float, stamps: Stamps
    ) -> ModelReply | FailedAttempt:
        payload = self._wire.payload(request)
        stream = await self._transport.stream(url, payload, self._headers, timeout_s, stamps)
        if stamps.arrivals is not None:
            stamps.take_head(stream.headers)
        try:
            if stream.status != 200:
                body: list[bytes] = []
                async for pieces, times in stream:
                    body += pieces
                    stamps.last_byte = times[-1]
                return self._of_status(stream.status, stream.headers, b"".join(body), url)
            batches = aiter(stream)
            begun = await anext(batches, None)
            if begun is not None and self._shapes is not None:
                limit = self._settings.max_event_bytes
                plain = plain_stream(*begun, request, stamps, self._shapes, limit)
                if plain is not None:
                    return plain
            return await self._read_stream(stream, begun, batches, request, stamps)
        finally:
            await stream.aclose()

    async def _read_stream(
        self,
        stream: HttpStream,
        begun: Pieces | None,
        batches: AsyncIterator[Pieces],
        request: ModelRequest,
        stamps: Stamps,
    ) -> ModelReply | FailedAttempt:
        collected = self._wire.collector(request)
        reader = StreamReader(collected, stamps, self._settings.max_event_bytes)
        broken, ended = None, False
        try:
            while begun is not None and not reader.take(*begun):
                begun = await anext(batches, None)
            if begun is None:
                ended = True
                reader.finish()
        except TransportFailure as failure:
            broken = failure
        except EventTooLargeError as error:
            broken = TransportFailure(
                "bad_reply", f"{clause(error)}. If that is right, raise --max-event-bytes"
            )
        except BadEventError as error:
            # An event without its closing empty line was cut off with the stream.
            broken = TransportFailure("broken_stream" if ended else "bad_reply", str(error))
        copies = broken is None and reader.without_copies(lambda: self._wire.collector(request))
        if copies:
            collected = reader.collected
        if collected.error is not None:
            return self._of_stream_error(collected)
        if broken is not None and not collected.complete:
            return self._of_failure(broken)
        if not collected.events and not collected.done:
            return self._read(b"".join(reader.unread), request, stamps, stream.headers)
        if collected.events and collected.lacks:
            return self._of_bad_reply(
                BadReply(f"status 200, but no event of the stream has {collected.lacks}")
            )
        if not collected.complete:
            return self._of_failure(_cut(collected))
        if "echo" not in request.body:  # an echo is plain text, without reasoning
            reader.correct_answer()
        whole = collected.as_json()
        if isinstance(whole, BadReply):
            return self._of_bad_reply(whole)
        reply = self._read_json(join_halves(whole), request, stamps, None)
        copied: Copied | None = "left_out" if copies or reader.copied else collected.copied
        return replace(reply, copied=copied) if copied and isinstance(reply, ModelReply) else reply

    def _read(
        self, body: bytes, request: ModelRequest, stamps: Stamps, headers: Headers | None
    ) -> ModelReply | FailedAttempt:
        """Read the body of a reply."""
        try:
            data = load_joined(body.removeprefix(b"\xef\xbb\xbf"))
        except TooDeepError as error:
            return self._of_bad_reply(BadReply(f"status 200, but no usable JSON: {error}"))
        except ValueError:
            message = f"status 200, but not JSON: {words_of_body(body, redact)}"
            if is_html(body):
                message += ". Is the URL that of the API, not of a web page?"
            else:
                message = f"{message.rstrip('.')}. Check {self._names.url}, and which API is there (--api)"
            return self._of_bad_reply(BadReply(message))
        return self._read_json(data, request, stamps, headers)

    def _read_json(
        self, data: JsonValue, request: ModelRequest, stamps: Stamps, headers: Headers | None
    ) -> ModelReply | FailedAttempt:
        """Read the JSON of a reply. Without `headers` it was assembled from a stream and is already in OpenAI's form."""
        capture(data)
        served = served_as(data, request.body.get("model"))
        if not self._native and headers is not None:
            translated = self._wire.translate(data, request, headers)
            if isinstance(translated, BadReply):
                return self._of_bad_reply(translated)
            data = translated
        raw_text = "echo" in request.body and bool(request.body["echo"])
        reply = read_reply(data, request.route, stamps, raw_text, redact, served)
        if isinstance(reply, BadReply):
            return self._of_bad_reply(reply)
        return without_stop(reply, request) if "stop" in request.body and not raw_text else reply

    # -- what went wrong --

    def _of_failure(self, failure: TransportFailure) -> FailedAttempt:
        return FailedAttempt(RequestFailure(failure.kind, redact(str(failure))), stale=failure.stale)

    def _of_bad_reply(self, bad: BadReply) -> FailedAttempt:
        kind: FailureKind = "bad_reply"
        message = bad.message
        if bad.error:  # the same failure, with or without an error status, streamed or not
            status = bad.code if bad.code is not None and 400 <= bad.code < 600 else 500
            kind = kind_of_status(status, message)
            message = _with_cure(message, self._cure_of_length(status, message))
        return FailedAttempt(RequestFailure(kind, redact(message), 200))

    def _of_stream_error(self, collected: Collector) -> FailedAttempt:
        error = collected.error.get("error") if collected.error else None
        code = error.get("code") if isinstance(error, dict) else None
        words = words_of_json(collected.error, redact)
        bad = BadReply(
            f"the stream broke off with an error: {words}",
            error=True,
            code=code if isinstance(code, int) else None,
        )
        return self._of_bad_reply(bad)

    def _of_status(self, status: int, headers: Headers, body: bytes, url: str) -> FailedAttempt:
        words = body[:4000].decode("utf-8", "replace")
        kind = kind_of_status(status, words)
        cure = self._cure_of_length(status, words) or self._cure(status, headers)
        message = f"{status} from {url}: {_with_cure(words_of_body(body, redact), cure)}"
        return FailedAttempt(
            RequestFailure(kind, redact(message), status),
            retry_after_s=retry_after_s(headers) if again_of(kind) != "never" else None,
        )

    def _cure_of_length(self, status: int, words: str) -> str:
        """What to do if the request is longer than the model's context."""
        which = too_long(status, words)
        if which == "prompt":
            return (
                ". The prompt does not fit into the model's context: shorten the rows, show fewer examples, or serve "
                "the model with a longer context"
            )
        if which == "reply":
            return (
                f". Prompt and longest reply together exceed the model's context: lower {self._names.length}"
            )
        return ""

    def _cure(self, status: int, headers: Headers) -> str:
        names = self._names
        if status in (401, 403):
            if self._settings.api_key_name is None:
                return f". Name the environment variable that contains the key with {names.key}"
            return f". Check the key in the environment variable {self._settings.api_key_name}"
        if status == 404:
            speaks = "" if self._native else f", and that the server speaks {self._settings.api} (--api)"
            return f". Check {names.url} and {names.model}{speaks}"
        if 300 <= status < 400:
            return f". It redirects to {headers.get('location')}; give that as {names.url}"
        return ""


def _with_cure(words: str, cure: str) -> str:
    """Join a server's message and the cure, with one full stop between them."""
    return words.rstrip(".") + cure if cure else words


def _cut(collected: Collector) -> TransportFailure:
    """The failure for a stream that ended before its answer."""
    message = "the stream ended before the answer did"
    if collected.done:
        message = (
            "the stream ended with [DONE] and without a finish reason, so the answer was cut off. "
            "Some servers do this if another request arrives (llama-cpp-python: start it with --interrupt_requests false): "
            "send one request at a time. If the server never sends a finish reason, use --no-stream"
        )
    return TransportFailure("broken_stream", message)


def _unreadable(error: Exception) -> str:
    return f"the reply could not be read: {type(error).__name__}: {error}"
