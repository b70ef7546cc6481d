"""Events that look alike are read together, with the same result as one by one, whatever a server sends."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from loopback_server import Call, chat, endpoint_at, in_loop, serving

from benchwright.endpoints._wires import openai
from benchwright.endpoints._wires.openai import StreamedReply
from benchwright.endpoints._wires.wire import BadEventError

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
