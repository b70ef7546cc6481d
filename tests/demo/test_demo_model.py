"""The demo model's manners: limits, stop texts, repeats, several choices, formats, refusals of bad bodies."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from benchwright.core import UsageError
from benchwright.demo import DemoSettings, fault_mix
from benchwright.demo._completions import DemoCompletion
from benchwright.demo._model import DemoModel
from benchwright.demo._requests import DemoRefusalError
from benchwright.demo._words import count_tokens


def chat(content: Any, repeat: int = 0, *, skill: float = 1.0, **body: Any) -> DemoCompletion:
    model = DemoModel(DemoSettings(skill=skill))
    return model.complete(
        "chat", {"model": "demo", "messages": [{"role": "user", "content": content}], **body}, repeat
    )


def test_the_same_request_always_gets_the_same_completion() -> None:
    body: Any = {"n": 3, "temperature": 1.0, "seed": 5, "logprobs": True, "top_logprobs": 3}
    assert chat("Write a poem about 3 + 4.", **body) == chat("Write a poem about 3 + 4.", **body)


def test_repeats_vary_only_when_sampling() -> None:
    cold = {chat("What is 17 + 5?", repeat, skill=0.5, temperature=0).choices[0].text for repeat in range(30)}
    warm = {chat("What is 17 + 5?", repeat, skill=0.5, temperature=1).choices[0].text for repeat in range(30)}
    seeded = {
        chat("What is 17 + 5?", skill=0.5, temperature=1, seed=seed).choices[0].text for seed in range(30)
    }
    assert len(cold) == 1
    assert len(warm) > 1
    assert len(seeded) > 1


def test_several_choices_differ_only_when_sampling() -> None:
    assert len({c.text for c in chat("Write a story", n=4, temperature=0).choices}) == 1
    choices = chat("What is 3 + 4?", skill=0.5, n=20, temperature=1).choices
    assert len(choices) == 20
    assert len({choice.text for choice in choices}) > 1


def test_the_token_limit_cuts_and_says_so() -> None:
    whole = chat("Write a story").choices[0]
    cut = chat("Write a story", max_tokens=5).choices[0]
    assert cut.finish_reason == "length"
    assert cut.tokens == count_tokens(cut.text) == 5
    assert whole.text.startswith(cut.text)
    assert whole.finish_reason == "stop"
    assert chat("Write a story", max_tokens=whole.tokens).choices[0].finish_reason == "stop"
    assert chat("What is 1 + 1?", max_completion_tokens=0).choices[0].text == ""


def test_stop_texts_end_the_answer() -> None:
    choice = chat("What is 3 + 4? Think step by step.", stop=["\nThe", "zzz"]).choices[0]
    assert choice.text == "3 + 4 = 7"
    assert choice.finish_reason == "stop"
    assert chat("Repeat after me: abcdef", stop="cd").choices[0].text == "ab"


def test_a_load_test_gets_the_length_it_asks_for() -> None:
    endless = chat("What is 1 + 1?", max_tokens=64, ignore_eos=True).choices[0]
    assert endless.tokens == 64
    assert endless.finish_reason == "length"
    assert chat("What is 1 + 1?", max_tokens=64, min_tokens=20).choices[0].tokens == 20
    model = DemoModel()
    body: Any = {"model": "demo", "prompt": "2 + 2 =", "max_tokens": 40, "ignore_eos": True, "temperature": 0}
    assert model.complete("completions", body).choices[0].tokens == 40
    assert model.complete("completions", {**body, "logprobs": 1}).choices[0].tokens == 40


def test_completions_continue_the_text() -> None:
    model = DemoModel(DemoSettings(skill=1))

    def text(prompt: str) -> str:
        return model.complete("completions", {"model": "demo", "prompt": prompt}).choices[0].text

    assert text("Question: 2 + 2?\nAnswer:") == " 4"
    assert text("Question: 2 + 2?\nAnswer: ") == "4"
    assert text("The sum 2 + 2 is") == " 4"


def test_a_list_of_prompts_gets_a_list_of_choices() -> None:
    model = DemoModel(DemoSettings(skill=1))
    done = model.complete(
        "completions", {"model": "demo", "prompt": ["1 + 1 =", "2 + 2 ="], "n": 2, "temperature": 0}
    )
    assert [choice.text for choice in done.choices] == [" 2", " 2", " 4", " 4"]


def test_system_messages_shape_the_answer_and_parts_are_joined() -> None:
    model = DemoModel(DemoSettings(skill=1))
    messages: Any = [
        {"role": "system", "content": "Think step by step."},
        {"role": "user", "content": "What is 9 + 9?"},
        {"role": "assistant", "content": "18"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "What is 1 + 2?"}, {"type": "image_url", "image_url": {}}],
        },
    ]
    done = model.complete("chat", {"model": "demo", "messages": messages})
    assert done.choices[0].text == "1 + 2 = 3\nThe answer is 3"
    assert (
        done.prompt_tokens
        == sum(count_tokens(t) for t in ("Think step by step.", "What is 9 + 9?", "18", "What is 1 + 2?"))
        + 12
    )


def test_json_is_answered_where_json_is_asked_for() -> None:
    plain = chat("What is 2 + 3?", response_format={"type": "json_object"}).choices[0].text
    assert orjson.loads(plain) == {"answer": "5"}
    schema = {
        "properties": {"answer": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["answer", "count"],
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    assert orjson.loads(chat("What is 2 + 3?", response_format=wanted).choices[0].text) == {
        "answer": "5",
        "count": 2,
    }


@pytest.mark.parametrize(
    ("route", "body", "param"),
    [
        ("chat", {}, "model"),
        ("chat", {"model": "m"}, "messages"),
        ("chat", {"model": "m", "messages": []}, "messages"),
        ("chat", {"model": "m", "messages": ["x"]}, "messages"),
        ("chat", {"model": "m", "messages": [{"content": "x"}]}, "messages"),
        ("chat", {"model": "m", "messages": [{"role": "user", "content": 3}]}, "messages"),
        (
            "chat",
            {"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": -1},
            "max_tokens",
        ),
        (
            "chat",
            {"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": "9"},
            "max_tokens",
        ),
        ("chat", {"model": "m", "messages": [{"role": "user", "content": "x"}], "n": 0}, "n"),
        (
            "chat",
            {"model": "m", "messages": [{"role": "user", "content": "x"}], "temperature": 3},
            "temperature",
        ),
        ("chat", {"model": "m", "messages": [{"role": "user", "content": "x"}], "stop": [1]}, "stop"),
        ("completions", {"model": "m"}, "prompt"),
        ("completions", {"model": "m", "prompt": [1, 2]}, "prompt"),
        ("completions", {"model": "m", "prompt": "x", "logprobs": 99}, "logprobs"),
    ],
)
def test_bad_bodies_are_refused_with_the_field_at_fault(route: Any, body: Any, param: str) -> None:
    with pytest.raises(DemoRefusalError) as caught:
        DemoModel().complete(route, body)
    assert caught.value.param == param
    assert caught.value.status == 400


def test_settings_are_checked() -> None:
    for wrong in (
        {"skill": 1.5},
        {"error_rate": -0.1},
        {"ttft_ms": -1},
        {"parallelism": 0},
        {"skill": float("nan")},
    ):
        with pytest.raises(UsageError):
            DemoSettings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="rate_limited"):
        fault_mix("rate_limitd")
    with pytest.raises(UsageError, match="number"):
        fault_mix("html=often")
    assert fault_mix("html, half-stream=2")["half_stream"] == 2.0


def test_the_fingerprint_covers_what_changes_answers_and_nothing_else() -> None:
    plain = DemoSettings().fingerprint()
    assert DemoSettings(ttft_ms=5, itl_ms=1, error_rate=0.5, parallelism=2).fingerprint() == plain
    assert DemoSettings(skill=0.8).fingerprint() != plain
    assert DemoSettings(seed=1).fingerprint() != plain
