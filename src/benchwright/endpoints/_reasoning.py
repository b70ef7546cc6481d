"""Separates a model's reasoning from its answer."""

from __future__ import annotations

from typing import NamedTuple

_OPEN = "<think>"
_CLOSE = "</think>"


class SplitText(NamedTuple):
    """A text, split into answer and reasoning."""

    answer: str
    """The answer."""
    reasoning: str
    """The reasoning before it."""
    unclosed: bool
    """Whether the reasoning never ended, so that there is no answer."""


def split_reasoning(text: str) -> SplitText:
    """Separate `<think>…</think>` from the answer.

    An opening tag counts only at the start; elsewhere it is part of the answer. The answer is the text after the *last*
    closing tag, even if the opening tag is missing, because some prompt templates already contain it. Line breaks and
    spaces around the reasoning are removed with it; a text without tags is not changed.

    >>> split_reasoning("<think>6·7</think>\\n\\n42")
    SplitText(answer='42', reasoning='6·7', unclosed=False)
    >>> split_reasoning("six sevens</think>42").reasoning
    'six sevens'
    >>> split_reasoning("<think>let me see").unclosed
    True
    """
    start = text.lstrip() if text[:1].isspace() else text
    opened = start.startswith(_OPEN)
    close = start.rfind(_CLOSE)
    if close < 0:
        if opened:
            return SplitText("", start[len(_OPEN) :].strip(), True)
        return SplitText(text, "", False)
    thought = start[len(_OPEN) if opened else 0 : close].strip()
    answer = start[close + len(_CLOSE) :].strip()
    if answer.startswith(_OPEN):
        # A second block of reasoning began and never ended.
        return SplitText("", f"{thought}\n{answer[len(_OPEN) :].strip()}".strip(), True)
    return SplitText(answer, thought, False)


def answer_start(text: str) -> int | None:
    """Where the answer begins in a text that `split_reasoning` splits; None if there is none.

    >>> answer_start("42"), answer_start("<think>6·7</think>\\n\\n42"), answer_start("<think>let me see")
    (0, 20, None)
    """
    answer, reasoning, unclosed = split_reasoning(text)
    if unclosed:
        return None
    if not reasoning and _CLOSE not in text:
        return 0
    return len(text.rstrip()) - len(answer) if answer else None
