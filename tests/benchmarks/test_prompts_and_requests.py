"""From rows to request bodies: exactly what a server receives."""

from __future__ import annotations

import json
import timeit
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks import BenchmarkSpec, Generation
from benchwright.benchmarks._fields import resolve_choices, response_of, target_of
from benchwright.benchmarks._prompts import Prompt, build_prompts, next_user_turn
from benchwright.benchmarks._requests import (
    chat_request,
    choice_request,
    completions_request,
    conversation_request,
    open_conversation,
)
from benchwright.core import JsonObject, MissingFieldError


def spec_of(**parameters: Any) -> BenchmarkSpec:
    settings: dict[str, Any] = {"prompt": "Q: {q}", "dataset": [], "base_dir": Path()}
    return BenchmarkSpec(name="x", key="x", scorer=lambda s: {}, **{**settings, **parameters})


def test_chat_bodies_have_the_documented_keys_in_order() -> None:
    request = chat_request(Prompt("Q: hi"), Generation("m"), repeat=2)
    assert request.payload == (
        b'{"model":"m","messages":[{"role":"user","content":"Q: hi"}],"temperature":0.0,"max_tokens":4096,"top_p":1.0}'
    )
    assert (request.route, request.repeat) == ("chat", 2)
    assert json.loads(request.payload) == request.body


def test_a_system_text_is_a_message_or_a_first_line() -> None:
    prompt = Prompt("Q: hi", "Be brief.")
    assert chat_request(prompt, Generation("m")).body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Q: hi"},
    ]
    request = completions_request(prompt, Generation("m"))
    assert request.payload == (
        b'{"model":"m","prompt":"Be brief.\\nQ: hi","temperature":0.0,"max_tokens":4096,"top_p":1.0}'
    )
    assert request.route == "completions"


def test_settings_that_are_none_are_left_to_the_server() -> None:
    generation = Generation.of("m", temperature=None, max_tokens=None, top_p=None)
    assert list(chat_request(Prompt("x"), generation).body) == ["model", "messages"]


def test_further_settings_follow_and_extra_body_wins() -> None:
    generation = Generation.of(
        "m", stop=["\n"], seed=7, stream=True, extra_body={"top_k": 5, "temperature": 1.0}
    )
    body = completions_request(Prompt("x"), generation).body
    assert body == {
        "model": "m", "prompt": "x", "temperature": 1.0, "max_tokens": 4096, "top_p": 1.0,
        "stop": ["\n"], "seed": 7, "stream": True, "top_k": 5,
    }  # fmt: skip


def test_choice_bodies_are_exactly_as_documented() -> None:
    request = choice_request("Q: hi\nA:", " yes", "m")
    assert request.payload == (
        b'{"model":"m","prompt":"Q: hi\\nA: yes","max_tokens":0,"temperature":0.0,"logprobs":1,"echo":true}'
    )
    assert choice_request("a", "b", "m", max_tokens=1, extra_body={"x": 1}).body["max_tokens"] == 1


def test_history_stands_between_system_and_prompt() -> None:
    history: list[JsonObject] = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    messages: Any = chat_request(Prompt("c", "s"), Generation("m"), history=history).body["messages"]
    assert [m["content"] for m in messages] == ["s", "a", "b", "c"]
    with_system: list[JsonObject] = [{"role": "system", "content": "own"}, *history]
    messages = chat_request(Prompt("c", "s"), Generation("m"), history=with_system).body["messages"]
    assert [m["content"] for m in messages] == ["own", "a", "b", "c"]


def test_a_conversation_is_sent_as_it_stands() -> None:
    conversation = open_conversation(Prompt("hi", "sys"))
    assert [m["role"] for m in conversation] == ["system", "user"]
    request = conversation_request(conversation, Generation("m"))
    conversation.append({"role": "assistant", "content": "later"})
    assert request.body["messages"] == conversation[:2]


def test_a_system_prompt_that_lacks_a_field_is_an_error_not_silence() -> None:
    prompts = build_prompts(spec_of(system_prompt="You speak {lang}."))
    assert prompts.build({"q": 1, "lang": "hi"}).system == "You speak hi."
    with pytest.raises(MissingFieldError, match='"lang" is missing'):
        prompts.build({"q": 1})


def test_targets_responses_and_their_absence() -> None:
    spec = spec_of(target_field="a", response_field="r")
    assert target_of(spec, {"a": 0}) == 0
    assert target_of(spec, {}) == ""
    assert response_of(spec, {"r": 3}) == "3"
    assert response_of(spec, {"r": None}) == ""
    with pytest.raises(MissingFieldError):
        response_of(spec, {})


