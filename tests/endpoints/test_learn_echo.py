"""Servers whose echo can be trusted are told from those whose echo cannot."""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from loopback_server import Call, endpoint_at, in_loop, serving

from benchwright import ScriptedEndpoint
from benchwright.core import ModelRequest, RequestFailure
from benchwright.demo import DemoSettings
from benchwright.endpoints import EchoProfile, EchoRefusedError, _echo, open_endpoint
from benchwright.endpoints._likelihood import continuation_likelihood

WORDS = [" red", " blue", " very", " old", " house", " 6", " Paris", " the", ",", " ünd"]


class ToyModel:
    """A language model over ten words: its probabilities are hashes of the text so far."""

    def __init__(
        self, *, shift: int = 0, null: bool = False, echo: bool = True, bos: bool = False, zero: str = "ok"
    ):
        self.shift, self.null, self.echo, self.bos, self.zero = shift, null, echo, bos, zero
        self.unit = "chars"
        self.alternatives = 5
        self.logprobs = True
        self.most_asked = 0

    def distribution(self, before: str) -> dict[str, float]:
        digest = hashlib.sha256(before.encode()).digest()
        # Sometimes sure, sometimes not: the first byte sets the temperature.
        weights = [byte / (8 + digest[0] / 4) for byte in digest[1 : 1 + len(WORDS)]]
        total = math.log(sum(map(math.exp, weights)))
        return {word: weight - total for word, weight in zip(WORDS, weights, strict=True)}

    def best(self, before: str, count: int) -> dict[str, float]:
        ranked = sorted(self.distribution(before).items(), key=lambda item: -item[1])
        return dict(ranked[: min(count, self.alternatives)])

    def logprob(self, before: str, token: str) -> float:
        return self.distribution(before).get(token, -9.0 - len(before) % 5)

    def generate(self, prompt: str, count: int) -> list[str]:
        made: list[str] = []
        for _ in range(count):
            best = self.distribution(prompt + "".join(made))
            made.append(max(best, key=best.__getitem__))
        return made

    def __call__(self, request: ModelRequest) -> Any:
        body: dict[str, Any] = dict(request.body)
        prompt, count = body["prompt"], body["max_tokens"]
        self.most_asked = max(self.most_asked, count)
        if count == 0:
            if self.zero == "refused":
                return RequestFailure("rejected", "max_tokens must be at least 1", 400)
            count = {"ok": 0, "generates": 3, "one": 1}[self.zero]
        made = self.generate(prompt, count)
        echoing = body.get("echo") and self.echo
        tokens = [*(re.findall(r" ?[^\s,]+|,|\s", prompt) if echoing else []), *made]
        if self.bos and echoing:
            tokens.insert(0, "<s>")
        start = "" if echoing else prompt
        values: list[float | None] = []
        offsets, at = [], start
        for token in tokens:
            offsets.append(len(at if self.unit == "chars" else at.encode()))
            values.append(self.logprob(at, token) if at else None)
            at += "" if token == "<s>" else token
        if self.shift and echoing:
            values = [*values[1:], -1.5] if self.shift < 0 else [None, *values[:-1]]
        if self.null and echoing:
            values = [None] * len(values)
        before = [prompt + "".join(made[:n]) for n in range(count)]
        tops: list[dict[str, float]] = [{}] * (len(tokens) - count) + [
            self.best(text, body["logprobs"]) for text in before
        ]
        logprobs = {"tokens": tokens, "token_logprobs": values, "text_offset": offsets, "top_logprobs": tops}
        choice = {"text": (prompt if echoing else "") + "".join(made), "finish_reason": "length"}
        if self.logprobs:
            choice["logprobs"] = logprobs
        return {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": count}}


@pytest.mark.parametrize(
    ("options", "profile"),
    [
        ({}, EchoProfile(0, False, ())),
        ({"bos": True}, EchoProfile(0, False, ())),
        ({"zero": "refused"}, EchoProfile(1, True, ("max_tokens 1 is used: the server does not accept 0",))),
        (
            {"zero": "one"},
            EchoProfile(1, True, ("max_tokens 1 is used: with 0 the server generates all the same",)),
        ),
        (
            {"zero": "generates"},
            EchoProfile(1, True, ("max_tokens 1 is used: with 0 the server generates all the same",)),
        ),
    ],
)
@in_loop
async def test_good_servers_are_accepted_with_what_was_learned(
    options: dict[str, Any], profile: EchoProfile
) -> None:
    model = ToyModel(**options)
    endpoint = ScriptedEndpoint(model)
    assert await EchoProfile.learned(endpoint, "toy") == profile
    assert model.most_asked <= 4
    assert [r.body["max_tokens"] for r in endpoint.requests][-1] == 0, "0 is tried last, and once"
    assert sum(r.body["max_tokens"] == 0 for r in endpoint.requests) == 1
    assert "stop" in endpoint.requests[-1].body


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shift": 1}, "shifted by one: a token's number is at the token after it.*add_bos_token"),
        ({"shift": -1}, "shifted by one: a token's number is at the token before it.*kv_overrides"),
        ({"null": True}, "have no log-probability"),
        ({"echo": False}, "ignores `echo`|lie beyond|cannot be used"),
    ],
)
@in_loop
async def test_bad_echoes_are_refused_with_reason_and_cure(options: dict[str, Any], words: str) -> None:
    with pytest.raises(EchoRefusedError, match=words) as caught:
        await EchoProfile.learned(ScriptedEndpoint(ToyModel(**options)), "toy")
    assert caught.value.exit_code == 1


