"""Every step against a server that keeps what it is sent: what arrives, what comes back, what is written and what is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from tests.endpoints.loopback_server import Call, LoopbackServer, serving

from benchwright.config import (
    Caching,
    FailedRequests,
    PayloadModifier,
    Reasoning,
    RequestLogging,
    ResponseLogging,
    SystemMessage,
    pipeline_settings,
)
from benchwright.core import ConfigError, JsonObject, ModelReply, ModelRequest, encode_json, open_artifacts
from benchwright.demo import DemoSettings
from benchwright.endpoints import EndpointSettings, Pipeline, open_endpoint, with_body
from benchwright.endpoints._pipeline.compiled import compiled_steps
from benchwright.endpoints._pipeline.exchange_log import LOG_FILE

BODY: JsonObject = {
    "model": "m",
    "messages": [{"role": "user", "content": "$(touch x); `id` & 'q' \"d\" \\ {a} ${HOME}"}],
    "max_tokens": 16,
    "top_p": 1.0,
}


def request(body: JsonObject = BODY, **more: Any) -> ModelRequest:
    route = "completions" if "prompt" in body else "chat"
    return ModelRequest(route, body, encode_json(body), **more)  # type: ignore[arg-type]


def exchanged(
    steps: object,
    folder: Path,
    *requests: ModelRequest,
    handler: Callable[[Call], Awaitable[None]] | None = None,
    **model: Any,
) -> tuple[list[ModelReply], list[Call]]:
    """Send requests through a pipeline, one after the other; the replies, and what the server saw."""

    async def says_four(call: Call) -> None:
        await call.says("4")

    async def send_all() -> tuple[list[ModelReply], LoopbackServer]:
        async with serving(handler or says_four) as server:
            at = EndpointSettings(url=server.url, model_id="m", max_retries=0, **model)

            pipeline = Pipeline(pipeline_settings(steps), at, open_artifacts(folder))
            endpoint = pipeline.wrap(open_endpoint(at, around=pipeline.http))
            try:
                return [await endpoint.send(each) for each in requests or (request(),)], server
            finally:
                await endpoint.aclose()

    replies, server = asyncio.run(send_all())
    return replies, server.calls


def logged(folder: Path) -> list[dict[str, Any]]:
    files = open_artifacts(folder)
    return [json.loads(line) for line in files.read(LOG_FILE).splitlines()] if files.exists(LOG_FILE) else []


SYSTEM = {"role": "system", "content": "Old."}


@pytest.mark.parametrize(
    ("strategy", "existing", "text"),
    [
        (None, [], "New."),
        (None, [SYSTEM], "New.\nOld."),
        ("append", [SYSTEM, {"role": "system", "content": "Older."}], "Old.\nOlder.\nNew."),
        ("replace", [SYSTEM], "New."),
        ("prepend", [{"role": "system", "content": [{"type": "text", "text": "Part."}]}], "New.\nPart."),
    ],
)
def test_a_system_message_goes_where_its_strategy_says(
    tmp_path: Path, strategy: str | None, existing: list[Any], text: str
) -> None:
    user = {"role": "user", "content": "Hi"}
    sent = request({**BODY, "messages": [*existing, user]})
    _, (call,) = exchanged([SystemMessage("New.", strategy)], tmp_path, sent)
    assert call.body["messages"] == [{"role": "system", "content": text}, user]


def test_a_text_to_be_completed_begins_with_the_system_message(tmp_path: Path) -> None:
    text = request({"model": "m", "prompt": "Q:", "max_tokens": 4})
    echoed = request({"model": "m", "prompt": "Q: A", "max_tokens": 0, "echo": True})

    async def completes(call: Call) -> None:
        await call.json({"choices": [{"text": "4", "finish_reason": "stop"}]})

    (reply, ranked), (call,) = exchanged([SystemMessage("New.")], tmp_path, text, echoed, handler=completes)
    assert (call.body["prompt"], reply.text) == ("New.\nQ:", "4")
    assert ranked.failure is not None
    assert ranked.failure.kind == "step"
    assert (
        "step system_message failed, and nothing was sent: ValueError: choices are ranked"
        in ranked.failure.message
    )


def test_parameters_are_removed_everywhere_then_added_then_renamed(tmp_path: Path) -> None:
    tools = [
        {"type": "function", "function": {"name": "f", "strict": True, "parameters": {"strict": {"x": 1}}}}
    ]
    before = json.dumps({**BODY, "tools": tools, "strict": 1})
    sent = request(json.loads(before))
    step = PayloadModifier(
        params_to_remove=("strict", "top_p"),
        params_to_add={"top_p": 0.5, "max_tokens": 8, "nested": {"$(id)": ["`x`", None]}},
        params_to_rename={"max_tokens": "max_completion_tokens", "absent": "present"},
    )
    _, (call,) = exchanged([step], tmp_path, sent)
    assert call.body == {
        "model": "m",
        "messages": BODY["messages"],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "top_p": 0.5,
        "nested": {"$(id)": ["`x`", None]},
        "max_completion_tokens": 8,
    }
    assert json.dumps(sent.body) == before, "a request is not changed in place: others may share it"


def test_the_record_of_files_is_changed_with_the_body() -> None:
    body: JsonObject = {"messages": [{"role": "user", "content": "data:…"}], "seed": 1}
    record = encode_json({"messages": [{"role": "user", "content": "sha256:…"}], "seed": 1})
    steps = [SystemMessage("S"), PayloadModifier(params_to_remove=("seed",))]
    (step,) = compiled_steps(pipeline_settings(steps))
    changed = step.on_request(request(body, record=record, repeat=3))
    system = {"role": "system", "content": "S"}
    assert json.loads(changed.payload) == {"messages": [system, {"role": "user", "content": "data:…"}]}
    assert json.loads(changed.record) == {"messages": [system, {"role": "user", "content": "sha256:…"}]}
    assert changed.repeat == 3


def test_headers_are_removed_renamed_and_added_in_any_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIPELINE_TEST_KEY", "kept-out-of-sight-1234")
    steps = [
        PayloadModifier(
            headers_to_remove=("ACCEPT-encoding",),
            headers_to_rename={"AUTHORIZATION": "Api-Key", "user-agent": "X-Agent"},
            headers_to_add={"x-team": "a;b $(id)", "content-TYPE": "application/json; v=2"},
        ),
        PayloadModifier(headers_to_rename={"x-TEAM": "X-Group"}),
    ]
    _, (call,) = exchanged(
        [*steps, RequestLogging()], tmp_path, api_key_name="PIPELINE_TEST_KEY", headers={"X-Team": "old"}
    )
    kept = {name: value for name, value in call.headers.items() if name not in ("host", "content-length")}
    assert kept == {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json; v=2",
        "api-key": "Bearer kept-out-of-sight-1234",
        "x-agent": "benchwright",
        "x-group": "a;b $(id)",
    }
    (event,) = logged(tmp_path)
    assert ["Api-Key", "[redacted]"] in event["headers"]


THOUGHTS: list[tuple[dict[str, Any], dict[str, Any], str, tuple[str, str, str]]] = [
    ({}, {"content": "<think>a</think>\n\nB"}, "stop", ("answered", "B", "a")),
    ({}, {"content": "B", "reasoning_content": "a"}, "stop", ("answered", "B", "a")),
    ({}, {"content": "<think>never"}, "length", ("answered", "<think>never", "never")),
    ({"include_if_not_finished": False}, {"content": "<think>never"}, "length", ("truncated", "", "never")),
    ({"include_if_not_finished": False}, {"content": "plain"}, "stop", ("answered", "plain", "")),
    ({"start_reasoning_token": "[T]", "end_reasoning_token": "[/T]"}, {"content": "[T]a[/T]\n b [T]c[/T]\nB\n"}, "stop",
        ("answered", "B", "a\nb [T]c")),
    ({"start_reasoning_token": "[T]", "end_reasoning_token": "[/T]"}, {"content": "a[/T]"}, "length", ("truncated", "", "a")),
    ({"start_reasoning_token": "[T]", "end_reasoning_token": "[/T]", "include_if_not_finished": False},
        {"content": "[T]a"}, "stop", ("truncated", "", "a")),
    ({"start_reasoning_token": "[T]", "end_reasoning_token": "[/T]"}, {"content": "[T]a"}, "stop", ("answered", "[T]a", "")),
    ({"migrate_reasoning_content": True}, {"content": "B", "reasoning_content": "a"}, "stop",
        ("answered", "<think>a</think>B", "a")),
    ({"migrate_reasoning_content": True}, {"content": None, "reasoning_content": "a"}, "stop", ("answered", "<think>a</think>", "a")),
    ({"migrate_reasoning_content": True}, {"content": "<think>never"}, "stop", ("answered", "<think>never", "never")),
    ({"start_reasoning_token": "[T]", "end_reasoning_token": "[/T]"}, {"content": "<think>never"}, "stop",
        ("answered", "<think>never", "never")),
    ({}, {"content": None}, "stop", ("empty", "", "")),
]  # fmt: skip


@pytest.mark.parametrize("streamed", [False, True])
def test_thinking_is_taken_off_answers(tmp_path: Path, streamed: bool) -> None:
    for config, message, finish, expected in THOUGHTS:

        async def answers(call: Call, message: Any = message, finish: Any = finish) -> None:
            if not streamed:
                await call.json({"choices": [{"message": message, "finish_reason": finish}]})
                return
            delta = {"choices": [{"index": 0, "delta": message, "finish_reason": None}]}
            last = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
            events = [b"data: " + encode_json(each) + b"\n\n" for each in (delta, last)]  # type: ignore[arg-type]
            await call.events(*events, b"data: [DONE]\n\n")

        body = {**BODY, "stream": True} if streamed else BODY
        (reply,), _ = exchanged([Reasoning(**config)], tmp_path, request(body), handler=answers)
        assert (reply.status, reply.text, reply.reasoning) == expected, (config, message)


def test_the_first_exchanges_are_logged_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-0123456789abcdefXYZ"
    monkeypatch.setenv("PIPELINE_TEST_KEY", secret)

    async def leaks(call: Call) -> None:
        await call.json(
            {"choices": [{"message": {"content": f"your key is {secret}"}, "finish_reason": "stop"}]},
            Set_Cookie="session=abcdefghijkl", X_Echo=f"Bearer {secret}",
        )  # fmt: skip

    steps = [
        RequestLogging(max_requests=1),
        ResponseLogging(max_responses=2),
        Caching(save_requests=True, save_responses=True, max_saved_responses=1),
    ]
    asked = request({**BODY, "messages": [{"role": "user", "content": f"is it {secret}?"}]})
    replies, calls = exchanged(steps, tmp_path, *[asked] * 3, handler=leaks, api_key_name="PIPELINE_TEST_KEY")
    assert secret in replies[0].text, "scorers see what came"
    assert calls[0].headers["authorization"] == f"Bearer {secret}"
    assert [event["event"] for event in logged(tmp_path)] == ["request", "response", "response"]
    saved = {path.name: path.read_text().splitlines() for path in (tmp_path / "cache").iterdir()}
    assert {name: len(lines) for name, lines in saved.items()} == {"requests.jsonl": 3, "responses.jsonl": 1}
    everything = (tmp_path / LOG_FILE).read_text() + str(saved)
    assert secret not in everything
    assert "abcdefghijkl" not in everything
    names = {name.lower() for name, _ in logged(tmp_path)[1]["headers"]}
    assert {"set-cookie", "x-echo", "content-type"} <= names


def test_failed_attempts_are_logged_with_what_came_instead(tmp_path: Path) -> None:
    async def fails(call: Call) -> None:
        match call.number:
            case 1:
                await call.error(400, "no such thing", Set_Cookie="a=secret")
            case 2 | 3:  # the second request, lost on a kept connection and sent again on a new one
                call.reset()
            case 4:
                await call.answer(b"<html>not an API</html>")
            case _:
                await call.says("fine")

    replies, _ = exchanged([FailedRequests()], tmp_path, *[request()] * 4, handler=fails)
    assert [reply.failure is None for reply in replies] == [False, False, False, True]
    first, second, again, third = logged(tmp_path)
    assert first["body"] == BODY
    assert first["response"]["status"] == 400
    assert first["response"]["body"] == {"error": {"message": "no such thing"}}
    assert ["Set-Cookie", "[redacted]"] in first["response"]["headers"]
    assert second["error"]
    assert again["error"]
    assert "not JSON" in third["error"]


@pytest.mark.parametrize(("text", "events"), [("ab", 4), ("sk-0123456789abcdefXYZ", 0)])
def test_streamed_replies_are_logged_whole_unless_their_pieces_are_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, events: int
) -> None:
    monkeypatch.setenv("PIPELINE_TEST_KEY", "sk-0123456789abcdefXYZ")

    async def streams(call: Call) -> None:
        pieces = [
            {"choices": [{"index": 0, "delta": {"content": letter}, "finish_reason": None}]}
            for letter in text
        ]
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        await call.events(
            *(b"data: " + encode_json(each) + b"\n\n" for each in (*pieces, last)), b"data: [DONE]\n\n"
        )  # type: ignore[arg-type]

    steps = [PayloadModifier(params_to_add={"stream": True}), ResponseLogging(max_responses=1)]
    replies, _ = exchanged(steps, tmp_path, request(), request(), handler=streams)
    assert [reply.text for reply in replies] == [text, text]
    (event,) = logged(tmp_path)
    assert event["body"].count("data: ") == events


class Marks:
    """A step of one's own that notes what passes."""

    def __init__(self, name: str, seen: list[str]) -> None:
        self.name, self._seen = name, seen

    def on_request(self, request: ModelRequest) -> ModelRequest:
        self._seen.append(f"→{self.name}")
        return with_body(request, {**request.body, "user": f"{request.body.get('user', '')}{self.name}"})

    async def on_reply(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        await asyncio.sleep(0)
        self._seen.append(f"←{self.name}")
        return reply


def test_requests_pass_in_order_and_replies_in_reverse(tmp_path: Path) -> None:
    seen: list[str] = []
    _, (call,) = exchanged([Marks("a", seen), SystemMessage("S"), Marks("b", seen)], tmp_path)
    assert seen == ["→a", "→b", "←b", "←a"]
    assert (call.body["user"], call.body["messages"][0]["content"]) == ("ab", "S")


def test_a_step_may_answer_by_itself_and_nothing_is_sent(tmp_path: Path) -> None:
    class Knows:
        name = "knows"

        def on_request(self, request: ModelRequest) -> ModelReply:
            return ModelReply("answered", "<r>x</r>known", attempts=0)

    thinking = Reasoning(start_reasoning_token="<r>", end_reasoning_token="</r>")
    (reply,), calls = exchanged([thinking, Knows()], tmp_path)
    assert (reply.text, reply.reasoning, calls) == ("known", "x", [])


@pytest.mark.parametrize("where", ["on_request", "on_reply"])
@pytest.mark.parametrize("observes", [False, True])
@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_a_failing_step_fails_the_call_unless_it_only_observes(
    tmp_path: Path, where: str, observes: bool, error: type[BaseException]
) -> None:
    def breaks(*values: object) -> None:
        raise error("out of luck")

    step = type("Broken", (), {"name": "broken", "observes": observes, where: staticmethod(breaks)})()
    (reply,), calls = exchanged([step], tmp_path)
    if observes:
        assert (reply.text, len(calls)) == ("4", 1)
        return
    assert reply.failure is not None
    assert (reply.failure.kind, reply.text) == ("step", "")
    assert "step broken failed" in reply.failure.message
    assert f"{error.__name__}: out of luck" in reply.failure.message
    assert len(calls) == (where == "on_reply")


@pytest.mark.parametrize("where", ["on_request", "on_reply"])
def test_a_step_that_gives_nothing_back_fails_the_call(tmp_path: Path, where: str) -> None:
    step = type("Silent", (), {"name": "silent", where: staticmethod(lambda *values: None)})()
    (reply,), _ = exchanged([step], tmp_path)
    assert reply.failure is not None
    assert f"{where} returned NoneType" in reply.failure.message


def test_a_model_without_http_has_no_headers_to_change(tmp_path: Path) -> None:
    steps = pipeline_settings([PayloadModifier(headers_to_remove=("User-Agent",))])
    with pytest.raises(ConfigError, match="answers without HTTP"):
        Pipeline(steps, DemoSettings(), open_artifacts(tmp_path))


# -- any pipeline of body changes sends what a plain model of it says --

NAMES = st.sampled_from(["top_p", "seed", "max_tokens", "stop", "nested", "model", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
MODIFIERS = st.builds(
    PayloadModifier,
    params_to_add=st.none() | st.dictionaries(NAMES, VALUES, max_size=3),
    params_to_remove=st.none() | st.lists(NAMES, max_size=3).map(tuple),
    params_to_rename=st.none() | st.dictionaries(NAMES, NAMES, max_size=2),
)
MESSAGES = st.builds(
    SystemMessage,
    st.text(min_size=1, max_size=5).filter(
        lambda text: text.strip() and "\0" not in text
    ),  # refused in settings
    st.sampled_from([None, "prepend", "append", "replace"]),
)


def removed(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {name: removed(entry, names) for name, entry in value.items() if name not in names}
    return [removed(entry, names) for entry in value] if isinstance(value, list) else value


def modelled(body: dict[str, Any], step: PayloadModifier | SystemMessage) -> dict[str, Any]:
    """What the manual says a step does."""
    if isinstance(step, SystemMessage):
        old = [message["content"] for message in body["messages"] if message["role"] == "system"]
        rest = [message for message in body["messages"] if message["role"] != "system"]
        new = step.system_message
        texts = {"append": [*old, new], "replace": [new]}.get(step.strategy or "", [new, *old])
        return {**body, "messages": [{"role": "system", "content": "\n".join(texts)}, *rest]}  # type: ignore[arg-type]
    body = {**removed(body, set(step.params_to_remove or ())), **(step.params_to_add or {})}
    for old_name, new_name in (step.params_to_rename or {}).items():
        if old_name in body:
            body[new_name] = body.pop(old_name)
    return body


@settings(max_examples=60)
@given(st.lists(MODIFIERS | MESSAGES, max_size=4), st.dictionaries(NAMES, VALUES, max_size=4))
def test_any_pipeline_sends_what_its_description_says(
    steps: list[PayloadModifier | SystemMessage], more: dict[str, Any]
) -> None:
    messages = [step for step in steps if isinstance(step, SystemMessage)]
    steps = [step for step in steps if step not in messages[1:]]
    body: JsonObject = {"messages": [SYSTEM, {"role": "user", "content": "Hi"}], **more}
    expected: dict[str, Any] = json.loads(encode_json(body))
    for step in steps:
        expected = modelled(expected, step)
    sent = request(body)
    for compiled in compiled_steps(pipeline_settings(steps)):
        sent = compiled.on_request(sent)
    assert json.loads(sent.payload) == expected == sent.body
