"""Separates a model's reasoning from its answer."""

from __future__ import annotations

_OPEN = "<think>"
_CLOSE = "</think>"


def split_reasoning(text: str) -> tuple[str, str, bool]:
    """Separate `<think>…</think>` from the answer: the answer, the reasoning, and whether that never ended, so that there is no answer.

    An opening tag counts only at the start; elsewhere it is part of the answer. The answer is the text after the *last*
    closing tag, even if the opening tag is missing, because some prompt templates already contain it. Line breaks and
    spaces around the reasoning are removed with it; a text without tags is not changed.

    >>> split_reasoning("<think>6·7</think>\\n\\n42")
    ('42', '6·7', False)
    >>> split_reasoning("six sevens</think>42"), split_reasoning("<think>let me see")
    (('42', 'six sevens', False), ('', 'let me see', True))
    """
    start = text.lstrip() if text[:1].isspace() else text
    opened = start.startswith(_OPEN)
    close = start.rfind(_CLOSE)
    if close < 0:
        if opened:
            return "", start[len(_OPEN) :].strip(), True
        return text, "", False
    thought = start[len(_OPEN) if opened else 0 : close].strip()
    answer = start[close + len(_CLOSE) :].strip()
    if answer.startswith(_OPEN):
        # A second block of reasoning began and never ended.
        return "", f"{thought}\n{answer[len(_OPEN) :].strip()}".strip(), True
    return answer, thought, False


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
