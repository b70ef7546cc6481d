"""Log-likelihoods on servers whose tokens are parts of characters: the sum is right, or refused."""

from __future__ import annotations

import pytest
from loopback_server import in_loop
from split_characters import OFFSETS, SCRIPTS, TEXTS, SplittingModel, near

from benchwright import ScriptedEndpoint
from benchwright.core import EchoedTokens, ModelRequest, completions_body, encode_json
from benchwright.endpoints._likelihood import EmptyContinuationError, continuation_likelihood

EXACT = {"alphabet", "word_marks", "named_bytes"}
"""Texts that show every byte."""
_REFUSED = {"ignored": 1.0, "held_back": 0.7, "shown_first": 0.9}
"""The largest share of refused sums, if texts do not show that there are parts; there every third text has a token with parts
of two characters."""


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("offsets", OFFSETS)
@pytest.mark.parametrize("texts", TEXTS)
@in_loop
async def test_sums_are_right_or_refused(texts: str, offsets: str, script: str) -> None:
    context, choices = SCRIPTS[script]
    refused = total = 0
    for seed in range(12):
        for bos, generates in ((False, 0), (True, 0), (False, 1), (True, 2)):
            model = SplittingModel(texts, offsets, seed=seed, bos=bos, generates=generates)
            model.boundaries, model.inside = [context], bool(seed % 3)
            endpoint = ScriptedEndpoint(model)
            for choice in choices:
                body = completions_body("m", context + choice, generates, logprobs=1, echo=True)
                reply = await endpoint.send(ModelRequest("completions", body, encode_json(body)))
                assert reply.echoed is not None
                total += 1
                try:
                    found = continuation_likelihood(reply.echoed, context, choice, max_tokens=generates)
                except EmptyContinuationError:
                    refused += 1
                    continue
                assert near(found.logprob, model.likelihood(context, choice)), (choice, reply.echoed.tokens)
                assert not found.straddling
    if texts in EXACT or script == "ascii" or (texts in ("replaced", "per_byte") and offsets == "bytes"):
        assert refused == 0
    assert refused / total <= _REFUSED.get(texts, 0.15)


@pytest.mark.parametrize("offsets", OFFSETS)
@pytest.mark.parametrize("texts", [texts for texts in TEXTS if texts != "shown_first"])
def test_tokens_across_the_boundary_are_left_out_or_refused(texts: str, offsets: str) -> None:
    """Without a token that ends with the context: what starts in the continuation counts."""
    for context, choices in SCRIPTS.values():
        for choice in choices:
            for seed in range(6):
                model = SplittingModel(texts, offsets, seed=seed)
                if model.likelihood(context, choice) == 0:
                    continue  # merged into one token
                try:
                    found = continuation_likelihood(
                        EchoedTokens(**model.echo(context + choice)), context, choice, max_tokens=0
                    )
                except EmptyContinuationError:
                    continue
                assert near(found.logprob, model.likelihood(context, choice))


@pytest.mark.parametrize(
    ("tokens", "context", "choice", "max_tokens", "sums"),
    [
        (["a", "�", "�", "�", "b"], "a€", "b", 0, -16.0),
        (["a", "�", "�", "�", "b"], "a", "€b", 0, -30.0),
        (["é", "", "b"], "é", "b", 0, -4.0),  # a character of one byte has no parts
        (["a", "", "é"], "a", "é", 0, -6.0),
        (["é", "", "è"], "é", "è", 0, None),
        (["a", "", "é", "", "è"], "aé", "è", 0, -24.0),  # shown with its last token, as elsewhere
        (["a", "é", ""], "a", "é", 0, -6.0),
        (["a", "é", ""], "a", "é", 1, None),  # generated, or a part
        (["a", "b", ""], "a", "b", 1, -2.0),
        (["token_id:5", "token_id:6"], "a", "b", 0, None),
    ],
)
def test_single_cases(
    tokens: list[str], context: str, choice: str, max_tokens: int, sums: float | None
) -> None:
    values: list[float | None] = [-(2.0**index) for index in range(len(tokens))]
    lengths = [sum(map(len, tokens[:index])) for index in range(len(tokens))]
    for offsets in (lengths, []):
        echoed = EchoedTokens(tokens, values, list(offsets), [])
        if sums is None:
            with pytest.raises(EmptyContinuationError):
                continuation_likelihood(echoed, context, choice, max_tokens=max_tokens)
        else:
            assert continuation_likelihood(echoed, context, choice, max_tokens=max_tokens).logprob == sums


def test_parts_of_characters_with_the_same_text_are_greedy_by_their_number() -> None:
    tops: list[dict[str, float] | None] = [None, {"�": -0.1}, {"�": -0.2}]
    echoed = EchoedTokens(["a", "�", "�"], [None, -3.0, -0.2], [], tops)
    assert not continuation_likelihood(echoed, "a", "é", max_tokens=0).is_greedy
    echoed = EchoedTokens(["a", "�", "�"], [None, -0.1, -0.2], [], tops)
    assert continuation_likelihood(echoed, "a", "é", max_tokens=0).is_greedy
