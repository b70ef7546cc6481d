"""Log-probabilities of the demo model: echo and generation agree, right continuations are likelier."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from benchwright.core import EchoedTokens
from benchwright.demo import DemoSettings
from benchwright.demo._completions import DemoChoice, echoed_tokens
from benchwright.demo._endpoint import DemoEndpoint
from benchwright.demo._model import DemoModel
from benchwright.endpoints import EchoProfile
from benchwright.endpoints._likelihood import continuation_likelihood

PROMPTS = [
    "2 + 2 =",
    "The sum 12 + 5 is",
    "Question: What is 3*4?\nAnswer:",
    "Q: 1+1?\nA: 2\n\nQ: 2+2?\nA:",
    "What is 2+2?",
    "Once upon a time there was a",
    "Repeat: hello world",
    "Is 5 larger than 3? Answer yes or no:",
    "What is 2 * 3?\nA) 5\nB) 6\n\nReply with the letter of the correct option only.",
    "東京は日本の首都ですか?",
    "émoji 👩‍👩‍👧 then",
    "def add(a, b):\n    return",
]


def complete(prompt: str, skill: float = 1.0, seed: int = 0, **body: Any) -> DemoChoice:
    model = DemoModel(DemoSettings(skill=skill, seed=seed))
    return model.complete(
        "completions", {"model": "demo", "prompt": prompt, "temperature": 0, **body}
    ).choices[0]


def scored(choice: DemoChoice) -> EchoedTokens:
    assert choice.logprobs is not None
    return echoed_tokens(choice.logprobs)


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("skill", [0.0, 1.0])
def test_echo_and_generation_agree(prompt: str, skill: float) -> None:
    made = complete(prompt, skill, logprobs=3, max_tokens=8)
    generated = scored(made)
    echoed = scored(complete(prompt + made.text, skill, logprobs=3, max_tokens=0, echo=True))
    count = len(generated.tokens)
    assert count > 0
    assert "".join(generated.tokens) == made.text
    assert echoed.tokens[-count:] == generated.tokens
    assert echoed.token_logprobs[-count:] == pytest.approx(generated.token_logprobs, abs=1e-9)
    assert echoed.top_logprobs[-count:] == generated.top_logprobs


@settings(max_examples=150)
@given(st.text(max_size=80), st.integers(0, 3))
def test_echo_and_generation_agree_on_any_text(prompt: str, seed: int) -> None:
    made = complete(prompt, 0.5, seed, logprobs=2, max_tokens=4)
    generated = scored(made)
    echoed = scored(complete(prompt + made.text, 0.5, seed, logprobs=2, max_tokens=0, echo=True))
    assert "".join(echoed.tokens) == prompt + made.text
    count = len(generated.tokens)
    if count and echoed.tokens[-count:] == generated.tokens and len(echoed.tokens) > count:
        assert echoed.token_logprobs[-count:] == generated.token_logprobs


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_best_alternative_is_the_greedy_token(prompt: str) -> None:
    generated = scored(complete(prompt, logprobs=5, max_tokens=6))
    for token, value, top in zip(
        generated.tokens, generated.token_logprobs, generated.top_logprobs, strict=True
    ):
        assert top is not None
        assert value is not None
        assert max(top, key=top.__getitem__) == token
        assert top[token] == value
        assert list(top.values()) == sorted(top.values(), reverse=True)
        assert sum(map(math.exp, top.values())) <= 1.0 + 1e-9
        assert len(top) == 5


def test_zero_tokens_with_echo_generates_none() -> None:
    choice = complete("Hello there, 世界!", logprobs=1, max_tokens=0, echo=True)
    tokens = scored(choice)
    assert choice.text == "Hello there, 世界!"
    assert choice.tokens == 0
    assert "".join(tokens.tokens) == choice.text
    assert tokens.token_logprobs[0] is None
    assert tokens.top_logprobs[0] is None
    assert all(value is not None and value < 0 for value in tokens.token_logprobs[1:])


def test_echo_may_be_followed_by_generated_tokens() -> None:
    choice = complete("2 + 2 =", logprobs=1, max_tokens=1, echo=True)
    tokens = scored(choice)
    assert choice.text == "2 + 2 = 4"
    assert tokens.tokens == ["2", " +", " 2", " =", " 4"]
    assert tokens.text_offset == [0, 1, 3, 5, 7]
    assert choice.tokens == 1


def test_offsets_count_code_points() -> None:
    text = "日本 👍🏽 é ok"
    tokens = scored(complete(text, logprobs=1, max_tokens=0, echo=True))
    for token, offset in zip(tokens.tokens, tokens.text_offset, strict=True):
        assert offset is not None
        assert text[offset : offset + len(token)] == token


def rank(context: str, choices: list[str], skill: float, seed: int = 0) -> tuple[str, bool]:
    weighed = []
    for choice in choices:
        echoed = scored(complete(context + choice, skill, seed, logprobs=1, max_tokens=0, echo=True))
        weighed.append(continuation_likelihood(echoed, context, choice, max_tokens=0))
    best = max(range(len(choices)), key=lambda at: weighed[at].logprob)
    return choices[best], weighed[best].is_greedy


@pytest.mark.parametrize(
    ("context", "choices", "right"),
    [
        ("Question: What is 3*4?\nAnswer:", [" 10", " 12", " 14"], " 12"),
        ("The sum 12 + 5 is", [" 16", " 17", " 18"], " 17"),
        ("What is 3*4?\nA. 10\nB. 12\nAnswer:", [" A", " B"], " B"),
        ("What is 3*4?\nA. 10\nB. 12\nAnswer:", [" 10", " 12"], " 12"),
        ("Is 7 larger than 9?\nAnswer:", [" yes", " no"], " no"),
        ("Is 7 larger than 9?\nAnswer:", [" True", " False"], " False"),
    ],
)
def test_right_continuations_are_likelier(context: str, choices: list[str], right: str) -> None:
    assert rank(context, choices, skill=1.0)[0] == right
    assert rank(context, choices, skill=0.0)[0] != right


def test_right_continuations_win_with_the_probability_of_the_skill() -> None:
    won = 0
    for n in range(300):
        best, greedy = rank(
            f"Question: What is {n} + 4?\nAnswer:", [f" {n + 3}", f" {n + 4}", f" {n + 5}"], 0.7
        )
        won += best == f" {n + 4}" and greedy
    assert abs(won / 300 - 0.7) < 0.09


def test_chat_log_probabilities_cover_the_reply() -> None:
    model = DemoModel(DemoSettings(skill=1))
    body: Any = {
        "model": "demo",
        "messages": [{"role": "user", "content": "What is 2 + 3? Think step by step."}],
    }
    choice = model.complete("chat", {**body, "temperature": 0, "logprobs": True, "top_logprobs": 2}).choices[
        0
    ]
    tokens = scored(choice)
    assert "".join(tokens.tokens) == choice.text == "2 + 3 = 5\nThe answer is 5"
    for token, top in zip(tokens.tokens, tokens.top_logprobs, strict=True):
        assert top is not None
        assert max(top, key=top.__getitem__) == token


@pytest.mark.parametrize("seed", range(8))
def test_the_echo_check_accepts_the_demo_model(seed: int) -> None:
    profile = asyncio.run(EchoProfile.learned(DemoEndpoint(DemoSettings(seed=seed)), "demo"))
    assert profile.max_tokens == 0
    assert profile.notes == ()


def test_a_stop_text_cuts_tokens_and_text_alike() -> None:
    choice = complete("Once upon a time", logprobs=1, max_tokens=12, stop=["e"])
    tokens = scored(choice)
    assert "e" not in choice.text
    assert "".join(tokens.tokens) == choice.text
    assert len(tokens.tokens) == len(tokens.token_logprobs) == len(tokens.top_logprobs) == choice.tokens
