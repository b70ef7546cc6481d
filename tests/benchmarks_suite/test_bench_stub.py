"""The benchmarks' stub: it must speak as real servers do, or the comparisons compare nothing."""

from __future__ import annotations

import json
import math
import sys
import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks/ stands beside the package and is not installed

from benchmarks.answers import answer_to  # noqa: E402
from benchmarks.data import ACCURACY, CHOICE_PROMPT, choice_rows  # noqa: E402
from benchmarks.figures import Figure  # noqa: E402
from benchmarks.processes import StubAddress, stub  # noqa: E402
from benchmarks.stub import steady_rate  # noqa: E402


@pytest.fixture(scope="module")
def at() -> Iterator[StubAddress]:
    with stub(0) as address:
        yield address


def ask(at: StubAddress, route: str, body: dict[str, object]) -> dict:
    request = Request(f"{at.base_url}/{route}", json.dumps(body).encode())
    with urlopen(request, timeout=PATIENCE_S) as reply:
        return json.load(reply)


def test_chat_answers_are_functions_of_the_prompt(at: StubAddress) -> None:
    body = {"model": "stub", "messages": [{"role": "user", "content": "Héllo?"}]}
    reply = ask(at, "chat/completions", body)
    assert reply["choices"][0]["message"]["content"] == answer_to("Héllo?")
    assert reply["usage"]["total_tokens"] > 0
    body["messages"] = [{"role": "user", "content": [{"type": "text", "text": "Héllo?"}]}]
    assert ask(at, "chat/completions", body)["choices"] == reply["choices"]


def test_echo_gives_aligned_tokens_and_offsets(at: StubAddress) -> None:
    prompt = "The sky  is\nblüe today"
    body = {"model": "stub", "prompt": prompt, "max_tokens": 0, "echo": True, "logprobs": 1}
    choice = ask(at, "completions", body)["choices"][0]
    logprobs = choice["logprobs"]
    assert choice["text"] == prompt == "".join(logprobs["tokens"])
    for token, offset in zip(logprobs["tokens"], logprobs["text_offset"], strict=True):
        assert prompt.startswith(token, offset)
    assert logprobs["token_logprobs"][0] is None
    for token, value, top in zip(
        *(logprobs[k][1:] for k in ("tokens", "token_logprobs", "top_logprobs")), strict=True
    ):
        assert top[token] == value <= max(top.values()) < 0


def test_a_generated_token_has_the_same_likelihood_when_echoed(at: StubAddress) -> None:
    stem = "Roses are"
    asked = {"model": "stub", "prompt": stem, "max_tokens": 1, "temperature": 0, "logprobs": 1}
    generated = ask(at, "completions", asked)["choices"][0]
    echoed = ask(at, "completions", asked | {"prompt": stem + generated["text"], "echo": True})["choices"][0]
    (value,) = generated["logprobs"]["token_logprobs"]
    at_stem = echoed["logprobs"]["text_offset"].index(len(stem))
    assert echoed["logprobs"]["token_logprobs"][at_stem] == value
    assert len(echoed["logprobs"]["tokens"]) == at_stem + 2, "max_tokens 1 generates one more token"


def test_choice_rows_name_the_continuation_the_stub_finds_likeliest(at: StubAddress) -> None:
    rows = list(choice_rows(10))
    right = 0
    for row in rows:
        context = CHOICE_PROMPT.format(question=row["question"])
        sums = []
        for choice in row["choices"]:  # type: ignore[attr-defined]
            body = {"model": "stub", "prompt": context + choice, "max_tokens": 0, "echo": True, "logprobs": 1}
            logprobs = ask(at, "completions", body)["choices"][0]["logprobs"]
            start = logprobs["text_offset"].index(len(context))
            sums.append(math.fsum(logprobs["token_logprobs"][start:]))
        right += sums.index(max(sums)) == row["label"]
    assert right / len(rows) == ACCURACY


def test_requests_it_cannot_read_are_refused(at: StubAddress) -> None:
    for route, body in (
        ("chat/completions", {"stream": True}),
        ("completions", {"prompt": 1}),
        ("nowhere", {}),
    ):
        with pytest.raises(HTTPError) as refused:
            ask(at, route, body)
        assert refused.value.code in (400, 404)
        assert "error" in json.load(refused.value)


def test_requests_are_counted_and_held_back_for_the_latency() -> None:
    with stub(20) as slow:
        slow.reset()
        began = time.perf_counter()
        ask(slow, "chat/completions", {"messages": [{"role": "user", "content": "hi"}]})
        assert time.perf_counter() - began >= 0.02
        seen = slow.stats(64)
    assert seen.count == 1
    assert seen.mean_latency_ms is not None
    assert seen.mean_latency_ms >= 20


def test_steady_rate_counts_whole_waves() -> None:
    waves = array("d", [0.02 * (number // 64) for number in range(2000)])
    assert steady_rate(waves, 64) == pytest.approx(64 / 0.02)
    assert steady_rate(waves[:70], 64) is None


@pytest.mark.parametrize(
    ("value", "at_least", "verdict"), [(2.5, True, "PASS"), (2.4, True, "MISS"), (2.6, False, "MISS")]
)
def test_figures_are_judged_against_what_is_wanted(value: float, at_least: bool, verdict: str) -> None:
    assert Figure("x", "", "", value, "×", 2.5, at_least=at_least).verdict == verdict