@pytest.mark.parametrize(
    ("field", "row", "found"),
    [
        ("c", {"c": ["x", 2]}, ["x", "2"]),
        ("c.text", {"c": {"text": ["x"]}}, ["x"]),
        ("c", {"c": {"text": ["x"], "label": ["A"]}}, ["x"]),
        ("c.text", {"c.text": ["literal"]}, ["literal"]),
        ("c", {"c": "not a list"}, None),
        ("c", {"c": []}, None),
        ("c.d.e", {"c": {"d": 1}}, None),
    ],
)
def test_choices_are_found_by_path_or_name(field: str, row: dict[str, Any], found: list[str] | None) -> None:
    assert resolve_choices(spec_of(choices_field=field), row) == found
    fixed = resolve_choices(spec_of(choices_field=field, choices=(" A",)), row)
    assert fixed == (found or [" A"])


def test_fixed_choices() -> None:
    assert resolve_choices(spec_of(choices=(" A", " B")), {}) == [" A", " B"]
    assert resolve_choices(spec_of(), {}) is None


def test_turns_follow_the_prompt() -> None:
    spec = spec_of(turns_field="t")
    row = {
        "q": "first",
        "t": ["second", {"role": "assistant", "content": "ref"}, {"role": "user", "content": "third"}],
    }
    assert build_prompts(spec).build(row).text == "Q: first"
    assert [next_user_turn(spec, row, [], i) for i in (1, 2, 3)] == ["second", "third", None]


def test_with_an_empty_prompt_the_row_holds_every_turn() -> None:
    spec = spec_of(prompt="", turns_field="t")
    row = {"t": ["first", "second"]}
    assert build_prompts(spec).build(row).text == "first"
    assert [next_user_turn(spec, row, [], i) for i in (1, 2)] == ["second", None]


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ("text", "contains str where a list of turns is expected"),
        ([1], "turn 1 of .t. is neither text nor"),
        ([{"role": "system", "content": "x"}], "has the role 'system'"),
        ([], "contains no user turn"),
    ],
)
def test_turns_that_are_no_turns_are_named(turns: Any, said: str) -> None:
    with pytest.raises(MissingFieldError, match=said):
        build_prompts(spec_of(prompt="", turns_field="t")).build({"t": turns})


def test_a_function_may_give_the_turns() -> None:
    conversation: list[JsonObject] = [{"role": "user", "content": "a"}]

    def one(messages: list[JsonObject]) -> str | None:
        messages.append({})  # a copy: what the function does to it is its own business
        return f"after {len(messages) - 1}"

    assert next_user_turn(spec_of(next_turn=one), {}, conversation, 1) == "after 1"
    assert len(conversation) == 1
    two = spec_of(next_turn=lambda messages, row: row["then"], max_turns=3)
    assert next_user_turn(two, {"then": "go"}, conversation, 2) == "go"
    assert next_user_turn(two, {"then": "go"}, conversation, 3) is None
    assert next_user_turn(two, {"then": None}, conversation, 1) is None
    with pytest.raises(MissingFieldError, match="next_turn returned int"):
        next_user_turn(two, {"then": 5}, conversation, 1)


def test_max_turns_ends_a_list_of_turns_too() -> None:
    spec = spec_of(turns_field="t", max_turns=2)
    assert [next_user_turn(spec, {"t": ["b", "c"]}, [], i) for i in (1, 2)] == ["b", None]


def test_building_a_plain_prompt_stays_cheap() -> None:
    build = build_prompts(spec_of(prompt="Q: {q}\nA: {a}\nB: {b}\nAnswer:")).build
    row = {"q": "what " * 20, "a": "1", "b": "2", "answer": "A"}
    seconds = min(timeit.repeat(lambda: build(row), number=2000, repeat=7)) / 2000
    plain = (
        min(timeit.repeat(lambda: "Q: {q}\nA: {a}\nB: {b}\nAnswer:".format(**row), number=2000, repeat=7))
        / 2000
    )
    # 1 µs on an idle core; the bound only catches a change of kind.
    assert seconds < max(20e-6, 20 * plain), (seconds, plain)


@pytest.mark.parametrize("route", ["chat", "completions"])
def test_settings_make_the_requests_of_prompts_and_conversations(route: Any) -> None:
    generation = Generation.of("m", max_tokens=7)
    of_prompt = {"chat": chat_request, "completions": completions_request}[route]
    assert generation.request("Q", route, repeat=2) == of_prompt(Prompt("Q"), generation, repeat=2)
    messages = [{"role": "user", "content": "Q"}]
    assert generation.request(messages, route) == conversation_request(messages, generation)
