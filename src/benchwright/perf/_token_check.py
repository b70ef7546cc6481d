"""Compares the token counts that a server reports with the events of its streams, and takes the events where both cannot be true.

An event with content carries at least one token. A server may put several into one: a fixed number, or as many as it guessed
right. So a count above the number of events is believed if either could have given it, and a count below is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from benchwright.core import ModelReply
from benchwright.perf._columns import column, compute as pc

_BYTES_PER_CHARACTER = 4
_UNSEEN = 64
"""Tokens without visible text that a reply may have: marks of the chat template, of tools, of the end."""
_SPOILED = 0.1
"""Share of impossible counts from which none of a server's counts is believed that differs from the events."""
_ENOUGH = 5
"""Equal replies that tell a wrong count from an unusual number of tokens per event."""
_ENOUGH_OFFSETS = 3


def possible(tokens: int, reply: ModelReply) -> bool:
    """Whether a reply can have this many tokens: at least one if it has content, and no more than its bytes and the reasoning that
    the server reports."""
    characters = len(reply.text) + len(reply.reasoning)
    if tokens <= 0:
        return tokens == 0 and not characters and not reply.tool_calls
    if reply.tool_calls:
        return tokens < 1 << 31  # arguments of calls are not counted here
    thought = reply.usage.reasoning if reply.usage is not None else None
    return tokens - max(0, thought or 0) <= _BYTES_PER_CHARACTER * characters + _UNSEEN


class _Stream(Struct, frozen=True):
    """What one streamed reply shows."""

    place: int
    events: int
    tokens: int
    """As the server reports them, without reasoning that it did not send."""
    limit: int | None
    """The requested length, if the reply ended there."""
    prompt: str | None


def with_checked_tokens(table: Any) -> Any:
    """The table of requests with the number of events as output tokens where the reported number contradicts them. The column
    `reported_tokens` has what the server reported."""
    import pyarrow as pa

    events, tokens = pc.list_value_length(table["arrivals_s"]), table["output_tokens"]
    asked = pc.and_(pc.equal(table["token_source"], "usage"), pc.greater(events, 0))
    differs = pc.fill_null(pc.and_(asked, pc.not_equal(tokens, events.cast(pa.int64()))), False)
    if not pc.any(differs).as_py():
        return table
    wrong = _contradicted(table.filter(pc.fill_null(asked, False)))
    places = pc.is_in(table["number"], value_set=column(wrong, pa.int64()))
    mask = pc.and_(differs, places)
    counted = events.cast(pa.int64())
    less = pc.fill_null(pc.greater(table["reasoning_tokens"], counted), False)
    changed = {
        "reported_tokens": pc.if_else(mask, tokens, table["reported_tokens"]),
        "output_tokens": pc.if_else(mask, counted, tokens),
        "token_source": pc.if_else(mask, "counted", table["token_source"]),
        "reasoning_tokens": pc.if_else(pc.and_(mask, less), _null(pa.int64()), table["reasoning_tokens"]),
    }
    for name, values in changed.items():
        table = table.set_column(table.column_names.index(name), table.schema.field(name), values)
    return table.combine_chunks()


def _null(kind: Any) -> Any:
    return column([None], kind)[0]


def _contradicted(streams: Any) -> list[int]:
    """The numbers of requests whose counts are not believed; each server is judged by all of its streams."""
    names = (
        "number", "url", "output_tokens", "requested_tokens", "finish_reason", "prompt_hash", "reasoning_tokens",
        "first_token_s", "first_answer_s",
    )  # fmt: skip
    events = pc.list_value_length(streams["arrivals_s"]).to_pylist()
    servers: dict[int, list[_Stream]] = defaultdict(list)
    for count, *values in zip(events, *(streams[name].to_pylist() for name in names), strict=True):
        number, url, tokens, limit, finish, prompt, thought, first, answer = values
        seen = tokens - (hidden(tokens, thought, count) if first == answer else 0)
        servers[url].append(_Stream(number, count, seen, limit if finish == "length" else None, prompt))
    return [stream.place for each in servers.values() for stream in _unbelieved(each)]


def hidden(tokens: int, thought: int | None, events: int) -> int:
    """Tokens of reasoning that the server counted and did not send, for a reply without reasoning in its events."""
    return thought if thought and thought > 0 and tokens - thought >= events else 0


def _unbelieved(streams: Sequence[_Stream]) -> list[_Stream]:
    wrong = [stream for stream in streams if _impossible(stream)]
    unsure = [
        stream for stream in streams if stream.tokens > stream.events + 1 and stream.tokens != stream.limit
    ]
    offsets = {stream.tokens - stream.events for stream in unsure}
    lengths = {stream.events for stream in unsure}
    spoiled = len(wrong) > _SPOILED * len(streams)
    # A constant surplus does not come from events of several tokens: it would grow with the reply.
    shifted = len(offsets) == 1 and len(unsure) >= _ENOUGH_OFFSETS and max(lengths) - min(lengths) > 1
    alike = len(offsets) == len(lengths) == 1 and len(unsure) >= _ENOUGH
    if spoiled or shifted or (alike and _no_number_per_event(unsure)):
        found = {id(stream) for stream in wrong}
        wrong += [stream for stream in unsure if id(stream) not in found]
    return wrong


def _impossible(stream: _Stream) -> bool:
    """Whether a count contradicts its own reply. One that stopped at the requested length has exactly as many tokens."""
    if stream.limit is not None and stream.limit in (stream.tokens, stream.events):
        return stream.tokens != stream.limit
    return stream.tokens < stream.events


def _no_number_per_event(alike: Sequence[_Stream]) -> bool:
    """Whether equal replies to different prompts cannot come from a fixed number of tokens per event; with a changing number,
    they would not be equal. The first event or the last may carry another number."""
    if len({stream.prompt for stream in alike}) < 2:
        return False
    tokens, events = alike[0].tokens, alike[0].events
    for size in range(2, tokens + 1):
        for alone in (0, 1, 2):  # tokens outside of full events: the first, an end mark
            left = -(-(tokens - alone) // size)
            if events in (left, left + 1) and abs(size * events - tokens) <= size:
                return False
    return True
