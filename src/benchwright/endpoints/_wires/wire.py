"""The seam between an endpoint and the format its server speaks. Requests and replies are OpenAI's on our side."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

from benchwright.core import JsonObject, JsonValue, ModelRequest, RequestFailure, Route, WireFormat, load_json
from benchwright.endpoints._addresses import Address
from benchwright.endpoints._replies import BadReply, kind_of
from benchwright.endpoints._transport import Headers


class RouteUrls(NamedTuple):
    """Where the requests of one route go."""

    whole: str
    """URL for a reply in one piece."""
    streamed: str
    """URL for a stream; often the same."""

    def url_for(self, request: ModelRequest) -> str:
        """The URL of one request."""
        return self.streamed if request.body.get("stream") else self.whole


Urls: TypeAlias = dict[Route, RouteUrls]
"""Where each route is."""


class UnsendableRequestError(Exception):
    """A request that the format has no words for. Becomes a `rejected` failure; nothing is sent."""


class BadEventError(ValueError):
    """JSON in a stream that cannot be part of an answer. Becomes a `bad_reply` failure."""


def read_event(data: bytes) -> dict[str, Any]:
    """The JSON object of one event. Raises BadEventError for anything else."""
    try:
        event = load_json(data)
    except ValueError as error:
        raise BadEventError(f"an event of the stream is not JSON: {error}") from None
    if not isinstance(event, dict):
        raise BadEventError(f"an event of the stream is {kind_of(event)}, not an object")
    return event


def whole_choice(
    route: Route, finish_reason: JsonValue, text: str, reasoning: str, refusal: str, calls: list[JsonValue]
) -> JsonObject:
    """The choice of a reply that was put together, as OpenAI would have sent it."""
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
    """Puts the events of one streamed reply together. `EventCollector` is a base for classes that do.

    Events are known by their places: whoever feeds the collector knows by them when a token came. A token is an event that
    held content: a piece of text, reasoning, a refusal or a tool call, and not only a role, a count or the end.
    """

    events: int
    """Events so far, end marks not counted."""
    given: int
    """Events so far, end marks counted: the place of the next one."""
    tokens: list[int]
    """Places of events with content."""
    texts: list[str]
    """Pieces of the answer's text, each out of one event."""
    text_at: list[int]
    """Places of these events."""
    thought: bool
    """Whether reasoning came apart from the text."""
    acted: int | None
    """Place of the first event with a refusal or a tool call."""
    done: bool
    """Whether nothing more is to come."""
    error: JsonObject | None
    """An error sent instead of the rest, as `{"error": {"message", "code"}}`, the code an HTTP status if known."""
    lacks: str
    """What no event has had so far and every answer has, by its name in the format; empty once it was there."""

    @property
    def answer(self) -> int | None:
        """Place of the first token that is part of the answer, and not of the reasoning."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the whole answer is there."""
        ...

    def add_alike(self, pieces: list[bytes], at: int) -> int:
        """Take in pieces from the place `at` on, as far as each is one whole event, `data: ` and empty line included, that
        looks like one taken in before; how many there were."""
        ...

    def add_all(self, events: list[bytes]) -> None:
        """Take in the data of events that came together, up to one that ends the stream. BadEventError when one is not
        JSON or makes no sense."""
        ...

    def add_next(self, data: bytes) -> None:
        """Take in one event that does not look like one taken in before, or alone."""
        ...

    def body_ended(self) -> None:
        """The reply's body came to its proper end: for some formats the only sign that the answer did."""
        ...

    def as_json(self) -> JsonObject | BadReply:
        """The whole reply as OpenAI's route would have sent it."""
        ...


class EventCollector:
    """What collectors share: their counters, and events one by one."""

    __slots__ = (
        "acted", "done", "error", "events", "given", "lacks", "text_at", "texts", "thought", "tokens",
    )  # fmt: skip

    def __init__(self, lacks: str) -> None:
        self.events = 0
        self.given = 0
        self.tokens: list[int] = []
        self.texts: list[str] = []
        self.text_at: list[int] = []
        self.thought = False
        self.acted: int | None = None
        self.done = False
        self.error: JsonObject | None = None
        self.lacks = lacks

    @property
    def answer(self) -> int | None:
        """Place of the first token that is part of the answer."""
        text_at, acted = self.text_at, self.acted
        if not text_at:
            return acted
        return text_at[0] if acted is None or text_at[0] < acted else acted

    def add(self, data: bytes) -> None:
        """Take in the data of one event."""
        raise NotImplementedError

    def add_alike(self, pieces: list[bytes], at: int) -> int:
        """None, unless the format says what looks alike."""
        return 0

    def add_all(self, events: list[bytes]) -> None:
        """Take in events that came together."""
        for data in events:
            self.add_next(data)
            if self.done or self.error is not None:
                return

    def add_next(self, data: bytes) -> None:
        """Take in one event."""
        self.add(data)
        self.given += 1

    def body_ended(self) -> None:
        """Says nothing, unless the format has no other sign of the end."""

    # -- for `add`: what the event held --

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
    """Whether bodies and replies are OpenAI's own and go through untouched."""

    def urls(self, address: Address, model: str) -> Urls:
        """Where requests go."""
        ...

    def payload(self, request: ModelRequest) -> bytes:
        """The body to send; may raise `UnsendableRequestError`."""
        ...

    def collector(self, request: ModelRequest) -> Collector:
        """What puts a streamed reply together."""
        ...

    def translate(
        self, data: JsonValue, request: ModelRequest, headers: Headers | None
    ) -> JsonValue | BadReply:
        """A whole reply as OpenAI's route would have sent it."""
        ...

    def learn(self, failure: RequestFailure, request: ModelRequest) -> bool:
        """Whether the refusal taught how to ask differently, so that the request is worth repeating at once."""
        ...


class TranslatingWire:
    """What wires share that translate bodies and replies, and know one way to ask."""

    native = False

    def learn(self, failure: RequestFailure, request: ModelRequest) -> bool:
        """Nothing to learn."""
        return False
