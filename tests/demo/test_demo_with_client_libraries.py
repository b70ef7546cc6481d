"""`simulate` held against the clients that people have: the `openai` package and litellm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from benchwright.demo import DemoServer, DemoSettings, demo_server, fault_mix

openai = pytest.importorskip("openai")

ADDING = [{"role": "user", "content": "What is 17 + 25? Answer with the number only."}]
WEATHER: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]
IN_PARIS = [{"role": "user", "content": "What is the weather in Paris?"}]


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with demo_server(DemoSettings(skill=1.0)) as running:
        yield running


@pytest.fixture
def client(server: DemoServer) -> Iterator[Any]:
    with openai.OpenAI(base_url=server.url, api_key="none", max_retries=0) as made:
        yield made


def test_chat_whole_and_streamed(client: Any) -> None:
    reply = client.chat.completions.create(model="demo", messages=ADDING, max_tokens=20)
    assert "42" in reply.choices[0].message.content
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    pieces = list(
        client.chat.completions.create(
            model="demo", messages=ADDING, stream=True, stream_options={"include_usage": True}
        )
    )
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    assert text == reply.choices[0].message.content
    assert pieces[-1].usage == reply.usage
    assert [p.choices[0].finish_reason for p in pieces if p.choices][-1] == "stop"


def test_tools_whole_and_streamed(client: Any) -> None:
    reply = client.chat.completions.create(model="demo", messages=IN_PARIS, tools=WEATHER)
    (call,) = reply.choices[0].message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "Paris"})
    with client.chat.completions.stream(model="demo", messages=IN_PARIS, tools=WEATHER) as stream:
        (streamed,) = stream.get_final_completion().choices[0].message.tool_calls
    assert streamed.function.arguments == call.function.arguments


def test_completions_whole_and_streamed(client: Any) -> None:
    reply = client.completions.create(model="demo", prompt="2 + 2 =", max_tokens=5, logprobs=2)
    assert reply.choices[0].text.strip() == "4"
    assert len(reply.choices[0].logprobs.tokens) == len(reply.choices[0].logprobs.token_logprobs)
    pieces = client.completions.create(model="demo", prompt="2 + 2 =", max_tokens=5, stream=True)
    assert "".join(piece.choices[0].text for piece in pieces if piece.choices).strip() == "4"


def test_models(client: Any) -> None:
    assert [(model.id, model.owned_by) for model in client.models.list()] == [("demo", "benchwright")]
    assert client.models.retrieve("demo").id == "demo"


def test_responses_whole_and_streamed(client: Any) -> None:
    reply = client.responses.create(model="demo", input=ADDING[0]["content"])
    assert "42" in reply.output_text
    assert (reply.status, reply.object) == ("completed", "response")
    assert reply.created_at > 0
    assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens
    with client.responses.stream(model="demo", input=ADDING[0]["content"]) as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert final.output_text == reply.output_text
    kinds = [event.type for event in events]
    for kind in ("created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
                 "output_text.done", "content_part.done", "output_item.done", "completed"):  # fmt: skip
        assert f"response.{kind}" in kinds
    assert [event.sequence_number for event in events] == sorted(event.sequence_number for event in events)
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == reply.output_text


def test_responses_with_tools_whole_and_streamed(client: Any) -> None:
    tools = [{"type": "function", "strict": False, **WEATHER[0]["function"]}]
    (item,) = client.responses.create(model="demo", input=IN_PARIS, tools=tools).output
    assert (item.type, item.name, json.loads(item.arguments)) == (
        "function_call", "get_weather", {"city": "Paris"},
    )  # fmt: skip
    with client.responses.stream(model="demo", input=IN_PARIS, tools=tools) as stream:
        (streamed,) = stream.get_final_response().output
    assert streamed.arguments == item.arguments


def test_a_cut_response_is_incomplete(client: Any) -> None:
    reply = client.responses.create(model="demo", input="Write a story.", max_output_tokens=2)
    assert (reply.status, reply.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_errors_are_those_of_the_real_thing(server: DemoServer, client: Any) -> None:
    with pytest.raises(openai.BadRequestError) as bad:
        client.chat.completions.create(model="demo", messages=ADDING, temperature=7)
    assert bad.value.param == "temperature"
    with pytest.raises(openai.BadRequestError):
        client.responses.create(model="demo", input=[])
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="demo", input="x")
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("another")


def test_a_key_that_is_wrong_or_missing_is_an_authentication_error() -> None:
    with demo_server(DemoSettings(skill=1.0), api_key="sk-right-4f81c2") as server:
        for path in ("", "/responses"):
            with openai.OpenAI(base_url=server.url, api_key="sk-wrong", max_retries=0) as client:
                ask = client.responses if path else client.chat.completions
                given = {"input": "x"} if path else {"messages": ADDING}
                with pytest.raises(openai.AuthenticationError):
                    ask.create(model="demo", **given)
        with openai.OpenAI(base_url=server.url, api_key="sk-right-4f81c2", max_retries=0) as client:
            reply = client.chat.completions.create(model="demo", messages=ADDING)
    assert "42" in reply.choices[0].message.content


@pytest.mark.parametrize(
    ("fault", "error"),
    [("rate_limited", "RateLimitError"), ("server_error", "InternalServerError"), ("unavailable", "InternalServerError")],
)  # fmt: skip
def test_faults_are_known_by_their_classes(fault: str, error: str) -> None:
    settings = DemoSettings(error_rate=1.0, faults=fault_mix(fault))
    with (
        demo_server(settings) as server,
        openai.OpenAI(base_url=server.url, api_key="none", max_retries=0) as client,
        pytest.raises(getattr(openai, error)),
    ):
        client.chat.completions.create(model="demo", messages=ADDING)


LITELLM = """
import json, sys
import litellm

base = sys.argv[1]
asked = {"model": "openai/demo", "api_base": base, "api_key": "none",
         "messages": [{"role": "user", "content": "What is 17 + 25? Answer with the number only."}]}
chat = litellm.completion(**asked)
streamed = "".join(p.choices[0].delta.content or "" for p in litellm.completion(**asked, stream=True))
made = litellm.responses(model="openai/demo", api_base=base, api_key="none", input=asked["messages"][0]["content"])
kinds = [str(getattr(e.type, "value", e.type)) for e in litellm.responses(
    model="openai/demo", api_base=base, api_key="none", input=asked["messages"][0]["content"], stream=True)]
print(json.dumps([chat.choices[0].message.content, streamed, made.output[0].content[0].text, kinds]))
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
def test_litellm_can_talk_to_it(server: DemoServer) -> None:
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}
    done = subprocess.run(  # in a process of its own: its import warns
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(LITELLM), server.url],
        capture_output=True, text=True, env=environment, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    chat, streamed, made, kinds = json.loads(done.stdout.strip().splitlines()[-1])
    assert "42" in chat
    assert chat == streamed == made
    assert "response.output_text.delta" in kinds
    assert kinds[-1] == "response.completed"
