"""What a route answers with: JSON, bytes, a page, or a stream of events. Each kind makes the response and describes itself for OpenAPI."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache
from typing import Any, ClassVar

import msgspec
from msgspec import Struct, defstruct
from starlette.responses import Response, StreamingResponse

from benchwright.core import JsonObject, as_json, exact_json
from benchwright.server._bodies import RecordForm
from benchwright.server._guard import PAGE_POLICY, refusal_of
from benchwright.store import Page


class AnswerKind(Struct, frozen=True):
    """A kind of answer."""

    navigable: ClassVar[bool] = False
    """Whether a browser may open it from a link on another site. It must have no data."""

    @property
    def schema(self) -> type[Struct] | None:
        """The Struct that OpenAPI describes; None: the answer is not one."""
        return None

    @property
    def media_type(self) -> str:
        """Its Content-Type."""
        raise NotImplementedError

    def response(self, value: Any) -> Response:
        """The response with what a handler returned."""
        raise NotImplementedError


class Json(AnswerKind, frozen=True):
    """The handler returns this Struct."""

    body: type[Struct]
    """Its class."""

    @property
    def schema(self) -> type[Struct] | None:
        """The class."""
        return self.body

    @property
    def media_type(self) -> str:
        """JSON."""
        return "application/json"

    def response(self, value: Any) -> Response:
        """The Struct as JSON."""
        return Response(encoded(value), media_type=self.media_type)


class Listed(AnswerKind, frozen=True):
    """The handler returns a page of a list, of records or of objects."""

    name: str
    """The name of the page in the OpenAPI document."""
    doc: str
    """One sentence."""
    noun: str
    """The field with the entries."""
    form: RecordForm | None = None
    """The form of the records; None: they are objects."""

    @property
    def schema(self) -> type[Struct] | None:
        """`{noun: […], next}`."""
        return _page(self.name, self.doc, self.noun, dict[str, Any] if self.form is None else self.form.body)

    @property
    def media_type(self) -> str:
        """JSON."""
        return "application/json"

    def response(self, value: Any) -> Response:
        """The page, with `next` as its last field: pass it as `after` to get the next page; null on the last page."""
        page: Page[Any] = value
        items: list[Any] = (
            page.items if self.form is None else [self.form.of(record) for record in page.items]
        )
        return Response(encoded({self.noun: items, "next": page.next}), media_type=self.media_type)


@cache
def _page(name: str, doc: str, noun: str, entry: Any) -> type[Struct]:
    return defstruct(name, [(noun, list[entry]), ("next", int | None)], namespace={"__doc__": doc})


class AnyJson(AnswerKind, frozen=True):
    """The handler returns a JSON object, whose fields depend on the kind of run."""

    @property
    def media_type(self) -> str:
        """JSON."""
        return "application/json"

    def response(self, value: Any) -> Response:
        """The object."""
        return Response(encoded(value), media_type=self.media_type)


class Bytes(AnswerKind, frozen=True):
    """The handler returns bytes."""

    kind: str
    """Their media type."""

    @property
    def media_type(self) -> str:
        """The given one."""
        return self.kind

    def response(self, value: Any) -> Response:
        """The bytes as they are."""
        return Response(value, media_type=self.media_type)


class HtmlPage(AnswerKind, frozen=True):
    """The handler returns a document that may run the scripts of this server. It has no data of its own: scripts fetch them."""

    navigable: ClassVar[bool] = True

    @property
    def media_type(self) -> str:
        """HTML."""
        return "text/html"

    def response(self, value: Any) -> Response:
        """The document, with the policy of pages."""
        return Response(value, headers={"content-security-policy": PAGE_POLICY}, media_type=self.media_type)


class Events(AnswerKind, frozen=True):
    """The handler returns an asynchronous iterator of Structs, or of bytes that `event` made, each sent as soon as it is there.

    Pages read it with `fetch`, because `EventSource` sends no token.
    """

    body: type[Struct]
    """The class of an event."""

    @property
    def schema(self) -> type[Struct] | None:
        """The class."""
        return self.body

    @property
    def media_type(self) -> str:
        """Server-sent events."""
        return "text/event-stream"

    def response(self, value: Any) -> Response:
        """The stream. An error in it becomes a last event `error` with the body of a refusal."""
        return StreamingResponse(_events(value), media_type=self.media_type)


def event(value: Struct | Exception) -> bytes:
    """One event: a Struct, or an error as the body of its refusal."""
    if isinstance(value, Exception):
        return b"event: error\ndata: " + encoded(refusal_of(value).body()) + b"\n\n"
    return b"data: " + encoded(value) + b"\n\n"


async def _events(values: AsyncIterator[Struct | bytes]) -> AsyncIterator[bytes]:
    try:
        async for value in values:
            yield value if isinstance(value, bytes) else event(value)
    except Exception as error:
        yield event(error)


def encoded(value: Struct | JsonObject) -> bytes:
    """A Struct or an object as JSON."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, TypeError):  # half of a surrogate pair, or a value that is no JSON
        return exact_json(as_json(value))
