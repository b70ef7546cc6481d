"""Events that look alike are read together, with the same result as one by one, whatever a server sends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from fake_clock import FakeClock
from hypothesis import example, given, strategies as st
from loopback_server import Call, chat, endpoint_at, in_loop, serving

from benchwright.core import ModelRequest
from benchwright.endpoints import EndpointSettings
from benchwright.endpoints._attempts import Attempter
from benchwright.endpoints._http1 import RawHeaders
from benchwright.endpoints._messages import Names
from benchwright.endpoints._stream_reader import StreamReader
from benchwright.endpoints._transport import Pieces, Stamps
from benchwright.endpoints._wires import openai
from benchwright.endpoints._wires.alike import Shapes
from benchwright.endpoints._wires.openai import OpenAiWire, StreamedReply
from benchwright.endpoints._wires.wire import BadEventError, RouteUrls

texts = st.one_of(
    st.text(max_size=6),
    st.sampled_from(['"', "\\", "\n", "\u2028", '"}}]}', '","content":"', "content", "é\u0000", ""]),
)
deltas = st.one_of(
    texts.map(lambda text: {"content": text}),
    texts.map(lambda text: {"role": "assistant", "content": text}),
    texts.map(lambda text: {"reasoning_content": text}),
    texts.map(lambda text: {"content": "x", "refusal": text}),
    st.tuples(texts, texts).map(lambda pair: {"content": pair[0], "reasoning": pair[1]}),
    st.sampled_from(
        [{}, {"content": None}, {"content": 5}, {"content": ["a"]}, {"content": {"content": "b"}}]
    ),
    texts.map(lambda text: {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": text}}]}),
)
choices = st.tuples(deltas, st.sampled_from([None, None, None, "stop"]), st.sampled_from([0, 0, 1])).map(
    lambda drawn: {"index": drawn[2], "delta": drawn[0], "finish_reason": drawn[1]}
)
events = st.one_of(
    choices.map(lambda choice: {"id": "a", "choices": [choice]}),
    choices.map(lambda choice: {"id": "a", "choices": [choice], "usage": None}),
    choices.map(lambda choice: {"content": "outside", "choices": [choice]}),
    st.tuples(choices, choices).map(lambda both: {"choices": list(both)}),
    st.tuples(choices, st.integers(0, 3)).map(
        lambda pair: {"choices": [pair[0]], "usage": {"completion_tokens": pair[1], "prompt_tokens": 1}}
    ),
    st.just({"choices": []}),
)
datas = st.lists(
    st.one_of(
        events.map(orjson.dumps),
        events.map(lambda event: orjson.dumps(event).replace(b'":', b'": ')),
        st.sampled_from([b"[DONE]", b"{", b"[]", b'{"choices":[{"delta":{"content":"a","b"}}]}']),
    ),
    max_size=12,
)


def outcome(collected: StreamedReply, batches: list[list[bytes]]) -> Any:
    try:
        for batch in batches:
            collected.add_all(batch)
    except BadEventError as error:
        return str(error)
    return (
        collected.as_json(), collected.events, collected.tokens, collected.texts, collected.text_at, collected.thought,
        collected.acted, collected.answer, collected.given, collected.done, collected.error, collected.lacks,
        collected.complete,
    )  # fmt: skip


PLAIN = [orjson.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}) for text in "abc"]


@given(datas, st.integers(1, 13), st.sampled_from(["chat", "completions"]))
@example([*PLAIN, b'{"choices":[{"index":0,"delta":{"content":"a","b":"c"}}]}'], 13, "chat")
@example([*PLAIN, b'{"choices":[{"index":0,"delta":{"content":"a"},"x":{"y":"c"}}]}', *PLAIN], 13, "chat")
@example([*PLAIN, b'{"choices":[{"index":0,"delta":{"content":5}}]}', *PLAIN], 13, "chat")
@example([*PLAIN, b'{"choices":[{"index":0,"delta":{"content":"\n"}}]}', *PLAIN], 13, "chat")
@example([*PLAIN, b'{"choices":[{"index":0,"delta":{"content":"\xff"}}]}', *PLAIN], 13, "chat")
def test_reading_together_changes_nothing(datas: list[bytes], size: int, route: Any) -> None:
    if route == "completions":
        datas = [data.replace(b'"delta":{"content":', b'"text":').replace(b"}}]", b"}]") for data in datas]
    batches = [datas[at : at + size] for at in range(0, len(datas), size)]
    one_by_one = StreamedReply(route)
    one_by_one._learned = openai._MOST_SHAPES  # never learns
    assert outcome(StreamedReply(route), batches) == outcome(one_by_one, batches)


def named(data: bytes, stream: str, created: int) -> bytes:
    """An event of a stream that has an id and a time, before its other fields or after them."""
    fields = b'"id":%b,"created":%d' % (orjson.dumps(stream), created)
    if not data.startswith(b'{"'):
        return data
    return b"{%b,%b" % (fields, data[1:]) if created % 2 else b"%b,%b}" % (data[:-1], fields)


def read_pieces(
    datas: list[bytes], shapes: Shapes, cuts: list[int], route: Any, *, learns: bool, ending: bytes = b"\n\n"
) -> Any:
    """What comes of a stream that arrives in pieces, mostly one event each."""
    collected = StreamedReply(route, shapes)
    if not learns:
        collected._learned = openai._MOST_SHAPES
    stamps = Stamps()
    stamps.arrivals = []
    reader = StreamReader(collected, stamps, 1 << 24)
    pieces = [b"data: " + data + ending for data in datas]
    for cut in cuts:  # joins a piece with the next, or cuts it
        at = cut % (len(pieces) or 1)
        if cut % 2 and at + 1 < len(pieces):
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        elif pieces and len(pieces[at]) > 1:
            middle = cut % (len(pieces[at]) - 1) + 1
            pieces[at : at + 1] = [pieces[at][:middle], pieces[at][middle:]]
    times = [float(number) for number in range(len(pieces))]
    try:
        if pieces and not reader.take(pieces, times):
            reader.finish()
    except BadEventError as error:
        return str(error), stamps.times()
    return (
        collected.as_json(), collected.events, collected.tokens, collected.texts, collected.text_at, collected.thought,
        collected.acted, collected.answer, collected.done, collected.error, collected.lacks, stamps.times(),
    )  # fmt: skip


streams = st.tuples(
    datas, st.text(max_size=8), st.integers(-3, 1_800_000_000), st.lists(st.integers(0, 300), max_size=4)
)


@given(st.lists(streams, min_size=1, max_size=4), st.sampled_from(["chat", "completions"]), st.booleans())
@example([([*PLAIN, PLAIN[0].replace(b'"a"', b'"a"\n')], "x", 5, [])] * 2, "chat", False)
@example([([*PLAIN, PLAIN[0].replace(b'"a"', b'"a"\r')], "x", 5, [])] * 2, "chat", False)
@example([(PLAIN, "%(id)b", 5, []), (PLAIN, "%", 7, [])], "chat", False)
@example([(PLAIN, "17", 17, []), (PLAIN, "19", 19, [])], "chat", False)
@example([(PLAIN, "x", 1, []), (PLAIN, "y", 3, []), ([*PLAIN, *PLAIN], 'z"', 2, [])], "chat", False)
def test_what_one_stream_taught_changes_nothing_in_the_next(
    streams: list[Any], route: Any, carriage: bool
) -> None:
    shapes = Shapes()
    for datas, stream, created, cuts in streams:
        if route == "completions":
            datas = [
                data.replace(b'"delta":{"content":', b'"text":').replace(b"}}]", b"}]") for data in datas
            ]
        datas = [named(data, stream, created) for data in datas]
        ending = b"\r\n\r\n" if carriage else b"\n\n"
        slow = read_pieces(datas, Shapes(), cuts, route, learns=False, ending=ending)
        assert read_pieces(datas, shapes, cuts, route, learns=True, ending=ending) == slow


def test_the_next_stream_learns_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = Shapes()
    assert read_pieces([named(data, "a", 5) for data in PLAIN], shapes, [], "chat", learns=True)[1] == 3
    monkeypatch.setattr(openai, "shape_of", lambda *_: pytest.fail("was known"))
    read = []
    monkeypatch.setattr(openai, "read_event", lambda data: read.append(data) or orjson.loads(data))
    datas = [named(data, "another", 7) for data in [b'{"choices":[{"delta":{"role":"x"}}]}', *PLAIN * 9]]
    assert len(read_pieces(datas, shapes, [], "chat", learns=True)[3]) == 27
    assert len(read) == 1


def test_alike_events_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(openai, "read_event", lambda data: read.append(data) or orjson.loads(data))
    collected = StreamedReply("chat")
    collected.add_all(
        [orjson.dumps({"choices": [{"delta": {"content": f"{number},"}}]}) for number in range(50)]
    )
    assert collected.tokens == list(range(50))
    assert len(read) == 1
    choices: Any = collected.as_json()["choices"]
    assert choices[0]["message"]["content"] == "".join(f"{number}," for number in range(50))


@in_loop
async def test_an_error_is_noticed_though_the_server_leaves_the_stream_open() -> None:
    gone = asyncio.Event()

    async def breaks(call: Call) -> None:
        event = b'data: {"error": {"message": "out of memory", "code": 400}}\n\n'
        await call.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await call.raw(b"%x\r\n%b\r\n" % (len(event), event))
        await gone.wait()

    async with serving(breaks) as server, endpoint_at(server.url) as endpoint:
        reply = await endpoint.send(chat(stream=True))
        gone.set()
    assert reply.failure is not None
    assert "out of memory" in reply.failure.message


class Arrived:
    """A transport whose streams have arrived already; implements `Transport` and `HttpStream`."""

    status, headers = 200, RawHeaders(b"")

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.times: list[float] = []

    async def stream(self, *_: object) -> Arrived:
        return self

    async def __aiter__(self) -> AsyncIterator[Pieces]:
        if self.pieces:
            yield self.pieces, self.times

    async def aclose(self) -> None:
        pass


def attempter(transport: Any) -> tuple[Attempter, OpenAiWire]:
    wire = OpenAiWire()
    settings = EndpointSettings(url="http://127.0.0.1:9", model_id="m")
    return Attempter(transport, wire, {}, settings, Names(), FakeClock()), wire


def pieces_of(datas: list[bytes]) -> list[bytes]:
    return [b"data: " + data + b"\n\n" for data in datas]


def as_completions(data: bytes) -> bytes:
    """The event as the other route would have sent it."""
    try:
        event = orjson.loads(data)
    except ValueError:
        return data
    if not isinstance(event, dict) or "choices" not in event:
        return data
    for choice in event["choices"]:
        delta = choice.pop("delta", None)
        if isinstance(delta, dict):
            choice["text"] = delta.get("content", "")
    return orjson.dumps(event)


def event_of(choice: Any, **more: Any) -> bytes:
    return orjson.dumps(
        {"id": "a", "created": 5, "model": "m", "choices": [choice] if choice else [], **more}
    )


FIRST = event_of({"index": 0, "delta": {"role": "assistant", "content": ""}})
MIDDLE = [event_of({"index": 0, "delta": {"content": text}}) for text in ("It", " is", "", " é\n", "4")]
LAST = event_of(
    {"index": 0, "delta": {}, "finish_reason": "stop"}, usage={"prompt_tokens": 1, "completion_tokens": 4}
)
WHOLE = [FIRST, *MIDDLE, LAST, b"[DONE]"]
ODD_EVENTS = [
    FIRST, MIDDLE[0], LAST, b"[DONE]", b"{", b"[]", b"{}", b'{"error":{"message":"no"}}', b'{"error":""}',
    event_of({"index": 0, "delta": {"content": "<think>"}}), event_of({"index": 0, "delta": {"content": "</think>"}}),
    event_of({"index": 0, "delta": {}, "finish_reason": "length"}), event_of({"index": 1, "delta": {"content": "x"}}),
    event_of({"index": 0, "delta": {}, "finish_reason": "content_filter"}), event_of(None),
    event_of({"index": 0, "delta": None, "message": {"content": "x"}}), event_of(None, usage={"prompt_tokens": -1}),
    event_of(None, usage={"prompt_tokens": 9, "completion_tokens": 9}), event_of({"text": "x", "index": 0}),
    event_of({"index": 0, "delta": {"content": "x"}}, model="other"), b'{"choices":\n[]}', b'{"id":"\xff"}',
    event_of({"index": 0, "delta": {"tool_calls": []}}), event_of({"index": 0, "delta": {"refusal": "no"}}),
    b'{"x":' * 300 + b"1" + b"}" * 300,
]  # fmt: skip
odd_events = st.one_of(
    events.map(lambda event: orjson.dumps({"id": "a", "created": 5, "model": "m", **event})),
    st.sampled_from(ODD_EVENTS),
)
changes = st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.none() | odd_events), max_size=3)
read_alike = st.tuples(changes, st.lists(st.integers(0, 300), max_size=2), st.booleans(), st.booleans())


@given(
    read_alike,
    st.sampled_from(["chat", "completions"]),
    st.sampled_from([{}, {"stop": ["is"]}, {"echo": True}]),
)
@example(([(0, True, None)], [], True, True), "chat", {})
@example(([(7, True, LAST)], [], True, False), "chat", {})
def test_a_stream_read_at_once_is_the_same_reply(drawn: Any, route: Any, more: Any) -> None:
    read_both_ways(*drawn, route, more)


@pytest.mark.parametrize("event", ODD_EVENTS)
@pytest.mark.parametrize("at", [0, 1, 3, 6, 7])
def test_an_odd_event_in_a_stream_read_at_once_counts_as_it_does_alone(event: bytes, at: int) -> None:
    for instead, keeps_times in ((False, True), (True, False)):
        read_both_ways([(at, instead, event)], [], False, keeps_times, "chat", {})


@pytest.mark.parametrize("event", ODD_EVENTS)
@pytest.mark.parametrize("short", [[MIDDLE[0], LAST], [FIRST, LAST], [FIRST, MIDDLE[0], LAST], [LAST]])
def test_an_odd_event_in_a_short_stream_counts_as_it_does_alone(event: bytes, short: list[bytes]) -> None:
    for at in range(len(short) + 1):
        for instead in (False, True):
            read_both_ways([(at, instead, event)], [], False, True, "chat", {}, [*short, b"[DONE]"])


def read_both_ways(
    changed: Any,
    cuts: list[int],
    together: bool,
    keeps_times: bool,
    route: Any,
    more: Any,
    begun: list[bytes] = WHOLE,
) -> None:
    datas = list(begun)
    for at, instead, event in changed:  # left out, put in its place, or put before it
        datas[at : at + instead] = [] if event is None else [event]
    teachers = WHOLE
    if route == "completions":
        datas, teachers = (list(map(as_completions, each)) for each in (datas, WHOLE))
    pieces = pieces_of(datas)
    for cut in cuts:
        at = cut % (len(pieces) or 1)
        if cut % 2 and at + 1 < len(pieces):
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        elif pieces and len(pieces[at]) > 1:
            middle = cut % (len(pieces[at]) - 1) + 1
            pieces[at : at + 1] = [pieces[at][:middle], pieces[at][middle:]]

    async def read(at_once: bool) -> tuple[Any, Any]:
        transport = Arrived()
        reader, wire = attempter(transport)
        request = ModelRequest(route, {"model": "m", "stream": True, **more}, b"{}")
        urls = RouteUrls("http://127.0.0.1:9", "http://127.0.0.1:9")
        transport.pieces = pieces_of(teachers)
        transport.times = [1.0] * len(transport.pieces)
        await reader.attempt(request, urls, 5.0, Stamps())
        transport.pieces = pieces
        transport.times = [2.0 if together else float(number + 2) for number in range(len(pieces))]
        if not at_once:
            reader._shapes = None
            wire.shapes = Shapes()
        stamps = Stamps(first_byte=1.5, arrivals=[] if keeps_times else None)
        return await reader.attempt(request, urls, 5.0, stamps), stamps

    at_once, one_by_one = (asyncio.run(read(way)) for way in (True, False))
    assert at_once == one_by_one


@pytest.mark.parametrize(("whole", "text"), [(WHOLE, "It is é\n4"), ([MIDDLE[0], LAST, b"[DONE]"], "It")])
@pytest.mark.parametrize("route", ["chat", "completions"])
def test_a_plain_stream_is_read_at_once(
    route: Any, whole: list[bytes], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    datas = whole if route == "chat" else list(map(as_completions, whole))

    async def read() -> Any:
        transport = Arrived()
        reader, _ = attempter(transport)
        request = ModelRequest(route, {"model": "m", "stream": True}, b"{}")
        urls = RouteUrls("http://127.0.0.1:9", "http://127.0.0.1:9")
        transport.pieces, transport.times = pieces_of(datas), [1.0] * len(datas)
        first = await reader.attempt(request, urls, 5.0, Stamps())
        monkeypatch.setattr(openai, "read_event", lambda data: pytest.fail("was read by itself"))
        transport.pieces = [piece.replace(b'"id":"a"', b'"id":"b"') for piece in transport.pieces]
        return first, await reader.attempt(request, urls, 5.0, Stamps())

    first, second = asyncio.run(read())
    assert first.text == second.text == text
