"""What the demo model knows about one question before it decides whether to answer it rightly."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from benchwright.demo._numbers import Number, number_of, show_number

Kind: TypeAlias = Literal["number", "option", "yesno", "text", "grade", "guess", "essay"]
"""What form an answer has. A `guess` is no knowledge, so skill does not touch it; an `essay` is free text."""


class Solved(NamedTuple):
    """The right answer to a question as far as the demo model can tell."""

    kind: Kind
    """What form the answer has."""
    right: str
    """The right answer, or the guess."""
    others: tuple[str, ...] = ()
    """Plausible wrong answers; the right one may be among them and is passed over."""
    steps: str = ""
    """How it was worked out."""
    same: tuple[str, ...] = ()
    """Other ways to put the right answer; their likelihood is raised too."""

    def wrong(self, bits: int) -> str:
        """A wrong answer that looks like a right one, chosen by `bits`."""
        others = [other for other in self.others if other != self.right]
        if others:
            return others[bits % len(others)]
        if self.kind == "number":
            return _wrong_number(self.right, bits)
        return _garbled(self.right, bits)


_SLIPS = (1, -1, 2, -2, 10, -10, 9, -9)


def _wrong_number(right: str, bits: int) -> str:
    slip = _SLIPS[bits & 7]
    _, dot, decimals = right.partition(".")
    if not dot:
        value = int(right) + slip
        # A slip below zero would give the trick away for counts.
        return str(value) if value >= 0 or right.startswith("-") else str(int(right) + abs(slip))
    exact: Number = number_of(right)
    return show_number(round(exact + slip / 10 ** len(decimals), len(decimals)))


def _garbled(right: str, bits: int) -> str:
    """A text with one word or letter missing or doubled."""
    words = right.split()
    if len(words) > 1:
        at = bits % len(words)
        return " ".join(words[:at] + words[at + 1 :])
    if len(right) > 1:
        at = bits % len(right)
        changed = right[:at] + right[at + 1 :]
        return changed if changed != right else right + right[-1]
    return right + right or "?"