@in_loop
async def test_server_without_logprobs_is_refused() -> None:
    model = ToyModel()
    model.logprobs = False
    with pytest.raises(
        EchoRefusedError, match=r"no log-probabilities.*leave completions_logprob out"
    ) as caught:
        await EchoProfile.learned(ScriptedEndpoint(model), "toy")
    assert "--model-type chat" not in str(
        caught.value
    )  # changes nothing where the benchmark says that it ranks


@in_loop
async def test_server_without_a_completions_route_gets_a_cure_that_helps_a_ranking_benchmark() -> None:
    missing = RequestFailure("rejected", "HTTP 404: not found", 404)
    with pytest.raises(
        EchoRefusedError,
        match=r"404.*leave --infer-method logprob out.*leave completions_logprob out.*endpoint_type=",
    ) as caught:
        await EchoProfile.learned(ScriptedEndpoint(missing), "toy")
    assert "--model-type chat" not in str(caught.value)


@in_loop
async def test_unrelated_numbers_are_refused() -> None:
    class Liar(ToyModel):
        def __call__(self, request: ModelRequest) -> Any:
            reply = super().__call__(request)
            if request.body.get("echo"):
                values = reply["choices"][0]["logprobs"]["token_logprobs"]
                values[1:] = [-20.0 - i for i in range(len(values) - 1)]
            return reply

    with pytest.raises(EchoRefusedError, match="disagree by more than 1 nat"):
        await EchoProfile.learned(ScriptedEndpoint(Liar()), "toy")


@in_loop
async def test_endless_generation_for_zero_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(_echo, "_ZERO_TIMEOUT_S", 0.05)
    model = ToyModel()

    async def endless_for_zero(request: ModelRequest) -> Any:
        if request.body["max_tokens"] == 0:
            await asyncio.sleep(30)
        return model(request)

    profile = await EchoProfile.learned(ScriptedEndpoint(endless_for_zero), "toy")
    assert (profile.max_tokens, profile.drops_generated) == (1, True)
    assert "did not stop" in profile.notes[0]


class FlatModel(ToyModel):
    """Finds all tokens about equally probable: what is generated agrees with any neighbour's number."""

    spread = 0.3

    def distribution(self, before: str) -> dict[str, float]:
        return {word: self.logprob(before, word) for word in WORDS}

    def logprob(self, before: str, token: str) -> float:
        digest = hashlib.sha256(f"{before}|{token}".encode()).digest()
        return -2.0 - self.spread * digest[0] / 255


