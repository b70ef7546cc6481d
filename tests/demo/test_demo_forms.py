"""The demo server in the wire formats beside OpenAI's chat and completions."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from benchwright.demo import DemoServer, DemoSettings, demo_server
from waiting import PATIENCE_S


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with demo_server(DemoSettings(skill=1.0, model_id="m")) as running:
        yield running


def ask(server: DemoServer, path: str, body: Any) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_S)
    try:
        connection.request("POST", path, orjson.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read(), {k.lower(): v for k, v in response.getheaders()}
    finally:
        connection.close()


def events(body: bytes) -> list[dict[str, Any]]:
    lines = [line for line in body.splitlines() if line.startswith(b"data:")]
    return [orjson.loads(line[5:]) for line in lines]


def test_tgi(server: DemoServer) -> None:
    body = {"inputs": "What is 12 + 7?\nAnswer:", "parameters": {"max_new_tokens": 20, "details": True}}
    status, reply, headers = ask(server, "/generate", body)
    assert status == 200
    whole = orjson.loads(reply)
    assert whole["generated_text"].strip() == "19"
    assert whole["details"]["finish_reason"] == "eos_token"
    assert int(headers["x-prompt-tokens"]) > 3
    _, stream, _ = ask(server, "/generate_stream", body)
    *pieces, last = events(stream)
    assert [piece["generated_text"] for piece in pieces] == [None] * len(pieces)
    assert "".join(p["token"]["text"] for p in pieces) == last["generated_text"] == whole["generated_text"]


def test_tgi_keeps_the_stop_text(server: DemoServer) -> None:
    body = {"inputs": "What is 12 + 7?\nAnswer:", "parameters": {"stop": ["9"], "details": True}}
    _, reply, _ = ask(server, "/generate", body)
    whole = orjson.loads(reply)
    assert (whole["generated_text"].strip(), whole["details"]["finish_reason"]) == ("19", "stop_sequence")
    _, stream, _ = ask(server, "/generate_stream", body)
    assert events(stream)[-1]["generated_text"].strip() == "19"


@pytest.mark.parametrize(
    "body",
    [
        {"parameters": {"max_tokens": 20, "temperature": 0}},
        {"parameters": {"max_tokens": 20, "temperature": 0.0, "top_p": 1.0}},
        {"max_tokens": 20, "temperature": 0, "bad_words": "", "stop_words": ""},
        {"parameters": {"max_new_tokens": 20, "do_sample": False}},
    ],
)
def test_triton_takes_the_names_of_its_back_ends(server: DemoServer, body: dict[str, Any]) -> None:
    body = {"text_input": "What is 12 + 7?\nAnswer:", **body}
    status, reply, _ = ask(server, "/v2/models/any/generate", body)
    assert status == 200
    assert orjson.loads(reply)["text_output"].strip() == "19"


def test_mindie_and_triton(server: DemoServer) -> None:
    prompt = "What is 12 + 7?\nAnswer:"
    _, stream, _ = ask(server, "/infer", {"inputs": prompt, "stream": True, "parameters": {}})
    assert events(stream)[-1]["generated_text"].strip() == "19"
    _, reply, _ = ask(server, "/infer", {"inputs": prompt, "parameters": {}})
    assert orjson.loads(reply)["generated_text"].strip() == "19"
    _, reply, _ = ask(server, "/v2/models/any/versions/1/generate", {"text_input": prompt})
    assert orjson.loads(reply)["text_output"].strip() == "19"
    _, stream, _ = ask(server, "/v2/models/any/generate_stream", {"text_input": prompt})
    assert "".join(event["text_output"] for event in events(stream)).strip() == "19"


def test_responses(server: DemoServer) -> None:
    body = {
        "model": "m",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "What is 12 + 7?"}]}],
    }
    _, reply, _ = ask(server, "/v1/responses", body)
    whole = orjson.loads(reply)
    assert "19" in whole["output"][0]["content"][0]["text"]
    _, stream, _ = ask(server, "/v1/responses", {**body, "stream": True})
    first, *items, last = events(stream)
    assert (first["type"], last["type"]) == ("response.created", "response.completed")
    deltas = [event["delta"] for event in items if event["type"] == "response.output_text.delta"]
    assert "".join(deltas) == whole["output"][0]["content"][0]["text"]
    _, reply, _ = ask(server, "/v1/responses", {**body, "max_output_tokens": 0})
    assert orjson.loads(reply)["status"] == "incomplete"


def test_responses_with_tools(server: DemoServer) -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {
        "type": "function",
        "name": "get_weather",
        "description": "weather of a city",
        "parameters": parameters,
    }
    _, reply, _ = ask(
        server, "/v1/responses", {"model": "m", "input": "What is the weather in Paris?", "tools": [tool]}
    )
    (call,) = orjson.loads(reply)["output"]
    assert (call["type"], call["name"]) == ("function_call", "get_weather")
    assert "Paris" in call["arguments"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/generate", {"inputs": "x", "parameters": {"temperature": 0}}, 422, "strictly positive"),
        ("/generate", {"inputs": "x", "parameters": {"top_p": 1.0}}, 422, "top_p"),
        ("/generate", {"inputs": ""}, 422, "not empty"),
        ("/generate", {"inputs": "x", "parameters": []}, 422, "an object"),
        ("/infer", {"inputs": ["x"]}, 422, "not empty"),
        ("/v2/models/m/generate", {"text": "x"}, 422, "text_input"),
        ("/v1/responses", {"model": "m"}, 400, "input"),
        ("/v1/responses", {"model": "m", "input": [3]}, 400, "an object"),
        ("/v2/models/m/infer", {}, 404, "/v2/models/NAME/generate"),
    ],
)
def test_mistakes_are_told_in_the_formats_own_shape(
    server: DemoServer, path: str, body: Any, status: int, words: str
) -> None:
    found, reply, _ = ask(server, path, body)
    error = orjson.loads(reply)["error"]
    assert found == status
    assert words in (error if isinstance(error, str) else error["message"])
