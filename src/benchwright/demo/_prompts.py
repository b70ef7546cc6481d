"""Finds what a prompt really asks: the last question of a few-shot prompt, without the solved examples."""

from __future__ import annotations

from typing import NamedTuple

_CUES = frozenset(
    (
        "answer", "final answer", "the answer", "ans", "output", "response", "result", "solution", "translation",
        "label", "verdict", "reply",
    )
)  # fmt: skip
"""Words that open an answer line: `Answer:`, `Answer (true/false):`, `### Output:`, `Answer 3:`."""
_LABELS = frozenset(
    (
        "question", "query", "problem", "passage", "context", "text", "input", "premise", "sentence", "article",
        "word", "source", "q",
    )
)  # fmt: skip
"""Words that open a question or what belongs to it."""
_BLANKS = " \t\r\n"
_MARKS = " \t\r>*#"
_MAX_HEAD_CHARS = 60
"""What stands before the colon of a label is short; longer lines are sentences."""


class Question(NamedTuple):
    """The last question of a prompt."""

    block: str
    """The question with its passage and options; no examples, no answer cue, blanks stripped."""
    full: str
    """The whole prompt, for instructions that stand above the question."""
    lowered: str
    """The whole prompt in lower case."""
    cued: bool
    """Whether the prompt ends in an open answer line such as `Answer:`."""


def is_judge_prompt(text: str) -> bool:
    """Whether a prompt demands a `GRADE:` line."""
    return "GRADE:" in text


def ends_in_cue(text: str) -> bool:
    """Whether a text ends in an open answer line, blanks after it allowed."""
    text = text.rstrip(_BLANKS)
    if not text.endswith((":", "*")):
        return False
    head, colon, rest = text[text.rfind("\n") + 1 :].partition(":")
    return colon != "" and not rest.strip("*") and _is_cue(head)


def last_question(text: str) -> Question:
    """Cuts solved examples and the open answer line off a prompt.

    >>> last_question("Q: 1+1?\\nA: 2\\n\\nQ: 2+2?\\nA:").block
    '2+2?'
    """
    lowered = text.lower()
    body = text.strip(_BLANKS)
    if "\n" not in body:
        return Question(_without_label(body), text, lowered, False)
    cued = ends_in_cue(body)
    if cued:
        body = body[: body.rfind("\n")].rstrip(_BLANKS)
    start = _start_of_last(body)
    return Question(_without_label(body[start:].strip(_BLANKS)), text, lowered, cued)


def _start_of_last(body: str) -> int:
    """Where the last question starts: at the first label after the last answered line.

    Lines are walked from the end, since that is where the answered line of a few-shot prompt stands.
    """
    start = 0
    end = len(body)
    seen_text = False
    below = ""
    while end >= 0:
        newline = body.rfind("\n", 0, end)
        colon = body.find(":", newline + 1, min(end, newline + 2 + _MAX_HEAD_CHARS))
        if colon >= 0:
            head = body[newline + 1 : colon]
            answered = body[colon + 1 : end].strip(_MARKS)
            if seen_text and answered and not answered.startswith("<") and _is_cue(head):
                # "A: x" above "B: y" is an option, not an answer.
                if not (head.strip(_MARKS) == "A" and below.startswith("B")):
                    return start or end
            elif _word_of(head) in _LABELS:
                start = newline + 1
        seen_text = seen_text or bool(body[newline + 1 : end].strip(_BLANKS))
        below = body[newline + 1 : newline + 3]
        end = newline
    return start


def _word_of(head: str) -> str:
    """The word of a label line: `### Answer (true/false)` and `**Answer 3` are both `answer`."""
    word = head.strip(_MARKS).lower()
    if word.endswith(")"):
        word = word[: word.rfind("(")].rstrip() if "(" in word else word
    return word.rstrip(" 0123456789") if word else word


def _is_cue(head: str) -> bool:
    if len(head) > _MAX_HEAD_CHARS:
        return False
    return _word_of(head) in _CUES or head.strip(_MARKS) == "A"


def _without_label(block: str) -> str:
    colon = block.find(":", 0, _MAX_HEAD_CHARS)
    if colon < 0 or _word_of(block[:colon]) not in _LABELS:
        return block
    return block[colon + 1 :].lstrip(_BLANKS + "*") or block
