"""Which echoed tokens make up a continuation, and what they sum to."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, strategies as st

from benchwright.core import BenchwrightError, EchoedTokens
from benchwright.endpoints._likelihood import (
    ChoiceLikelihood,
    EmptyContinuationError,
    continuation_likelihood,
)


def echo(
    tokens: list[str],
    values: list[float | None],
    offsets: list[int | None] | None = None,
    tops: list[dict[str, float] | None] | None = None,
) -> EchoedTokens:
    return EchoedTokens(tokens, values, offsets or [], tops or [])


def own_offsets(tokens: list[str], unit: str = "chars", first: int = 0) -> list[int | None]:
    lengths = [len(t.encode() if unit == "bytes" else t) for t in tokens]
    return list(accumulate(lengths[:-1], initial=first))


def test_sum_from_the_context_to_the_end_of_the_prompt() -> None:
    tokens = ["The", " sky", " is", " deep", " blue"]
    echoed = echo(tokens, [None, -3.0, -1.0, -2.0, -0.5], own_offsets(tokens))
    assert continuation_likelihood(echoed, "The sky is", " deep blue") == ChoiceLikelihood(-2.5, False, 2)
    assert continuation_likelihood(echoed, "The sky is deep", " blue").logprob == -0.5


def test_generated_tokens_are_left_out() -> None:
    tokens = ["2+2", "=", "4", ".", "\n"]
    echoed = echo(tokens, [None, -1.0, -0.25, -7.0, -9.0], own_offsets(tokens))
    assert continuation_likelihood(echoed, "2+2=", "4").logprob == -0.25
    # An end-of-text token has no text, but a place.
    tokens = ["2+2", "=", "4", ""]
    assert continuation_likelihood(echo(tokens, [None, -1.0, -0.25, -5.0]), "2+2=", "4").tokens == 1


@pytest.mark.parametrize(
    ("tokens", "values", "context", "choice", "expected"),
    [
        # " Paris" starts in the context's last space; the rest counts.
        (
            ["In", " Paris", " France"],
            [None, -1.0, -2.0],
            "In ",
            "Paris France",
            ChoiceLikelihood(-2.0, False, 1, True),
        ),
        # Nothing starts in the continuation: the merged token stands for it.
        (["In", " Paris"], [None, -1.0], "In ", "Paris", ChoiceLikelihood(-1.0, False, 1, True)),
        # … and a generated token behind it does not.
        (["In", " Paris", "!"], [None, -1.0, -9.0], "In ", "Paris", ChoiceLikelihood(-1.0, False, 1, True)),
    ],
)
def test_straddling_tokens_follow_one_rule_and_are_told(
    tokens: list[str], values: list[float | None], context: str, choice: str, expected: ChoiceLikelihood
) -> None:
    for offsets in (own_offsets(tokens), None):
        assert continuation_likelihood(echo(tokens, values, offsets), context, choice) == expected


@pytest.mark.parametrize("generated", [0, 1])
@pytest.mark.parametrize("unit", ["chars", "bytes"])
def test_offsets_in_characters_or_bytes(unit: str, generated: int) -> None:
    # Byte pieces make tokens that do not spell the text, so that only the offsets can tell.
    pieces = [b"Gr", "ü".encode()[:1], "ü".encode()[1:], "ße ".encode(), "é".encode(), b"t"]
    context, choice = "Grüße ", "ét"
    tokens = [piece.decode(errors="replace") for piece in pieces] + [" é"] * generated
    offsets: list[int | None] = [0, 2, 2, 3, 6, 7, 8] if unit == "chars" else [0, 2, 3, 4, 8, 10, 11]
    values: list[float | None] = [None, -1.0, -1.0, -1.0, -0.5, -0.25, -8.0]
    count = len(tokens)
    likelihood = continuation_likelihood(echo(tokens, values[:count], offsets[:count]), context, choice)
    assert (likelihood.logprob, likelihood.tokens, likelihood.straddling) == (-0.75, 2, False)


@pytest.mark.parametrize("special", ["<s>", "<|begin_of_text|>", "[CLS]"])
@pytest.mark.parametrize("spelled", [True, False])
def test_special_tokens_in_front_do_not_move_the_boundary(special: str, spelled: bool) -> None:
    # With offsets that count the special token as text, as some servers send them.
    tokens = [special, "2+2" if spelled else "2+�", "=", "4"]
    echoed = echo(tokens, [None, -1.0, -2.0, -0.25], own_offsets(tokens))
    assert continuation_likelihood(echoed, "2+2=", "4").logprob == -0.25
    # … and with offsets that do not.
    echoed = echo(tokens, [None, -1.0, -2.0, -0.25], [0, 0, 3, 4])
    assert continuation_likelihood(echoed, "2+2=", "4").logprob == -0.25


def test_without_offsets_the_tokens_must_spell_the_continuation() -> None:
    tokens = ["2+�", "=", "4"]
    assert (
        continuation_likelihood(echo(tokens, [None, -1.0, -0.25]), "2+2=", "4", max_tokens=0).logprob == -0.25
    )
    assert (
        continuation_likelihood(echo([*tokens, "."], [None, -1.0, -0.25, -9.0]), "2+2=", "4").logprob == -0.25
    )
    with pytest.raises(EmptyContinuationError, match="no text_offset"):
        continuation_likelihood(echo(["▁2", "▁4x"], [None, -1.0]), "2+2=", "4")


def test_greedy_is_every_position_by_text() -> None:
    tokens = ["a", "b", "c"]
    best: list[dict[str, float] | None] = [None, {"b": -0.1, "x": -3.0}, {"c": -0.2}]
    echoed = echo(tokens, [None, -0.1, -0.2], own_offsets(tokens), best)
    assert continuation_likelihood(echoed, "a", "bc").is_greedy
    for worse in ({"x": -0.1, "c": -0.2}, {}, None):
        echoed = echo(tokens, [None, -0.1, -0.2], own_offsets(tokens), [None, best[1], worse])
        assert not continuation_likelihood(echoed, "a", "bc").is_greedy
    assert not continuation_likelihood(
        echo(tokens, [None, -0.1, -0.2], own_offsets(tokens)), "a", "bc"
    ).is_greedy


def test_missing_values_are_counted_and_all_missing_is_an_error() -> None:
    tokens = ["a", "b", "c"]
    likelihood = continuation_likelihood(echo(tokens, [None, None, -0.5], own_offsets(tokens)), "a", "bc")
    assert (likelihood.logprob, likelihood.tokens, likelihood.missing) == (-0.5, 1, 1)
    with pytest.raises(EmptyContinuationError, match="no token"):
        continuation_likelihood(echo(tokens, [None, -1.0, None], own_offsets(tokens)), "ab", "c")


@pytest.mark.parametrize(
    ("echoed", "choice", "words"),
    [
        (echo(["a", "b"], [None, -1.0]), "", "continuation is empty"),
        (echo([], []), "b", "no tokens"),
        (echo(["a"], []), "b", "no tokens"),
        (echo(["a", "b"], [None]), "b", "2 tokens but 1"),
        (echo([" yes"], [-1.0], [2]), "b", "ignores `echo`"),
    ],
)
def test_nothing_to_sum_is_an_error_never_zero(echoed: EchoedTokens, choice: str, words: str) -> None:
    with pytest.raises(EmptyContinuationError, match=words) as caught:
        continuation_likelihood(echoed, "a", choice)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BenchwrightError)


words = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=4), min_size=1, max_size=5)


@given(words, words, st.integers(0, 2), st.sampled_from(["chars", "bytes", "none"]))
def test_whole_tokens_are_found_in_any_text(
    context: list[str], choice: list[str], generated: int, unit: str
) -> None:
    tokens = [*context, *choice, *["¡"] * generated]
    values: list[float | None] = [*[-1000.0] * len(context), *[-1.0] * len(choice), *[-1000.0] * generated]
    offsets = None if unit == "none" else own_offsets(tokens, unit)
    likelihood = continuation_likelihood(echo(tokens, values, offsets), "".join(context), "".join(choice))
    assert (likelihood.logprob, likelihood.tokens, likelihood.straddling) == (
        -len(choice),
        len(choice),
        False,
    )
