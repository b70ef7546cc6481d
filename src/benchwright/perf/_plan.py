"""The requests of a load test, built and encoded before its clock starts, and taken in turn.

A test may send far more requests than the data has rows. Each row is built once; the plan is walked in a circle.
"""

from __future__ import annotations

from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks import AskableRows
from benchwright.core import DatasetError, JsonValue, ModelRequest, encode_json
from benchwright.perf._cache_bust import with_blank, with_word, word_of

MOST_BUILT = 200_000
"""Different requests that are held in memory. A larger file is walked in a circle of so many."""

MOST_BYTES = 2 << 30
"""Encoded requests that are held in memory, in bytes."""


class PlannedRequest(Struct, frozen=True):
    """One request, ready to be sent any number of times."""

    request: ModelRequest
    row: int
    """Index of its row in the data."""
    prompt_hash: str
    """Equal for equal prompts."""
    max_tokens: int | None
    """The longest reply that it asks for."""


class RequestPlan(Struct, frozen=True):
    """The requests of a test, in the order of the data."""

    requests: tuple[PlannedRequest, ...]
    """Each once."""
    complete: bool = True
    """Whether all rows of the data are in it."""
    cache_bust: str | None = None
    """Makes the first words of every prompt its own; None: prompts are sent as the data have them."""

    def __len__(self) -> int:
        return len(self.requests)

    def at(self, number: int) -> PlannedRequest:
        """The request with this number: after the last comes the first again."""
        found = self.requests[number % len(self.requests)]
        if self.cache_bust is None:
            return found
        word = word_of(self.cache_bust, number)
        own_hash = blake2b((word + found.prompt_hash).encode(), digest_size=8).hexdigest()
        return replace(found, request=with_word(found.request, word), prompt_hash=own_hash)


def build_plan(rows: AskableRows, wanted: int | None = None, *, cache_bust: str | None = None) -> RequestPlan:
    """Build and encode the requests of the rows, in their order; `wanted`: no more than these are needed.

    Media are read and encoded here, so no file is touched once the clock runs. Raises DatasetError where no row sends
    anything.
    """
    built: list[PlannedRequest] = []
    size = 0
    most = MOST_BUILT if wanted is None else min(wanted, MOST_BUILT)
    complete = True
    for numbered in rows:
        if len(built) >= most or size > MOST_BYTES:
            complete = False
            break
        for request in rows.requests(numbered.row, numbered.repeat):
            planned = planned_request(request, numbered.index)
            built.append(
                planned if cache_bust is None else replace(planned, request=with_blank(planned.request))
            )
            size += len(request.payload)
    if not built:
        raise DatasetError(f"{rows.reader.name}: its rows send nothing to a model; nothing to load it with")
    return RequestPlan(tuple(built), complete, cache_bust)


def planned_request(request: ModelRequest, row: int) -> PlannedRequest:
    """A request with what the records say about it."""
    body = request.body
    prompt: JsonValue = body.get("messages", body.get("prompt"))
    limit = next((body[name] for name in _LIMITS if isinstance(body.get(name), int)), None)
    return PlannedRequest(
        request=request,
        row=row,
        prompt_hash=blake2b(encode_json(prompt), digest_size=8).hexdigest(),
        max_tokens=limit if isinstance(limit, int) else None,
    )


_LIMITS = ("max_tokens", "max_completion_tokens")
