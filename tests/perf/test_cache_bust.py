"""`--cache-bust`: no prompt is sent twice, in one test or in two, and nothing else of a request changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright import perf
from benchwright.core import ModelRequest, encode_json
from benchwright.perf._cache_bust import with_blank, with_word, word_of
from recording_server import recording

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
BODIES: list[dict[str, Any]] = [
    {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi \u2603"}]},
    {"model": "m", "messages": [{"role": "user", "content": [IMAGE, {"type": "text", "text": "What is it?"}]}]},
    {"model": "m", "prompt": 'Say "yes"'},
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_payload_and_body_say_the_same_and_only_the_start_of_the_prompt_differs(body: dict[str, Any]) -> None:
    plain = ModelRequest("chat", body, encode_json(body))
    word = word_of("0123abcd", 7)
    sent = with_word(with_blank(plain), word)
    assert sent.payload == encode_json(sent.body)
    assert sent.payload.count(word.encode()) == 1
    assert plain.body == body, "the request of the plan is used again"


def test_every_prompt_that_arrives_is_new(tmp_path: Path) -> None:
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n2+3=,5\n", encoding="utf-8")
    with recording() as server:
        for _ in range(2):
            result = perf(
                tmp_path / "qa.csv", model_url=server.url, model_id="m", requests=10, concurrency=2,
                cache_bust=True, stream=False, workspace=tmp_path,
            )  # fmt: skip
            assert "repeated_prompts" not in str(result.to_json())
    prompts = [body["messages"][0]["content"] for body in server.bodies]
    assert len(prompts) == 20
    assert len(set(prompts)) == 20
    assert all(prompt.startswith("request ") for prompt in prompts)
    assert len({prompt.partition(": ")[2] for prompt in prompts}) == 2, "the rows themselves are as they were"
