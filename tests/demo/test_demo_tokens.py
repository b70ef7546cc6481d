"""The demo model's tokens: nothing is lost, counting agrees with splitting, offsets are code points."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from benchwright.demo._words import count_tokens, split_tokens

AWKWARD = [
    "",
    " ",
    "\n\n  x",
    "naïve café",
    "e\u0301 combining",
    "👩‍👩‍👧 family",
    "日本語のテキスト",
    "한국어 text",
    "שלום עולם",
    "tabs\tand\u00a0non-breaking",
    "\x00\x1f control",
    "a" * 5000,
    "𝒜 astral 🂡",
    "\ufeffbom",
]


@pytest.mark.parametrize("text", AWKWARD)
def test_joined_tokens_are_the_text(text: str) -> None:
    tokens = split_tokens(text)
    assert "".join(tokens) == text
    assert count_tokens(text) == len(tokens)
    assert all(tokens)


@given(st.text())
def test_any_text_survives_splitting(text: str) -> None:
    assert "".join(split_tokens(text)) == text
    assert count_tokens(text) == len(split_tokens(text))


def test_words_take_their_leading_space() -> None:
    assert split_tokens("The answer is 42.") == ["The", " answer", " is", " 42", "."]


def test_ideographs_are_single_tokens() -> None:
    assert split_tokens("東京 city") == ["東", "京", " city"]


@given(st.text(alphabet="abc .,?\n"), st.sampled_from([" word", "\n", "?", ".", " x"]))
def test_a_prompt_keeps_its_tokens_when_text_follows(prompt: str, more: str) -> None:
    if prompt.endswith(" "):
        return  # the blank goes along with the next word
    assert split_tokens(prompt + more) == split_tokens(prompt) + split_tokens(more)