class Altered:
    """A flat model whose echoed numbers are put through a function."""

    def __init__(
        self, change: Callable[[list[str], list[Any]], list[Any]], model: ToyModel | None = None
    ) -> None:
        self.change, self.model = change, model or FlatModel()

    def __call__(self, request: ModelRequest) -> Any:
        reply = self.model(request)
        if request.body.get("echo"):
            found = reply["choices"][0]["logprobs"]
            found["token_logprobs"] = self.change(found["tokens"], found["token_logprobs"])
        return reply


@pytest.mark.parametrize("bos", [False, True])
@in_loop
async def test_flat_model_with_an_honest_echo_is_accepted(bos: bool) -> None:
    endpoint = ScriptedEndpoint(FlatModel(bos=bos))
    assert await EchoProfile.learned(endpoint, "toy") == EchoProfile(0, False, ())
    assert len(endpoint.requests) <= 20


@pytest.mark.parametrize("bos", [False, True])
@pytest.mark.parametrize(
    ("shift", "words"),
    [
        (1, "does not change its own number.*is at the token after it.*add_bos_token"),
        (-1, "changes the number before it.*is at the token before it.*add_bos_token"),
    ],
)
@in_loop
async def test_shift_shows_even_where_all_tokens_are_equally_probable(
    shift: int, words: str, bos: bool
) -> None:
    with pytest.raises(EchoRefusedError, match=words):
        await EchoProfile.learned(ScriptedEndpoint(FlatModel(shift=shift, bos=bos)), "toy")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tokens, values: [-1.9] * len(values), "all of them are -1.9"),
        (lambda tokens, values: [None, *[-2.0] * (len(values) - 1)], "all of them are -2"),
        (
            lambda tokens, values: [-2 - 0.01 * n for n in range(len(values))],
            "does not change its own number",
        ),
        (lambda tokens, values: [-2 - len(t) / 20 for t in tokens], "whatever text comes before it"),
        (
            lambda tokens, values: [
                -2 - (len("".join(tokens)) % 2) * 0.4 - 0.01 * n for n in range(len(values))
            ],
            "number before it|own number",
        ),
    ],
)
@in_loop
async def test_numbers_that_are_not_the_tokens_own_are_refused(
    change: Callable[[list[str], list[Any]], list[Any]], words: str
) -> None:
    with pytest.raises(EchoRefusedError, match=words):
        await EchoProfile.learned(ScriptedEndpoint(Altered(change)), "toy")


@in_loop
async def test_echo_of_nothing_but_zeros_is_refused() -> None:
    class Sure(FlatModel):
        def logprob(self, before: str, token: str) -> float:
            return 0.4 + super().logprob(before, token) / 5  # near 0

    zeros = Altered(lambda tokens, values: [0.0] * len(values), Sure())
    with pytest.raises(EchoRefusedError, match="all of them are 0"):
        await EchoProfile.learned(ScriptedEndpoint(zeros), "toy")


@in_loop
async def test_noise_of_batching_is_tolerated_and_noted() -> None:
    dice = random.Random(4)

    def noisy(tokens: list[str], values: list[Any]) -> list[Any]:
        return [None if v is None else v + dice.uniform(-0.1, 0.1) for v in values]

    profile = await EchoProfile.learned(ScriptedEndpoint(Altered(noisy, ToyModel())), "toy")
    assert "vary by up to 0.1" in profile.notes[0]


@in_loop
async def test_requests_stay_few_on_a_server_that_refuses_many_alternatives() -> None:
    model = ToyModel(zero="refused")

    def few(request: ModelRequest) -> Any:
        if request.body["logprobs"] != 1:
            return RequestFailure("rejected", "logprobs must be 0 or 1", 400)
        return model(request)

    endpoint = ScriptedEndpoint(few)
    await EchoProfile.learned(endpoint, "toy")
    assert len(endpoint.requests) <= 20


@in_loop
async def test_five_alternatives_are_not_insisted_upon() -> None:
    model = ToyModel()

    def one_only(request: ModelRequest) -> Any:
        if request.body["logprobs"] != 1:
            return RequestFailure("rejected", "logprobs must be 0 or 1", 400)
        return model(request)

    assert (await EchoProfile.learned(ScriptedEndpoint(one_only), "toy")).max_tokens == 0


