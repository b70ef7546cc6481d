"""Compares the token counts that a server reports with the events of its streams, and decides once for a test who counts.

An event with content carries at least one token. A server may put several into one: a fixed number, or as many as it guessed
right. So a count above the number of events is believed if either could have given it, and a count below is not.

Events are not tokens, so reported counts of some replies and counted events of others are never one mean: if only some counts
are known and believed, the other replies have none, unless a token per event is what the server reports.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import ModelReply
from benchwright.perf._columns import column, compute as pc, constant
from benchwright.perf._values import TokenSource

_BYTES_PER_CHARACTER = 4
_UNSEEN = 64
"""Tokens without visible text that a reply may have: marks of the chat template, of tools, of the end."""
_SPOILED = 0.1
"""Share of impossible counts above which none of a server's counts is believed."""
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
    """As the server reports them."""
    limit: int | None
    """The requested length, if the reply ended there."""
    prompt: str | None
    thought: int = 0
    """Tokens of reasoning that the server reports, if no event has reasoning."""


def with_checked_tokens(table: Any) -> Any:
    """The table of requests with output tokens from one source. If most of a server's counts can be believed, the others are left out;
    else its events are the tokens. The column `reported_tokens` has what the server reported and is not used."""
    return _from_one_source(_with_believed_counts(table))


def _with_believed_counts(table: Any) -> Any:
    """The events in place of reported counts that are not believed."""
    import pyarrow as pa

    events = pc.list_value_length(table["arrivals_s"]).cast(pa.int64())
    tokens = table["output_tokens"]
    asked = pc.fill_null(pc.and_(pc.equal(table["token_source"], "usage"), pc.greater(events, 0)), False)
    if not pc.any(pc.and_(asked, pc.not_equal(tokens, events))).as_py():
        return table
    refused = table.filter(pc.and_(pc.is_valid(table["reported_tokens"]), pc.greater(events, 0)))
    wrong = _contradicted(table.filter(asked), Counter(refused["url"].to_pylist()))
    mask = pc.and_(asked, pc.is_in(table["number"], value_set=column(wrong, pa.int64())))
    return _changed(
        table,
        reported_tokens=pc.if_else(mask, tokens, table["reported_tokens"]),
        output_tokens=pc.if_else(mask, events, tokens),
        token_source=pc.if_else(mask, "counted", table["token_source"]),
        reasoning_tokens=pc.if_else(
            pc.and_(mask, pc.fill_null(pc.greater(table["reasoning_tokens"], events), False)),
            constant(None, pa.int64()),
            table["reasoning_tokens"],
        ),
    )


def _from_one_source(table: Any) -> Any:
    """Without the counts of all sources but the best one: the server, a tokenizer, the events, the length of the text."""
    import pyarrow as pa

    source = table["token_source"]
    done = pc.and_(pc.equal(table["outcome"], "ok"), pc.is_valid(source))
    found = set(source.filter(done).unique().to_pylist())
    if len(found) < 2 or (found == {"usage", "counted"} and _token_per_event(table.filter(done))):
        return table
    best = min(found, key=_SOURCES.index)
    other = pc.and_(done, pc.not_equal(source, best))
    return _changed(
        table,
        output_tokens=pc.if_else(other, constant(None, pa.int64()), table["output_tokens"]),
        token_source=pc.if_else(other, constant(None, source.type), source),
    )


_SOURCES: tuple[TokenSource, ...] = get_args(TokenSource)


def _token_per_event(done: Any) -> bool:
    """Whether every server with replies whose events are counted reports one token per event for the others, or one more for the
    end mark, so that both counts are the same."""
    import pyarrow as pa

    events = pc.list_value_length(done["arrivals_s"]).cast(pa.int64())
    reported = pc.equal(done["token_source"], "usage")
    for url in done.filter(pc.invert(reported))["url"].unique().to_pylist():
        own = pc.and_(reported, pc.equal(done["url"], url))
        surplus = pc.subtract(done["output_tokens"], events).filter(own)
        long_enough = len(events.filter(pc.and_(own, pc.greater(events, 1)))) >= _ENOUGH_OFFSETS
        if not long_enough or not pc.all(pc.is_in(surplus, value_set=column([0, 1], pa.int64()))).as_py():
            return False
    return True


def _changed(table: Any, **columns: Any) -> Any:
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), table.schema.field(name), values)
    return table.combine_chunks()


def _contradicted(streams: Any, refused: Mapping[int, int]) -> list[int]:
    """The numbers of requests whose counts are not believed; each server is judged by all of its streams, and by how many of its
    counts were refused already."""
    names = (
        "number", "url", "output_tokens", "requested_tokens", "finish_reason", "prompt_hash", "reasoning_tokens",
        "first_token_s", "first_answer_s",
    )  # fmt: skip
    events = pc.list_value_length(streams["arrivals_s"]).to_pylist()
    servers: dict[int, list[_Stream]] = defaultdict(list)
    for count, *values in zip(events, *(streams[name].to_pylist() for name in names), strict=True):
        number, url, tokens, limit, finish, prompt, thought, first, answer = values
        unsent = max(0, thought or 0) if first == answer else 0
        servers[url].append(
            _Stream(number, count, tokens, limit if finish == "length" else None, prompt, unsent)
        )
    return [
        stream.place
        for url, each in servers.items()
        for stream in _unbelieved(_without_hidden(each), refused.get(url, 0))
    ]


def _without_hidden(streams: Sequence[_Stream]) -> Sequence[_Stream]:
    """With the tokens that were sent: without reasoning that the server counted and did not send. It hides all reasoning if most
    replies have tokens enough without it; else a reply that has too few would seem to have sent it in its events."""
    thoughtful = [stream for stream in streams if stream.thought]
    enough = {stream.place for stream in thoughtful if stream.tokens - stream.thought >= stream.events}
    hides = 2 * len(enough) >= len(thoughtful)
    return [
        replace(stream, tokens=stream.tokens - stream.thought)
        if stream.thought and (hides or stream.place in enough)
        else stream
        for stream in streams
    ]


def _unbelieved(streams: Sequence[_Stream], refused: int) -> Sequence[_Stream]:
    wrong = {stream.place: stream for stream in streams if _impossible(stream)}
    unsure = [
        stream for stream in streams if stream.tokens > stream.events + 1 and stream.tokens != stream.limit
    ]
    offsets = {stream.tokens - stream.events for stream in unsure}
    lengths = {stream.events for stream in unsure}
    # A constant surplus does not come from events of several tokens: it would grow with the reply.
    shifted = len(offsets) == 1 and len(unsure) >= _ENOUGH_OFFSETS and max(lengths) - min(lengths) > 1
    alike = len(offsets) == len(lengths) == 1 and len(unsure) >= _ENOUGH
    if shifted or (alike and _no_number_per_event(unsure)):
        wrong |= {stream.place: stream for stream in unsure}
    spoiled = len(wrong) + refused > _SPOILED * (len(streams) + refused)
    return streams if spoiled else [*wrong.values()]


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
