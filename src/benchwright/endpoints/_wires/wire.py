"""The interface between an endpoint and a wire format. On the endpoint's side, requests and replies are OpenAI's."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from benchwright.core import (
    Copied,
    JsonObject,
    JsonValue,
    ModelRequest,
    RequestFailure,
    Route,
    WireFormat,
)
from benchwright.endpoints._addresses import Address
from benchwright.endpoints._half_pairs import load_halves
from benchwright.endpoints._replies import BadReply, kind_of
from benchwright.endpoints._transport import Headers


class RouteUrls(Struct, frozen=True):
    """Where the requests of one route go."""

    whole: str
    """URL for a reply in one piece."""
    streamed: str
    """URL for a stream; often the same."""

    def url_for(self, request: ModelRequest) -> str:
        return self.streamed if request.body.get("stream") else self.whole


Urls: TypeAlias = dict[Route, RouteUrls]
"""Where each route is."""


class UnsendableRequestError(Exception):
    """The format cannot express the request. Becomes a `rejected` failure; nothing is sent."""


class BadEventError(ValueError):
    """JSON in a stream that cannot be part of an answer. Becomes a `bad_reply` failure."""


def read_event(data: bytes) -> dict[str, Any]:
    """The JSON object of one event. Raises BadEventError for anything else."""
    try:
        event = load_halves(data)
    except ValueError as error:
        raise BadEventError(f"an event of the stream is not JSON: {error}") from None
    if not isinstance(event, dict):
        raise BadEventError(f"an event of the stream is {kind_of(event)}, not an object")
    return event


def whole_choice(
    route: Route, finish_reason: JsonValue, text: str, reasoning: str, refusal: str, calls: list[JsonValue]
) -> JsonObject:
    """The choice of an assembled reply, as OpenAI would have sent it."""
    if route == "completions":
        return {"finish_reason": finish_reason, "text": text, "reasoning_content": reasoning}
    message: JsonObject = {
        "content": text,
        "reasoning_content": reasoning,
        "refusal": refusal,
        "tool_calls": calls,
    }
    return {"finish_reason": finish_reason, "message": message}


class Collector(Protocol):
    """Assembles the events of one streamed reply. `EventCollector` is the base class.

    Events are identified by their position, from which the caller knows when a token came. A token is an event with
    content: a piece of text, reasoning, a refusal or a tool call, and not only a role, a count or the end.
    """

    events: int
    """Events so far, without end marks."""
    given: int
    """Events so far, with end marks: the position of the next one."""
    tokens: list[int]
    """Positions of events with content."""
    texts: list[str]
    """Pieces of the answer's text, each from one event."""
    text_at: list[int]
    """Positions of these events."""
    thought: bool
    """Whether reasoning came separately from the text."""
    acted: int | None
    """Position of the first event with a refusal or a tool call."""
    done: bool
    """Whether nothing more is to come."""
    error: JsonObject | None
    """An error sent instead of the rest, as `{"error": {"message", "code"}}`, the code an HTTP status if known."""
    copied: Copied | None
    """Whether it left out events that came again, or suspects that there are some. Known once `as_json` was called."""
    lacks: str
    """The field, by its name in the format, that every answer has and no event has had so far; empty once it came."""

    @property
    def answer(self) -> int | None:
        """Position of the first token that is part of the answer, and not of the reasoning."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the answer is complete."""
        ...

    def add_alike(self, pieces: list[bytes], at: int) -> int:
        """Add pieces from position `at` on, as long as each is one whole event, with `data: ` and empty line, of a shape that
        was seen before. Returns how many there were."""
        ...

    def add_all(self, events: list[bytes]) -> None:
        """Add the data of events that came together, up to one that ends the stream. Raises BadEventError if one is not JSON
        or makes no sense."""
        ...

    def add_next(self, data: bytes) -> None:
        """Add one event of a new shape, or a single event."""
        ...

    def body_ended(self) -> None:
        """Note that the reply's body ended properly. For some formats this is the only sign that the answer is complete."""
        ...

    def as_json(self) -> JsonObject | BadReply:
        """The whole reply as OpenAI's route would have sent it."""
        ...


class EventCollector:
    """Base of collectors: counters, and reading of events one by one."""

    __slots__ = (
        "acted", "copied", "done", "error", "events", "given", "lacks", "text_at", "texts", "thought", "tokens",
    )  # fmt: skip

    def __init__(self, lacks: str) -> None:
        self.events = 0
        self.given = 0
        self.tokens: list[int] = []
        self.texts: list[str] = []
        self.text_at: list[int] = []
        self.thought = False
        self.acted: int | None = None
        self.copied: Copied | None = None
        self.done = False
        self.error: JsonObject | None = None
        self.lacks = lacks

    @property
    def answer(self) -> int | None:
        """Position of the first token that is part of the answer."""
        text_at, acted = self.text_at, self.acted
        if not text_at:
            return acted
        return text_at[0] if acted is None or text_at[0] < acted else acted

    def add(self, data: bytes) -> None:
        raise NotImplementedError

    def add_alike(self, pieces: list[bytes], at: int) -> int:
        """Add none, unless the format knows shapes."""
        return 0

    def add_all(self, events: list[bytes]) -> None:
        """Add events that came together."""
        for data in events:
            self.add_next(data)
            if self.done or self.error is not None:
                return

    def add_next(self, data: bytes) -> None:
        self.add(data)
        self.given += 1

    def body_ended(self) -> None:
        """Do nothing, unless the format has no other sign of the end."""

    # -- for `add`: the content of the event --

    def add_text(self, text: str) -> None:
        """A piece of the answer, which is not empty."""
        self.texts.append(text)
        self.text_at.append(self.given)
        self._add_token()

    def add_thought(self) -> None:
        """A piece of reasoning."""
        self.thought = True
        self._add_token()

    def add_act(self) -> None:
        """A piece of a refusal or of a tool call."""
        if self.acted is None:
            self.acted = self.given
        self._add_token()

    def _add_token(self) -> None:
        if not self.tokens or self.tokens[-1] != self.given:
            self.tokens.append(self.given)


class Wire(Protocol):
    """One wire format, as one endpoint uses it."""

    format: WireFormat
    """What the format can do."""
    native: bool
    """Whether bodies and replies are OpenAI's and pass unchanged."""

    def urls(self, address: Address, model: str) -> Urls:
        """Where requests go."""
        ...

    def payload(self, request: ModelRequest) -> bytes:
        """The body to send; may raise `UnsendableRequestError`."""
        ...

    def collector(self, request: ModelRequest) -> Collector:
        """The collector for one streamed reply."""
        ...

    def translate(
        self, data: JsonValue, request: ModelRequest, headers: Headers | None
    ) -> JsonValue | BadReply:
        """A whole reply as OpenAI's route would have sent it."""
        ...

    def learn(self, failure: RequestFailure, request: ModelRequest) -> bool:
        """Learn from a refusal. Returns whether the request should be repeated at once in another form."""
        ...


class TranslatingWire:
    """Base of wires that translate bodies and replies and have only one form of requests."""

    native = False

    def learn(self, failure: RequestFailure, request: ModelRequest) -> bool:
        """Learn nothing."""
        return False