@in_loop
async def test_the_demo_model_passes_in_process() -> None:
    for seed in range(5):
        endpoint = open_endpoint(DemoSettings(seed=seed))
        assert await EchoProfile.learned(endpoint, "demo") == EchoProfile(0, False, ())
        assert endpoint.requests_sent <= 20
        await endpoint.aclose()


@in_loop
async def test_unreachable_server_is_told_as_such() -> None:
    with pytest.raises(EchoRefusedError, match="cannot connect"):
        await EchoProfile.learned(
            ScriptedEndpoint(lambda _: RequestFailure("connection", "cannot connect to h")), "m"
        )


@in_loop
async def test_over_http_a_refused_probe_is_not_the_first_failure() -> None:
    model = ToyModel(zero="refused")

    async def handle(call: Call) -> None:
        answer = model(ModelRequest("completions", call.body, b""))
        if isinstance(answer, RequestFailure):
            await call.error(400, answer.message)
        else:
            await call.json(answer)

    async with serving(handle) as server, endpoint_at(server.url) as endpoint:
        profile = await EchoProfile.learned(endpoint, "toy")
        assert profile.max_tokens == 1
        assert endpoint.first_failure is None


@in_loop
async def test_ranking_after_learning_picks_the_models_favourite() -> None:
    model = ToyModel(zero="one", bos=True)
    endpoint = ScriptedEndpoint(model)
    profile = await EchoProfile.learned(endpoint, "toy")
    context = "The best answer is"
    scores = {}
    for choice in (" red", " Paris house", " ünd"):
        body = {"prompt": context + choice, "max_tokens": profile.max_tokens, "echo": True, "logprobs": 1}
        reply = await endpoint.send(ModelRequest("completions", body, b""))  # type: ignore[arg-type]
        assert reply.echoed is not None
        scores[choice] = continuation_likelihood(reply.echoed, context, choice, max_tokens=profile.max_tokens)
    best = model.distribution(context)
    assert scores[" red"].logprob == pytest.approx(best[" red"])
    assert scores[" ünd"].logprob == pytest.approx(best[" ünd"])
    assert scores[" Paris house"].tokens == 2


class PartialModel(ToyModel):
    """Shows characters of several bytes as parts, and adds up the lengths of these texts as offsets."""

    def __init__(self, show: Callable[[bytes], list[str]]) -> None:
        super().__init__()
        self.show = show

    def __call__(self, request: ModelRequest) -> Any:
        reply = super().__call__(request)
        found = reply["choices"][0]["logprobs"]
        columns: dict[str, list[Any]] = {name: [] for name in found}
        for token, value, top in zip(
            found["tokens"], found["token_logprobs"], found["top_logprobs"], strict=True
        ):
            parts = [token] if token.isascii() or token in WORDS else self.show(token.encode())
            for number, part in enumerate(parts):
                columns["text_offset"].append(sum(map(len, columns["tokens"])))
                columns["tokens"].append(part)
                columns["token_logprobs"].append(None if value is None else value - number / 4)
                columns["top_logprobs"].append(top)
        reply["choices"][0]["logprobs"] = columns
        return reply


@in_loop
async def test_characters_that_are_split_over_tokens_are_part_of_the_check() -> None:
    def replaced(raw: bytes) -> list[str]:
        return [raw[at : at + 2].decode(errors="replace") for at in range(0, len(raw), 2)]

    endpoint = ScriptedEndpoint(PartialModel(replaced))
    assert await EchoProfile.learned(endpoint, "toy") == EchoProfile(0, False, ())
    assert any("象" in str(request.body["prompt"]) for request in endpoint.requests)
    assert len(endpoint.requests) <= 20
    profile = await EchoProfile.learned(ScriptedEndpoint(PartialModel(lambda raw: ["token_id:7"])), "toy")
    assert "characters of several bytes" in profile.notes[0]
