"""Builds and encodes the requests of a load test before its clock starts, and returns them in turn.

A test may send far more requests than the data has rows. Each row is built once; after the last row, the first is sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import (
    LENGTH_LIMITS,
    DatasetError,
    JsonObject,
    JsonValue,
    ModelRequest,
    Row,
    encode_json,
)
from benchwright.perf._cache_bust import with_blank, with_word, word_of
from benchwright.perf._conversations import (
    Conversation,
    Turn,
    all_messages,
    prompt_hash,
    turns_of,
    with_turn,
)
from benchwright.perf._trace import TraceStamps

MOST_BUILT = 200_000
"""The most distinct requests kept in memory. Of a larger file, this many rows are sent repeatedly."""

MOST_BYTES = 2 << 30
"""The most bytes of encoded requests kept in memory."""


class PlannedRequest(Struct, frozen=True):
    """One request, ready to be sent any number of times."""

    request: ModelRequest
    row: int
    """Index of its row in the data."""
    prompt_hash: str
    """Equal for equal prompts."""
    max_tokens: int | None
    """The longest reply that it requests."""
    conversation: Conversation | None = None
    """The turns after it, if it is the first turn of a conversation."""


class RequestPlan(Struct, frozen=True):
    """The requests of a test, in the order of the data."""

    requests: tuple[PlannedRequest, ...]
    """Each once."""
    complete: bool = True
    """Whether it contains all rows of the data."""
    offsets: tuple[float, ...] = ()
    """For a trace: when each is sent, in seconds at the original speed, in order."""
    stride: int = 1
    """Numbers that each request of the plan takes up: one for every turn that may follow."""
    cache_bust: str | None = None
    """Makes the first words of every prompt unique; None: prompts are sent unchanged."""

    def __len__(self) -> int:
        return len(self.requests)

    def at(self, number: int, place: int | None = None) -> PlannedRequest:
        """The request with this number; after the last comes the first again. A trace begins again in each stage, so the place
        in the stage decides there."""
        found = self.requests[(number if place is None or not self.offsets else place) % len(self.requests)]
        if self.cache_bust is None:
            return found
        word = word_of(self.cache_bust, number)
        own_hash = blake2b((word + found.prompt_hash).encode(), digest_size=8).hexdigest()
        return replace(found, request=with_word(found.request, word), prompt_hash=own_hash)

    @classmethod
    def of(
        cls,
        rows: RowsToSend,
        wanted: int | None = None,
        *,
        cache_bust: str | None = None,
        exact_output: bool = False,
        trace: TraceStamps | None = None,
        turn_mode: str = "every",
    ) -> RequestPlan:
        """Build and encode the requests of the rows, in order, at most `wanted` of them.

        A trace has all rows of its window, in the order of their timestamps. `exact_output`: replies have exactly the longest
        length. Media are read and encoded here, so that no file is read while the clock runs. Raises DatasetError if no row
        sends anything.
        """
        built: list[PlannedRequest] = []
        offsets: list[float] = []
        size = 0
        most = MOST_BUILT if wanted is None or trace is not None else min(wanted, MOST_BUILT)
        complete = True
        for index, repeat, row in rows:
            at = 0.0 if trace is None else trace.offset(row)
            if at is None:
                continue
            if len(built) >= most or size > MOST_BYTES:
                complete = False
                break
            for request in rows.requests(row, repeat):
                planned = planned_request(request, index)
                if rows.spec.converses:
                    planned = conversation_of(planned, rows, row, turn_mode)
                if exact_output:
                    planned = replace(planned, request=_exactly(planned))
                built.append(
                    planned if cache_bust is None else replace(planned, request=with_blank(planned.request))
                )
                offsets.append(at)
                size += len(request.payload)
        if not built:
            raise DatasetError(f"{rows.name}: its rows send nothing to a model; nothing to load it with")
        stride = 1
        if rows.spec.converses and turn_mode != "last":
            known = max(len(each.conversation.later) for each in built if each.conversation is not None)
            stride = 1 + (rows.spec.max_turns if rows.spec.next_turn is not None else known)
        if trace is None:
            return cls(tuple(built), complete, stride=stride, cache_bust=cache_bust)
        if not complete:
            raise DatasetError(
                f"{rows.name}: the trace is too large for the memory of a test; send a part of it: --trace-end SECONDS"
            )
        order = sorted(range(len(built)), key=offsets.__getitem__)
        return cls(
            tuple(built[each] for each in order),
            offsets=tuple(offsets[each] for each in order),
            stride=stride,
            cache_bust=cache_bust,
        )


class Turns(Protocol):
    """How the conversations of a benchmark go on."""

    @property
    def converses(self) -> bool: ...
    @property
    def prompt(self) -> str: ...
    @property
    def turns_field(self) -> str | None: ...
    @property
    def next_turn(self) -> Callable[..., Any] | None: ...
    @property
    def max_turns(self) -> int: ...


class RowsToSend(Protocol):
    """The rows of a benchmark, as far as a load test needs them."""

    @property
    def spec(self) -> Turns: ...
    @property
    def name(self) -> str:
        """Name of the data."""

    def __iter__(self) -> Iterator[tuple[int, int, Row]]:
        """Index, repeat and row of everything to send."""

    def requests(self, row: Row, repeat: int) -> Iterable[ModelRequest]:
        """The requests of a row."""

    def next_user_turn(self, row: Row, conversation: Sequence[JsonObject], turn: int) -> str | None:
        """The user's next words; None: the conversation is over."""


def conversation_of(planned: PlannedRequest, rows: RowsToSend, row: Row, mode: str) -> PlannedRequest:
    """The first turn of a row with those that follow it; in mode `last`, its last turn with all others as history."""
    spec = rows.spec
    if spec.turns_field is None:
        words = lambda messages, turn: rows.next_user_turn(row, messages, turn)  # noqa: E731
        return replace(planned, conversation=Conversation(next_turn=words))
    turns = turns_of(row, spec.turns_field)
    first, later = (Turn(""), turns) if spec.prompt else (turns[0], turns[1:])
    later = later[: spec.max_turns - 1]
    length = first.max_tokens
    messages = planned.request.body["messages"]
    conversation = Conversation(later, first.delay_s or 0.0)
    if mode == "last" and later:
        messages, length = all_messages(planned.request, later), later[-1].max_tokens
        conversation = Conversation(first_turn=len(later))
    assert isinstance(messages, list)
    request = with_turn(planned.request, messages, length)
    return replace(planned_request(request, planned.row), conversation=conversation)


def _exactly(planned: PlannedRequest) -> ModelRequest:
    """The request for a reply of exactly its longest length. A request without a length stays unchanged."""
    if planned.max_tokens is None:
        return planned.request
    body: JsonObject = {**planned.request.body, "min_tokens": planned.max_tokens, "ignore_eos": True}
    return replace(planned.request, body=body, payload=encode_json(body))


def planned_request(request: ModelRequest, row: int) -> PlannedRequest:
    """A request with the facts for its records."""
    body = request.body
    prompt: JsonValue = body.get("messages", body.get("prompt"))
    limit = next((body[name] for name in LENGTH_LIMITS if isinstance(body.get(name), int)), None)
    return PlannedRequest(
        request=request,
        row=row,
        prompt_hash=prompt_hash(prompt),
        max_tokens=limit if isinstance(limit, int) else None,
    )
