"""`call_llm`: which server is asked, with which key, and what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright import LLMError, MissingKeyError, UserMessage, WorkflowContext, call_llm, workflow
from benchwright.core import ConfigError, UsageError
from benchwright.demo import DemoServer, DemoSettings, demo_server
from recording_server import recording

ASK: list[UserMessage] = [{"role": "user", "content": "What is 2 + 3?"}]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[DemoServer]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    with demo_server(DemoSettings(skill=1.0)) as server:
        yield server


def ask(*words: Any, **options: Any) -> Any:
    return asyncio.run(call_llm(*words, **options))


def test_a_server_of_that_interface_is_asked_by_base_url(server: DemoServer) -> None:
    reply = ask("openai", "demo", ASK, base_url=server.url, temperature=0)
    assert "5" in reply["content"]
    raw = reply["raw"]
    assert raw["choices"][0]["message"]["content"].strip() == reply["content"].strip()
    assert reply["prompt_tokens"] == raw["usage"]["prompt_tokens"] > 0
    assert reply["completion_tokens"] == raw["usage"]["completion_tokens"] > 0
    assert reply["tokens"] == reply["prompt_tokens"] + reply["completion_tokens"]
    assert reply["finish_reason"] == "stop"
    assert reply["latency_s"] > 0


def test_the_address_may_come_from_the_environment(
    server: DemoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-long")
    assert "5" in ask("openai", "demo", ASK)["content"]


def test_without_a_key_and_another_address_nothing_is_sent(server: DemoServer) -> None:
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY is not set") as caught:
        ask("openai", "gpt-4o-mini", ASK)
    assert isinstance(caught.value, RuntimeError)
    with pytest.raises(MissingKeyError, match="MY_KEY"):
        ask("openai", "demo", ASK, base_url=server.url, api_key_name="MY_KEY")


def test_the_demo_model_and_configured_models_are_known_by_name(server: DemoServer) -> None:
    assert ask("demo", None, ASK)["content"]
    Path("benchwright.toml").write_text(
        f'[models.mine]\nbase_url = "{server.url}"\nmodel = "demo"\nmax_tokens = 3\n', encoding="utf-8"
    )
    reply = ask("mine", None, ASK, temperature=None)
    assert reply["raw"]["model"] == "demo"
    assert reply["completion_tokens"] <= 3
    with pytest.raises(ValueError, match="Did you mean 'mine'"):
        ask("mien", "x", ASK)


@pytest.mark.parametrize("messages", [[], "hello", [{"content": "x"}], ["hello"], {"role": "user"}])
def test_what_is_not_a_conversation_is_refused(server: DemoServer, messages: Any) -> None:
    with pytest.raises(UsageError, match="'role': 'user'"):
        ask("openai", "demo", messages, base_url=server.url)


def test_a_model_that_gives_no_reply_is_an_error_with_its_words(server: DemoServer) -> None:
    with pytest.raises(UsageError, match="no id"):
        ask("openai", "", ASK, base_url=server.url)
    with pytest.raises(LLMError, match="no usable reply"):
        ask("openai", "demo", ASK, base_url="http://127.0.0.1:9/v1", retries=0)


def test_headers_of_a_configured_model_hold_values_of_the_environment(
    server: DemoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recording() as recorder:
        Path("benchwright.toml").write_text(
            f'[models.mine]\nbase_url = "{recorder.url}"\nmodel = "m"\nheaders = {{X-Auth = "Token ${{MY_TOKEN}}"}}\n',
            encoding="utf-8",
        )
        with pytest.raises(ConfigError, match="MY_TOKEN"):
            ask("mine", None, ASK)
        monkeypatch.setenv("MY_TOKEN", "a-token-of-mine")
        ask("mine", None, ASK)
    (seen,) = recorder.received
    assert seen.headers["x-auth"] == ["Token a-token-of-mine"]


def test_steps_of_one_run_share_connections_and_nothing_stays_open(
    server: DemoServer, tmp_path: Path
) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        async def one(number: int) -> Any:
            reply = await call_llm(
                "openai", "demo", [{"role": "user", "content": f"What is {number} + 1?"}],
                base_url=server.url, max_concurrency=2,
            )  # fmt: skip
            return reply

        replies = await asyncio.gather(
            *(ctx.step(step_key=f"ask-{n}", input_value=n, execute=lambda n=n: one(n)) for n in range(6))
        )
        assert len(ctx.scratch["llm_endpoints"]) == 1
        await call_llm("openai", "demo", ASK, base_url=server.url, max_concurrency=2)
        assert len(ctx.scratch["llm_endpoints"]) == 1, "also outside of a step"
        return [reply["tokens"] for reply in replies]

    tokens = asyncio.run(workflow("ask", handler).run(workspace=tmp_path))
    assert isinstance(tokens, list)
    assert len(tokens) == 6
